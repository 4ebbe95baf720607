//! One call before the policies, resource by resource.
//!
//! It is cut into steps so that a long one (many resources, long arguments, many patterns) can be given up between two of
//! them: Cedar itself cannot be interrupted.

use cedar_policy::{Authorizer, Context, Entities, Entity, Request, RestrictedExpression};
use probity_contract::{FrozenCall, Seat, Verdict};

use crate::context::context;
use crate::policy::{JudgedTool, Loaded};
use crate::resource::{Resource, resources};
use crate::rules::Facts;
use crate::said::Heard;
use crate::vocabulary::Kind;

/// A call that is being judged.
pub(crate) struct Hearing<'a> {
    loaded: &'a Loaded,
    tool: &'a JudgedTool,
    context: Context,
    principal: Entity,
    resources: std::vec::IntoIter<Resource<'a>>,
    heard: Heard<'a>,
}

impl<'a> Hearing<'a> {
    /// Opens the hearing of a call. There is none where no policy speaks of its tool.
    pub(crate) fn open(loaded: &'a Loaded, call: &'a FrozenCall, seat: Seat) -> Result<Option<Self>, String> {
        if loaded.rules.facts.is_empty() {
            return Ok(None);
        }
        let tool = loaded.tools.get(call.tool()).ok_or("the policies were loaded without this tool")?;
        if tool.digest != call.facts().tool_digest {
            return Err("the policies were loaded for another definition of this tool".to_owned());
        }
        if tool.policies.is_empty() {
            return Ok(None);
        }
        let context = context(call, seat, tool.effect, &tool.shape, &loaded.vocabulary)?;
        // The context is the same for all resources, so it is checked once, here.
        context
            .validate(&loaded.schema, &tool.action)
            .map_err(|error| format!("the call does not fit the schema: {error}"))?;
        let id = call.facts().principal.as_str();
        let attributes = [("id".to_owned(), RestrictedExpression::new_string(id.to_owned()))];
        let uid = loaded.vocabulary.entity(Kind::Principal, id)?;
        let principal =
            Entity::new(uid, attributes.into(), Default::default()).map_err(|error| error.to_string())?;
        let resources = resources(call, tool.effect)?.into_iter();
        Ok(Some(Self { loaded, tool, context, principal, resources, heard: Heard::default() }))
    }

    /// Asks the policies about the next resource. False when there is none.
    pub(crate) fn hear_next(&mut self) -> Result<bool, String> {
        let Some(resource) = self.resources.next() else { return Ok(false) };
        let entity = resource.entity(&self.loaded.vocabulary)?;
        let action = self.tool.action.clone();
        let request = Request::new(self.principal.uid(), action, entity.uid(), self.context.clone(), None)
            .map_err(|error| error.to_string())?;
        let satisfied = self.satisfied(&request, [self.principal.clone(), entity])?;
        self.heard.add(&resource, satisfied);
        Ok(true)
    }

    /// What has been said of all resources.
    pub(crate) fn verdict(&self) -> Verdict {
        self.heard.verdict()
    }

    /// The policies that hold for a request, each with what it says of itself.
    fn satisfied(
        &self,
        request: &Request,
        entities: [Entity; 2],
    ) -> Result<Vec<(&'a str, &'a Facts)>, String> {
        let entities = Entities::from_entities(entities, None).map_err(|error| error.to_string())?;
        let response = Authorizer::new().is_authorized(request, &self.tool.policies, &entities);
        // Cedar leaves a policy out that it cannot evaluate. A forbid left out is a hole, so any such policy denies.
        if let Some(error) = response.diagnostics().errors().map(ToString::to_string).min() {
            return Err(error);
        }
        let known = &self.loaded.rules.facts;
        let facts = response.diagnostics().reason().map(|id| {
            let (id, facts) = known.get_key_value(id).ok_or("a policy spoke that was not loaded")?;
            Ok((id.as_ref(), facts))
        });
        facts.collect()
    }
}
