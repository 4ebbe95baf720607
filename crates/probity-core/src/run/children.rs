//! Calls that start tasks: what is kept for them of the run's limits, and what they have spent when they are over.

use probity_contract::limits::SUBAGENT_DEPTH_MAX;
use probity_contract::{Allowance, CallId, Denial, Ending, Fact, Label, RunId, Spending};

use super::call::Call;
use super::places::limit;
use super::{Phase, Run};

impl Run {
    /// Keeps a share of what is left for each call that starts tasks and has none yet.
    ///
    /// The shares are equal, and the run itself has one, so that it can go on and answer; a tool that wants less gets less.
    /// They depend on what the reply proposes and on nothing that happens later: whose policies are heard first must not
    /// matter. What the calls of the reply need themselves comes first.
    pub(super) fn share_out(&mut self) {
        if self.state.spec.delegates.is_empty() {
            return;
        }
        let open = || self.state.calls.values().filter(|call| !call.is_settled());
        let needs = |call: &&Call| call.allowance.is_none() && self.wants(call).is_some();
        let waiting: Vec<CallId> = open().filter(needs).map(|call| call.id).collect();
        let unstarted = open().filter(|call| !call.started).count();
        let kept = open().filter_map(|call| call.allowance.as_ref());
        let left = kept.fold(self.left(), |left, kept| left.without(&kept.all_spent()));
        let share = share_of(&left, unstarted, waiting.len() + 1);
        for id in waiting {
            let wanted = self.state.calls.get(&id).and_then(|call| self.wants(call)).cloned();
            let allowance = wanted.map(|wanted| wanted.least(&share));
            if let Some(call) = self.state.calls.get_mut(&id) {
                call.allowance = allowance;
            }
        }
    }

    /// Takes back what is kept for calls that have not started, and shares it out anew: the limits have changed.
    pub(super) fn share_out_again(&mut self) {
        self.state.calls.values_mut().filter(|call| !call.started).for_each(|call| call.allowance = None);
        self.share_out();
    }

    fn wants(&self, call: &Call) -> Option<&Allowance> {
        let mut delegates = self.state.spec.delegates.iter();
        delegates.find(|(tool, _)| tool.as_str() == call.tool).map(|(_, wanted)| wanted)
    }

    /// What the limits leave, but for time.
    fn left(&self) -> Allowance {
        let (limits, spent) = (&self.state.spec.limits, &self.state.spent);
        let all = Allowance {
            turns: limits.turns_max,
            tool_calls: limits.tool_calls_max,
            tokens: limits.tokens_max,
            cost_usd: limits.cost_usd_max,
            wall_ms: None,
        };
        all.without(&spent.spending(self.state.spec.prices))
    }

    /// Why a call may start no tasks, if it wants to and may not.
    pub(super) fn no_children(&self, id: CallId) -> Option<Denial> {
        let call = self.state.calls.get(&id)?;
        self.wants(call)?;
        if self.state.spec.bench.levels().len() > SUBAGENT_DEPTH_MAX {
            return Some(limit("tasks may not start others so deep; do it without starting one"));
        }
        let enough = call.allowance.as_ref().is_some_and(Allowance::is_of_use);
        (!enough).then(|| limit("too little is left of the limits for another task"))
    }

    /// What the tasks of a call may spend, from now on.
    pub(super) fn allowance(&self, call: &Call) -> Option<Allowance> {
        let time = self.state.spec.limits.wall_ms_max.map(|_| {
            self.state.spent.time_for(&self.state.spec.limits, u64::MAX, self.state.ledger.now_ms())
        });
        let allowance = call.allowance.clone()?;
        Some(allowance.least(&Allowance { wall_ms: time, ..allowance.clone() }))
    }

    /// Milliseconds that a call may take.
    pub(super) fn call_time_ms(&self, call: &Call) -> u64 {
        let limits = &self.state.spec.limits;
        // A task has limits of its own, and people may let it wait.
        let own_ms = if self.wants(call).is_some() { u64::MAX } else { limits.tool_timeout_ms };
        self.state.spent.time_for(limits, own_ms, self.state.ledger.now_ms())
    }

    /// A task that a call has started is over.
    pub(super) fn child_ended(
        &mut self,
        id: CallId,
        run: RunId,
        ending: Option<Ending>,
        label: Label,
        spent: Spending,
    ) {
        self.count_child(id, &label, &spent);
        self.state.ledger.fact(Fact::ChildEnded { call: id, run, ending: ending.clone(), label, spent });
        // A refused message surfaces as itself: no tool, and no model, can make something else of it.
        if let Some(denied @ Ending::MessageDenied(_)) = ending
            && self.state.phase != Phase::Closing
        {
            self.end(denied);
        }
    }

    /// Counts what a task has spent, and has the result of its call tell no more than it may.
    pub(super) fn count_child(&mut self, id: CallId, label: &Label, spent: &Spending) {
        match self.state.calls.get_mut(&id).filter(|call| !call.is_settled()) {
            Some(call) => {
                call.heard_from =
                    Some(call.heard_from.as_ref().map_or(label.clone(), |heard| heard.join(label)));
                call.allowance = call.allowance.take().map(|allowance| allowance.without(spent));
                self.state.spent.count_child(spent);
            }
            // All that was kept for it was counted when its call was cut off.
            None => self.state.spent.count_child(&Spending {
                turns: 0,
                tool_calls: 0,
                charged_tokens: 0,
                charged_usd: 0.0,
                ..spent.clone()
            }),
        }
    }

    /// Counts all that was kept for a call that was cut off: what its tasks have spent is not known.
    pub(super) fn count_lost_children(&mut self, id: CallId) {
        let allowance = self.state.calls.get_mut(&id).and_then(|call| call.allowance.take());
        if let Some(allowance) = allowance {
            self.state.spent.count_lost_child(&allowance.all_spent());
        }
    }
}

/// An equal share of what is left when each of so many calls has had one tool call.
fn share_of(left: &Allowance, calls: usize, among: usize) -> Allowance {
    let among = u32::try_from(among).unwrap_or(u32::MAX).max(1);
    let calls = u32::try_from(calls).unwrap_or(u32::MAX);
    Allowance {
        turns: left.turns / among,
        tool_calls: left.tool_calls.saturating_sub(calls) / among,
        tokens: left.tokens.map(|tokens| tokens / u64::from(among)),
        cost_usd: left.cost_usd.map(|usd| usd / f64::from(among)),
        wall_ms: None,
    }
}
