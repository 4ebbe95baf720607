//! One tool call on its way from proposal to result.

use std::sync::Arc;

use probity_contract::{
    Allowance, Arguments, Asker, Bench, CallId, Denial, DenialCode, Digest, Epoch, FrozenCall, Grant,
    Judgement, Label, Opinion, PendingCall, Permit, Readers, Redemption, Ruling, Seat, ToolName,
    ToolOutcomeKind,
};
use probity_egress::{Egress, SamePrincipal};
use serde::{Deserialize, Serialize};

use super::words;
use crate::boundary::Fold;

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
    /// Whether time has passed since it was frozen: in a question, or in a pause.
    pub(crate) waited: bool,
    /// How often people were asked about it.
    pub(crate) questions: u32,
    /// How often a person has changed its arguments.
    pub(crate) edits: u32,
    pub(crate) frozen: Option<Arc<FrozenCall>>,
    pub(crate) question: Option<PendingCall>,
    pub(crate) grant: Option<Grant>,
    /// Who may read what the tool brought back, as it says.
    #[serde(default, skip_serializing_if = "Readers::is_everyone")]
    pub(crate) brought_for: Readers,
    /// Values within what the tool brought back that it vouches for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) vouched: Vec<String>,
    /// What is kept for the tasks that it starts, of a tool that starts any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) allowance: Option<Allowance>,
    /// The join of all that its tasks have seen: its result says no more than they may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) heard_from: Option<Label>,
    /// Who has allowed it at the first seats, for people.
    #[serde(skip)]
    pub(crate) allowed_by: Vec<Egress<SamePrincipal>>,
    #[serde(skip)]
    hearing: Option<Judgement>,
    #[serde(skip)]
    permit: Option<Permit>,
}

/// A call that a person refused for the rest of the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RefusedForGood {
    /// What it has in common with calls that ask the same.
    pub(crate) request: Digest,
    pub(crate) reason: String,
}

/// Arguments that interceptors look at before they are frozen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Looking {
    pub(crate) fold: Fold,
    /// How often they were changed since the call was proposed, or changed by a person.
    #[serde(default)]
    pub(crate) rounds: u32,
    pub(crate) tool: ToolName,
    pub(crate) arguments: Arguments,
}

/// A result that interceptors look at before the model reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Returning {
    pub(crate) fold: Fold,
    pub(crate) settled: Settled,
    pub(crate) came: Came,
}

/// How a result came: from the tool, or from the tool when it was asked afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Came {
    Back { outcome: ToolOutcomeKind, output_bytes: u64, ran_ms: u64 },
    Reconciled,
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// Interceptors shall look at its arguments.
    Looking(Box<Looking>),
    /// The tool shall tell what the call touches.
    Resolving { tool: ToolName, arguments: Arguments },
    /// The policies shall judge.
    Judging,
    /// Those of the tasks above shall judge.
    Inheriting,
    /// A person shall decide.
    Asking,
    /// Allowed; waits for a free place.
    Cleared,
    /// The tool shall tell once more what the call touches.
    Reresolving,
    /// The policies judge once more, just before the effect.
    Rechecking,
    /// The person's approval is used up.
    Redeeming,
    /// The permit is there.
    Permitted,
    /// The tool has the permit.
    Running,
    /// Interceptors shall look at its result.
    Returning(Box<Returning>),
    /// The tool shall tell what became of it.
    Reconciling(Reconciling),
    /// There is a result, or a reason why there is none.
    Settled(Settled),
}

impl Stage {
    /// The passage that the call waits for.
    pub(crate) fn fold_mut(&mut self) -> Option<&mut Fold> {
        match self {
            Self::Looking(looking) => Some(&mut looking.fold),
            Self::Returning(returning) => Some(&mut returning.fold),
            Self::Resolving { .. }
            | Self::Judging
            | Self::Inheriting
            | Self::Asking
            | Self::Cleared
            | Self::Reresolving
            | Self::Rechecking
            | Self::Redeeming
            | Self::Permitted
            | Self::Running
            | Self::Reconciling(_)
            | Self::Settled(_) => None,
        }
    }
}

/// A call of which nothing was heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reconciling {
    /// What the model reads where the tool cannot tell.
    pub(crate) otherwise: Settled,
    /// Whether the call runs again where it was not done: its process ended, and nobody has told the model anything yet.
    pub(crate) again: bool,
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
    Ask(Vec<Asker>),
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
            waited: false,
            questions: 0,
            edits: 0,
            frozen: None,
            question: None,
            grant: None,
            brought_for: Readers::Everyone,
            vouched: Vec::new(),
            allowance: None,
            heard_from: None,
            allowed_by: Vec::new(),
            hearing: None,
            permit: None,
        }
    }

    pub(crate) const fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// Whether the call takes one of the places for calls at work.
    pub(crate) const fn is_at_work(&self) -> bool {
        matches!(
            self.stage,
            Stage::Reresolving
                | Stage::Rechecking
                | Stage::Redeeming
                | Stage::Permitted
                | Stage::Running
                | Stage::Returning(_)
                | Stage::Reconciling(_)
        )
    }

    /// Which seat its stage is heard at.
    pub(crate) const fn seat(&self) -> Option<Seat> {
        match self.stage {
            Stage::Judging if self.edits > 0 => Some(Seat::EditRecheck),
            Stage::Judging => Some(Seat::Adjudicate),
            Stage::Inheriting => Some(Seat::Inherited),
            Stage::Rechecking => Some(Seat::ExecuteRecheck),
            Stage::Looking(_)
            | Stage::Returning(_)
            | Stage::Resolving { .. }
            | Stage::Asking
            | Stage::Cleared
            | Stage::Reresolving
            | Stage::Redeeming
            | Stage::Permitted
            | Stage::Running
            | Stage::Reconciling(_)
            | Stage::Settled(_) => None,
        }
    }

    /// Moves to a stage whose step was not handed out yet.
    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.sent = false;
    }

    /// Puts the call before the policies just before its effect, as if nothing had been started for it. An approval that may
    /// be used up is none any more; whoever asked asks again.
    pub(crate) fn judge_again(&mut self) {
        let keeps_grant = self.stage == Stage::Redeeming && !self.sent;
        if !keeps_grant {
            self.grant = None;
        }
        self.enter(Stage::Reresolving);
        (self.started, self.waited, self.hearing, self.permit) = (false, true, None, None);
    }

    /// Takes what was said at `seat` and tells where it leads.
    pub(crate) fn hear(&mut self, seat: Seat, opinions: &[Opinion], bench: &Bench) -> Heard {
        let Some(frozen) = &self.frozen else {
            return Heard::Denied(incomplete(seat));
        };
        let open = || Judgement::open(Arc::clone(frozen), bench.clone());
        let ruling = match (&mut self.hearing, seat) {
            // A pause took what the task's own policies said. Only a denial counts here; everybody is heard again.
            (None, Seat::Inherited) => open().hear(seat, opinions),
            (None, Seat::ExecuteRecheck) => self.hearing.insert(open()).hear_after_pause(opinions),
            (hearing, _) => hearing.get_or_insert_with(open).hear(seat, opinions),
        };
        match ruling {
            Ruling::Allow => Heard::Cleared,
            Ruling::Ask(askers) => Heard::Ask(askers),
            Ruling::Deny(denial) => Heard::Denied(denial),
        }
    }

    /// Who has asked so far, and by what everybody judged.
    pub(crate) fn asked(&self) -> (Vec<Asker>, Vec<Epoch>) {
        self.hearing.as_ref().map(|hearing| (hearing.askers(), hearing.epochs().to_vec())).unwrap_or_default()
    }

    /// Whether there is a grant that answers all that was asked.
    pub(crate) fn is_answered(&self) -> bool {
        let hearing = self.hearing.as_ref();
        hearing.zip(self.grant.as_ref()).is_some_and(|(hearing, grant)| hearing.is_answered_by(grant))
    }

    /// Whether a person is asked about it.
    pub(crate) fn is_asking(&self) -> bool {
        self.stage == Stage::Asking
    }

    /// Whether its tool may have the permit.
    pub(crate) fn may_have_started(&self) -> bool {
        matches!(self.stage, Stage::Permitted | Stage::Running)
    }

    /// The question whose approval a permit would use up: somebody asked, at whichever seat, and a person has answered.
    pub(crate) fn to_redeem(&self) -> Option<Digest> {
        let asked = self.hearing.as_ref().is_some_and(|hearing| !hearing.askers().is_empty());
        self.grant.as_ref().filter(|_| asked && self.is_answered()).map(Grant::binding)
    }

    /// Puts other arguments in place of those that were judged: nothing of what was said of the call holds any more.
    pub(crate) fn edit(&mut self, stage: Stage) {
        self.edits += 1;
        (self.frozen, self.question, self.grant, self.hearing) = (None, None, None, None);
        self.allowed_by.clear();
        self.enter(stage);
    }

    /// Makes the permit from the finished hearing, and tells which question's approval it uses up.
    ///
    /// # Errors
    /// The denial.
    pub(crate) fn mint(
        &mut self,
        redemption: Option<Redemption>,
        now_ms: u64,
    ) -> Result<Option<Digest>, Denial> {
        let mut hearing = self.hearing.take().ok_or_else(|| incomplete(Seat::ExecuteRecheck))?;
        if let Some(grant) = &self.grant {
            hearing.grant(grant.clone());
        }
        if let Some(redemption) = redemption {
            hearing.redeem(redemption);
        }
        let permit = hearing.permit(now_ms)?;
        let redeems = permit.redeems();
        self.permit = Some(permit);
        Ok(redeems)
    }

    /// Hands the permit out, once; with it goes the grant, which is for one start.
    pub(crate) fn take_permit(&mut self) -> Option<Permit> {
        self.grant = None;
        self.permit.take()
    }
}

fn incomplete(seat: Seat) -> Denial {
    words::denial(DenialCode::Incomplete, seat, "not every policy could be heard".to_owned())
}
