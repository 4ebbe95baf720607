//! Spans as runs: which of them are model calls, which are tools, and which run each belongs to.
//!
//! A trace is a run. What happens below a tool that has model calls below it is a run of its own, started by that call;
//! an agent that is below another one without a tool between them stays in its run, since there is no call that could
//! have started it. Model calls that only wrap others are not calls.

mod links;

use std::collections::{HashMap, HashSet};

use probity_contract::{Stop, Usage};
use serde_json::Value;

use self::links::Links;
use crate::draft::{Draft, Kept, Message, ModelStep, Role, Step, ToolStep};
use crate::messages::{Said, reply_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    Model,
    Tool,
    Agent,
    #[default]
    Other,
}

/// A span as far as any tracer tells.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) trace: String,
    pub(super) parent: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) place: String,
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) input: Option<Said>,
    pub(super) output: Option<Said>,
    pub(super) model: Option<String>,
    pub(super) response_id: Option<String>,
    pub(super) usage: Usage,
    pub(super) stop: Option<Stop>,
    pub(super) tools: Vec<Value>,
    pub(super) error: Option<String>,
    pub(super) call_id: Option<String>,
    pub(super) arguments: Option<String>,
    pub(super) result: Option<String>,
    /// Input and output as they stand in the trace. They are kept where they do not become a model call.
    pub(super) raw: Vec<Kept>,
    /// What has no place.
    pub(super) foreign: Vec<Kept>,
}

/// What a trace says of itself.
#[derive(Debug, Default)]
pub(super) struct About {
    pub(super) title: String,
    pub(super) input: Option<Said>,
    pub(super) foreign: Vec<Kept>,
}

/// Runs of spans. `about` is what traces say of themselves, by their ids.
pub(super) fn runs(mut nodes: Vec<Node>, about: HashMap<String, About>) -> Vec<Draft> {
    nodes.sort_by_key(|node| node.start.unwrap_or(0));
    let links = Links::of(&nodes);
    let mut builder = Builder { about, ..Builder::default() };
    let names: Vec<(String, String)> =
        nodes.iter().map(|node| (node.trace.clone(), node.id.clone())).collect();
    let key = |owner: Option<usize>, trace: &str| match owner.and_then(|owner| names.get(owner)) {
        Some((trace, id)) => format!("{trace}/{id}"),
        None => trace.to_owned(),
    };
    for (index, node) in nodes.into_iter().enumerate() {
        let own = links.owner(index);
        let mut chain = vec![own];
        let mut seen = HashSet::new();
        // From the run of this span up to that of its trace; each is begun before those that it has started.
        while let Some(Some(owner)) = chain.last().copied()
            && seen.insert(owner)
            && !builder.places.contains_key(&key(Some(owner), &node.trace))
        {
            chain.push(links.owner(owner));
        }
        for owner in chain.into_iter().rev() {
            let parent = owner.map(|owner| (key(links.owner(owner), &node.trace), owner));
            let parent = parent.and_then(|(run, owner)| Some((run, names.get(owner)?.1.clone())));
            builder.begin(key(owner, &node.trace), parent, &node);
        }
        builder.add(&key(own, &node.trace), node, links.wrapping.contains(&index));
    }
    builder.finish()
}

#[derive(Default)]
struct Builder {
    drafts: Vec<Draft>,
    places: HashMap<String, usize>,
    about: HashMap<String, About>,
    /// What the spans around the calls of a run say, for runs that have nothing better.
    around: HashMap<usize, Vec<ModelStep>>,
    /// Runs whose trace itself says what came in.
    came_in: HashMap<usize, Said>,
}

impl Builder {
    fn begin(&mut self, key: String, parent: Option<(String, String)>, first: &Node) {
        if self.places.contains_key(&key) {
            return;
        }
        let index = self.drafts.len();
        let mut draft = Draft {
            key: key.clone(),
            place: first.place.clone(),
            started_at_unix_ms: first.start,
            parent,
            ..Draft::default()
        };
        if let Some(about) = self.about.remove(&key) {
            draft.title = about.title;
            draft.foreign = about.foreign;
            if let Some(input) = about.input {
                self.came_in.insert(index, input);
            }
        }
        self.places.insert(key, index);
        self.drafts.push(draft);
    }

    fn add(&mut self, key: &str, node: Node, is_wrapping: bool) {
        let Some(index) = self.places.get(key).copied() else { return };
        let Some(draft) = self.drafts.get_mut(index) else { return };
        match node.kind {
            Kind::Model if !is_wrapping => {
                let mut node = node;
                let (has_input, has_output) = (node.input.is_some(), node.output.is_some());
                let unread = node.raw.drain(..).filter(|(at, _)| match at.as_str() {
                    "/input" => !has_input,
                    _ => !has_output,
                });
                node.foreign.extend(unread);
                let (step, others) = model_step(node);
                draft.steps.push(Step::Model(Box::new(step)));
                others.into_iter().for_each(|message| draft.said(message));
            }
            Kind::Tool => draft.steps.push(Step::Tool(Box::new(tool_step(node)))),
            Kind::Model | Kind::Agent | Kind::Other => {
                if draft.title.is_empty() && node.parent.is_empty() {
                    draft.title.clone_from(&node.name);
                }
                let kept =
                    node.raw.iter().chain(&node.foreign).filter(|(_, value)| !value.is_null()).cloned();
                let id = node.id.clone();
                let whole: serde_json::Map<String, Value> =
                    kept.map(|(at, value)| (at.trim_start_matches('/').to_owned(), value)).collect();
                let mut whole = Value::Object(whole);
                if let Value::Object(members) = &mut whole {
                    members.insert("name".to_owned(), node.name.as_str().into());
                }
                draft.keep(format!("/spans/{id}"), whole);
                if node.input.is_some() || node.output.is_some() {
                    self.around.entry(index).or_default().push(model_step(node).0);
                }
            }
        }
    }

    fn finish(mut self) -> Vec<Draft> {
        for (index, draft) in self.drafts.iter_mut().enumerate() {
            // In the order of their starts: the outermost comes first.
            let mut around = self.around.remove(&index).unwrap_or_default();
            let came_in = self.came_in.remove(&index);
            let is_call = |step: &Step| matches!(step, Step::Model(_));
            let outer = around.iter().position(|step| step.output.is_some());
            let Some(Step::Model(last)) = draft.steps.iter_mut().rev().find(|step| is_call(step)) else {
                // No model call was traced; the outermost span that has a reply tells of one.
                if let Some(outer) = outer {
                    draft
                        .notices
                        .push("no model call was traced; the outermost span is taken for one".to_owned());
                    draft.steps.insert(0, Step::Model(Box::new(around.swap_remove(outer))));
                }
                continue;
            };
            if last.output.is_none() && last.error.is_none() {
                // What came out of the run is what came of its last call.
                last.output = outer.and_then(|outer| around.get_mut(outer)?.output.take());
                if last.output.is_some() {
                    draft.notices.push("the last reply is what the outermost span says came out".to_owned());
                }
            }
            if let Some(Step::Model(first)) = draft.steps.iter().find(|step| is_call(step))
                && first.input.is_none()
            {
                let told =
                    around.into_iter().find_map(|step| step.input).or(came_in.map(|said| said.messages));
                let told: Vec<Message> = told.unwrap_or_default();
                let begins = told.into_iter().filter(|message| message.role != Role::Assistant);
                draft.steps.splice(0..0, begins.map(Step::Message));
            }
        }
        self.drafts
    }
}

/// The call, and what was said after its reply before anybody was asked again: a provider that runs tools itself tells it so.
fn model_step(node: Node) -> (ModelStep, Vec<Message>) {
    let mut tools = node.tools;
    let input = node.input.map(|said| {
        // Whoever lists the tools apart lists all of them.
        if tools.is_empty() {
            tools = said.tools;
        }
        said.messages
    });
    let (output, others) = node.output.map(reply_of).unwrap_or_default();
    let step = ModelStep {
        id: node.id,
        at_unix_ms: node.start,
        ended_at_unix_ms: node.end,
        input,
        continues: false,
        output,
        error: node.error,
        model: node.model,
        response_id: node.response_id,
        usage: node.usage,
        stop: node.stop,
        tools,
        foreign: node.foreign,
    };
    (step, others)
}

fn tool_step(node: Node) -> ToolStep {
    ToolStep {
        id: node.id,
        at_unix_ms: node.start,
        ended_at_unix_ms: node.end,
        call_id: node.call_id,
        name: node.name,
        arguments: node.arguments,
        is_error: node.error.is_some(),
        result: node.result.or(node.error),
        foreign: node.raw.into_iter().chain(node.foreign).collect(),
    }
}
