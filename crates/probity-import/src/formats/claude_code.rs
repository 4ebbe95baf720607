use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::{Located, stop_of, usage_of};
use crate::draft::{Draft, Kept, ModelStep, Piece, Role, Step};
use crate::error::ImportError;
use crate::json::{as_text, take, text, unix_ms};
use crate::messages::read_one;

/// Reads sessions. The replies of one request stand in several lines, which are one reply here. What a sub-agent did is a
/// run of its own, started by the call whose prompt is its first message.
pub(super) fn read(values: Vec<Located>) -> Result<Vec<Draft>, ImportError> {
    let mut sessions = Sessions::default();
    let mut titles: Vec<Kept> = Vec::new();
    for located in values {
        let place = located.place;
        let Value::Object(object) = located.value else {
            return Err(ImportError::at(place, "expected an object on each line"));
        };
        match object.get("type").and_then(Value::as_str) {
            Some("user" | "assistant") => sessions.said(object, place),
            Some("summary") => titles.push(("/summary".to_owned(), Value::Object(object))),
            Some("system") => sessions.system(object, place),
            _ => sessions.other(object),
        }
    }
    let mut drafts = sessions.finish();
    if let Some(first) = drafts.first_mut() {
        let told = titles.last().and_then(|(_, summary)| text(summary, &["summary"]));
        first.title = told.unwrap_or_default().to_owned();
        first.foreign.extend(titles);
    }
    Ok(drafts)
}

#[derive(Default)]
struct Sessions {
    drafts: Vec<Draft>,
    places: HashMap<String, usize>,
    /// The request whose reply stands last in a session.
    open: HashMap<usize, String>,
    /// Calls that start agents: the prompt, and the session and id of the call.
    started: HashMap<String, VecDeque<(String, String)>>,
    /// The session of each line of a sub-agent, by its own id.
    side_by_line: HashMap<String, String>,
}

impl Sessions {
    fn said(&mut self, mut object: Map<String, Value>, place: String) {
        let at = object.get("timestamp").and_then(unix_ms);
        let index = self.session(&object, place, at);
        let kind = take(&mut object, "type").map(|kind| as_text(&kind)).unwrap_or_default();
        let request = ["requestId"].iter().find_map(|name| object.get(*name)).map(as_text);
        let Some(Value::Object(mut inner)) = take(&mut object, "message") else { return };
        let id = inner.get("id").map(as_text);
        inner.entry("role".to_owned()).or_insert_with(|| kind.as_str().into());
        let usage = inner.remove("usage").as_ref().map(usage_of).unwrap_or_default();
        let model = take(&mut inner, "model").map(|model| as_text(&model));
        let stop = take(&mut inner, "stop_reason").and_then(|word| stop_of(&as_text(&word)));
        for name in ["id", "type", "stop_sequence"] {
            inner.remove(name);
        }
        let Some(messages) = read_one(&Value::Object(inner)) else { return };
        let kept = kept_of(object);
        let Some(draft) = self.drafts.get_mut(index) else { return };
        let last = messages.len().saturating_sub(1);
        for (position, mut message) in messages.into_iter().enumerate() {
            message.at_unix_ms = at;
            if position == last {
                message.foreign.extend(kept.clone());
            }
            if message.role != Role::Assistant {
                self.open.remove(&index);
                draft.message(message);
                continue;
            }
            for piece in &message.pieces {
                if let Piece::Call { id, arguments, .. } = piece
                    && let Ok(given) = serde_json::from_str::<Value>(arguments)
                    && let Some(prompt) = text(&given, &["prompt"])
                {
                    let call = (draft.key.clone(), id.clone());
                    self.started.entry(prompt.to_owned()).or_default().push_back(call);
                }
            }
            let reply = id.clone().or_else(|| request.clone()).unwrap_or_default();
            let is_same = !reply.is_empty() && self.open.get(&index) == Some(&reply);
            if let (true, Some(Step::Model(step))) = (is_same, draft.steps.last_mut())
                && let Some(output) = &mut step.output
            {
                output.pieces.extend(message.pieces);
                output.foreign.extend(message.foreign.into_iter().filter(|(name, _)| name != "/uuid"));
                step.usage = usage;
                step.stop = stop.clone().or(step.stop.take());
                continue;
            }
            self.open.insert(index, reply);
            let step = ModelStep {
                at_unix_ms: at,
                output: Some(message),
                model: model.clone(),
                response_id: id.clone(),
                usage,
                stop: stop.clone(),
                ..ModelStep::default()
            };
            draft.steps.push(Step::Model(Box::new(step)));
        }
    }

    /// The conversation that a line belongs to.
    fn session(&mut self, object: &Map<String, Value>, place: String, at: Option<u64>) -> usize {
        let word = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_side = object.get("isSidechain").and_then(Value::as_bool) == Some(true);
        let mut key = word("sessionId").to_owned();
        let mut prompt = None;
        if is_side {
            let above = self.side_by_line.get(word("parentUuid")).cloned();
            let named =
                Some(word("agentId")).filter(|agent| !agent.is_empty()).map(|agent| format!("{key}/{agent}"));
            // Without a name, lines hang together by the line above; the first has none.
            key = named.or(above).unwrap_or_else(|| format!("{key}/{}", word("uuid")));
            self.side_by_line.insert(word("uuid").to_owned(), key.clone());
            prompt = object.get("message").map(|message| match message.get("content") {
                Some(Value::Array(parts)) => {
                    parts.first().and_then(|part| text(part, &["text"])).unwrap_or_default().to_owned()
                }
                Some(content) => as_text(content),
                None => String::new(),
            });
        }
        if let Some(index) = self.places.get(&key) {
            return *index;
        }
        let index = self.drafts.len();
        let parent = prompt.and_then(|prompt| self.started.get_mut(&prompt)?.pop_front());
        let mut draft = Draft { key: key.clone(), place, started_at_unix_ms: at, parent, ..Draft::default() };
        if is_side && draft.parent.is_none() {
            draft.notices.push("no call was found that could have started this agent".to_owned());
        }
        self.places.insert(key, index);
        self.drafts.push(draft);
        index
    }

    /// Where a conversation was summed up, its window begins anew.
    fn system(&mut self, object: Map<String, Value>, place: String) {
        let at = object.get("timestamp").and_then(unix_ms);
        let is_boundary = object.get("subtype").and_then(Value::as_str) == Some("compact_boundary");
        let index = self.session(&object, place, at);
        if let Some(draft) = self.drafts.get_mut(index) {
            if is_boundary {
                draft.steps.push(Step::Cleared);
            }
            draft.keep(format!("/lines/{}", draft.steps.len()), Value::Object(object));
        }
    }

    fn other(&mut self, object: Map<String, Value>) {
        if let Some(draft) = self.drafts.first_mut() {
            draft.keep(format!("/lines/{}", draft.steps.len()), Value::Object(object));
        }
    }

    fn finish(self) -> Vec<Draft> {
        self.drafts
    }
}

/// What a line says beside its message. What every line repeats is left to the run.
fn kept_of(object: Map<String, Value>) -> Vec<Kept> {
    let repeated = ["timestamp", "sessionId", "isSidechain", "userType", "version", "toolUseResult"];
    let rest =
        object.into_iter().filter(|(name, value)| !value.is_null() && !repeated.contains(&name.as_str()));
    rest.map(|(name, value)| (format!("/{name}"), value)).collect()
}
