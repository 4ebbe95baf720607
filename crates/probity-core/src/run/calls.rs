//! The calls of one reply: how they move on, which step comes next, and the time in which they only wait for people.

use std::sync::Arc;

use probity_contract::{CallId, LimitKind};

use super::call::{Call, Stage};
use super::{Phase, Run, Step, Unexpected};

impl Run {
    pub(super) fn call_mut(&mut self, id: CallId) -> Result<&mut Call, Unexpected> {
        self.state.calls.get_mut(&id).ok_or(Unexpected)
    }

    /// Moves all calls as far as they go without an outcome, and the run on when all are settled.
    pub(super) fn progress_calls(&mut self) {
        let ids: Vec<CallId> = self.state.calls.keys().copied().collect();
        for id in &ids {
            self.progress_passage(*id);
        }
        for id in &ids {
            self.take_place(*id);
        }
        let all_settled = self.state.calls.values().all(Call::is_settled);
        if !all_settled {
            return;
        }
        self.settle_batch();
        if self.state.calls_withheld {
            self.hit(LimitKind::ToolCalls);
            self.ask_to_wrap_up(LimitKind::ToolCalls);
        } else {
            self.state.phase = Phase::Turn { wrap_up: None };
        }
    }

    pub(super) fn hand_out_call_step(&mut self) -> Option<Step> {
        let waits =
            |call: &&mut Call| !call.sent && !matches!(call.stage, Stage::Running | Stage::Settled(_));
        let permitted = self.state.calls.values().find(|call| !call.sent && call.stage == Stage::Permitted);
        let (timeout_ms, allowance) =
            permitted.map_or((0, None), |call| (self.call_time_ms(call), self.allowance(call)));
        for call in self.state.calls.values_mut().filter(waits) {
            let step = match (&call.stage, &call.frozen) {
                (Stage::Resolving { tool, arguments }, _) => {
                    Some(Step::Resolve { call: call.id, tool: tool.clone(), arguments: arguments.clone() })
                }
                (Stage::Judging | Stage::Inheriting | Stage::Rechecking, Some(frozen)) => {
                    call.seat().map(|seat| Step::Judge { call: Arc::clone(frozen), seat })
                }
                (Stage::Reresolving, Some(frozen)) => {
                    let (tool, arguments) = (frozen.tool().clone(), frozen.arguments().clone());
                    Some(Step::Resolve { call: call.id, tool, arguments })
                }
                (Stage::Redeeming, Some(frozen)) => {
                    let call_to_redeem = Arc::clone(frozen);
                    call.to_redeem().map(|binding| Step::Redeem { call: call_to_redeem, binding })
                }
                (Stage::Reconciling(_), Some(frozen)) => Some(Step::Reconcile { call: Arc::clone(frozen) }),
                (Stage::Asking, _) => call.question.clone().map(|question| Step::Ask { question }),
                (Stage::Permitted, _) => call.take_permit().map(|permit| Step::RunTool {
                    permit,
                    timeout_ms,
                    allowance: allowance.clone(),
                }),
                (
                    Stage::Looking(_)
                    | Stage::Returning(_)
                    | Stage::Judging
                    | Stage::Inheriting
                    | Stage::Reresolving
                    | Stage::Rechecking
                    | Stage::Redeeming
                    | Stage::Reconciling(_)
                    | Stage::Cleared
                    | Stage::Running
                    | Stage::Settled(_),
                    _,
                ) => None,
            };
            if let Some(step) = step {
                if call.stage == Stage::Permitted {
                    call.enter(Stage::Running);
                }
                call.sent = true;
                return Some(step);
            }
        }
        None
    }

    /// Keeps count of the time in which the run only waits for people.
    pub(super) fn measure_waiting(&mut self) {
        let calls = self.state.calls.values();
        let open = calls.filter(|call| !call.is_settled() && call.stage != Stage::Cleared);
        let (mut asking, mut working) = (false, false);
        open.for_each(|call| if call.stage == Stage::Asking { asking = true } else { working = true });
        let only_waits = asking && !working;
        let now = self.state.ledger.now_ms();
        match (only_waits, self.state.waiting_since_ms) {
            (true, None) => self.state.waiting_since_ms = Some(now),
            (false, Some(since)) => {
                self.state.spent.waited_ms += now.saturating_sub(since);
                self.state.waiting_since_ms = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
}
