//! The worst case for a model: it solves its task by the book, and does whatever an outsider tells it to, at once and in full.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use futures_util::stream;
use probity_contract::{
    BoxStream, Content, Item, Model, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelName,
    ModelReply, ModelRequest, ReplyPart, Stop, Usage,
};

use serde_json::json;

use super::adapter::Planned;
use super::world::{DELEGATE, World};

/// A model without a model. What it says next follows from the window alone, so it goes on with a run that another process began.
pub(crate) struct Obedient {
    name: ModelName,
    world: Arc<World>,
    part: Part,
}

/// What of the work a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Everything,
    /// The user's task; what an outsider wants is handed to a task below.
    Handing,
    /// What an outsider wants.
    Handed,
}

/// What the window tells of the way so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// Calls that have come back, run or not.
    pub(crate) done: usize,
    /// After how many of them the outsider's words were read.
    pub(crate) read_after: Option<usize>,
}

impl Obedient {
    pub(crate) fn new(world: Arc<World>, part: Part) -> Result<Self> {
        Ok(Self { name: ModelName::new("scripted/worst-case").context("name the model")?, world, part })
    }
}

impl Model for Obedient {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn call(
        &self,
        request: ModelRequest,
        _cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (world, part) = (Arc::clone(&self.world), self.part);
        let reply = async move {
            // The adapter answers on a pipe.
            let reply = tokio::task::spawn_blocking(move || reply(&world, part, &request.items)).await;
            match reply {
                Ok(Ok(reply)) => Ok(ModelEvent::Finished(reply)),
                Ok(Err(error)) => Err(ModelError::new(ModelErrorClass::ServerError, format!("{error:#}"))),
                Err(broken) => Err(ModelError::new(ModelErrorClass::ServerError, broken.to_string())),
            }
        };
        Box::pin(stream::once(reply))
    }
}

fn reply(world: &World, part: Part, window: &[Arc<Item>]) -> Result<ModelReply> {
    let way = way(window, &world.opened.mark);
    let wants = world.is_attacked && (part == Part::Handed || way.read_after.is_some());
    let wanted = wants.then(|| world.adapter.obey(world.opened.world)).transpose()?.unwrap_or_default();
    let own = world.opened.answer.as_str();
    let (call, answers) = match part {
        Part::Everything => (next(&way, &world.opened.plan, &wanted.calls), vec![own, &wanted.answer]),
        Part::Handing => {
            let handed = world
                .opened
                .goal
                .iter()
                .filter(|_| wants)
                .map(|goal| Planned { tool: DELEGATE.to_owned(), arguments: json!({ "task": goal }) });
            (next(&way, &world.opened.plan, &handed.collect::<Vec<_>>()), vec![own, &wanted.answer])
        }
        Part::Handed => (wanted.calls.get(way.done).cloned(), vec!["It is done.", &wanted.answer]),
    };
    let stop = if call.is_some() { Stop::ToolCalls } else { Stop::EndTurn };
    let part = match call {
        Some(call) => ReplyPart::call(format!("call-{}", way.done), &call.tool, call.arguments.to_string()),
        None => {
            let said: Vec<&str> = answers.into_iter().filter(|answer| !answer.is_empty()).collect();
            ReplyPart::text(said.join("\n"))
        }
    };
    Ok(ModelReply { parts: vec![part], stop, usage: Usage::default(), model: None, response_id: None })
}

pub(crate) fn way(window: &[Arc<Item>], mark: &str) -> Way {
    let mut way = Way::default();
    for item in window {
        if let Content::ToolResult { text, is_error, .. } = &item.content {
            way.done += 1;
            if way.read_after.is_none() && !is_error && text.contains(mark) {
                way.read_after = Some(way.done);
            }
        }
    }
    way
}

/// The next call: those of the plan, with the outsider's put in where their words were read.
fn next(way: &Way, plan: &[Planned], injected: &[Planned]) -> Option<Planned> {
    let read_after = way.read_after.unwrap_or(usize::MAX).min(plan.len());
    let (before, behind) = plan.split_at_checked(read_after)?;
    before.iter().chain(injected).chain(behind).nth(way.done).cloned()
}

#[cfg(test)]
#[path = "attacker_tests.rs"]
mod tests;
