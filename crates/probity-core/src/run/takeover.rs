//! What becomes of the calls of a run that was read back, by the driver it had or by another.

use probity_contract::{CallId, DenialCode, Effect, Seat, ToolSpec};

use super::call::{Call, Stage};
use super::{Run, words};

impl Run {
    /// Makes calls whole that were read back: a permit is not stored. It writes facts, so it comes when the run goes on and not
    /// when it is read: whoever takes it up may know more of its record.
    pub(super) fn restore_calls(&mut self) {
        if !std::mem::take(&mut self.as_stored) {
            return;
        }
        for id in self.calls_at(&Stage::Redeeming) {
            // What was heard is gone with the pause. Should the approval be used up by now, a person is asked again.
            self.judge_again_unstarted(id);
        }
        for id in self.calls_at(&Stage::Permitted) {
            if self.state.ledger.withdraw_start(id) {
                self.judge_again(id);
            } else {
                // The record tells of the start, so the tool may have had the permit.
                self.settle_unknown(id);
            }
        }
        self.deny_calls_of_other_tools();
    }

    /// A call is bound to its tool's definition. Whoever changes that in a stored run has not changed what was judged, and
    /// what was judged is not what would run.
    fn deny_calls_of_other_tools(&mut self) {
        let is_other = |call: &&Call| {
            let now = self.state.spec.tool(&call.tool).map(ToolSpec::digest);
            call.frozen.as_ref().is_some_and(|frozen| Some(frozen.facts().tool_digest) != now)
        };
        let open = self.state.calls.values();
        let open = open.filter(|call| {
            !matches!(
                call.stage,
                Stage::Running | Stage::Returning(_) | Stage::Reconciling(_) | Stage::Settled(_)
            )
        });
        for id in open.filter(is_other).map(|call| call.id).collect::<Vec<_>>() {
            let reason = "the tool is not any more the one that the call was made for".to_owned();
            self.deny(id, words::denial(DenialCode::ToolChanged, Seat::Targets, reason));
        }
    }

    /// Hands steps out again whose outcomes nobody owes any more, and settles the calls that were running.
    pub(super) fn abandon_calls(&mut self) {
        for id in self.calls_at(&Stage::Running) {
            self.settle_unknown(id);
        }
        self.state.calls.values_mut().for_each(|call| call.sent = false);
        self.share_out();
    }

    fn calls_at(&self, stage: &Stage) -> Vec<CallId> {
        self.state.calls.values().filter(|call| call.stage == *stage).map(|call| call.id).collect()
    }

    fn judge_again_unstarted(&mut self, id: CallId) {
        if let Some(call) = self.state.calls.get_mut(&id) {
            call.judge_again();
        }
    }

    pub(super) fn judge_again(&mut self, id: CallId) {
        if let Some(call) = self.state.calls.get_mut(&id) {
            call.judge_again();
            // One call counts once, however often it is tried.
            self.state.spent.tool_calls = self.state.spent.tool_calls.saturating_sub(1);
        }
    }

    /// Settles a call of which nobody knows whether it had its effect, as the effect allows.
    fn settle_unknown(&mut self, id: CallId) {
        let Some(call) = self.state.calls.get(&id) else { return };
        let effect = self.state.spec.tool(&call.tool).map_or(Effect::Once, |tool| tool.effect);
        self.finish_cut_off(id, effect);
        match effect {
            Effect::Pure | Effect::Idempotent => self.judge_again(id),
            Effect::Reconcile => self.reconcile(id, true),
            Effect::Once => {}
        }
    }
}
