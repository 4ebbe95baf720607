//! Cassettes: recorded exchanges over HTTP. Those with a provider of models are the calls of one run.

mod stream;

use serde_json::Value;

use super::message_lists::exchanged;
use crate::draft::{Draft, Step};
use crate::error::ImportError;
use crate::json::{first, parsed, text, unix_ms};
use crate::messages::{Side, read as read_messages};

pub(super) fn read(value: Value, place: String) -> Result<Vec<Draft>, ImportError> {
    let Some(interactions) = value.get("interactions").and_then(Value::as_array) else {
        return Err(ImportError::at(format!("{place}/interactions"), "expected a list of exchanges"));
    };
    let mut draft = Draft { place, ..Draft::default() };
    let mut others = 0_usize;
    let mut last: Option<String> = None;
    for (index, interaction) in interactions.iter().enumerate() {
        let (asked, answered) = sides(interaction);
        let request = body_of(&asked);
        let response = body_of(&answered);
        // A body that is not JSON may be a stream of events.
        let response = match response {
            Value::String(words) => stream::whole(&words).unwrap_or(Value::String(words)),
            Value::Array(chunks) => stream::of_chunks(chunks),
            response @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => response,
        };
        let asks_model = read_messages(&request, Side::Input).is_some_and(|said| !said.messages.is_empty());
        if !request.is_object() || !asks_model || is_no_call(&asked) {
            others += 1;
            draft.keep(format!("/interactions/{index}"), interaction.clone());
            continue;
        }
        let (mut step, more) = exchanged(&request, &response);
        step.continues =
            last.is_some() && text(&request, &["previous_response_id"]).map(str::to_owned) == last;
        last.clone_from(&step.response_id);
        let code = answered.pointer("/status/code").and_then(Value::as_u64).unwrap_or(200);
        if step.output.is_none() && step.error.is_none() && code >= 400 {
            step.error = Some(format!("the provider answered with status {code}"));
        }
        if step.output.is_none() {
            step.foreign.push(("/response".to_owned(), response));
        }
        step.id = index.to_string();
        step.at_unix_ms = step.at_unix_ms.or_else(|| first(interaction, &["recorded_at"]).and_then(unix_ms));
        let uri = text(&asked, &["uri", "url"]).map(|uri| ("/uri".to_owned(), Value::from(uri)));
        step.foreign.extend(uri);
        // The model of some providers stands in the address.
        step.model = step.model.or_else(|| text(&asked, &["uri"]).and_then(model_in));
        if draft.started_at_unix_ms.is_none() {
            draft.started_at_unix_ms = step.at_unix_ms;
        }
        draft.steps.push(Step::Model(Box::new(step)));
        more.into_iter().for_each(|message| draft.said(message));
    }
    if others > 0 {
        draft.notices.push(format!("{others} exchanges are no model calls; they are kept as they are"));
    }
    if draft.steps.is_empty() && others > 0 {
        // Nothing was said, but the file is what it says it is.
        draft.steps.push(Step::Cleared);
    }
    Ok(vec![draft])
}

/// Request and response, under the names of several recorders.
fn sides(interaction: &Value) -> (Value, Value) {
    let side = |names: &[&str]| first(interaction, names).cloned().unwrap_or_default();
    (
        side(&["request", "request_sample", "request_stream", "request_parse"]),
        side(&["response", "response_sample", "response_stream", "response_parse"]),
    )
}

fn body_of(side: &Value) -> Value {
    let body = first(side, &["parsed_body", "json", "chunks_json", "body"]).cloned().unwrap_or_default();
    let body = match body.get("string") {
        Some(words) => words.clone(),
        None => body,
    };
    match body {
        Value::String(words) => parsed(&words).unwrap_or(Value::String(words)),
        body @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => body,
    }
}

/// Addresses that take messages and answer with none.
fn is_no_call(asked: &Value) -> bool {
    let uri = text(asked, &["uri", "url"]).unwrap_or_default();
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    [
        "/count_tokens",
        "/input_tokens",
        ":countTokens",
        "/compact",
        "/embeddings",
        "/conversations",
        "/moderations",
    ]
    .iter()
    .any(|end| path.ends_with(end))
}

fn model_in(uri: &str) -> Option<String> {
    let (_, after) = uri.split_once("/models/").or_else(|| uri.split_once("/model/"))?;
    let name = after.split(['/', ':', '?']).next()?;
    (!name.is_empty()).then(|| name.replace("%3A", ":"))
}
