use probity_contract::{
    Answer, CallId, Digest, ModelCallId, ModelError, ModelErrorClass, Seat, ToolError, ToolErrorClass,
};

use crate::boundary::{Consulted, Heard, RowHeard};
use crate::run::Outcome;

/// The outcome that a task at work will bring.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owed {
    Reply(ModelCallId),
    Targets(CallId),
    Opinions(CallId, Seat),
    Answer(CallId, Digest),
    Result(CallId),
    Reconciled(CallId),
    Verdict(u64, u32),
    Resolution(u64),
}

impl Owed {
    /// The outcome in place of one that never comes, because the task broke outside of what it watches over: in the
    /// destructor of a foreign value, say.
    pub(super) fn broken(self) -> Outcome {
        let words = "it broke";
        match self {
            Self::Reply(call) => {
                let error = ModelError::new(ModelErrorClass::Malformed, words);
                Outcome::ModelReplied { call, result: Err(error) }
            }
            Self::Targets(call) => {
                Outcome::Resolved { call, result: Err(ToolError::new(ToolErrorClass::Panicked, words)) }
            }
            // Nobody was heard, and that denies.
            Self::Opinions(call, seat) => Outcome::Judged { call, seat, opinions: Vec::new() },
            Self::Answer(call, binding) => Outcome::Answered { call, binding, answer: Answer::Nobody },
            Self::Reconciled(call) => {
                let result = Err(ToolError::new(ToolErrorClass::Panicked, words));
                Outcome::Reconciled { call, result }
            }
            Self::Verdict(passage, first) => {
                Outcome::Intercepted { passage, row: RowHeard::one(first, Heard::Failed) }
            }
            Self::Resolution(passage) => Outcome::Consulted { passage, resolution: Consulted::Failed },
            Self::Result(call) => {
                let result = Err(ToolError::new(ToolErrorClass::Panicked, words));
                Outcome::ToolFinished { call, result, output_bytes: 0, ran_ms: 0 }
            }
        }
    }
}
