//! Cedar policies as a policy of a task.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use cedar_policy::{EntityUid, PolicySet, Schema};
use probity_contract::{
    BoxFuture, Cancel, Digest, Effect, FrozenCall, Policy, PolicyError, PolicyName, Seat, ToolName, ToolSpec,
    Verdict,
};

use crate::error::CedarError;
use crate::hearing::Hearing;
use crate::rules::{CedarSource, Rules};
use crate::schema::{Generated, generate};
use crate::shape::Shape;
use crate::vocabulary::Vocabulary;

/// A policy that judges by Cedar's permits and forbids: deny over ask over allow, whatever their order.
///
/// Every thing that a call touches is asked about by itself: a forbid of one denies the call, a permit with `@ask` of one
/// asks a person, permits of all allow it, and else the policy abstains. A policy that cannot be evaluated denies the call,
/// be it a permit or a forbid; a call that the schema cannot hold exactly is denied if any policy speaks of its tool.
///
/// It keeps nothing between calls, reads no clock and does no I/O. Cedar's language has no loops, so a judgement ends; through
/// [`Policy::judge`] it can be given up after each resource, as a deadline or a cancellation wants.
/// It does not promise to see what a tool does not name among its targets. Cheap to clone.
#[derive(Clone)]
pub struct CedarPolicy {
    name: PolicyName,
    loaded: Arc<Loaded>,
}

pub(crate) struct Loaded {
    pub(crate) rules: Rules,
    pub(crate) tools: BTreeMap<ToolName, JudgedTool>,
    pub(crate) schema: Schema,
    pub(crate) vocabulary: Vocabulary,
    schema_text: String,
    epoch: Digest,
}

/// What is known of a tool before any call.
pub(crate) struct JudgedTool {
    pub(crate) action: EntityUid,
    pub(crate) effect: Effect,
    pub(crate) shape: Shape,
    pub(crate) digest: Digest,
    /// The policies that speak of it.
    pub(crate) policies: PolicySet,
}

impl CedarPolicy {
    /// Reads the sources for a task that has these tools, and checks every policy strictly against their schema.
    ///
    /// Without any policy in the sources it abstains from every call.
    ///
    /// # Errors
    /// When two tools have one name; when a source is over a limit or cannot be read; when a policy names a tool, an
    /// attribute or a word that is not there, mistakes a type, relies on a member that may be missing, or can never apply;
    /// when an annotation is not known; when two policies have one id. Nothing is loaded then.
    pub fn new(name: PolicyName, sources: &[CedarSource], tools: &[ToolSpec]) -> Result<Self, CedarError> {
        let shapes: Vec<Shape> = tools.iter().map(|tool| Shape::of_arguments(&tool.input_schema)).collect();
        let Generated { schema, text: schema_text } = generate(tools.iter().zip(&shapes))?;
        let vocabulary = Vocabulary::new()?;
        let rules = Rules::load(sources, &schema)?;
        let epoch = epoch_of(sources, &schema_text, tools);
        let mut judged = BTreeMap::new();
        for (tool, shape) in tools.iter().zip(shapes) {
            let action = vocabulary.action(tool.name.as_str());
            let policies = rules.about(&action)?;
            let facts = JudgedTool { action, effect: tool.effect, shape, digest: tool.digest(), policies };
            judged.insert(tool.name.clone(), facts);
        }
        let loaded = Loaded { rules, tools: judged, schema, schema_text, vocabulary, epoch };
        Ok(Self { name, loaded: Arc::new(loaded) })
    }

    /// The schema that the policies were checked against, in Cedar's notation for people.
    #[must_use]
    pub fn schema_text(&self) -> &str {
        &self.loaded.schema_text
    }

    /// How many policies the sources hold.
    #[must_use]
    pub fn policy_count(&self) -> usize {
        self.loaded.rules.facts.len()
    }

    /// What the policies say of a call at a seat.
    ///
    /// # Errors
    /// When a policy cannot be evaluated, when the call is not one that the schema can hold, or when it was made with
    /// another definition of the tool. The call is then denied.
    pub fn verdict(&self, call: &FrozenCall, seat: Seat) -> Result<Verdict, PolicyError> {
        let judge = || -> Result<Verdict, String> {
            let Some(mut hearing) = Hearing::open(&self.loaded, call, seat)? else {
                return Ok(Verdict::Abstain);
            };
            while hearing.hear_next()? {}
            Ok(hearing.verdict())
        };
        self.on_stack(judge).map_err(PolicyError::new)
    }

    /// The same, with a pause after each resource in which the deadline or a cancellation can end it.
    async fn verdict_with_pauses(
        &self,
        call: &FrozenCall,
        seat: Seat,
        cancel: &Cancel,
    ) -> Result<Verdict, PolicyError> {
        let hearing = self.on_stack(|| Hearing::open(&self.loaded, call, seat)).map_err(PolicyError::new)?;
        let Some(mut hearing) = hearing else { return Ok(Verdict::Abstain) };
        while self.on_stack(|| hearing.hear_next()).map_err(PolicyError::new)? {
            pause().await;
            if cancel.is_fired() {
                return Err(PolicyError::new("the task was cancelled"));
            }
        }
        Ok(hearing.verdict())
    }

    /// Runs on a stack that is long enough for the deepest policy: Cedar counts one for which it is too short as one that
    /// it cannot evaluate.
    fn on_stack<T>(&self, work: impl FnOnce() -> T) -> T {
        let bytes = self.loaded.rules.stack_bytes;
        stacker::maybe_grow(bytes, bytes, work)
    }
}

/// Lets whoever waits for this look at its other business once.
async fn pause() {
    let mut has_paused = false;
    poll_fn(|cx| match std::mem::replace(&mut has_paused, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// The digest of everything that the verdicts depend on beside the call.
fn epoch_of(sources: &[CedarSource], schema_text: &str, tools: &[ToolSpec]) -> Digest {
    let mut parts: Vec<&[u8]> = Vec::new();
    for CedarSource { name, text } in sources {
        parts.extend([name.as_bytes(), text.as_bytes()]);
    }
    let sources = Digest::of("probity.cedar-sources.v1", &parts);
    let digests: Vec<Digest> = tools.iter().map(ToolSpec::digest).collect();
    let digests: Vec<&[u8]> = digests.iter().map(|digest| digest.as_bytes().as_slice()).collect();
    let tools = Digest::of("probity.cedar-tools.v1", &digests);
    Digest::of("probity.cedar-epoch.v1", &[sources.as_bytes(), schema_text.as_bytes(), tools.as_bytes()])
}

impl Policy for CedarPolicy {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn epoch(&self) -> Digest {
        self.loaded.epoch
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        seat: Seat,
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(self.verdict_with_pauses(call, seat, cancel))
    }
}

impl fmt::Debug for CedarPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CedarPolicy({}, {} policies)", self.name, self.loaded.rules.facts.len())
    }
}
