//! What passes a point of the boundary: held outside of the window until interceptors have looked at it.

use std::sync::Arc;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{
    CallId, Content, Ending, Fact, HostError, Intercepted, MessageDenied, ModelCallId, ModelReply, Point,
    ReplyPart,
};
use probity_egress::{SamePrincipal, one_line_untrusted};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::messages::{self, NotMessages};
use super::pieces::Written;
use super::spec::FirstItem;
use super::turns::{Last, content_bytes, reply_text};
use super::{Phase, Run, RunState, Step, Unexpected};
use crate::boundary::{
    BoundarySettings, Consulted, Envelope, Fold, FoldStep, RowHeard, Scene, Staged, Upshot, scrubbed,
};

/// What a run calls itself where interceptors are told who acts.
const AGENT: &str = "probity";

/// Something of the run as a whole that is being looked at, and what follows when it may go on.
///
/// Of a call's arguments and results there are passages of their own, which belong to the call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Passing {
    pub(super) fold: Fold,
    then: Then,
}

/// What goes on when the passage is over.
#[derive(Serialize, Deserialize)]
pub(super) enum Then {
    /// The run.
    Open,
    /// A message into the window.
    Message(FirstItem),
    /// The window to the model.
    Ask,
    /// A piece of what the model is writing, up to so many bytes, to whoever looks next, or to the observers.
    Piece { ends: usize },
    /// The reply to what it is: calls, or an answer.
    Reply(Box<Arrived>),
    /// The answer into the window and out.
    Answer(Box<Arrived>),
    /// The end into the record.
    Close(Ending),
}

/// Which point it is, and nothing of what passes there.
impl std::fmt::Debug for Then {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Open => "Open",
            Self::Message(_) => "Message",
            Self::Ask => "Ask",
            Self::Piece { .. } => "Piece",
            Self::Reply(_) => "Reply",
            Self::Answer(_) => "Answer",
            Self::Close(_) => "Close",
        })
    }
}

/// A reply that stands nowhere yet.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Arrived {
    pub(super) by: ModelCallId,
    pub(super) reply: ModelReply,
    // What it was when it came, whatever is put in its place.
    pub(super) bytes: u64,
    pub(super) last: Last,
}

impl Run {
    /// Whether a message or a reply is being looked at. What is refused there shall stand in no stored state, so whoever
    /// stores the run waits until it is over: a state from before knows nothing of it.
    #[must_use]
    pub fn is_looked_at(&self) -> bool {
        self.state.passing.is_some()
    }

    /// Whether the reply of the model call under way has come and is being looked at.
    pub(super) fn holds_reply(&self) -> bool {
        let then = self.state.passing.as_ref().map(|passing| &passing.then);
        self.written.end.is_some() || matches!(then, Some(Then::Reply(_) | Then::Answer(_)))
    }

    pub(super) fn is_heard_at(&self, point: Point) -> bool {
        self.state.spec.boundary.is_heard_at(point)
    }

    /// Begins a passage.
    pub(super) fn fold(&mut self, scene: impl FnOnce(&RunState, Envelope<'_>) -> Staged) -> Fold {
        let sequence = self.state.next_passage;
        self.state.next_passage += 1;
        let (state, now_ms) = (&self.state, self.state.ledger.now_ms());
        let at_unix_ms = state.spec.started_at_unix_ms.saturating_add(now_ms);
        let envelope = Envelope { agent: AGENT, session: state.spec.run.as_str(), at_unix_ms, sequence };
        Fold::begin(&state.spec.boundary, scene(state, envelope))
    }

    pub(super) fn pass(&mut self, fold: Fold, then: Then) {
        self.state.passing = Some(Box::new(Passing { fold, then }));
    }

    /// The run comes in: first itself, then what it was given, item by item.
    pub(super) fn progress_opening(&mut self) {
        if self.state.phase == (Phase::Opening { told: false }) {
            self.state.phase = Phase::Opening { told: true };
            if self.is_heard_at(Point::AgentStartup) {
                let fold = self.fold(|state, envelope| {
                    let tools = state.spec.tools.iter().map(|tool| tool.name.as_str()).collect();
                    Scene::AgentStartup { tools }.stage(envelope)
                });
                return self.pass(fold, Then::Open);
            }
        }
        while let Some(first) = take_first(&mut self.state.spec.items) {
            if let Content::Person(text) = &first.content
                && self.is_heard_at(Point::Input)
            {
                let fold =
                    self.fold(|_, envelope| Scene::Input { content: text, role: "user" }.stage(envelope));
                return self.pass(fold, Then::Message(first));
            }
            self.add_first(first);
        }
        self.state.phase = Phase::Turn { wrap_up: None };
    }

    /// Adds what the run was given. Calls of an earlier run keep their numbers, so this one's come after them.
    fn add_first(&mut self, first: FirstItem) {
        if let Content::ToolResult { call, .. } = &first.content {
            self.state.next_call = self.state.next_call.max(call.0.saturating_add(1));
        }
        self.add_item(first.origin, first.label, first.content);
    }

    /// Has the window looked at before it is sent; whether that is to be done at all.
    pub(super) fn look_at_window(&mut self) -> bool {
        if !self.is_heard_at(Point::PreModelCall) {
            return false;
        }
        let fold = self.fold(|state, envelope| {
            let (model, messages) = (state.spec.model.as_str(), messages::of(&state.window));
            Scene::PreModelCall { model, messages }.stage(envelope)
        });
        self.pass(fold, Then::Ask);
        true
    }

    /// Has a reply looked at, whole, or takes it in where nobody is heard.
    pub(super) fn look_at_reply(&mut self, arrived: Arrived) {
        if !self.is_heard_at(Point::PostModelCall) {
            return self.look_at_answer(arrived);
        }
        let fold =
            self.fold(|state, envelope| messages::reply(state.spec.model.as_str(), &arrived.reply, envelope));
        self.pass(fold, Then::Reply(Box::new(arrived)));
    }

    /// Has what would be an answer looked at, or takes the reply in where it is none or nobody is heard.
    fn look_at_answer(&mut self, arrived: Arrived) {
        // A reply that only pauses is a part of an answer.
        let is_answer = !messages::proposes_calls(&arrived.reply.parts);
        if !is_answer || !self.is_heard_at(Point::Output) {
            return self.take_reply(arrived);
        }
        let text = reply_text(&arrived.reply.parts);
        let fold = self.fold(|_, envelope| Scene::Output { content: &text }.stage(envelope));
        self.pass(fold, Then::Answer(Box::new(arrived)));
    }

    /// Moves a passage on as far as it goes without an outcome.
    pub(super) fn progress_passing(&mut self) {
        let is_over = self.state.passing.as_ref().is_some_and(|passing| passing.fold.is_over());
        let Some(passing) = self.state.passing.take_if(|_| is_over) else { return };
        let Passing { fold, then } = *passing;
        if let Some(upshot) = fold.finish(&self.state.spec.boundary) {
            self.passed(upshot, then);
        }
    }

    /// The step that a passage waits for, the run's own or a call's, if it was not handed out yet.
    pub(super) fn hand_out_passage(&mut self) -> Option<Step> {
        let RunState { spec, passing, calls, window, label, .. } = &mut self.state;
        let own = passing.iter_mut().map(|passing| &mut passing.fold);
        let mut folds = own.chain(calls.values_mut().filter_map(|call| call.stage.fold_mut()));
        folds.find_map(|fold| {
            let passage = fold.sequence();
            match fold.next(&spec.boundary)? {
                FoldStep::Identify { provider, occasion } => {
                    Some(Step::Identify { passage, provider, occasion })
                }
                FoldStep::Hear { seats, occasion } => {
                    let occasion = occasion.with_window(Arc::clone(window), label.clone());
                    Some(Step::Intercept { passage, seats, occasion })
                }
                FoldStep::Consult(consultation) => Some(Step::Consult { passage, consultation }),
                FoldStep::Done => None,
            }
        })
    }

    /// Tells the passage of this number something: the run's own, or a call's.
    fn tell(
        &mut self,
        passage: u64,
        tell: impl FnOnce(&mut Fold, &BoundarySettings) -> Result<(), Unexpected>,
    ) -> Result<(), Unexpected> {
        let RunState { spec, passing, calls, .. } = &mut self.state;
        let own = passing.iter_mut().map(|passing| &mut passing.fold);
        let of_calls = calls.values_mut().filter_map(|call| call.stage.fold_mut());
        let fold = own.chain(of_calls).find(|fold| fold.sequence() == passage).ok_or(Unexpected)?;
        tell(fold, &spec.boundary)
    }

    pub(super) fn intercepted(&mut self, passage: u64, row: RowHeard) -> Result<(), Unexpected> {
        self.tell(passage, |fold, settings| fold.heard(settings, row))
    }

    pub(super) fn consulted(&mut self, passage: u64, consulted: Consulted) -> Result<(), Unexpected> {
        self.tell(passage, |fold, settings| fold.consulted(settings, consulted))
    }

    pub(super) fn identified(&mut self, passage: u64, name: Option<String>) -> Result<(), Unexpected> {
        self.tell(passage, |fold, settings| fold.identified(settings, name))
    }

    /// A passage is over: writes its row and lets go on what may.
    fn passed(&mut self, upshot: Upshot, then: Then) {
        match then {
            Then::Open => {
                self.record_row(&upshot, None, None);
                if !upshot.proceeds {
                    self.deny_message(&upshot);
                }
            }
            Then::Message(first) => self.passed_message(upshot, first),
            Then::Ask => self.passed_window(upshot),
            Then::Piece { ends } => self.passed_piece(&upshot, ends),
            Then::Reply(arrived) => self.passed_reply(upshot, *arrived),
            Then::Answer(arrived) => self.passed_answer(upshot, *arrived),
            Then::Close(ending) => {
                self.record_row(&upshot, None, None);
                self.write_end(ending);
            }
        }
    }

    fn passed_window(&mut self, mut upshot: Upshot) {
        if upshot.is_changed && upshot.proceeds {
            match messages::changed_items(&self.state.window, upshot.target()) {
                Ok(changed) => changed.into_iter().for_each(|(at, content)| self.replace_item(at, content)),
                Err(NotMessages) => upshot.refuse(HostError::TransformInvalid),
            }
        }
        self.record_row(&upshot, None, None);
        if !upshot.proceeds {
            self.deny_message(&upshot);
        } else if let Phase::Turn { wrap_up } = self.state.phase {
            self.send_window(wrap_up);
        }
    }

    fn passed_message(&mut self, mut upshot: Upshot, first: FirstItem) {
        let text = upshot.target().get("content").and_then(Value::as_str).map(Arc::from);
        if text.is_none() {
            upshot.refuse(HostError::TransformInvalid);
        }
        self.record_row(&upshot, None, None);
        match text.filter(|_| upshot.proceeds) {
            Some(text) => self.add_first(FirstItem { content: Content::Person(text), ..first }),
            None => self.deny_message(&upshot),
        }
    }

    fn passed_reply(&mut self, mut upshot: Upshot, mut arrived: Arrived) {
        if upshot.is_changed && upshot.proceeds {
            match messages::changed_reply(&arrived.reply, upshot.target()) {
                Ok(reply) => arrived.reply = reply,
                Err(NotMessages) => upshot.refuse(HostError::TransformInvalid),
            }
        }
        self.record_row(&upshot, None, Some(arrived.by));
        if upshot.proceeds {
            self.look_at_answer(arrived);
        } else {
            self.refuse_reply(arrived.by, &arrived.reply, arrived.bytes);
            self.deny_message(&upshot);
        }
    }

    fn passed_answer(&mut self, mut upshot: Upshot, mut arrived: Arrived) {
        if upshot.is_changed && upshot.proceeds {
            // Reasoning and a provider's own forms may say what was taken out; nothing of them is needed behind an answer.
            match upshot.target().get("content").and_then(Value::as_str) {
                Some(text) => arrived.reply.parts = vec![ReplyPart::text(text)],
                None => upshot.refuse(HostError::TransformInvalid),
            }
        }
        self.record_row(&upshot, None, Some(arrived.by));
        if upshot.proceeds {
            self.take_reply(arrived);
        } else {
            self.refuse_reply(arrived.by, &arrived.reply, arrived.bytes);
            self.deny_message(&upshot);
        }
    }

    /// What is known of a reply that stands nowhere: what it cost.
    fn refuse_reply(&mut self, by: ModelCallId, reply: &ModelReply, bytes: u64) {
        self.state.spent.count(&reply.usage, bytes);
        self.state.ledger.fact(Fact::ReplyRefused { call: by, usage: reply.usage });
        self.release_text(by, String::new(), true);
    }

    /// Writes the row of a passage down, with the texts behind its digests where something was changed or stopped.
    pub(super) fn record_row(
        &mut self,
        upshot: &Upshot,
        call: Option<CallId>,
        model_call: Option<ModelCallId>,
    ) {
        let ledger = &mut self.state.ledger;
        if upshot.is_changed || !upshot.proceeds {
            ledger.part(&upshot.before.target().to_string());
        }
        if upshot.is_changed && upshot.proceeds {
            ledger.part(&upshot.target().to_string());
        }
        let row = Intercepted { call, model_call, ..upshot.row.clone() };
        ledger.fact(Fact::Intercepted(Box::new(row)));
    }

    /// Ends the run because something of it may not go on, with everything that is said of it and nothing that it says.
    pub(super) fn deny_message(&mut self, upshot: &Upshot) {
        let denied = MessageDenied {
            phase: upshot.row.point,
            interceptor: upshot.interceptor.clone(),
            reason: reason_of(upshot),
        };
        self.end(Ending::MessageDenied(denied));
    }

    /// Forgets what was being looked at: the run ends. What a reply cost that stands nowhere is known all the same.
    pub(super) fn drop_passing(&mut self) {
        let looked_at = self.state.passing.take().and_then(|passing| match passing.then {
            Then::Reply(arrived) | Then::Answer(arrived) => Some((arrived.by, arrived.reply, arrived.bytes)),
            Then::Open | Then::Message(_) | Then::Ask | Then::Piece { .. } | Then::Close(_) => None,
        });
        let ended = std::mem::take(&mut self.written).end.and_then(|end| {
            let (by, reply) = (end.0, end.1.ok()?);
            let bytes = bytes_of(&reply);
            Some((by, reply, bytes))
        });
        for (by, reply, bytes) in looked_at.into_iter().chain(ended) {
            self.refuse_reply(by, &reply, bytes);
        }
    }

    /// Has whoever is heard at the end told how it ended; whether there is anybody.
    pub(super) fn look_at_end(&mut self, ending: &Ending) -> bool {
        if !self.is_heard_at(Point::AgentShutdown) {
            return false;
        }
        let reason = match ending {
            Ending::Answered | Ending::WrappedUp { .. } | Ending::Incomplete => "completed",
            Ending::Cancelled => "cancelled",
            Ending::LimitReached { .. }
            | Ending::Refused
            | Ending::OutputInvalid
            | Ending::ModelFailed { .. }
            | Ending::MessageDenied(_)
            | Ending::RecordFailed { .. } => "error",
        };
        let fold = self.fold(|_, envelope| Scene::AgentShutdown { reason }.stage(envelope));
        self.pass(fold, Then::Close(ending.clone()));
        true
    }

    /// Ends a run that has ended and waits for nothing but who is told of it.
    pub(super) fn close_at_once(&mut self) {
        let Some(passing) = self.state.passing.take() else { return };
        let Passing { fold, then } = *passing;
        if let Then::Close(ending) = then {
            if let Some(upshot) = fold.refused(&self.state.spec.boundary, HostError::InterceptorTimeout) {
                self.record_row(&upshot, None, None);
            }
            self.write_end(ending);
        }
    }

    /// Has what was being looked at looked at anew: nobody owes a verdict any more, and others may be heard now.
    pub(super) fn look_anew(&mut self) {
        self.written = Written::default();
        self.look_at_calls_anew();
        let Some(passing) = self.state.passing.take() else { return };
        match passing.then {
            Then::Open => self.state.phase = Phase::Opening { told: false },
            Then::Message(first) => self.state.spec.items.insert(0, first),
            // It is looked at when the window is sent, and a piece when the model writes it again.
            Then::Ask | Then::Piece { .. } => {}
            Then::Reply(arrived) => self.look_at_reply(*arrived),
            Then::Answer(arrived) => self.look_at_answer(*arrived),
            Then::Close(ending) => {
                if !self.look_at_end(&ending) {
                    self.write_end(ending);
                }
            }
        }
    }
}

/// Why something was stopped, on one line, with nothing of what it says. Taken out again on the one line: what was quoted over
/// several may be a quote there.
pub(super) fn reason_of(upshot: &Upshot) -> String {
    let reason = upshot.verdict.reason().unwrap_or("no reason was given");
    let line = one_line_untrusted::<SamePrincipal>(reason, THROWN_LINE_CHARS_MAX);
    if HostError::is_said_by(line.as_str()) {
        return line.as_str().to_owned();
    }
    scrubbed(line.as_str(), [upshot.before.target(), upshot.target()])
}

/// Bytes of a reply, for counts that its provider does not give.
pub(super) fn bytes_of(reply: &ModelReply) -> u64 {
    content_bytes(&Content::Reply(reply.parts.as_slice().into()))
}

fn take_first(items: &mut Vec<FirstItem>) -> Option<FirstItem> {
    (!items.is_empty()).then(|| items.remove(0))
}
