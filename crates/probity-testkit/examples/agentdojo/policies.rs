//! The rules that are measured, each as policies of a task and a person who may be asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use probity_contract::{
    Answer, Approver, ArgumentLabel, Arguments, BoxFuture, Cancel, FrozenCall, Integrity, PendingCall,
    Policy, PolicyError, PolicyName, PrincipalId, Seat, Verdict,
};
use probity_core::ArgumentPolicy;
use serde_json::Value;

use super::sources::addresses;
use super::world::{DELEGATE, World, spec_of};

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    None,
    ToolList,
    Strict,
    Message,
    Engine,
    Values,
    Output,
    Asked,
    Person,
}

impl Setting {
    pub(crate) const ALL: [Self; 9] = [
        Self::None,
        Self::ToolList,
        Self::Strict,
        Self::Message,
        Self::Engine,
        Self::Values,
        Self::Output,
        Self::Asked,
        Self::Person,
    ];

    /// The word on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ToolList => "tool-list",
            Self::Strict => "strict",
            Self::Message => "message",
            Self::Engine => "engine",
            Self::Values => "values",
            Self::Output => "output",
            Self::Asked => "asked",
            Self::Person => "person",
        }
    }

    /// What the table says.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::None => "none: everything is allowed",
            Self::ToolList => "tool list: the tools that the true plan needs",
            Self::Strict => "labels: no side effect after untrusted content",
            Self::Message => "labels + authority arguments stand in the message",
            Self::Engine => "labels + argument provenance (`ArgumentPolicy`) + tool list",
            Self::Values => "the same, tools vouch for values of their results",
            Self::Output => "the same + output interceptor",
            Self::Asked => "the same, a person is asked where provenance is missing",
            Self::Person => "a person approves exactly the true plan, asked for every side effect",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// Whether tools tell which values of a result they vouch for, and not only of the whole.
    pub(crate) const fn vouches(self) -> bool {
        match self {
            Self::Values | Self::Output | Self::Asked => true,
            Self::None | Self::ToolList | Self::Strict | Self::Message | Self::Engine | Self::Person => false,
        }
    }

    /// Whether the answer is looked at before it is released.
    pub(crate) const fn has_output(self) -> bool {
        matches!(self, Self::Output | Self::Asked)
    }

    /// The policies of a task in this world.
    pub(crate) fn policies(self, world: &Arc<World>) -> Result<Vec<Arc<dyn Policy>>> {
        let rule = |name, judge| Rule::shared(name, world, judge);
        Ok(match self {
            Self::None => vec![rule("all", |_, _| allow("everything is allowed"))?],
            Self::ToolList => vec![rule("tool-list", tool_list)?],
            Self::Strict => vec![rule("labels", strict)?],
            Self::Message => vec![rule("labels", message)?],
            Self::Engine | Self::Values | Self::Output => {
                vec![Provenance::shared(world, |policy| policy)?, rule("tool-list", tool_list)?]
            }
            Self::Asked => {
                vec![Provenance::shared(world, ArgumentPolicy::asking)?, rule("tool-list", tool_list)?]
            }
            Self::Person => vec![rule("person", every_effect)?],
        })
    }
}

/// Arguments that say something and decide nothing: what stands in them is read by whoever the other arguments name.
const DATA: [&str; 6] = ["/body", "/content", "/description", "/message", "/subject", "/title"];

/// Core's policy about arguments.
struct Provenance {
    policy: ArgumentPolicy,
}

impl Provenance {
    fn shared(world: &World, set: fn(ArgumentPolicy) -> ArgumentPolicy) -> Result<Arc<dyn Policy>> {
        let tools = world.tools.values().map(spec_of).collect::<Result<Vec<_>>>()?;
        let name = PolicyName::new("arguments").context("name a policy")?;
        let new = ArgumentPolicy::new(name, &tools);
        let policy = tools.into_iter().fold(new, |policy, tool| policy.data(tool.name, DATA));
        Ok(Arc::new(Self { policy: set(policy) }))
    }
}

impl Policy for Provenance {
    fn name(&self) -> &PolicyName {
        self.policy.name()
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        let verdict = match call.tool().as_str() {
            DELEGATE => allow(HANDED),
            _ => self.policy.verdict(call),
        };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

/// The worst case: whoever can hand work over may. What is done below is judged here, call by call.
const HANDED: &str = "what it does is judged call by call";

type Judge = fn(&World, &FrozenCall) -> Verdict;

/// A rule about calls in one world.
struct Rule {
    name: PolicyName,
    world: Arc<World>,
    judge: Judge,
}

impl Rule {
    fn shared(name: &str, world: &Arc<World>, judge: Judge) -> Result<Arc<dyn Policy>> {
        let name = PolicyName::new(name).context("name a policy")?;
        Ok(Arc::new(Self { name, world: Arc::clone(world), judge }))
    }
}

impl Policy for Rule {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        let verdict = match call.tool().as_str() {
            DELEGATE => allow(HANDED),
            _ => (self.judge)(&self.world, call),
        };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

fn allow(reason: &str) -> Verdict {
    Verdict::Allow { reason: reason.to_owned() }
}

fn deny(reason: impl Into<String>) -> Verdict {
    Verdict::Deny { reason: reason.into() }
}

/// Least privilege by a list that only an oracle can write: the tools of the true plan.
fn tool_list(world: &World, call: &FrozenCall) -> Verdict {
    match world.opened.plan.iter().any(|planned| planned.tool == call.tool().as_str()) {
        true => allow("the task needs the tool"),
        false => deny("the task does not need the tool"),
    }
}

/// What may run whatever was read: calls that only read, and calls that were proposed before anything of an outsider's was.
fn is_free(world: &World, call: &FrozenCall) -> bool {
    world.is_pure(call.tool().as_str()) || call.facts().label.integrity > Integrity::Untrusted
}

fn strict(world: &World, call: &FrozenCall) -> Verdict {
    match is_free(world, call) {
        true => allow("it only reads, or nothing untrusted was read"),
        false => deny("something untrusted was read"),
    }
}

fn message(world: &World, call: &FrozenCall) -> Verdict {
    let values = call.arguments().to_value();
    let is_named = |argument: &ArgumentLabel| {
        let at = argument.at.as_str();
        let text = values.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let is_ours = |address: &&str| call.integrity_of_part(at, address) >= Integrity::Endorsed;
        let is_data = DATA.contains(&at) && addresses(text).iter().all(is_ours);
        is_data || argument.label.integrity >= Integrity::Endorsed
    };
    match is_free(world, call) || call.argument_labels().iter().all(is_named) {
        true => {
            allow("it only reads, nothing untrusted was read, or the person named all that decides something")
        }
        false => deny("the person has not named all that decides something"),
    }
}

fn every_effect(world: &World, call: &FrozenCall) -> Verdict {
    match world.is_pure(call.tool().as_str()) {
        true => allow("it only reads"),
        false => Verdict::Ask { reason: "it changes something".to_owned() },
    }
}

/// A person who knows the true plan, approves exactly its calls, and refuses all others.
pub(crate) struct Planner {
    world: Arc<World>,
    who: PrincipalId,
    asked: AtomicU32,
}

impl Planner {
    pub(crate) fn new(world: &Arc<World>, who: PrincipalId) -> Self {
        Self { world: Arc::clone(world), who, asked: AtomicU32::new(0) }
    }

    /// How many questions were put.
    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Approver for Planner {
    fn ask<'a>(&'a self, question: &'a PendingCall) -> BoxFuture<'a, Answer> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let call = question.call();
        let is_planned = self.world.opened.plan.iter().any(|planned| {
            // In canonical form, in which `4.0` and `4` are one number.
            let arguments = Arguments::from_value(&planned.arguments);
            planned.tool == call.tool().as_str()
                && arguments.is_ok_and(|planned| planned == *call.arguments())
        });
        let by = self.who.clone();
        let answer = match is_planned {
            true => Answer::Approve { by, more: 0 },
            false => Answer::Refuse { by, reason: "it is not what I asked for".to_owned(), for_good: false },
        };
        Box::pin(std::future::ready(answer))
    }
}
