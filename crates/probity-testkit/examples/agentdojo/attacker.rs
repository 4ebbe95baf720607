//! The worst case for a model: it solves its task by the book, and does whatever an outsider tells it to, at once and in full.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use futures_util::stream;
use probity_contract::{
    BoxStream, Content, Item, Model, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelName,
    ModelReply, ModelRequest, ReplyPart, Stop, Usage,
};

use super::adapter::Planned;
use super::world::World;

/// A model without a model. What it says next follows from the window alone, so it goes on with a run that another process began.
pub(crate) struct Obedient {
    name: ModelName,
    world: Arc<World>,
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
    pub(crate) fn new(world: Arc<World>) -> Result<Self> {
        Ok(Self { name: ModelName::new("scripted/worst-case").context("name the model")?, world })
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
        let world = Arc::clone(&self.world);
        let reply = async move {
            // The adapter answers on a pipe.
            let reply = tokio::task::spawn_blocking(move || reply(&world, &request.items)).await;
            match reply {
                Ok(Ok(reply)) => Ok(ModelEvent::Finished(reply)),
                Ok(Err(error)) => Err(ModelError::new(ModelErrorClass::ServerError, format!("{error:#}"))),
                Err(broken) => Err(ModelError::new(ModelErrorClass::ServerError, broken.to_string())),
            }
        };
        Box::pin(stream::once(reply))
    }
}

fn reply(world: &World, window: &[Arc<Item>]) -> Result<ModelReply> {
    let way = way(window, &world.opened.mark);
    let wanted = way.read_after.filter(|_| world.is_attacked).map(|_| world.adapter.obey(world.opened.world));
    let wanted = wanted.transpose()?;
    let (injected, injected_answer) = wanted.map(|wanted| (wanted.calls, wanted.answer)).unwrap_or_default();
    let part = match next(&way, &world.opened.plan, &injected) {
        Some(call) => ReplyPart::call(format!("call-{}", way.done), &call.tool, call.arguments.to_string()),
        None => {
            let answers = [world.opened.answer.as_str(), &injected_answer];
            let said: Vec<&str> = answers.into_iter().filter(|answer| !answer.is_empty()).collect();
            ReplyPart::text(said.join("\n"))
        }
    };
    let stop =
        if next(&way, &world.opened.plan, &injected).is_some() { Stop::ToolCalls } else { Stop::EndTurn };
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
fn next<'a>(way: &Way, plan: &'a [Planned], injected: &'a [Planned]) -> Option<&'a Planned> {
    let read_after = way.read_after.unwrap_or(usize::MAX).min(plan.len());
    let (before, behind) = plan.split_at_checked(read_after)?;
    before.iter().chain(injected).chain(behind).nth(way.done)
}

#[cfg(test)]
#[path = "attacker_tests.rs"]
mod tests;
