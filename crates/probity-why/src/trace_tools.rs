//! The questions about a record as tools, so that any task can be given them.

use std::sync::Arc;

use probity_contract::{
    Arguments, BoxFuture, Effect, Permit, Target, Tool, ToolContext, ToolError, ToolErrorClass, ToolName,
    ToolOutput, ToolSpec,
};
use serde_json::{Value, json};

use crate::queries::{TRACE_ROWS_MAX, TraceError, TraceQuery, TraceSource};

/// Tools by which a model can ask about the record of a run: `trace_overview`, `trace_find`, `trace_node`, `trace_slice`,
/// `trace_value`, `trace_call`, `trace_window`, `trace_who_wrote`, `trace_errors`.
///
/// They read what they were given and nothing else, and touch the run that it is of (a target `run`). What they bring back is
/// untrusted, has passed the credential pass, and may be read by who may read every item of the records.
#[must_use]
pub fn trace_tools(source: Arc<TraceSource>) -> Vec<Arc<dyn Tool>> {
    let tools = QUERIES.iter().filter_map(|(name, description, members)| {
        let spec = ToolSpec {
            name: ToolName::new(name).ok()?,
            description: (*description).to_owned(),
            input_schema: schema(members),
            effect: Effect::Pure,
            server: None,
            sandbox: None,
            endorses: Vec::new(),
        };
        let tool: Arc<dyn Tool> = Arc::new(TraceTool { source: Arc::clone(&source), spec });
        Some(tool)
    });
    tools.collect()
}

struct TraceTool {
    source: Arc<TraceSource>,
    spec: ToolSpec,
}

impl Tool for TraceTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, _arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        let run = self
            .source
            .run()
            .map(|run| Target::Other { what: "run".to_owned(), value: run.as_str().to_owned() });
        Box::pin(std::future::ready(Ok(run.into_iter().collect())))
    }

    fn run<'a>(&'a self, permit: Permit, _cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let query = read(self.spec.name.as_str(), permit.call().arguments())?;
            let source = Arc::clone(&self.source);
            // The first question passes all texts, which may take a while.
            let asked = tokio::task::spawn_blocking(move || source.ask(&query)).await;
            let answer = asked
                .map_err(|_| {
                    ToolError::new(ToolErrorClass::Failed, "the question was not answered: it was stopped")
                })?
                .map_err(|error| refused(&error))?;
            Ok(ToolOutput { readers: self.source.readers().clone(), ..ToolOutput::text(answer.to_string()) })
        })
    }
}

fn read(name: &str, arguments: &Arguments) -> Result<TraceQuery, ToolError> {
    let mut value = arguments.to_value();
    if let Value::Object(members) = &mut value {
        if members.contains_key("query") {
            return Err(ToolError::new(ToolErrorClass::InvalidArguments, "unknown member `query`"));
        }
        members.insert("query".to_owned(), name.into());
    }
    serde_json::from_value(value)
        .map_err(|error| ToolError::new(ToolErrorClass::InvalidArguments, error.to_string()))
}

fn refused(error: &TraceError) -> ToolError {
    let class = match error {
        TraceError::NoSuchId => ToolErrorClass::NotFound,
        TraceError::WrongSort(_) | TraceError::NothingToFind | TraceError::Regex | TraceError::Value => {
            ToolErrorClass::InvalidArguments
        }
    };
    ToolError::new(class, format!("{error}; {}", error.hint()))
}

/// A member of the arguments: its name, its type, whether it must be there, and what the model reads of it.
type Member = (&'static str, &'static str, bool, &'static str);

const OFFSET: Member =
    ("offset", "integer", false, "Rows to pass over; an answer says in `more` where to go on.");
const LIMIT: Member = ("limit", "integer", false, "Rows to tell, at most 100; 20 where it is not said.");
const ID: Member = (
    "id",
    "string",
    true,
    "What is meant: i5 (item), m2 (model call), c3 (tool call), e17 (entry), n9, answer, end; of another run r1/i5.",
);

const QUERIES: [(&str, &str, &[Member]); 9] = [
    (
        "trace_overview",
        "What a recorded run was: model, tools, ending, answer, counts, other runs; and its model calls, tool calls and limits \
         in order. Begin here.",
        &[("run", "string", false, "Another run, like r1."), OFFSET, LIMIT],
    ),
    (
        "trace_find",
        "Lines of what was said, given and brought back in which words or a regular expression stand, with ids and bytes.",
        &[
            ("text", "string", false, "Words as they stand there. Give this or `regex`."),
            ("regex", "string", false, "A regular expression without look-around and back-references."),
            ("ignore_case", "boolean", false, "Whether upper and lower case are one."),
            OFFSET,
            LIMIT,
        ],
    ),
    (
        "trace_node",
        "One thing of a run: what it is, what it hung on directly, and its text by pages.",
        &[
            ID,
            (
                "offset",
                "integer",
                false,
                "Bytes of the text to pass over; an answer says in `more` where to go on.",
            ),
        ],
    ),
    (
        "trace_slice",
        "All that something hung on, or all that hung on it; and what is not known of that. Nothing else reached it.",
        &[
            ID,
            ("forward", "boolean", false, "True for what hung on it; otherwise what it hung on."),
            ("control", "boolean", false, "Whether to follow decisions that let things happen, beside data."),
            (
                "kind",
                "string",
                false,
                "Only these: item, model_call, proposal, outcome, denial, unknown and so on.",
            ),
            OFFSET,
            LIMIT,
        ],
    ),
    (
        "trace_value",
        "Where a number, date, id or name stands, in the oldest item first; what it was computed from; or that it has no source.",
        &[
            ("value", "string", true, "The value, with its unit where it has one: 5,000.00 EUR."),
            ("reached", "string", false, "An id, often answer: only look at what had reached this."),
            OFFSET,
            LIMIT,
        ],
    ),
    (
        "trace_call",
        "A tool call from its proposal to its result: proposed against executed arguments, verdicts, outcome.",
        &[("id", "string", true, "The call, like c3."), OFFSET, LIMIT],
    ),
    (
        "trace_window",
        "What one model call was sent, item by item, with the bytes of each.",
        &[("id", "string", true, "The model call, like m2."), OFFSET, LIMIT],
    ),
    (
        "trace_who_wrote",
        "Who worded something, step by step back to a model, a person, the task or a policy; and who let it in.",
        &[ID, OFFSET, LIMIT],
    ),
    (
        "trace_errors",
        "Failures, denials, errors, missed schemas and limits of all runs, in order.",
        &[OFFSET, LIMIT],
    ),
];

fn schema(members: &[Member]) -> Value {
    let property = |(name, kind, _, description): &Member| {
        let mut property = json!({"type": kind, "description": description});
        if *kind == "integer"
            && let Value::Object(rules) = &mut property
        {
            rules.insert("minimum".to_owned(), u32::from(*name == "limit").into());
            let max = if *name == "limit" { TRACE_ROWS_MAX.into() } else { Value::from(u32::MAX) };
            rules.insert("maximum".to_owned(), max);
        }
        ((*name).to_owned(), property)
    };
    let required: Vec<&str> = members.iter().filter(|member| member.2).map(|member| member.0).collect();
    json!({
        "type": "object",
        "properties": members.iter().map(property).collect::<serde_json::Map<String, Value>>(),
        "required": required,
        "additionalProperties": false,
    })
}
