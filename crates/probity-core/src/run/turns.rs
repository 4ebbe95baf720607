//! The conversation with the model: windows out, replies in, and how a run ends.

use std::sync::Arc;

use probity_contract::limits::CALLS_PER_REPLY_MAX;
use probity_contract::{
    Body, CallId, Content, Ending, Event, Fact, Item, ItemId, Label, LimitKind, ModelCallId, ModelError,
    ModelParams, ModelReply, ModelRequest, Origin, ProposedCall, ReplyPart, ReplyPartKind, Stop, ToolChoice,
    WindowDelta,
};
use probity_egress::{Egress, SamePrincipal, bounded_summary, egress_text};

use serde::{Deserialize, Serialize};

use super::call::{Call, Settled, Stage};
use super::passing::{Arrived, bytes_of};
use super::{Phase, Run, Step, Unexpected, words};

/// Code points of a model's failure in the record and in events.
const MODEL_ERROR_CHARS_MAX: usize = 500;

/// Which limits a reply met: the one that made it the last, and the one that cut it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Last {
    wrap_up: Option<LimitKind>,
    cut_by: Option<LimitKind>,
}

impl Run {
    /// Adds an item to the window and to the record.
    pub(super) fn add_item(&mut self, origin: Origin, label: Label, content: Content) -> ItemId {
        let id = ItemId(self.state.next_item);
        self.state.next_item += 1;
        let body = self.record_content(&content);
        self.state.label = self.state.label.join(&label);
        self.state.spent.window_bytes += content_bytes(&content);
        let item = Arc::new(Item { id, origin, label: label.clone(), content });
        // Nobody else holds the window between steps, so this appends in place; a driver that still does costs a copy
        // of the list, never of the items.
        Arc::make_mut(&mut self.state.window).push(item);
        self.state.ledger.fact(Fact::ItemAdded { item: id, origin, label, body });
        id
    }

    /// Puts another content in the place of the item at `at` of the window, in this and all later windows. The label stays.
    pub(super) fn replace_item(&mut self, at: usize, content: Content) {
        let Some(old) = self.state.window.get(at).cloned() else { return };
        let id = ItemId(self.state.next_item);
        self.state.next_item += 1;
        let body = self.record_content(&content);
        let spent = &mut self.state.spent;
        spent.window_bytes = spent.window_bytes.saturating_sub(content_bytes(&old.content));
        spent.window_bytes += content_bytes(&content);
        let (origin, label) = (old.origin, old.label.clone());
        let item = Arc::new(Item { id, origin, label: label.clone(), content });
        if let Some(place) = Arc::make_mut(&mut self.state.window).get_mut(at) {
            *place = item;
        }
        // The next window is told from here on.
        self.state.window_recorded = self.state.window_recorded.min(u32::try_from(at).unwrap_or(u32::MAX));
        self.state.ledger.fact(Fact::ItemAdded { item: id, origin, label, body });
        self.state.ledger.fact(Fact::ItemReplaced { item: old.id, by: id });
    }

    fn record_content(&mut self, content: &Content) -> Body {
        let ledger = &mut self.state.ledger;
        match content {
            Content::Instructions(text) => Body::Instructions { text: ledger.part(text) },
            Content::Person(text) => Body::Person { text: ledger.part(text) },
            Content::Context { name, text } => Body::Context { name: name.clone(), text: ledger.part(text) },
            Content::Notice(text) => Body::Notice { text: ledger.part(text) },
            Content::ToolResult { call, provider_id, tool, text, is_error } => Body::ToolResult {
                call: *call,
                provider_id: provider_id.clone(),
                tool: tool.clone(),
                text: ledger.part(text),
                is_error: *is_error,
            },
            Content::Reply(parts) => {
                // A part is strings and a JSON value, which always serialize.
                let json = |part: &ReplyPart| serde_json::to_string(part).unwrap_or_default();
                Body::Reply { parts: parts.iter().map(|part| ledger.part(&json(part))).collect() }
            }
        }
    }

    /// Asks the model next, or ends where a limit forbids it.
    pub(super) fn begin_model_call(&mut self, wrap_up: Option<LimitKind>) {
        if self.state.passing.is_some() || self.look_at_window() {
            return;
        }
        self.send_window(wrap_up);
    }

    /// Asks the model with the window as it is, which nobody has anything against.
    pub(super) fn send_window(&mut self, wrap_up: Option<LimitKind>) {
        let state = &mut self.state;
        let now = state.ledger.now_ms();
        let spec = &state.spec;
        let reserved = match state.spent.reserve_model_call(&spec.limits, spec.prices, now) {
            Ok(reserved) => reserved,
            Err(limit) => {
                self.hit(limit);
                return self.end(Ending::LimitReached { limit });
            }
        };
        let asked_for = spec.params.output_tokens_max;
        let imposed = reserved.filter(|left| asked_for.is_none_or(|max| left.output_tokens < max));
        let output_tokens_max = imposed.map(|left| left.output_tokens).or(asked_for);
        if wrap_up.is_none() && state.spent.turns >= spec.limits.turns_max {
            self.hit(LimitKind::Turns);
            return self.ask_to_wrap_up(LimitKind::Turns);
        }
        state.spent.turns += 1;
        let call = ModelCallId(state.next_model_call);
        state.next_model_call += 1;
        let keep = state.window_recorded;
        let added = state.window.iter().skip(keep as usize).map(|item| item.id).collect();
        state.window_recorded = u32::try_from(state.window.len()).unwrap_or(u32::MAX);
        state.phase = Phase::Model { call, sent: false, wrap_up, imposed };
        let (tool_choice, tools_offered) = self.tool_choice(call, wrap_up);
        let window = WindowDelta { keep, added };
        let called = Fact::ModelCalled { call, window, tool_choice, tools_offered, output_tokens_max };
        self.state.ledger.fact(called);
        self.events.push_back(Event::ModelStarted { call });
    }

    fn tool_choice(&self, call: ModelCallId, wrap_up: Option<LimitKind>) -> (ToolChoice, bool) {
        match wrap_up {
            Some(_) => (ToolChoice::None, false),
            // What the limit leaves has been used; nothing was withheld, so the run goes on as it is.
            None if self.state.spent.tool_calls >= self.state.spec.limits.tool_calls_max => {
                (ToolChoice::None, false)
            }
            None if call == ModelCallId(1) => (self.state.spec.first_tool_choice.clone(), true),
            None => (ToolChoice::Auto, true),
        }
    }

    pub(super) fn hand_out_model_call(&mut self) -> Option<Step> {
        let Phase::Model { call, ref mut sent, wrap_up, imposed } = self.state.phase else { return None };
        *sent = true;
        let (tool_choice, tools_offered) = self.tool_choice(call, wrap_up);
        let spec = &self.state.spec;
        let request = ModelRequest {
            items: Arc::clone(&self.state.window),
            tools: if tools_offered { Arc::clone(&spec.tools) } else { Arc::from([]) },
            tool_choice,
            params: match imposed {
                None => Arc::clone(&spec.params),
                Some(left) => {
                    let output_tokens_max = Some(left.output_tokens);
                    Arc::new(ModelParams { output_tokens_max, ..spec.params.as_ref().clone() })
                }
            },
        };
        let now = self.state.ledger.now_ms();
        let timeout_ms = self.state.spent.time_for(&spec.limits, spec.limits.model_timeout_ms, now);
        let release = self.release();
        Some(Step::CallModel { call, request, timeout_ms, release })
    }

    pub(super) fn model_replied(
        &mut self,
        call: ModelCallId,
        result: Result<ModelReply, ModelError>,
    ) -> Result<(), Unexpected> {
        match self.state.phase {
            Phase::Model { call: waiting, sent: true, .. } if waiting == call && !self.holds_reply() => {
                self.take_or_keep_model_end(call, result);
                Ok(())
            }
            Phase::Opening { .. }
            | Phase::Model { .. }
            | Phase::Turn { .. }
            | Phase::Calls
            | Phase::Closing
            | Phase::Ended(_) => Err(Unexpected),
        }
    }

    /// Takes the end of a model call whose text was let out as far as it may.
    pub(super) fn take_model_end(&mut self, call: ModelCallId, result: Result<ModelReply, ModelError>) {
        let Phase::Model { wrap_up, imposed, .. } = self.state.phase else { return };
        match result {
            Ok(reply) => {
                let cut_by = imposed.map(|left| left.limit).filter(|_| reply.stop == Stop::MaxTokens);
                let bytes = bytes_of(&reply);
                self.look_at_reply(Arrived { by: call, reply, bytes, last: Last { wrap_up, cut_by } });
            }
            Err(error) => {
                self.deny_rest(call);
                self.take_model_error(call, &error);
            }
        }
    }

    fn take_model_error(&mut self, call: ModelCallId, error: &ModelError) {
        let words = bounded(&error.message, MODEL_ERROR_CHARS_MAX);
        let text = words.as_str().to_owned();
        self.state.ledger.fact(Fact::ModelFailed { call, class: error.class, error: text.clone() });
        let hint = error.hint.as_deref().map(|hint| bounded(hint, MODEL_ERROR_CHARS_MAX));
        self.events.push_back(Event::ModelFailed { call, error: words, hint });
        let limits = &self.state.spec.limits;
        let worked = self.state.spent.worked_ms(self.state.ledger.now_ms());
        if limits.wall_ms_max.is_some_and(|max| worked >= max) {
            self.hit(LimitKind::WallTime);
            return self.end(Ending::LimitReached { limit: LimitKind::WallTime });
        }
        self.end(Ending::ModelFailed { class: error.class, error: text });
    }

    /// Takes a reply in that nobody has anything against: from here on it stands in the window.
    pub(super) fn take_reply(&mut self, arrived: Arrived) {
        let Arrived { by, reply, bytes, last } = arrived;
        let ModelReply { parts, stop, usage, model, response_id } = reply;
        self.release_reply(by, &parts);
        let wrap_up = last.wrap_up;
        let label = self.state.label.clone();
        let parts: Arc<[ReplyPart]> = parts.into();
        let content = Content::Reply(Arc::clone(&parts));
        self.state.spent.count(&usage, bytes);
        let item = self.add_item(Origin::Model(by), label, content);
        let replied = Fact::ModelReplied { call: by, item, stop: recorded(&stop), usage, model, response_id };
        self.state.ledger.fact(replied);
        let proposed = self.take_proposals(by, &parts, &stop, wrap_up);
        match (proposed, wrap_up) {
            // A last answer is the last: one that pauses is taken as it is, or the pauses would never end.
            (0, None) if stop == Stop::Paused => self.state.phase = Phase::Turn { wrap_up },
            (0, _) => self.take_answer(item, &parts, &stop, last),
            // In a wrap-up no tool was offered; whatever was proposed has been refused and there is no answer.
            (_, Some(limit)) => {
                self.state.phase = Phase::Calls;
                self.settle_batch();
                self.end(Ending::LimitReached { limit });
            }
            (_, None) => self.state.phase = Phase::Calls,
        }
    }

    /// Takes the calls of a reply in and says how many there are.
    fn take_proposals(
        &mut self,
        by: ModelCallId,
        parts: &[ReplyPart],
        stop: &Stop,
        wrap_up: Option<LimitKind>,
    ) -> usize {
        let last = parts.len().saturating_sub(1);
        let proposals = parts.iter().enumerate().filter_map(|(at, part)| match &part.kind {
            ReplyPartKind::Call(call) => Some((call, at == last)),
            ReplyPartKind::Text(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
        });
        let mut proposed = 0;
        for (call, is_last) in proposals {
            proposed += 1;
            if proposed > CALLS_PER_REPLY_MAX {
                let id = self.record_proposal(by, call);
                self.state.surplus.push((id, call.clone()));
            } else {
                self.propose(by, call, refuse_unread(stop, is_last, wrap_up));
            }
        }
        if proposed > CALLS_PER_REPLY_MAX {
            self.hit(LimitKind::CallsPerReply);
        }
        self.share_out();
        proposed
    }

    fn record_proposal(&mut self, by: ModelCallId, proposed: &ProposedCall) -> CallId {
        let call = CallId(self.state.next_call);
        self.state.next_call += 1;
        let arguments = self.state.ledger.part(&proposed.arguments);
        let (provider_id, tool) = (proposed.provider_id.clone(), proposed.name.clone());
        self.state.ledger.fact(Fact::CallProposed { call, by, provider_id, tool, arguments });
        call
    }

    /// Takes a proposed call in, or answers it at once with the reason why it was not understood.
    fn propose(&mut self, by: ModelCallId, proposed: &ProposedCall, refusal: Option<&'static str>) {
        let id = self.record_proposal(by, proposed);
        let (provider_id, tool) = (proposed.provider_id.clone(), proposed.name.clone());
        let understood = match refusal {
            Some(why) => Err(why.to_owned()),
            None => self.schemas.understand(&proposed.name, &proposed.arguments),
        };
        let stage = match understood {
            Ok((name, arguments)) => self.look_at_call(id, &provider_id, name, arguments),
            Err(why) => {
                let reason = words::rejected(&why);
                let text = reason.as_str().to_owned();
                self.state.ledger.fact(Fact::CallRejected { call: id, reason: text.clone() });
                let tool = words::line(&tool);
                self.events.push_back(Event::CallRejected { call: id, tool, reason });
                Stage::Settled(Settled { text: text.into(), is_error: true, trusted: false })
            }
        };
        self.state.calls.insert(id, Call::new(id, provider_id, tool, stage));
    }

    fn take_answer(&mut self, item: ItemId, parts: &[ReplyPart], stop: &Stop, last: Last) {
        let Last { wrap_up, cut_by } = last;
        match stop {
            Stop::Refused => return self.end(Ending::Refused),
            Stop::MaxTokens => {
                if let Some(limit) = cut_by {
                    self.hit(limit);
                }
                self.state.answer = Some(item);
                return self.end(Ending::Incomplete);
            }
            Stop::EndTurn | Stop::ToolCalls | Stop::StopSequence | Stop::Paused | Stop::Other(_) => {}
        }
        if let Some(problems) = self.schemas.answer_problems(&reply_text(parts))
            && !problems.is_empty()
        {
            return self.reject_output(item, &problems, wrap_up);
        }
        self.state.answer = Some(item);
        let overspent = self.state.spent.overspent(&self.state.spec.limits, self.state.spec.prices);
        if let Some(limit) = overspent {
            self.hit(limit);
        }
        let limit = wrap_up.or(overspent);
        self.end(limit.map_or(Ending::Answered, |limit| Ending::WrappedUp { limit }));
    }

    fn reject_output(&mut self, item: ItemId, problems: &[String], wrap_up: Option<LimitKind>) {
        let errors = problems.iter().map(|problem| words::line(problem).as_str().to_owned()).collect();
        self.state.ledger.fact(Fact::OutputRejected { item, errors });
        let notice = words::output_rejected(problems);
        self.events.push_back(Event::OutputRejected { errors: notice.clone() });
        if self.state.output_retries >= self.state.spec.limits.output_retries_max {
            return self.end(Ending::OutputInvalid);
        }
        self.state.output_retries += 1;
        // It quotes the answer.
        self.notice(notice.as_str(), self.state.label.clone());
        self.state.phase = Phase::Turn { wrap_up };
    }

    fn notice(&mut self, text: &str, label: Label) {
        self.add_item(Origin::Engine, label, Content::Notice(Arc::from(text)));
    }

    /// Asks the model for a last answer without tools.
    pub(super) fn ask_to_wrap_up(&mut self, limit: LimitKind) {
        let words = words::wrap_up(limit);
        self.notice(words.as_str(), Label::system());
        self.state.phase = Phase::Turn { wrap_up: Some(limit) };
    }

    pub(super) fn hit(&mut self, limit: LimitKind) {
        self.state.ledger.fact(Fact::LimitHit { limit });
        self.events.push_back(Event::LimitHit { limit });
    }

    /// Ends the run; every open call gets its result first, so that no id dangles.
    pub(super) fn end(&mut self, ending: Ending) {
        self.drop_passing();
        self.close_open_calls(matches!(ending, Ending::Cancelled));
        if self.state.phase != Phase::Closing && !matches!(ending, Ending::RecordFailed { .. }) {
            self.state.phase = Phase::Closing;
            if self.look_at_end(&ending) {
                return;
            }
        }
        self.write_end(ending);
    }

    /// Writes down how the run has ended; nothing comes behind it.
    pub(super) fn write_end(&mut self, ending: Ending) {
        let (usage, cost_usd) = (self.usage(), self.cost_usd());
        self.state.ledger.fact(Fact::Ended {
            ending: ending.clone(),
            answer: self.state.answer,
            usage,
            cost_usd,
        });
        self.state.ledger.require_durable();
        self.state.phase = Phase::Ended(ending);
    }

    /// Ends the run without an answer: what is not on record was not given.
    pub(super) fn fail_record(&mut self, error: String) {
        self.state.ledger.close();
        self.state.answer = None;
        // What was held stays in.
        for step in &mut self.releases {
            if let Step::Release { text, last, .. } = step {
                text.clear();
                *last = true;
            }
        }
        self.end(Ending::RecordFailed { error });
    }

    pub(super) fn cancel(&mut self) {
        if self.state.phase == Phase::Closing {
            // It has ended; who was to be told of it is not waited for.
            return self.close_at_once();
        }
        self.end(Ending::Cancelled);
    }
}

/// Why a proposed call is not even read, if so.
fn refuse_unread(stop: &Stop, is_last: bool, wrap_up: Option<LimitKind>) -> Option<&'static str> {
    if wrap_up.is_some() {
        return Some("no tool can be called any more");
    }
    match stop {
        // What was cut off may by chance be complete JSON; only the last part can have been cut.
        Stop::MaxTokens if is_last => {
            Some("the reply was cut off at the output limit; the call may be incomplete")
        }
        Stop::Refused => Some("the reply was refused"),
        Stop::MaxTokens
        | Stop::EndTurn
        | Stop::ToolCalls
        | Stop::StopSequence
        | Stop::Paused
        | Stop::Other(_) => None,
    }
}

fn bounded(text: &str, chars_max: usize) -> Egress<SamePrincipal> {
    bounded_summary(&egress_text(text), chars_max)
}

/// The reason to stop as facts tell it: a provider's own word may be anything.
fn recorded(stop: &Stop) -> Stop {
    match stop {
        Stop::Other(word) => Stop::Other(words::line(word).as_str().to_owned()),
        Stop::EndTurn
        | Stop::ToolCalls
        | Stop::MaxTokens
        | Stop::StopSequence
        | Stop::Refused
        | Stop::Paused => stop.clone(),
    }
}

/// The text parts of a reply, joined.
pub(crate) fn reply_text(parts: &[ReplyPart]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.kind {
        ReplyPartKind::Text(text) => Some(text.as_str()),
        ReplyPartKind::Reasoning(_) | ReplyPartKind::Call(_) | ReplyPartKind::Opaque => None,
    });
    texts.collect()
}

pub(super) fn content_bytes(content: &Content) -> u64 {
    let bytes = match content {
        Content::Instructions(text)
        | Content::Person(text)
        | Content::Context { text, .. }
        | Content::ToolResult { text, .. }
        | Content::Notice(text) => text.len(),
        Content::Reply(parts) => parts
            .iter()
            .map(|part| match &part.kind {
                ReplyPartKind::Text(text) | ReplyPartKind::Reasoning(text) => text.len(),
                ReplyPartKind::Call(call) => call.name.len() + call.arguments.len(),
                ReplyPartKind::Opaque => 0,
            })
            .sum(),
    };
    bytes as u64
}
