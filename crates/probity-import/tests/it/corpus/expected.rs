//! The messages that another program made of the same traces, brought to the form of ours. Written apart from the
//! importers: nothing here uses their readings.

use std::collections::BTreeMap;

use probity_import::{ChatMessage, ChatRole, ImportedRun, exchanges};
use serde_json::{Map, Value};

pub(crate) struct Told {
    pub(crate) equal: usize,
    /// Lists of messages without any member: the other program took note that something was said, and kept none of it.
    pub(crate) silent: Vec<String>,
    pub(crate) different: Vec<String>,
}

/// A message of either side: role where it is told, words, calls, the call that it answers.
#[derive(Debug, PartialEq)]
struct Plain {
    role: Option<&'static str>,
    words: String,
    calls: Vec<(String, String, Value)>,
    answers: Option<String>,
}

pub(crate) fn compare(expected: &Value, runs: &[ImportedRun]) -> Told {
    let mut ours: BTreeMap<String, Step> = BTreeMap::new();
    for exchange in runs.iter().flat_map(exchanges) {
        let plain = |messages: Vec<ChatMessage>| messages.into_iter().map(our_plain).collect();
        let entry = (plain(exchange.input), plain(exchange.output), exchange.tools);
        ours.entry(exchange.source).or_insert(entry);
    }
    let mut told = Told { equal: 0, silent: Vec::new(), different: Vec::new() };
    for (id, sides) in expected.as_object().unwrap() {
        for side in ["input", "output"] {
            // Where the other program found no messages, there is nothing to be equal to.
            let Some(Value::Array(list)) = sides.pointer(&format!("/{side}/data")) else { continue };
            if list.iter().all(|message| message.as_object().is_some_and(Map::is_empty)) {
                told.silent.push(format!("{id} {side}"));
                continue;
            }
            let theirs: Vec<Plain> = list.iter().flat_map(their_plain).collect();
            let Some((input, output, tools)) = ours.get(id) else {
                told.different.push(format!("{id} {side}: no such step"));
                continue;
            };
            let ours = if side == "input" { input } else { output };
            if !is_equal(&theirs, ours) {
                told.different.push(format!("{id} {side}:\n  expected {theirs:?}\n  found    {ours:?}"));
                continue;
            }
            let offered = list.first().and_then(|message| message.get("tools")?.as_array());
            let offered: Vec<_> =
                offered.into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
            if !offered.is_empty() && offered != *tools {
                told.different.push(format!("{id} {side}: expected tools {offered:?}, found {tools:?}"));
                continue;
            }
            told.equal += 1;
        }
    }
    told
}

fn is_equal(theirs: &[Plain], ours: &[Plain]) -> bool {
    theirs.len() == ours.len()
        && theirs.iter().zip(ours).all(|(theirs, ours)| {
            // A role and an id that the other program leaves out are not compared; words and calls always are.
            (theirs.role.is_none() || theirs.role == ours.role)
                && (theirs.answers.is_none() || theirs.answers == ours.answers)
                && same_words(&theirs.words, &ours.words)
                && same_calls(&theirs.calls, &ours.calls)
        })
}

fn same_calls(theirs: &[(String, String, Value)], ours: &[(String, String, Value)]) -> bool {
    let same = |(theirs, ours): (&(String, String, Value), &(String, String, Value))| {
        theirs.0 == ours.0 && theirs.1 == ours.1 && same_value(&theirs.2, &ours.2)
    };
    theirs.len() == ours.len() && theirs.iter().zip(ours).all(same)
}

/// Texts that are JSON are equal where their values are.
fn same_words(theirs: &str, ours: &str) -> bool {
    let value = |words: &str| serde_json::from_str::<Value>(words).ok().filter(|value| !value.is_string());
    theirs == ours || value(theirs).zip(value(ours)).is_some_and(|(theirs, ours)| same_value(&theirs, &ours))
}

/// The other program knows numbers of one kind only, so `29.0` comes out as `29`.
fn same_value(theirs: &Value, ours: &Value) -> bool {
    match (theirs, ours) {
        (Value::Number(theirs), Value::Number(ours)) => theirs.as_f64() == ours.as_f64(),
        (Value::Array(theirs), Value::Array(ours)) => {
            theirs.len() == ours.len()
                && theirs.iter().zip(ours).all(|(theirs, ours)| same_value(theirs, ours))
        }
        (Value::Object(theirs), Value::Object(ours)) => {
            theirs.len() == ours.len()
                && theirs
                    .iter()
                    .all(|(name, value)| ours.get(name).is_some_and(|ours| same_value(value, ours)))
        }
        _ => theirs == ours,
    }
}

fn our_plain(message: ChatMessage) -> Plain {
    let role = match message.role {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
        ChatRole::Tool => "tool",
    };
    let arguments = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
    let calls = message
        .tool_calls
        .iter()
        .map(|call| (call.id.clone(), call.name.clone(), arguments(&call.arguments)));
    Plain {
        role: Some(role),
        words: message.content.clone(),
        calls: calls.collect(),
        answers: message.tool_call_id,
    }
}

/// A message of the other program. Several, where one message holds results of tools.
fn their_plain(message: &Value) -> Vec<Plain> {
    let object = message.as_object().unwrap();
    let rest = object.get("json");
    // A message whose words it did not know how to read stands in `json` as it was.
    if object.get("content").is_none() && object.get("tool_calls").is_none() {
        return from_json(object, rest);
    }
    let role = object.get("role").and_then(Value::as_str).map(role);
    let (words, mut calls, results) = body(object.get("content").unwrap_or(&Value::Null));
    let listed = object.get("tool_calls").and_then(Value::as_array);
    calls.extend(listed.into_iter().flatten().map(call));
    let answers = object.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
    let mut plain = results;
    if plain.is_empty() || !words.is_empty() || !calls.is_empty() {
        plain.push(Plain { role, words, calls, answers });
    }
    plain
}

fn role(word: &str) -> &'static str {
    match word {
        "system" | "developer" => "system",
        "user" | "human" => "user",
        "assistant" | "ai" | "model" => "assistant",
        // What is left is the name of a tool.
        _ => "tool",
    }
}

fn call(value: &Value) -> (String, String, Value) {
    let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = value.get("arguments").or_else(|| value.get("input")).cloned().unwrap_or_default();
    let arguments = match &arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or(arguments),
        _ => arguments,
    };
    (word("id"), word("name"), arguments)
}

/// What went in, what came out, and which tools were offered.
type Step = (Vec<Plain>, Vec<Plain>, Vec<String>);

type Body = (String, Vec<(String, String, Value)>, Vec<Plain>);

fn body(content: &Value) -> Body {
    let Value::Array(parts) = content else {
        let words = content.as_str().map_or_else(
            || if content.is_null() { String::new() } else { content.to_string() },
            str::to_owned,
        );
        return (words, Vec::new(), Vec::new());
    };
    let is_part = |part: &Value| part.get("type").is_some_and(Value::is_string) || part.is_string();
    if !parts.iter().all(is_part) {
        return (content.to_string(), Vec::new(), Vec::new());
    }
    let (mut words, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("tool_use") => calls.push(call(part)),
            Some("tool_result") => results.push(Plain {
                role: Some("tool"),
                words: body(&part["content"]).0,
                calls: Vec::new(),
                answers: part["tool_use_id"].as_str().map(str::to_owned),
            }),
            _ => words.extend(part.get("text").or(Some(part)).and_then(Value::as_str)),
        }
    }
    (words.join("\n"), calls, results)
}

/// What stands in `json`: a message in an envelope, a message with a text, messages that were left as a library wrote
/// them, or a value that is none.
fn from_json(object: &Map<String, Value>, rest: Option<&Value>) -> Vec<Plain> {
    let told = object.get("role").and_then(Value::as_str).map(role);
    let rest = rest.cloned().unwrap_or_else(|| Value::Object(object.clone()));
    if let Some(inner) = rest.get("message").filter(|inner| inner.is_object()) {
        return their_plain(inner);
    }
    let listed = rest
        .get("output")
        .and_then(Value::as_array)
        .filter(|list| list.iter().all(|value| value.get("lc").is_some()));
    if let Some(list) = listed {
        return list.iter().map(constructed).collect();
    }
    let words = rest.get("text").and_then(Value::as_str).filter(|_| told.is_some());
    let words = words.map_or_else(|| rest.to_string(), str::to_owned);
    vec![Plain { role: told, words, calls: Vec::new(), answers: None }]
}

/// A message as LangChain serializes it.
fn constructed(value: &Value) -> Plain {
    let class = value["id"].as_array().and_then(|id| id.last()?.as_str()).unwrap_or_default();
    let role = match class {
        "HumanMessage" => "user",
        "SystemMessage" => "system",
        "ToolMessage" => "tool",
        _ => "assistant",
    };
    let inner = &value["kwargs"];
    let (words, _, _) = body(&inner["content"]);
    let calls = inner["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.map(|call| {
        let word = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
        (word("id"), word("name"), call["args"].clone())
    });
    let answers = inner["tool_call_id"].as_str().map(str::to_owned);
    Plain { role: Some(role), words, calls: calls.collect(), answers }
}
