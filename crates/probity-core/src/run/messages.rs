//! Windows and replies as messages of an agent context, and back.
//!
//! Interceptors see a window as a list of messages, one for each item. What they may change of it is text: roles, the order,
//! the calls of a reply and which call a result belongs to are the run's.

use std::sync::Arc;

use probity_contract::{Content, Item, ModelReply, ProposedCall, ReplyPart, ReplyPartKind, Stop};
use serde_json::{Map, Value, json};

use super::turns::reply_text;
use crate::boundary::{self, Envelope, Scene, SceneCall, Staged, text_of};

/// Something was put in place of messages that are none, or of something that may not be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotMessages;

/// The window as messages.
pub(super) fn of(window: &[Arc<Item>]) -> Vec<Value> {
    window.iter().map(|item| message(&item.content)).collect()
}

fn message(content: &Content) -> Value {
    match content {
        Content::Instructions(text) | Content::Notice(text) => json!({ "role": "system", "content": text }),
        Content::Person(text) => json!({ "role": "user", "content": text }),
        Content::Context { name, text } => json!({ "role": "user", "name": name, "content": text }),
        Content::Reply(parts) => {
            let calls = calls(parts);
            let mut message = json!({ "role": "assistant", "content": reply_text(parts) });
            if let (Some(members), false) = (message.as_object_mut(), calls.is_empty()) {
                members.insert("tool_calls".to_owned(), calls.into());
            }
            message
        }
        Content::ToolResult { provider_id, tool, text, .. } => {
            json!({ "role": "tool", "tool_call_id": provider_id, "name": tool, "content": text })
        }
    }
}

fn calls(parts: &[ReplyPart]) -> Vec<Value> {
    let calls = parts.iter().filter_map(|part| match &part.kind {
        ReplyPartKind::Call(call) => Some(call_value(call)),
        ReplyPartKind::Text(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
    });
    calls.collect()
}

fn call_value(call: &ProposedCall) -> Value {
    json!({ "id": call.provider_id, "name": call.name, "args": arguments_value(&call.arguments) })
}

/// The arguments as interceptors see them.
fn arguments_value(arguments: &str) -> Value {
    boundary::arguments_value(arguments).0
}

/// A reply as the agent context at `post_model_call`.
pub(super) fn reply(model: &str, reply: &ModelReply, envelope: Envelope<'_>) -> Staged {
    let text = reply_text(&reply.parts);
    let calls: Vec<SceneCall<'_>> = reply.parts.iter().filter_map(scene_call).collect();
    // As the formats of providers have it: nothing beside calls is no text.
    let content = (!text.is_empty() || calls.is_empty()).then_some(text.as_str());
    let finish_reason = finish_reason(&reply.stop);
    Scene::PostModelCall { model, content, calls, finish_reason }.stage(envelope)
}

fn scene_call(part: &ReplyPart) -> Option<SceneCall<'_>> {
    match &part.kind {
        ReplyPartKind::Call(ProposedCall { provider_id, name, arguments }) => {
            Some(SceneCall { id: provider_id, name, arguments })
        }
        ReplyPartKind::Text(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
    }
}

fn finish_reason(stop: &Stop) -> &str {
    match stop {
        Stop::EndTurn | Stop::StopSequence => "stop",
        Stop::ToolCalls => "tool_calls",
        Stop::MaxTokens => "length",
        Stop::Refused => "content_filter",
        Stop::Paused => "pause",
        Stop::Other(word) => word,
    }
}

/// Whether a reply proposes calls.
pub(super) fn proposes_calls(parts: &[ReplyPart]) -> bool {
    parts.iter().any(|part| matches!(part.kind, ReplyPartKind::Call(_)))
}

/// Which items of the window other messages were put in place of, and what they say now.
///
/// # Errors
/// When something else was changed than texts.
pub(super) fn changed_items(
    window: &[Arc<Item>],
    messages: &Value,
) -> Result<Vec<(usize, Content)>, NotMessages> {
    let messages = messages.as_array().filter(|messages| messages.len() == window.len());
    let messages = messages.ok_or(NotMessages)?;
    let mut changed = Vec::new();
    for (at, (item, now)) in window.iter().zip(messages).enumerate() {
        let before = message(&item.content);
        if before == *now {
            continue;
        }
        let (before, now) = (as_members(&before)?, as_members(now)?);
        let text = now.get("content").and_then(Value::as_str).ok_or(NotMessages)?;
        if before.len() != now.len()
            || before.iter().any(|(name, value)| name != "content" && now.get(name) != Some(value))
        {
            return Err(NotMessages);
        }
        changed.push((at, with_text(&item.content, text)));
    }
    Ok(changed)
}

fn as_members(value: &Value) -> Result<&Map<String, Value>, NotMessages> {
    value.as_object().ok_or(NotMessages)
}

fn with_text(content: &Content, text: &str) -> Content {
    let text: Arc<str> = Arc::from(text);
    match content {
        Content::Instructions(_) => Content::Instructions(text),
        Content::Notice(_) => Content::Notice(text),
        Content::Person(_) => Content::Person(text),
        Content::Context { name, .. } => Content::Context { name: name.clone(), text },
        Content::Reply(parts) => Content::Reply(reply_with_text(parts, &text).into()),
        Content::ToolResult { call, provider_id, tool, text: _, is_error } => Content::ToolResult {
            call: *call,
            provider_id: provider_id.clone(),
            tool: tool.clone(),
            text,
            is_error: *is_error,
        },
    }
}

/// The calls of a reply behind another text. Reasoning and a provider's own forms may say what was taken out, so they go.
fn reply_with_text(parts: &[ReplyPart], text: &str) -> Vec<ReplyPart> {
    let calls = parts.iter().filter(|part| matches!(part.kind, ReplyPartKind::Call(_)));
    let calls = calls.map(|part| ReplyPart { kind: part.kind.clone(), native: None });
    let text = (!text.is_empty()).then(|| ReplyPart::text(text));
    text.into_iter().chain(calls).collect()
}

/// The reply with what was put in place of its response: another text, other arguments, or fewer calls.
///
/// # Errors
/// When it has calls that the model did not propose, or in another order.
pub(super) fn changed_reply(reply: &ModelReply, target: &Value) -> Result<ModelReply, NotMessages> {
    let text = match target.get("content") {
        Some(Value::String(text)) => text.as_str(),
        Some(Value::Null) => "",
        Some(_) | None => return Err(NotMessages),
    };
    let wanted = target.get("tool_calls").and_then(Value::as_array).ok_or(NotMessages)?;
    // Whatever it is that was changed, the reasoning and the provider's own forms of the whole may say it.
    let mut parts = reply_with_text(&reply.parts, text);
    let mut wanted = wanted.iter().peekable();
    parts.retain_mut(|part| {
        let ReplyPartKind::Call(call) = &mut part.kind else { return true };
        let is_meant = |now: &&Value| {
            let is = |name: &str, text: &str| now.get(name).and_then(Value::as_str) == Some(text);
            is("id", &call.provider_id) && is("name", &call.name)
        };
        // A call that does not stand there any more was taken out.
        let Some(now) = wanted.next_if(is_meant) else { return false };
        let arguments = now.get("args").unwrap_or(&Value::Null);
        if *arguments != arguments_value(&call.arguments) {
            call.arguments = text_of(arguments);
        }
        true
    });
    if wanted.next().is_some() {
        return Err(NotMessages);
    }
    Ok(ModelReply { parts, ..reply.clone() })
}
