use std::collections::HashMap;

use serde_json::{Map, Value};

use super::spans::{self, Attributes};
use super::tree::{About, Kind, Node, runs};
use super::{Located, usage_of};
use crate::draft::{Draft, Message, Role};
use crate::error::ImportError;
use crate::json::{as_text, first, take, text, unix_ms, unpacked};
use crate::messages::{Said, Side, read as read_messages};

/// Reads an export: `{"trace": …, "observations": […]}`, a trace that holds its observations, or observations alone.
pub(super) fn read(values: Vec<Located>) -> Result<Vec<Draft>, ImportError> {
    let mut nodes = Vec::new();
    let mut about = HashMap::new();
    for located in values {
        let place = located.place.clone();
        match located.value {
            Value::Array(list) => {
                for (index, value) in list.into_iter().enumerate() {
                    one(value, &format!("{place}/{index}"), &mut nodes, &mut about)?;
                }
            }
            value @ (Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)) => one(value, &place, &mut nodes, &mut about)?,
        }
    }
    Ok(runs(nodes, about))
}

fn one(
    value: Value,
    place: &str,
    nodes: &mut Vec<Node>,
    about: &mut HashMap<String, About>,
) -> Result<(), ImportError> {
    let Value::Object(mut object) = value else {
        return Err(ImportError::at(place, "expected an object with observations"));
    };
    let mut trace = match take(&mut object, "trace") {
        Some(Value::Object(trace)) => trace,
        Some(_) => return Err(ImportError::at(format!("{place}/trace"), "expected an object")),
        None if object.contains_key("observations") => object.clone(),
        None => {
            // An observation that stands alone.
            nodes.push(node(object, place.to_owned()));
            return Ok(());
        }
    };
    // A trace repeats its observations, without their content where they stand beside it.
    let within = take(&mut trace, "observations");
    let (listed, pointer) = match take(&mut object, "observations") {
        Some(listed) => (listed, "/observations"),
        None => (within.unwrap_or_default(), "/trace/observations"),
    };
    let Value::Array(listed) = listed else {
        return Err(ImportError::at(format!("{place}{pointer}"), "expected a list"));
    };
    let id = trace.get("id").map(as_text).unwrap_or_default();
    for (index, value) in listed.into_iter().enumerate() {
        let place = format!("{place}{pointer}/{index}");
        let Value::Object(mut observation) = value else {
            return Err(ImportError::at(place, "expected an observation"));
        };
        observation.entry("traceId".to_owned()).or_insert_with(|| id.as_str().into());
        nodes.push(node(observation, place));
    }
    let title = text(&Value::Object(trace.clone()), &["name"]).unwrap_or_default().to_owned();
    let input = trace.get("input").cloned().map(unpacked).and_then(|input| read_input(&input));
    trace.retain(|_, value| !is_nothing(value));
    let foreign = vec![("/trace".to_owned(), Value::Object(trace))];
    about.insert(id, About { title, input, foreign });
    Ok(())
}

fn node(mut object: Map<String, Value>, place: String) -> Node {
    let mut word = |names: &[&str]| {
        names.iter().find_map(|name| take(&mut object, name)).map(|value| as_text(&value)).unwrap_or_default()
    };
    let id = word(&["id"]);
    let trace = word(&["traceId", "trace_id"]);
    let parent = word(&["parentObservationId", "parent_observation_id"]);
    let name = word(&["name"]);
    let kind = word(&["type"]);
    let model = word(&["model", "providedModelName"]);
    let mut time = |names: &[&str]| names.iter().find_map(|name| unix_ms(&take(&mut object, name)?));
    let start = time(&["startTime", "start_time"]);
    let end = time(&["endTime", "end_time"]);
    let (input, output) = (take(&mut object, "input"), take(&mut object, "output"));
    // As they were written: a result is compared with what a later call was sent of it.
    let words = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let (input_words, output_words) = (words(&input), words(&output));
    let (input, output) = (input.map(unpacked), output.map(unpacked));
    let metadata = take(&mut object, "metadata").map(unpacked);
    let is_error = object.get("level").and_then(Value::as_str) == Some("ERROR");
    let error = object.get("statusMessage").map(as_text).filter(|words| is_error && !words.is_empty());
    let attributes = metadata.as_ref().and_then(|metadata| first(metadata, &["attributes"]));
    let attributes = Attributes::of(attributes.unwrap_or(&Value::Null));
    let kind = match kind.as_str() {
        "GENERATION" => Kind::Model,
        "TOOL" => Kind::Tool,
        "AGENT" => Kind::Agent,
        _ => match attributes.kind(&name) {
            // A span of no kind is one only where its attributes say so, and it has something to tell.
            Kind::Model if input.is_none() => Kind::Other,
            kind @ (Kind::Model | Kind::Tool | Kind::Agent | Kind::Other) => kind,
        },
    };
    let tools = match first(&Value::Object(object.clone()), &["toolDefinitions"]) {
        Some(Value::Object(named)) if !named.is_empty() => spans::definitions(named.values()),
        Some(Value::Array(listed)) if !listed.is_empty() => spans::definitions(listed.iter()),
        _ => attributes.tools(),
    };
    let mut node = Node { id, trace, parent, name, kind, place, start, end, error, tools, ..Node::default() };
    node.model = Some(model).filter(|model| !model.is_empty());
    node.usage = object.get("usageDetails").or_else(|| object.get("usage")).map(usage_of).unwrap_or_default();
    match kind {
        Kind::Tool => {
            node.name = attributes.tool_name().unwrap_or_else(|| tool_name(&node.name));
            node.call_id = attributes.call_id().or_else(|| output.as_ref().and_then(call_id));
            node.arguments = input_words.or_else(|| input.as_ref().map(as_text));
            node.result = output.as_ref().map(|output| result_text(output, output_words));
        }
        Kind::Model | Kind::Agent | Kind::Other => {
            node.input = input.as_ref().and_then(read_input);
            node.output = output.as_ref().and_then(|output| read_messages(output, Side::Output));
            // What a model said is a reply, whatever it is.
            if let (Kind::Model, None, Some(output)) = (kind, &node.output, &output) {
                let reply = Message::text(Role::Assistant, output_words.unwrap_or_else(|| as_text(output)));
                node.output = Some(Said { messages: vec![reply], tools: Vec::new() });
            }
        }
    }
    node.raw.extend(input.map(|input| ("/input".to_owned(), input)));
    node.raw.extend(output.map(|output| ("/output".to_owned(), output)));
    node.foreign.extend(metadata.map(|metadata| ("/metadata".to_owned(), metadata)));
    object.retain(|_, value| !is_nothing(value));
    node.foreign.push(("/observation".to_owned(), Value::Object(object)));
    node
}

fn read_input(input: &Value) -> Option<Said> {
    read_messages(input, Side::Input)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(object) => object.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Some name a tool's span after what is done: `running tool: search`, `execute_tool search`.
fn tool_name(name: &str) -> String {
    let name = ["running tool: ", "execute_tool ", "tool: "]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    name.to_owned()
}

fn call_id(output: &Value) -> Option<String> {
    let inner = output.get("kwargs").unwrap_or(output);
    text(inner, &["tool_call_id", "toolCallId"]).map(str::to_owned)
}

/// The text of a tool's result: of a message, what it says; else what was written.
fn result_text(output: &Value, words: Option<String>) -> String {
    let said = crate::messages::read_one(output);
    match said.as_deref() {
        Some([message]) => message.words(),
        _ => match output.get("content") {
            Some(content) if output.as_object().is_some_and(|object| object.len() == 1) => {
                crate::messages::result_text(content)
            }
            _ => words.unwrap_or_else(|| as_text(output)),
        },
    }
}
