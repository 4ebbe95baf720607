//! Cedar policies as a policy of a task.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cedar_policy::{
    Authorizer, Entities, Entity, EntityUid, PolicySet, Request, RestrictedExpression, Schema,
};
use probity_contract::{
    BoxFuture, Cancel, Digest, Effect, FrozenCall, Policy, PolicyError, PolicyName, Seat, ToolName, ToolSpec,
    Verdict,
};

use crate::context::context;
use crate::error::CedarError;
use crate::resource::resources;
use crate::rules::{CedarSource, Facts, Rules};
use crate::said::Heard;
use crate::schema::{Generated, generate};
use crate::shape::Shape;
use crate::vocabulary::{Kind, Vocabulary};

/// A policy that judges by Cedar's permits and forbids: deny over ask over allow, whatever their order.
///
/// Every thing that a call touches is asked about by itself: a forbid of one denies the call, a permit with `@ask` of one
/// asks a person, permits of all allow it, and else the policy abstains. A policy that cannot be evaluated denies the call,
/// be it a permit or a forbid; a call that the schema cannot hold exactly is denied if any policy speaks of its tool.
///
/// It keeps nothing between calls, reads no clock and does no I/O; Cedar's language has no loops, so that a judgement ends.
/// It does not promise to see what a tool does not name among its targets. Cheap to clone.
#[derive(Clone)]
pub struct CedarPolicy {
    name: PolicyName,
    loaded: Arc<Loaded>,
}

struct Loaded {
    rules: Rules,
    tools: BTreeMap<ToolName, JudgedTool>,
    schema: Schema,
    schema_text: String,
    vocabulary: Vocabulary,
    epoch: Digest,
}

/// What is known of a tool before any call.
struct JudgedTool {
    action: EntityUid,
    effect: Effect,
    shape: Shape,
    digest: Digest,
    /// The policies that speak of it.
    policies: PolicySet,
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

    /// What the policies say of a call at a seat.
    ///
    /// # Errors
    /// When a policy cannot be evaluated, when the call is not one that the schema can hold, or when it was made with
    /// another definition of the tool. The call is then denied.
    pub fn verdict(&self, call: &FrozenCall, seat: Seat) -> Result<Verdict, PolicyError> {
        if self.loaded.rules.facts.is_empty() {
            return Ok(Verdict::Abstain);
        }
        // Cedar counts a policy for which the stack is too short as one that it cannot evaluate.
        let bytes = self.loaded.rules.stack_bytes;
        stacker::maybe_grow(bytes, bytes, || self.loaded.judge(call, seat)).map_err(PolicyError::new)
    }
}

impl Loaded {
    fn judge(&self, call: &FrozenCall, seat: Seat) -> Result<Verdict, String> {
        let tool = self.tools.get(call.tool()).ok_or("the policies were loaded without this tool")?;
        if tool.digest != call.facts().tool_digest {
            return Err("the policies were loaded for another definition of this tool".to_owned());
        }
        if tool.policies.is_empty() {
            return Ok(Verdict::Abstain);
        }
        let context = context(call, seat, tool.effect, &tool.shape, &self.vocabulary)?;
        context
            .validate(&self.schema, &tool.action)
            .map_err(|error| format!("the call does not fit the schema: {error}"))?;
        let principal = self.principal(call)?;
        let mut heard = Heard::default();
        for resource in resources(call, tool.effect)? {
            let entity = resource.entity(&self.vocabulary)?;
            let (who, what) = (principal.uid(), entity.uid());
            // The context is the same for all resources, so it is checked once, above.
            let request = Request::new(who, tool.action.clone(), what, context.clone(), None)
                .map_err(|error| error.to_string())?;
            let entities = [principal.clone(), entity];
            heard.add(&resource, self.satisfied(&tool.policies, &request, entities)?);
        }
        Ok(heard.verdict())
    }

    fn principal(&self, call: &FrozenCall) -> Result<Entity, String> {
        let id = call.facts().principal.as_str();
        let attributes = [("id".to_owned(), RestrictedExpression::new_string(id.to_owned()))];
        let uid = self.vocabulary.entity(Kind::Principal, id)?;
        Entity::new(uid, attributes.into(), Default::default()).map_err(|error| error.to_string())
    }

    /// The policies that hold for a request, each with what it says of itself.
    fn satisfied(
        &self,
        policies: &PolicySet,
        request: &Request,
        entities: [Entity; 2],
    ) -> Result<Vec<(&str, &Facts)>, String> {
        let entities = Entities::from_entities(entities, None).map_err(|error| error.to_string())?;
        let response = Authorizer::new().is_authorized(request, policies, &entities);
        // Cedar leaves a policy out that it cannot evaluate. A forbid left out is a hole, so any such policy denies.
        if let Some(error) = response.diagnostics().errors().map(ToString::to_string).min() {
            return Err(error);
        }
        let facts = response.diagnostics().reason().map(|id| {
            let (id, facts) =
                self.rules.facts.get_key_value(id).ok_or("a policy spoke that was not loaded")?;
            Ok((id.as_ref(), facts))
        });
        facts.collect()
    }
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
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(std::future::ready(self.verdict(call, seat)))
    }
}

impl fmt::Debug for CedarPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CedarPolicy({}, {} policies)", self.name, self.loaded.rules.facts.len())
    }
}
