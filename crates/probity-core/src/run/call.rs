//! One tool call on its way from proposal to result.

use std::sync::Arc;

use probity_contract::{
    Arguments, CallId, Denial, DenialCode, FrozenCall, Grant, Judgement, Opinion, PendingCall, Permit,
    Roster, Ruling, Seat, ToolName,
};
use serde::{Deserialize, Serialize};

/// A proposed call and how far it has come.
///
/// The hearing and the permit are not stored. A call that is read back needs no hearing of its own, for the policies are
/// heard just before the effect in any case; a person's grant is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: CallId,
    pub(crate) provider_id: String,
    /// The name as proposed.
    pub(crate) tool: String,
    pub(crate) stage: Stage,
    /// Whether the step that the stage waits for was handed out.
    pub(crate) sent: bool,
    /// Whether a permit was made; the call then counts against the limit of tool calls.
    pub(crate) started: bool,
    pub(crate) frozen: Option<Arc<FrozenCall>>,
    pub(crate) question: Option<PendingCall>,
    pub(crate) grant: Option<Grant>,
    #[serde(skip)]
    hearing: Option<Judgement>,
    #[serde(skip)]
    permit: Option<Permit>,
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// The tool shall tell what the call touches.
    Resolving { tool: ToolName, arguments: Arguments },
    /// The policies shall judge.
    Judging,
    /// A person shall decide.
    Asking,
    /// Allowed; waits for a free place.
    Cleared,
    /// The policies judge once more, just before the effect.
    Rechecking,
    /// The permit is there.
    Permitted,
    /// The tool has the permit.
    Running,
    /// There is a result, or a reason why there is none.
    Settled(Settled),
}

/// What the model will read of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settled {
    pub(crate) text: Arc<str>,
    pub(crate) is_error: bool,
    pub(crate) trusted: bool,
}

/// Where a hearing leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Everybody allows.
    Cleared,
    /// A person must be asked.
    Ask(Vec<probity_contract::Asker>),
    /// The call will not run.
    Denied(Denial),
}

impl Call {
    pub(crate) const fn new(id: CallId, provider_id: String, tool: String, stage: Stage) -> Self {
        Self {
            id,
            provider_id,
            tool,
            stage,
            sent: false,
            started: false,
            frozen: None,
            question: None,
            grant: None,
            hearing: None,
            permit: None,
        }
    }

    pub(crate) const fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// Whether the call takes one of the places for calls at work.
    pub(crate) const fn is_at_work(&self) -> bool {
        matches!(self.stage, Stage::Rechecking | Stage::Permitted | Stage::Running)
    }

    /// Moves to a stage whose step was not handed out yet.
    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.sent = false;
    }

    /// Puts the call before the policies just before its effect, as if nothing had been started for it.
    pub(crate) fn judge_again(&mut self) {
        self.enter(Stage::Rechecking);
        (self.started, self.hearing, self.permit) = (false, None, None);
    }

    /// Takes what was said at `seat` and tells where it leads.
    pub(crate) fn hear(&mut self, seat: Seat, opinions: &[Opinion], roster: &Roster) -> Heard {
        let Some(frozen) = &self.frozen else {
            return Heard::Denied(incomplete(seat));
        };
        let hearing = self.hearing.get_or_insert_with(|| {
            let mut hearing = Judgement::open(Arc::clone(frozen), roster.clone());
            // A pause has ended the first hearing. The same policies are heard now, under what is in force now, so what
            // they say counts for the first seat as well.
            if seat == Seat::ExecuteRecheck {
                hearing.hear(Seat::Adjudicate, opinions);
            }
            hearing
        });
        match hearing.hear(seat, opinions) {
            Ruling::Allow => Heard::Cleared,
            Ruling::Ask(askers) => Heard::Ask(askers),
            Ruling::Deny(denial) => Heard::Denied(denial),
        }
    }

    /// Makes the permit from the finished hearing.
    ///
    /// # Errors
    /// The denial.
    pub(crate) fn mint(&mut self, now_ms: u64) -> Result<(), Denial> {
        let mut hearing = self.hearing.take().ok_or_else(|| incomplete(Seat::ExecuteRecheck))?;
        if let Some(grant) = &self.grant {
            hearing.grant(grant.clone());
        }
        self.permit = Some(hearing.permit(now_ms)?);
        Ok(())
    }

    /// Hands the permit out, once.
    pub(crate) const fn take_permit(&mut self) -> Option<Permit> {
        self.permit.take()
    }
}

fn incomplete(seat: Seat) -> Denial {
    let reason = "not every policy could be heard".to_owned();
    Denial { code: DenialCode::Incomplete, seat, by: None, reason }
}
