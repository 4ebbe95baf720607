//! What a rule answers, and how the answer comes in as a stream.

use std::collections::BTreeSet;

use probity_contract::{
    ItemId, ModelError, ModelErrorClass, ModelEvent, ModelReply, ReplyPart, ReplyPartKind, Stop,
};
use serde_json::Value;

use super::file::{RawCall, RawRule};
use super::names::Names;
use super::rule::Problem;
use super::scope::{NotANumber, Scope};
use super::template::{Form, JsonTemplate, Template};

/// The answer of a rule, with places for what its conditions capture.
#[derive(Debug)]
pub(crate) struct Answer {
    reasoning: Option<Template>,
    said: Option<Said>,
    calls: Vec<Call>,
    error: Option<(ModelErrorClass, Template)>,
    stop: Option<Stop>,
}

#[derive(Debug)]
enum Said {
    Text(Template),
    Json(JsonTemplate),
}

#[derive(Debug)]
struct Call {
    tool: String,
    arguments: CallArguments,
}

#[derive(Debug)]
enum CallArguments {
    Filled(JsonTemplate),
    /// Exactly this text, well-formed or not.
    Raw(String),
}

/// An answer with its values in place.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) parts: Vec<ReplyPart>,
    pub(crate) stop: Stop,
    /// What breaks the reply off after its parts.
    pub(crate) error: Option<ModelError>,
    /// The items whose captures stand in it.
    pub(crate) captured: BTreeSet<ItemId>,
}

impl Answer {
    /// Checks the answer of a rule that begins at byte `at` and may use `names`.
    pub(crate) fn compile(raw: &RawRule, at: usize, names: &Names) -> Result<Self, Problem> {
        let template = |raw: &toml::Spanned<String>| {
            let at = raw.span().start;
            let template = Template::parse(raw.get_ref()).map_err(|words| Problem::new(at, words))?;
            names.allow_in_answer(&template.names(), at)?;
            Ok(template)
        };
        let said = match (&raw.text, &raw.json) {
            (Some(_), Some(json)) => {
                return Err(Problem::new(json.span().start, "a rule says `text` or `json`, not both"));
            }
            (Some(text), None) => Some(Said::Text(template(text)?)),
            (None, Some(json)) => {
                let at = json.span().start;
                let json =
                    JsonTemplate::from_toml(json.get_ref()).map_err(|words| Problem::new(at, words))?;
                names.allow_in_answer(&json.names(), at)?;
                Some(Said::Json(json))
            }
            (None, None) => None,
        };
        let error = match (&raw.error, &raw.message) {
            (Some(class), Some(message)) => Some((*class.get_ref(), template(message)?)),
            (Some(class), None) => Some((*class.get_ref(), Template::plain("the rule says so"))),
            (None, Some(message)) => {
                return Err(Problem::new(message.span().start, "`message` belongs to rules with `error`"));
            }
            (None, None) => None,
        };
        if let (Some(stop), Some(_)) = (&raw.stop, &error) {
            return Err(Problem::new(stop.span().start, "a reply that an `error` breaks off has no `stop`"));
        }
        if said.is_none() && raw.call.is_empty() && error.is_none() {
            return Err(Problem::new(
                at,
                "the rule has no answer: give it `text`, `json`, `call` or `error`",
            ));
        }
        Ok(Self {
            reasoning: raw.reasoning.as_ref().map(template).transpose()?,
            said,
            calls: raw.call.iter().map(|call| Call::compile(call, names)).collect::<Result<_, _>>()?,
            error,
            stop: raw.stop.as_ref().map(|stop| stop.get_ref().clone()),
        })
    }

    /// The tools that it calls.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> + Clone {
        self.calls.iter().map(|call| call.tool.as_str())
    }

    /// Whether it ends in an error.
    pub(crate) fn breaks_off(&self) -> bool {
        self.error.is_some()
    }

    /// The answer with its values in place.
    pub(crate) fn fill(&self, scope: &Scope) -> Result<Filled, NotANumber> {
        let mut parts = Vec::new();
        if let Some(reasoning) = &self.reasoning {
            let kind = ReplyPartKind::Reasoning(reasoning.fill(scope)?);
            parts.push(ReplyPart { kind, native: None });
        }
        match &self.said {
            None => {}
            Some(Said::Text(template)) => parts.push(ReplyPart::text(template.fill(scope)?)),
            Some(Said::Json(json)) => parts.push(ReplyPart::text(format!("{:#}", json.fill(scope)?))),
        }
        for (at, call) in (1..).zip(&self.calls) {
            // Not counted over the window: then a call would differ whenever an earlier item is missing.
            parts.push(ReplyPart::call(format!("call_{at}"), &call.tool, call.arguments(scope)?));
        }
        let error = match &self.error {
            None => None,
            Some((class, message)) => Some(ModelError::new(*class, message.fill(scope)?)),
        };
        let usual = if self.calls.is_empty() { Stop::EndTurn } else { Stop::ToolCalls };
        let stop = self.stop.clone().unwrap_or(usual);
        let captured = self.names().iter().flat_map(|(name, _)| scope.items(name)).collect();
        Ok(Filled { parts, stop, error, captured })
    }

    fn names(&self) -> Vec<(&str, Form)> {
        let said = match &self.said {
            None => Vec::new(),
            Some(Said::Text(template)) => template.names(),
            Some(Said::Json(json)) => json.names(),
        };
        let calls = self.calls.iter().flat_map(|call| match &call.arguments {
            CallArguments::Filled(arguments) => arguments.names(),
            CallArguments::Raw(_) => Vec::new(),
        });
        let others = self.reasoning.iter().chain(self.error.iter().map(|(_, message)| message));
        said.into_iter().chain(calls).chain(others.flat_map(Template::names)).collect()
    }
}

impl Call {
    fn compile(raw: &toml::Spanned<RawCall>, names: &Names) -> Result<Self, Problem> {
        let at = raw.span().start;
        let raw = raw.get_ref();
        let arguments = match (&raw.arguments, &raw.raw_arguments) {
            (Some(_), Some(_)) => {
                return Err(Problem::new(at, "a call has `arguments` or `raw_arguments`, not both"));
            }
            (None, Some(text)) => CallArguments::Raw(text.clone()),
            (None, None) => CallArguments::Filled(JsonTemplate::Object(Vec::new())),
            (Some(table), None) => {
                let at = table.span().start;
                let arguments =
                    JsonTemplate::from_table(table.get_ref()).map_err(|words| Problem::new(at, words))?;
                names.allow_in_answer(&arguments.names(), at)?;
                CallArguments::Filled(arguments)
            }
        };
        Ok(Self { tool: raw.tool.clone(), arguments })
    }

    fn arguments(&self, scope: &Scope) -> Result<String, NotANumber> {
        match &self.arguments {
            CallArguments::Filled(arguments) => arguments.fill(scope).map(|value: Value| value.to_string()),
            CallArguments::Raw(text) => Ok(text.clone()),
        }
    }
}

/// The steps in which a reply comes in: text cut after each word, arguments after each comma.
pub(crate) fn events(reply: ModelReply, error: Option<ModelError>) -> Vec<Result<ModelEvent, ModelError>> {
    let mut events = Vec::new();
    for (part, reply_part) in (0..).zip(&reply.parts) {
        match &reply_part.kind {
            ReplyPartKind::Text(text) => {
                events.extend(words(text).map(|delta| ModelEvent::Text { part, delta }));
            }
            ReplyPartKind::Reasoning(text) => {
                events.extend(words(text).map(|delta| ModelEvent::Reasoning { part, delta }));
            }
            ReplyPartKind::Call(call) => {
                events.push(ModelEvent::CallStarted { part, name: call.name.clone() });
                let pieces = call.arguments.split_inclusive(',').map(str::to_owned);
                events.extend(pieces.map(|delta| ModelEvent::CallArguments { part, delta }));
            }
            ReplyPartKind::Opaque => {}
        }
    }
    let end = match error {
        None => Ok(ModelEvent::Finished(reply)),
        Some(error) => Err(error),
    };
    events.into_iter().map(Ok).chain([end]).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(char::is_whitespace).map(str::to_owned)
}
