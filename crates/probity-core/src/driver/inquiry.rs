//! What would be said of one call, without a run.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Bench, CallFacts, CallId, Cancel, Denial, DenialCode, FrozenCall, Item, ItemId, Judgement, Label,
    Opinion, Policy, PrincipalId, Roster, Ruling, RunId, Seat, Tool, ToolSpec, Touches,
};
use probity_egress::{Egress, SamePrincipal};

use super::watch::Watch;
use super::{StartError, judge, tool};
use crate::run::told::ToldOf;
use crate::run::{FirstItem, Outcome, Schemas, provenance, words};

/// A question about one call: what the policies of a task would say of it.
///
/// The call is read, checked, told to its tool and frozen as a run does it, and every policy is heard by the same code,
/// with its deadline. There is no run, no record and no permit: no tool can start, and nobody is asked.
pub struct Inquiry {
    /// The run that the call is frozen for; it needs not be one.
    pub run: RunId,
    /// For whom the call would act.
    pub principal: PrincipalId,
    /// The label of all that the model would have seen.
    pub label: Label,
    /// Of that, what values of the arguments may stand in word for word, in order.
    pub items: Vec<FirstItem>,
    /// The tools of the task.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The policies of the task.
    pub policies: Vec<Arc<dyn Policy>>,
    /// Milliseconds for the tool to tell its targets, and for each policy.
    pub judge_timeout_ms: u64,
    /// The signal that policies are given. Whoever waits for the answer fires it.
    pub cancel: Cancel,
}

/// How far the call came, and what was said of it.
#[derive(Debug, Clone)]
pub enum Heard {
    /// A run would tell the model that the call was not understood, in these words. No policy hears of such a call.
    NotUnderstood(Egress<SamePrincipal>),
    /// The call could not be frozen: its tool cannot tell what it would touch. No policy hears of it either.
    NotFrozen(Denial),
    /// Every policy has spoken, at each seat that a run would come to.
    Judged {
        /// The call as it was judged.
        call: Arc<FrozenCall>,
        /// What was said, seat by seat; [`Seat::ExecuteRecheck`] only where nobody denied at [`Seat::Adjudicate`]. A run
        /// hears the former just before the effect, under the rules that are in force then.
        seats: Vec<HeardAt>,
        /// What follows from all of it.
        ruling: Ruling,
    },
}

/// What was said at one seat.
#[derive(Debug, Clone)]
pub struct HeardAt {
    /// The seat.
    pub seat: Seat,
    /// What each policy said, in the order of the task.
    pub opinions: Vec<Opinion>,
}

impl Inquiry {
    /// Hears what is said of a call of `tool` with these arguments, as a model would write them. Needs a tokio runtime.
    ///
    /// # Errors
    /// When no task could be started with these tools and policies.
    pub async fn hear(self, tool: &str, arguments: &str) -> Result<Heard, StartError> {
        let specs: Vec<ToolSpec> = self.tools.iter().map(|tool| tool.spec().clone()).collect();
        let names = self.policies.iter().map(|policy| policy.name().clone()).collect();
        let bench = Bench::of(Roster::new(names)?);
        let (name, arguments) = match Schemas::compile(&specs, None)?.understand(tool, arguments) {
            Ok(understood) => understood,
            Err(why) => return Ok(Heard::NotUnderstood(words::rejected(&why))),
        };
        let (id, watch) = (CallId(1), Watch::new(None, None));
        let timeout = Duration::from_millis(self.judge_timeout_ms);
        let not_frozen = |reason: String| {
            Ok(Heard::NotFrozen(words::denial(DenialCode::TargetsFailed, Seat::Targets, reason)))
        };
        let meant = specs.iter().zip(self.tools).find(|(spec, _)| spec.name == name);
        let Some((spec, tool)) = meant else { return not_frozen("the tool is not there".to_owned()) };
        let resolved =
            tool::resolve(Some(tool), name.clone(), id, arguments.clone(), timeout, watch.clone()).await;
        let Outcome::Resolved { result, .. } = resolved else {
            return not_frozen("the tool told something else".to_owned());
        };
        let Touches { targets, operands } = match result {
            Ok(touches) => touches,
            Err(error) => return not_frozen(words::line(&error.message).as_str().to_owned()),
        };
        let items: Vec<Arc<Item>> = (1..).zip(self.items).map(item).collect();
        let arguments_from =
            provenance::sources(&items, &ToldOf::new(), self.label.integrity, spec, &arguments);
        let facts = CallFacts {
            run: self.run,
            call: id,
            principal: self.principal,
            tool: name,
            tool_digest: spec.digest(),
            arguments,
            targets,
            operands,
            arguments_from,
            label: self.label,
        };
        let Ok(call) = FrozenCall::freeze(facts).map(Arc::new) else {
            return not_frozen("the call could not be frozen".to_owned());
        };
        let judges = judge::Judges::new(&bench, self.policies, Vec::new());
        let mut judgement = Judgement::open(Arc::clone(&call), bench);
        let mut seats = Vec::new();
        for seat in [Seat::Adjudicate, Seat::ExecuteRecheck] {
            let (judges, cancel, watch) = (judges.clone(), self.cancel.clone(), watch.clone());
            let judged = judge::hear(judges, Arc::clone(&call), seat, timeout, cancel, watch).await;
            // Whatever is not a judgement is none, and the rule denies what nobody was heard of.
            let opinions = if let Outcome::Judged { opinions, .. } = judged { opinions } else { Vec::new() };
            let ruling = judgement.hear(seat, &opinions);
            seats.push(HeardAt { seat, opinions });
            if matches!(ruling, Ruling::Deny(_)) {
                return Ok(Heard::Judged { call, seats, ruling });
            }
        }
        let askers = judgement.askers();
        let ruling = if askers.is_empty() { Ruling::Allow } else { Ruling::Ask(askers) };
        Ok(Heard::Judged { call, seats, ruling })
    }
}

fn item((id, first): (u32, FirstItem)) -> Arc<Item> {
    let FirstItem { origin, label, content } = first;
    Arc::new(Item { id: ItemId(id), origin, label, content })
}
