//! Which cleared calls may go to work: a free place, a tool call that is left, and time.

use probity_contract::{CallId, Denial, DenialCode, Seat};

use super::call::Stage;
use super::{Run, words};

/// What of the limit of tool calls is there for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// One is kept for it.
    Kept,
    /// Earlier calls decide.
    Undecided,
    /// None is left.
    Taken,
}

impl Run {
    /// Gives a cleared call a place among those at work, if one is free and a tool call is left for it.
    pub(super) fn take_place(&mut self, id: CallId) {
        if self.state.calls.get(&id).is_none_or(|call| call.stage != Stage::Cleared) {
            return;
        }
        let at_work = self.state.calls.values().filter(|call| call.is_at_work()).count();
        let free = at_work < self.state.spec.limits.tool_calls_parallel_max.max(1) as usize;
        if self.is_time_up() {
            return self.deny(id, limit("the limit of time is reached"));
        }
        match self.share_of(id) {
            Share::Taken => {
                self.state.calls_withheld = true;
                self.deny(id, limit("the limit of tool calls is reached"));
            }
            Share::Kept if free => {
                if let Some(call) = self.state.calls.get_mut(&id) {
                    // Where time has passed, what it touches may have been changed meanwhile.
                    call.enter(if call.waited { Stage::Reresolving } else { Stage::Rechecking });
                }
            }
            Share::Kept | Share::Undecided => {}
        }
    }

    /// Whether a tool call is left for this call.
    ///
    /// A scarce limit goes to the first calls of the reply: what is kept for a call does not depend on whose policies
    /// were heard first, or the same task would not give the same run. A call therefore waits while earlier ones that
    /// might still need what is left are undecided.
    fn share_of(&self, id: CallId) -> Share {
        let (mut undecided_before, mut started_after) = (0_u32, 0_u32);
        for call in self.state.calls.values() {
            if call.id < id && !call.started && !call.is_settled() {
                undecided_before += 1;
            }
            if call.id > id && call.started {
                started_after += 1;
            }
        }
        let max = self.state.spec.limits.tool_calls_max;
        let certain = self.state.spent.tool_calls.saturating_sub(started_after);
        if certain >= max {
            Share::Taken
        } else if certain + undecided_before < max {
            Share::Kept
        } else {
            Share::Undecided
        }
    }

    pub(super) fn is_time_up(&self) -> bool {
        let now = self.state.ledger.now_ms();
        self.state.spent.time_for(&self.state.spec.limits, u64::MAX, now) == 0
    }
}

pub(super) fn limit(words: &str) -> Denial {
    words::denial(DenialCode::Limit, Seat::ExecuteRecheck, words.to_owned())
}
