//! How a call comes to its one result: what the tool brought, what is known of one that was cut off, and the batch of all.

use std::sync::Arc;

use probity_contract::{
    CallId, Content, Effect, Event, Fact, Origin, Point, ProposedCall, Reconciled, ReconciledKind, ToolError,
    ToolErrorClass, ToolOutcomeKind, ToolOutput,
};
use probity_egress::one_line_untrusted;

use super::call::{Came, Reconciling, Settled, Stage};
use super::labels::told_of;
use super::{Run, Unexpected, told, words};

/// Code points of a call's arguments and of a tool's result in an event.
pub(super) const EVENT_SUMMARY_CHARS_MAX: usize = 240;

impl Run {
    pub(super) fn tool_finished(
        &mut self,
        id: CallId,
        result: Result<ToolOutput, ToolError>,
        output_bytes: u64,
        ran_ms: u64,
    ) -> Result<(), Unexpected> {
        let call = self.call_mut(id)?;
        if call.stage != Stage::Running {
            return Err(Unexpected);
        }
        let tool = call.tool.clone();
        let (settled, outcome) = match result {
            Ok(output) => {
                (call.brought_for, call.vouched) = (output.readers, output.vouched);
                let settled = Settled { text: output.text.into(), is_error: false, trusted: output.trusted };
                (settled, ToolOutcomeKind::Succeeded)
            }
            Err(error) => {
                let pure = self.state.spec.tool(&tool).is_some_and(|tool| tool.effect == Effect::Pure);
                let outcome = outcome_kind(error.class, pure);
                let is_unknown = matches!(outcome, ToolOutcomeKind::Unknown(_));
                // There is no result that anybody could look at, and its own words are as foreign as one.
                let error = match is_unknown && self.is_heard_at(Point::PostToolCall) {
                    true => ToolError::new(error.class, "nobody has looked at its words"),
                    false => error,
                };
                let text = Arc::from(words::tool_failed(&error, pure).as_str());
                (Settled { text, is_error: true, trusted: false }, outcome)
            }
        };
        let reconciles = self.state.spec.tool(&tool).is_some_and(|tool| tool.effect == Effect::Reconcile);
        let came = Came::Back { outcome, output_bytes, ran_ms };
        if matches!(outcome, ToolOutcomeKind::Unknown(_)) {
            self.take_result(id, settled, came);
        } else {
            self.look_at_result(id, settled, came);
        }
        if reconciles && matches!(outcome, ToolOutcomeKind::Unknown(_)) {
            self.reconcile(id, false);
        }
        Ok(())
    }

    /// Has the tool asked what became of a call that is settled as unknown, before the model is told so.
    pub(super) fn reconcile(&mut self, id: CallId, again: bool) {
        let Some(call) = self.state.calls.get_mut(&id) else { return };
        if let Stage::Settled(otherwise) = call.stage.clone() {
            call.enter(Stage::Reconciling(Reconciling { otherwise, again }));
        }
    }

    pub(super) fn reconciled(
        &mut self,
        id: CallId,
        result: Result<Reconciled, ToolError>,
    ) -> Result<(), Unexpected> {
        let call = self.call_mut(id)?;
        let Stage::Reconciling(Reconciling { otherwise, again }) = call.stage.clone() else {
            return Err(Unexpected);
        };
        if !call.sent {
            return Err(Unexpected);
        }
        let (found, settled) = match result {
            Ok(Reconciled::Done(output)) => {
                (call.brought_for, call.vouched) = (output.readers, output.vouched);
                let text = output.text.into();
                (ReconciledKind::Done, Some(Settled { text, is_error: false, trusted: output.trusted }))
            }
            Ok(Reconciled::NotDone) => {
                let text = Arc::from(words::not_done().as_str());
                let told = Settled { text, is_error: true, trusted: false };
                (ReconciledKind::NotDone, Some(told).filter(|_| !again))
            }
            Err(_) => (ReconciledKind::Unknown, Some(otherwise)),
        };
        self.state.ledger.fact(Fact::Reconciled { call: id, found });
        match settled {
            Some(settled) if found == ReconciledKind::Done => {
                self.look_at_result(id, settled, Came::Reconciled);
            }
            Some(settled) => self.call_mut(id)?.enter(Stage::Settled(settled)),
            None => self.judge_again(id),
        }
        Ok(())
    }

    /// Settles a call with what may be read of it.
    pub(super) fn take_result(&mut self, id: CallId, settled: Settled, came: Came) {
        if let Some(call) = self.state.calls.get_mut(&id) {
            // Interceptors may have changed the text.
            let values = std::mem::take(&mut call.vouched);
            let values = if settled.is_error { Vec::new() } else { values };
            call.vouched = told::vouched(values, &settled.text, call.frozen.as_deref());
        }
        match came {
            Came::Back { outcome, output_bytes, ran_ms } => {
                self.finish(id, settled, outcome, output_bytes, ran_ms);
            }
            Came::Reconciled => {
                if let Some(call) = self.state.calls.get_mut(&id) {
                    call.enter(Stage::Settled(settled));
                }
            }
        }
    }

    fn finish(
        &mut self,
        id: CallId,
        settled: Settled,
        outcome: ToolOutcomeKind,
        output_bytes: u64,
        ran_ms: u64,
    ) {
        let output = self.state.ledger.part(&settled.text);
        let call = self.state.calls.get(&id);
        let (readers, vouched) =
            call.map(|call| (call.brought_for.clone(), call.vouched.clone())).unwrap_or_default();
        self.state.ledger.fact(Fact::ToolFinished {
            call: id,
            outcome,
            output,
            output_bytes,
            ran_ms,
            readers,
            vouched,
        });
        let summary = one_line_untrusted(&settled.text, EVENT_SUMMARY_CHARS_MAX);
        self.events.push_back(Event::ToolFinished { call: id, ok: !settled.is_error, summary, ran_ms });
        if let Some(call) = self.state.calls.get_mut(&id) {
            call.enter(Stage::Settled(settled));
        }
    }

    pub(super) fn finish_cut_off(&mut self, id: CallId, effect: Effect) {
        let pure = effect == Effect::Pure;
        let text = Arc::from(words::cut_off(pure).as_str());
        let outcome = outcome_kind(ToolErrorClass::Cancelled, pure);
        self.count_lost_children(id);
        self.finish(id, Settled { text, is_error: true, trusted: false }, outcome, 0, 0);
    }

    /// Gives every call of the reply its result item, in the order of proposal.
    pub(super) fn settle_batch(&mut self) {
        for (id, call) in std::mem::take(&mut self.state.calls) {
            let edited = call.frozen.clone().filter(|_| call.edits > 0);
            let settled = match call.stage.clone() {
                Stage::Settled(settled) => match edited {
                    // The model proposed something else, and must not take this for what became of that.
                    Some(frozen) => {
                        let text = words::edited(frozen.arguments().as_str());
                        let text = Arc::from(format!("{text}\n{}", settled.text));
                        Settled { text, ..settled }
                    }
                    None => settled,
                },
                Stage::Reconciling(reconciling) => reconciling.otherwise,
                Stage::Resolving { .. }
                | Stage::Judging
                | Stage::Inheriting
                | Stage::Asking
                | Stage::Cleared
                | Stage::Reresolving
                | Stage::Rechecking
                | Stage::Redeeming
                | Stage::Permitted
                | Stage::Looking(_)
                | Stage::Returning(_)
                | Stage::Running => Settled {
                    text: Arc::from(words::not_run(false).as_str()),
                    is_error: true,
                    trusted: false,
                },
            };
            let label = self.result_label(&call, &settled);
            let told = told_of(&call, &settled);
            let content = Content::ToolResult {
                call: id,
                provider_id: call.provider_id,
                tool: call.tool,
                text: settled.text,
                is_error: settled.is_error,
            };
            let item = self.add_item(Origin::Tool(id), label, content);
            if !told.is_empty() {
                self.state.told.insert(item, told);
            }
        }
        self.settle_surplus();
    }

    /// Answers the calls over the limit of one reply, all with the same words: how many there are is up to the model.
    fn settle_surplus(&mut self) {
        let text: Arc<str> = Arc::from(words::rejected("too many calls in one reply").as_str());
        for (call, ProposedCall { provider_id, name: tool, .. }) in std::mem::take(&mut self.state.surplus) {
            let content =
                Content::ToolResult { call, provider_id, tool, text: Arc::clone(&text), is_error: true };
            let label = self.engine_result_label();
            self.add_item(Origin::Tool(call), label, content);
        }
    }

    /// Settles whatever is open when the run ends, and gives every call its result item.
    pub(super) fn close_open_calls(&mut self, cancelled: bool) {
        let open = self.state.calls.values().filter(|call| !call.is_settled());
        let open: Vec<(CallId, Stage, String)> =
            open.map(|call| (call.id, call.stage.clone(), call.tool.clone())).collect();
        for (id, stage, tool) in open {
            let text = Arc::from(words::not_run(cancelled).as_str());
            let not_run = Settled { text, is_error: true, trusted: false };
            match stage {
                Stage::Running => {
                    let effect = self.state.spec.tool(&tool).map_or(Effect::Once, |tool| tool.effect);
                    self.finish_cut_off(id, effect);
                }
                // The start stands in the record, but the tool never had the permit.
                Stage::Permitted => {
                    let outcome = ToolOutcomeKind::Failed(ToolErrorClass::Unavailable);
                    self.finish(id, not_run, outcome, 0, 0);
                }
                Stage::Looking(_)
                | Stage::Resolving { .. }
                | Stage::Judging
                | Stage::Inheriting
                | Stage::Asking
                | Stage::Cleared
                | Stage::Reresolving
                | Stage::Rechecking
                | Stage::Redeeming => {
                    if let Some(call) = self.state.calls.get_mut(&id) {
                        call.enter(Stage::Settled(not_run));
                    }
                }
                // The tool came back, and nobody has said that the model may read it.
                Stage::Returning(returning) => self.take_unseen(id, returning.came),
                Stage::Reconciling(reconciling) => {
                    if let Some(call) = self.state.calls.get_mut(&id) {
                        call.enter(Stage::Settled(reconciling.otherwise));
                    }
                }
                Stage::Settled(_) => {}
            }
        }
        self.settle_batch();
    }
}

fn outcome_kind(class: ToolErrorClass, pure: bool) -> ToolOutcomeKind {
    match class {
        ToolErrorClass::TimedOut | ToolErrorClass::Cancelled | ToolErrorClass::Panicked if !pure => {
            ToolOutcomeKind::Unknown(class)
        }
        ToolErrorClass::TimedOut
        | ToolErrorClass::Cancelled
        | ToolErrorClass::Panicked
        | ToolErrorClass::InvalidArguments
        | ToolErrorClass::Refused
        | ToolErrorClass::NotFound
        | ToolErrorClass::Failed
        | ToolErrorClass::Unavailable => ToolOutcomeKind::Failed(class),
    }
}
