//! What passes the boundary at one call: its arguments before they are frozen, its result before the model reads it.

use std::sync::Arc;

use probity_contract::limits::TRANSFORM_ROUNDS_MAX;
use probity_contract::{
    Arguments, CallId, Denial, DenialCode, HostError, InterceptorName, Level, Point, PolicyName, Seat,
    ToolName,
};

use super::call::{Came, Looking, Returning, Settled, Stage};
use super::passing::reason_of;
use super::{Run, words};
use crate::boundary::{ChangedCalls, Scene, text_of};

impl Run {
    /// Where a call goes whose arguments are understood: to interceptors where somebody is heard, and on to its tool.
    pub(super) fn look_at_call(
        &mut self,
        id: CallId,
        provider_id: &str,
        tool: ToolName,
        arguments: Arguments,
    ) -> Stage {
        if !self.is_heard_at(Point::PreToolCall) {
            return Stage::Resolving { tool, arguments };
        }
        self.look_in_round(0, &call_id(id, provider_id), tool, arguments)
    }

    fn look_in_round(&mut self, rounds: u32, called: &str, tool: ToolName, arguments: Arguments) -> Stage {
        let fold = self.fold(|_, envelope| {
            let (name, arguments) = (tool.as_str(), arguments.to_value());
            Scene::PreToolCall { id: called, name, arguments }.stage(envelope)
        });
        // It may be over at once, and is to be moved on then.
        self.changed = true;
        Stage::Looking(Box::new(Looking { fold, rounds, tool, arguments }))
    }

    /// Has a result looked at, or takes it where nobody is heard.
    pub(super) fn look_at_result(&mut self, id: CallId, settled: Settled, came: Came) {
        let call = self.state.calls.get(&id).filter(|_| self.is_heard_at(Point::PostToolCall));
        let Some(call) = call else { return self.take_result(id, settled, came) };
        let arguments = call.frozen.as_ref().map(|frozen| frozen.arguments().to_value()).unwrap_or_default();
        let (called, name) = (call_id(id, &call.provider_id), call.tool.clone());
        let fold = self.fold(|_, envelope| {
            let (result, is_error) = (settled.text.as_ref(), settled.is_error);
            Scene::PostToolCall { id: &called, name: &name, arguments, result, is_error }.stage(envelope)
        });
        self.changed = true;
        if let Some(call) = self.state.calls.get_mut(&id) {
            call.enter(Stage::Returning(Box::new(Returning { fold, settled, came })));
        }
    }

    /// Moves a call on whose passage is over.
    pub(super) fn progress_passage(&mut self, id: CallId) {
        let Some(call) = self.state.calls.get_mut(&id) else { return };
        if !call.stage.fold_mut().is_some_and(|fold| fold.is_over()) {
            return;
        }
        let stage = std::mem::replace(&mut call.stage, Stage::Judging);
        if let Stage::Looking(looking) = stage {
            self.passed_call(id, *looking);
        } else if let Stage::Returning(returning) = stage {
            self.passed_result(id, *returning);
        } else {
            call.stage = stage;
        }
    }

    fn passed_call(&mut self, id: CallId, looking: Looking) {
        let Looking { fold, rounds, tool, mut arguments } = looking;
        let Some(mut upshot) = fold.finish(&self.state.spec.boundary) else { return };
        if upshot.is_changed && upshot.proceeds {
            match self.schemas.check_arguments(&tool, &upshot.target().to_string()) {
                Ok(changed) => arguments = changed,
                Err(_) => upshot.refuse(HostError::TransformInvalid),
            }
        }
        self.record_row(&upshot, Some(id), None);
        if upshot.proceeds {
            return self.go_on_with(id, rounds, upshot.is_changed, tool, arguments);
        }
        let by = upshot.interceptor.as_ref().and_then(|name| PolicyName::new(name.as_str()).ok());
        let (code, seat, level) = (DenialCode::Intercepted, Seat::Targets, Level::OWN);
        self.deny(id, Denial { code, seat, by, level, reason: reason_of(&upshot) });
    }

    /// A call that may go on: to its tool, or once more to everybody, for whom it is another call now.
    fn go_on_with(
        &mut self,
        id: CallId,
        rounds: u32,
        is_changed: bool,
        tool: ToolName,
        arguments: Arguments,
    ) {
        let again = self.state.spec.boundary.changed_calls == ChangedCalls::LookedAtAgain;
        if is_changed && again && rounds >= TRANSFORM_ROUNDS_MAX {
            let reason = "its arguments were changed again and again".to_owned();
            return self.deny(id, words::denial(DenialCode::Intercepted, Seat::Targets, reason));
        }
        let stage = if is_changed && again {
            let provider_id = self.state.calls.get(&id).map(|call| call.provider_id.clone());
            let called = call_id(id, &provider_id.unwrap_or_default());
            self.look_in_round(rounds + 1, &called, tool, arguments)
        } else {
            Stage::Resolving { tool, arguments }
        };
        if let Some(call) = self.state.calls.get_mut(&id) {
            call.enter(stage);
        }
    }

    fn passed_result(&mut self, id: CallId, returning: Returning) {
        let Returning { fold, settled, came } = returning;
        let Some(upshot) = fold.finish(&self.state.spec.boundary) else { return };
        self.record_row(&upshot, Some(id), None);
        let settled = match (upshot.proceeds, upshot.is_changed) {
            (true, false) => settled,
            (true, true) => Settled { text: text_of(upshot.target()).into(), ..settled },
            (false, _) => {
                let by = upshot.interceptor.as_ref().map(InterceptorName::as_str);
                let text = Arc::from(words::withheld(by, &reason_of(&upshot)).as_str());
                Settled { text, is_error: true, trusted: false }
            }
        };
        self.take_result(id, settled, came);
    }

    /// Settles a call whose result was still being looked at when the run ended.
    pub(super) fn take_unseen(&mut self, id: CallId, came: Came) {
        let text = Arc::from(words::unseen().as_str());
        self.take_result(id, Settled { text, is_error: true, trusted: false }, came);
    }

    /// Has all that was being looked at looked at anew, for a driver that owes no verdict and by those who are heard now.
    pub(super) fn look_at_calls_anew(&mut self) {
        for id in self.state.calls.keys().copied().collect::<Vec<_>>() {
            let Some(call) = self.state.calls.get_mut(&id) else { continue };
            let provider_id = call.provider_id.clone();
            let stage = std::mem::replace(&mut call.stage, Stage::Judging);
            if let Stage::Looking(looking) = stage {
                let stage = self.look_at_call(id, &provider_id, looking.tool, looking.arguments);
                if let Some(call) = self.state.calls.get_mut(&id) {
                    call.enter(stage);
                }
            } else if let Stage::Returning(returning) = stage {
                self.look_at_result(id, returning.settled, returning.came);
            } else {
                call.stage = stage;
            }
        }
    }
}

/// The provider's id of a call, or the run's own where the provider gave none.
fn call_id(id: CallId, provider_id: &str) -> String {
    if provider_id.is_empty() { id.to_string() } else { provider_id.to_owned() }
}
