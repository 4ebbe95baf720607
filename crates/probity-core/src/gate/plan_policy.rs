//! A sequence of calls that was decided before anything foreign was read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use probity_contract::{
    Arguments, BoxFuture, CallId, Cancel, Digest, Fact, FrozenCall, PartId, Policy, PolicyError, PolicyName,
    Seat, ToolName, ToolSpec, Verdict,
};

use super::consequence::KnownTools;

/// One call of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCall {
    /// The tool.
    pub tool: ToolName,
    /// Its arguments, all of them.
    pub arguments: Arguments,
}

/// A policy that allows the calls of a plan, each once and in order, and denies every other call that can change something. Of
/// calls that only read it says nothing.
///
/// So whatever the model reads on the way, the calls that it can make are those of the plan, from the first up to some step. A
/// step is taken when its call is heard just before the effect; what happens to the call then, the step is not free again. One plan is
/// for one run: a process that goes on with a run tells it what the record has ([`PlanPolicy::having_done`]).
#[derive(Debug, Clone)]
pub struct PlanPolicy {
    name: PolicyName,
    tools: KnownTools,
    steps: Arc<[PlannedCall]>,
    epoch: Digest,
    // The calls that have taken the steps, in order.
    taken: Arc<Mutex<Vec<Digest>>>,
}

impl PlanPolicy {
    /// The plan of a task that has these tools.
    #[must_use]
    pub fn new(name: PolicyName, tools: &[ToolSpec], steps: Vec<PlannedCall>) -> Self {
        let texts = steps.iter().flat_map(|step| [step.tool.as_str(), step.arguments.as_str()]);
        let texts: Vec<&[u8]> = texts.map(str::as_bytes).collect();
        let epoch = Digest::of("probity.plan-epoch.v1", &texts);
        Self { name, tools: KnownTools::of(tools), steps: steps.into(), epoch, taken: Arc::default() }
    }

    /// Goes on behind the steps whose calls were started, as the record of the run tells.
    #[must_use]
    pub fn having_done<'a>(self, facts: impl IntoIterator<Item = &'a Fact>) -> Self {
        let mut proposed: BTreeMap<CallId, &str> = BTreeMap::new();
        let mut frozen: BTreeMap<CallId, (Digest, PartId)> = BTreeMap::new();
        for fact in facts {
            if let Fact::CallProposed { call, tool, .. } = fact {
                proposed.insert(*call, tool);
            }
            if let Fact::CallFrozen { call, digest, arguments, .. } = fact {
                frozen.insert(*call, (*digest, *arguments));
            }
            if let Fact::ToolStarted { call, .. } = fact
                && let (Some(tool), Some((digest, arguments))) = (proposed.get(call), frozen.get(call))
            {
                let is_it = |step: &PlannedCall| {
                    step.tool.as_str() == *tool && PartId::of(step.arguments.as_str()) == *arguments
                };
                self.take(*digest, is_it);
            }
        }
        self
    }

    /// What is said of a call at a seat.
    #[must_use]
    pub fn verdict(&self, call: &FrozenCall, seat: Seat) -> Verdict {
        if self.tools.only_reads(call) {
            return Verdict::Abstain;
        }
        let is_it = |step: &PlannedCall| step.tool == *call.tool() && step.arguments == *call.arguments();
        let step = match seat {
            Seat::ExecuteRecheck => self.take(call.digest(), is_it),
            Seat::Targets | Seat::Adjudicate | Seat::Inherited | Seat::EditRecheck => {
                self.find(call.digest(), is_it)
            }
        };
        match step {
            Some(step) => Verdict::Allow { reason: format!("it is step {} of the plan", step + 1) },
            None => Verdict::Deny { reason: "it is not the next step of the plan".to_owned() },
        }
    }

    /// The step that a call has taken, or the next one where the call is that.
    fn find(&self, digest: Digest, is_it: impl Fn(&PlannedCall) -> bool) -> Option<usize> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        step_of(&taken, &self.steps, digest, is_it)
    }

    fn take(&self, digest: Digest, is_it: impl Fn(&PlannedCall) -> bool) -> Option<usize> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let step = step_of(&taken, &self.steps, digest, is_it)?;
        if step == taken.len() {
            taken.push(digest);
        }
        Some(step)
    }
}

fn step_of(
    taken: &[Digest],
    steps: &[PlannedCall],
    digest: Digest,
    is_it: impl Fn(&PlannedCall) -> bool,
) -> Option<usize> {
    let has_taken = taken.iter().position(|known| *known == digest);
    has_taken.or_else(|| steps.get(taken.len()).is_some_and(is_it).then_some(taken.len()))
}

impl Policy for PlanPolicy {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn epoch(&self) -> Digest {
        self.epoch
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(std::future::ready(Ok(self.verdict(call, seat))))
    }
}
