//! Rule files of several authors, layer upon layer.
//!
//! Each layer says what its own rules say, and the strictest of all layers holds: deny over ask over allow, the rule by which a
//! bench rules on policies. So no layer can soften another, and "lower layers only narrow" needs no order between them. What
//! a layer's silence means is for its author to say, in `mode`: nothing, a question, or a denial (`allow-listed`), which no
//! layer below can undo. Reading the layers as one list with precedence lost: then a longer or later rule could win.

use std::fmt;
use std::sync::Arc;

use probity_contract::{
    BoxFuture, Cancel, Digest, FrozenCall, Policy, PolicyError, PolicyName, Seat, ToolSpec, Verdict,
};

use super::consequence::KnownTools;
use super::layer::{Layer, LayerError};
use super::mode::{Mode, Silence};
use super::needs::Needs;
use super::rule::Seen;
use super::rule_file::{RuleEntry, RuleFile};
use super::rules::not_covered;

/// Who wrote a file of rules, from the one who is over all to the one who wants something done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleSource {
    /// Whoever runs the machine.
    Organisation,
    /// The person who starts the task.
    User,
    /// Whoever wrote the folder that the task works in.
    Project,
    /// The task itself.
    Task,
}

/// A file of rules with what is known of it.
#[derive(Debug, Clone)]
pub struct RuleLayer {
    /// Who wrote it.
    pub source: RuleSource,
    /// What the file is called in messages.
    pub file_name: String,
    /// What it says.
    pub file: RuleFile,
    /// Whether its allow rules count. Those of a file that came with somebody else's folder do not until a person has said so;
    /// its ask and deny rules and its mode always do.
    pub may_widen: bool,
}

/// A policy of the rule files of several authors: the strictest of them holds.
///
/// Each layer denies, asks or allows by its own rules as [`RulePolicy`](crate::RulePolicy) does, and where its rules are silent
/// its own mode may turn what another allows into a question or a denial. Where none allows, the mode of the task says what
/// follows, which has all restrictions of the layers' modes. Adding a layer or a deny or ask rule never makes it allow more, and
/// one that may not widen never makes anything possible that was not.
#[derive(Debug, Clone)]
pub struct LayeredRules {
    name: PolicyName,
    layers: Arc<[Layer]>,
    // INVARIANT: within the modes of all layers.
    mode: Mode,
    tools: KnownTools,
    idle: Vec<IdleRule>,
    // INVARIANT: the digest of all of the above that a verdict depends on.
    epoch: Digest,
}

/// A rule about a tool that the task does not have. In a file for many tasks that is no mistake; a misspelt name is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleRule {
    /// Whose rule it is.
    pub source: RuleSource,
    /// The tool that it names.
    pub tool: String,
    /// The rule.
    pub rule: String,
}

impl LayeredRules {
    /// Parses the files for a task that has these tools and this mode, and checks their examples.
    ///
    /// # Errors
    /// When a file states nothing; when a rule cannot be read, allows tools by a wildcard, names an argument that its tool
    /// does not have, or, in the task's own layer, a tool that is not there; when an example is wrong.
    pub fn new(
        name: PolicyName,
        layers: &[RuleLayer],
        tools: &[ToolSpec],
        mode: Mode,
    ) -> Result<Self, LayerError> {
        let mut idle = Vec::new();
        let parsed: Vec<Layer> =
            layers.iter().map(|layer| Layer::parse(layer, tools, &mut idle)).collect::<Result<_, _>>()?;
        // What follows silence is said before those are heard who may only narrow it.
        let modes = |may_widen| layers.iter().filter(move |layer| layer.may_widen == may_widen);
        let mode = modes(true).fold(mode, |mode, layer| mode.and(layer.file.mode)).stated();
        let mode = modes(false).fold(mode, |mode, layer| mode.and(layer.file.mode));
        let epoch = epoch_of(layers, mode);
        let tools = KnownTools::of(tools);
        Ok(Self { name, layers: parsed.into(), mode, tools, idle, epoch })
    }

    /// The mode of the task: that of a child is the meet of its own and this.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Rules that speak of tools which the task does not have.
    #[must_use]
    pub fn idle_rules(&self) -> &[IdleRule] {
        &self.idle
    }

    /// What the rules say of a call.
    #[must_use]
    pub fn verdict(&self, call: &FrozenCall) -> Verdict {
        if self.mode.reads_only() && !self.tools.only_reads(call) {
            let reason = "the mode `read-only` denies it: its tool may change something, or it touches more than it reads";
            return Verdict::Deny { reason: reason.to_owned() };
        }
        let seen = Seen::new(call);
        let heard: Vec<(&Layer, Verdict)> =
            self.layers.iter().map(|layer| (layer, layer.says(&seen))).collect();
        let first = |wanted: &dyn Fn(&Layer, &Verdict) -> bool| {
            heard.iter().find(|(layer, said)| wanted(layer, said)).map(|(_, said)| said.clone())
        };
        let asks = |said: &Verdict| matches!(said, Verdict::Ask { .. });
        if let Some(deny) = first(&|_, said| matches!(said, Verdict::Deny { .. })) {
            return deny;
        }
        if let Some(ask) = first(&|layer, said| layer.may_widen && asks(said)) {
            return ask;
        }
        let question = first(&|_, said| asks(said));
        if let Some(allow) = first(&|_, said| matches!(said, Verdict::Allow { .. })) {
            let ask = question.or_else(|| self.layers.iter().find_map(|layer| layer.asks_in_silence(&seen)));
            return ask.unwrap_or(allow);
        }
        match (question, self.mode.silence()) {
            (Some(ask), Silence::Asks) => ask,
            // A question would make possible what the task's own rules do not.
            (Some(_), Silence::Abstains | Silence::Denies) => Verdict::Deny {
                reason: "no rule allows it, and rules that are not trusted want a person to decide"
                    .to_owned(),
            },
            (None, silence) => silent(silence, call),
        }
    }
}

fn silent(silence: Silence, call: &FrozenCall) -> Verdict {
    match silence {
        Silence::Abstains => Verdict::Abstain,
        Silence::Asks => Verdict::Ask { reason: not_covered(call).to_owned() },
        Silence::Denies => {
            Verdict::Deny { reason: "the mode `allow-listed` denies what no rule allows".to_owned() }
        }
    }
}

fn epoch_of(layers: &[RuleLayer], mode: Mode) -> Digest {
    let list = |name: &str, entries: &[RuleEntry]| {
        let texts = entries.iter().flat_map(|entry| {
            let needs = Needs::bound(entry.needs, &entry.arguments);
            [Some(entry.rule.clone()), Some(entry.reason.clone().unwrap_or_default()), needs]
                .into_iter()
                .flatten()
        });
        let texts: Vec<String> = texts.collect();
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        *Digest::of(name, &texts).as_bytes()
    };
    let layer = |layer: &RuleLayer| {
        let RuleLayer { source, file, may_widen, .. } = layer;
        let (allow, ask, deny) =
            (list("allow", &file.allow), list("ask", &file.ask), list("deny", &file.deny));
        let may_widen: &[u8] = if *may_widen { b"widens" } else { b"narrows" };
        let (source, mode) = (source.to_string(), file.mode.to_string());
        let parts: [&[u8]; 6] = [source.as_bytes(), mode.as_bytes(), may_widen, &allow, &ask, &deny];
        *Digest::of("layer", &parts).as_bytes()
    };
    let layers: Vec<[u8; 32]> = layers.iter().map(layer).collect();
    let mode = mode.to_string();
    let parts: Vec<&[u8]> = layers.iter().map(<[u8; 32]>::as_slice).chain([mode.as_bytes()]).collect();
    Digest::of("probity.layered-rules-epoch.v1", &parts)
}

impl Policy for LayeredRules {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn epoch(&self) -> Digest {
        self.epoch
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(std::future::ready(Ok(self.verdict(call))))
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Organisation => "organisation's",
            Self::User => "user's",
            Self::Project => "project's",
            Self::Task => "task's",
        })
    }
}
