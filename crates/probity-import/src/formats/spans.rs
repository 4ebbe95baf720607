//! Spans of OpenTelemetry (GenAI conventions), OpenInference and the Vercel AI SDK: as OTLP JSON, as the spans that SDKs
//! print, and as lists with attributes nested or flat.

mod attributes;
mod content;
mod envelope;

use std::collections::HashMap;

use serde_json::Value;

use super::Located;
use super::tree::{About, Kind, Node, runs};
use crate::draft::Draft;
use crate::error::ImportError;

pub(super) use attributes::Attributes;
pub(super) use content::definitions;
use envelope::Span;

pub(super) fn read(values: Vec<Located>) -> Result<Vec<Draft>, ImportError> {
    let mut spans = Vec::new();
    let mut logs = Vec::new();
    let mut foreign = Vec::new();
    for located in values {
        let place = located.place.clone();
        envelope::unwrap(located.value, &place, &mut spans, &mut logs, &mut foreign)?;
    }
    envelope::attach(&mut spans, logs);
    let mut about: HashMap<String, About> = HashMap::new();
    if let Some(first) = spans.first() {
        about.entry(first.trace.clone()).or_default().foreign = foreign;
    }
    Ok(runs(spans.into_iter().map(node).collect(), about))
}

fn node(span: Span) -> Node {
    let mut attributes = span.attributes;
    let kind = match attributes.kind(&span.name) {
        Kind::Other if span.events.iter().any(|event| event.name.starts_with("gen_ai.")) => Kind::Model,
        kind @ (Kind::Model | Kind::Tool | Kind::Agent | Kind::Other) => kind,
    };
    let mut node = Node {
        id: span.id,
        trace: span.trace,
        parent: span.parent,
        name: span.name,
        kind,
        place: span.place,
        start: span.start,
        end: span.end,
        error: span.error,
        ..Node::default()
    };
    if kind == Kind::Tool {
        node.name = attributes.tool_name().unwrap_or(node.name);
        node.call_id = attributes.call_id();
        node.arguments = attributes.take_arguments();
        node.result = attributes.take_result();
        // The name and the id stand in facts of their own.
        attributes.forget_tool();
    } else {
        node.tools = attributes.take_tools();
        node.model = attributes.model();
        node.response_id = attributes.response_id();
        node.usage = attributes.usage();
        node.stop = attributes.stop();
        let (from_events, rest) = envelope::messages_of(span.events);
        node.input = attributes.take_input(&mut node.raw).or(from_events.0);
        node.output = attributes.take_output(&mut node.raw).or(from_events.1);
        if !rest.is_empty() {
            node.foreign.push(("/events".to_owned(), Value::Array(rest)));
        }
    }
    let attributes = attributes.rest();
    if attributes.as_object().is_some_and(|object| !object.is_empty()) {
        node.foreign.push(("/attributes".to_owned(), attributes));
    }
    node.foreign.extend(span.rest);
    node
}
