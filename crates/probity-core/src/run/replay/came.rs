//! What must have come from outside for an entry to be written next.
#![expect(clippy::wildcard_enum_match_arm, reason = "each question here is about a few facts of many")]

use probity_contract::{
    Answer, AnswerKind, Body, CallId, DenialCode, Digest, Entry, Fact, Integrity, ModelCallId, ModelError,
    ModelReply, Origin, PrincipalId, Reconciled, ReconciledKind, Stop, Target, ToolError, ToolErrorClass,
    ToolOutcomeKind, ToolOutput, Touches, Usage,
};

use super::super::Outcome;
use super::super::call::{Came, Settled};
use super::{Next, Owed, Player, ReplayError};

impl<'t> Player<'t> {
    fn takes(&mut self, owed: &Owed) -> bool {
        let at = self.owed.iter().position(|open| open == owed);
        at.map(|at| self.owed.remove(at)).is_some()
    }

    /// What must have come for this entry to be written next.
    pub(super) fn outcome(&mut self, next: &'t Entry) -> Result<Next, ReplayError> {
        let made = match &next.fact {
            Fact::ItemAdded { origin: Origin::Model(call), .. } => self.replied(*call)?,
            Fact::ModelReplied { call, .. } => self.replied(*call)?,
            Fact::ModelFailed { call, class, error } => {
                let result = Err(ModelError::new(*class, error.clone()));
                self.takes(&Owed::Model(*call)).then_some(Outcome::ModelReplied { call: *call, result })
            }
            Fact::CallFrozen { call, .. } => self.resolved(*call, self.touches(*call)),
            Fact::Judged { call, seat, opinions } => {
                if self.takes(&Owed::Opinions(*call, *seat)) {
                    Some(Outcome::Judged { call: *call, seat: *seat, opinions: opinions.clone() })
                } else {
                    self.resolved(*call, self.touches_before(*call))
                }
            }
            Fact::ToolStarted { call, .. } => self.resolved(*call, self.touches_before(*call)),
            Fact::Denied { call, denial } => match denial.code {
                DenialCode::TargetsFailed => {
                    let error = ToolError::new(ToolErrorClass::Unavailable, denial.reason.clone());
                    let result = Err(error);
                    self.takes(&Owed::Touches(*call)).then_some(Outcome::Resolved { call: *call, result })
                }
                DenialCode::TargetsChanged => self.resolved(*call, self.other_touches(*call)),
                _ => self.resolved(*call, self.touches_before(*call)),
            },
            Fact::Answered { call, digest, answer, by } => {
                self.answered(*call, *digest, *answer, by.as_ref())?
            }
            Fact::ToolFinished { call, .. } if self.takes(&Owed::Result(*call)) => {
                return self.finished(next);
            }
            Fact::ChildEnded { call, run, ending, label, spent } => Some(Outcome::ChildEnded {
                call: *call,
                run: run.clone(),
                ending: ending.clone(),
                label: label.clone(),
                spent: spent.clone(),
            }),
            Fact::Reconciled { call, found } => self.reconciled(*call, *found)?,
            Fact::Shadowed { call, seat, policy, said } => Some(Outcome::Shadowed {
                call: *call,
                seat: *seat,
                policy: policy.clone(),
                said: said.clone(),
            }),
            Fact::FailureReported { call, seat, who, error } => Some(Outcome::FailureReported {
                call: *call,
                seat: *seat,
                who: who.clone(),
                error: error.clone(),
            }),
            _ => None,
        };
        made.map(Next::Outcome).ok_or_else(|| self.differs())
    }

    fn resolved(&mut self, call: CallId, touches: Option<Touches>) -> Option<Outcome> {
        let result = Ok(touches?);
        self.takes(&Owed::Touches(call)).then_some(Outcome::Resolved { call, result })
    }

    /// What the next frozen form of a call touches.
    fn touches(&self, call: CallId) -> Option<Touches> {
        self.told.facts_of_a_process(self.entries).find_map(|fact| touches_of(fact, call))
    }

    /// What its last frozen form touches.
    fn touches_before(&self, call: CallId) -> Option<Touches> {
        let before = self.told.entries.get(..self.entries)?;
        before.iter().rev().find_map(|entry| touches_of(&entry.fact, call))
    }

    /// Something else than that.
    fn other_touches(&self, call: CallId) -> Option<Touches> {
        let mut touches = self.touches_before(call)?;
        if touches.targets.pop().is_none() && touches.operands.pop().is_none() {
            touches.targets.push(Target::Other { what: "replay".to_owned(), value: "changed".to_owned() });
        }
        Some(touches)
    }

    fn replied(&mut self, call: ModelCallId) -> Result<Option<Outcome>, ReplayError> {
        if !self.takes(&Owed::Model(call)) {
            return Ok(None);
        }
        let reply = self.told.facts_of_a_process(self.entries).find_map(|fact| match fact {
            Fact::ModelReplied { call: own, stop, usage, model, response_id, .. } if *own == call => {
                Some((stop, usage, model, response_id))
            }
            _ => None,
        });
        let parts = self.told.facts_of_a_process(self.entries).find_map(|fact| match fact {
            Fact::ItemAdded { origin: Origin::Model(own), body: Body::Reply { parts }, .. }
                if *own == call =>
            {
                Some(parts)
            }
            _ => None,
        });
        let Some(parts) = parts else { return Ok(None) };
        let parts = self.told.parts_of(parts)?;
        // A process that ended within the answer did not say how it ends. Whatever that does is not told either.
        let result = Ok(match reply {
            Some((stop, usage, model, response_id)) => ModelReply {
                parts,
                stop: stop.clone(),
                usage: *usage,
                model: model.clone(),
                response_id: response_id.clone(),
            },
            None => ModelReply {
                parts,
                stop: Stop::EndTurn,
                usage: Usage::default(),
                model: None,
                response_id: None,
            },
        });
        Ok(Some(Outcome::ModelReplied { call, result }))
    }

    pub(super) fn answered(
        &mut self,
        call: CallId,
        digest: Digest,
        answer: AnswerKind,
        by: Option<&PrincipalId>,
    ) -> Result<Option<Outcome>, ReplayError> {
        self.takes(&Owed::Answer(call, digest));
        let answer = match (answer, by.cloned()) {
            (AnswerKind::Approved | AnswerKind::Void, Some(by)) => Answer::Approve { by, more: 0 },
            (AnswerKind::Refused, Some(by)) => {
                let reason = self.told.facts_of_a_process(self.entries).find_map(|fact| match fact {
                    Fact::Denied { call: own, denial } if *own == call => Some(denial.reason.clone()),
                    _ => None,
                });
                Answer::Refuse { by, reason: reason.unwrap_or_default(), for_good: false }
            }
            (AnswerKind::Edited, Some(by)) => {
                let arguments = self.told.facts_of_a_process(self.entries).find_map(|fact| match fact {
                    Fact::CallFrozen { call: own, arguments, .. } if *own == call => Some(*arguments),
                    _ => None,
                });
                // The process may have ended before it told them.
                let arguments = arguments.map_or(Ok("{}"), |arguments| self.told.text(arguments))?;
                Answer::Edit { by, arguments: arguments.to_owned() }
            }
            (AnswerKind::Nobody | AnswerKind::Void, None) => Answer::Nobody,
            _ => return Ok(None),
        };
        Ok(Some(Outcome::Answered { call, binding: digest, answer }))
    }

    /// A tool came back, with what the model read of it.
    fn finished(&self, next: &Entry) -> Result<Next, ReplayError> {
        let Fact::ToolFinished { call, outcome, output, output_bytes, ran_ms, readers, vouched } = &next.fact
        else {
            return Err(self.differs());
        };
        let text = self.told.text(*output)?;
        let (call, came) =
            (*call, Came::Back { outcome: *outcome, output_bytes: *output_bytes, ran_ms: *ran_ms });
        if *outcome == ToolOutcomeKind::Succeeded {
            let output = ToolOutput {
                text: text.to_owned(),
                trusted: self.is_trusted(call),
                readers: readers.clone(),
                vouched: vouched.clone(),
            };
            let (output_bytes, ran_ms) = (*output_bytes, *ran_ms);
            return Ok(Next::Outcome(Outcome::ToolFinished {
                call,
                result: Ok(output),
                output_bytes,
                ran_ms,
            }));
        }
        // The words of an error are part of a sentence by now, which is taken as it is.
        let settled = Settled { text: text.into(), is_error: true, trusted: false };
        Ok(Next::Result { call, settled, came })
    }

    /// Whether the tool vouched for its result, by the label that this has.
    fn is_trusted(&self, call: CallId) -> bool {
        let label = self.told.facts_of_a_process(self.entries).find_map(|fact| match fact {
            Fact::ItemAdded { origin: Origin::Tool(own), label, .. } if *own == call => Some(label),
            _ => None,
        });
        label.is_some_and(|label| label.integrity >= Integrity::ToolTrusted)
    }

    fn reconciled(&mut self, call: CallId, found: ReconciledKind) -> Result<Option<Outcome>, ReplayError> {
        let result = match found {
            ReconciledKind::NotDone => Ok(Reconciled::NotDone),
            ReconciledKind::Unknown => Err(ToolError::new(ToolErrorClass::Unavailable, "it cannot tell")),
            ReconciledKind::Done => {
                let result = self.told.facts_of_a_process(self.entries).find_map(|fact| match fact {
                    Fact::ItemAdded { body: Body::ToolResult { call: own, text, .. }, .. }
                        if *own == call =>
                    {
                        Some(*text)
                    }
                    _ => None,
                });
                // The process may have ended before it told what that was.
                let text = result.map_or(Ok(""), |text| self.told.text(text))?;
                let output = ToolOutput {
                    text: text.to_owned(),
                    trusted: self.is_trusted(call),
                    ..ToolOutput::default()
                };
                Ok(Reconciled::Done(output))
            }
        };
        Ok(self.takes(&Owed::Reconciled(call)).then_some(Outcome::Reconciled { call, result }))
    }
}

fn touches_of(fact: &Fact, call: CallId) -> Option<Touches> {
    match fact {
        Fact::CallFrozen { call: own, targets, operands, .. } if *own == call => {
            Some(Touches { targets: targets.clone(), operands: operands.clone() })
        }
        _ => None,
    }
}
