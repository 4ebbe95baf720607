//! Runs an arm. This one runs the same task again with stand-ins.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use probity_contract::{
    BoxStream, Content, Effect, Fact, Item, ItemId, Label, Limits, Model, ModelContext, ModelError,
    ModelEvent, ModelName, ModelRequest, Origin, ReplyPart, ReplyPartKind, ToolOutput,
};
use probity_core::{Host, Task, run_task};
use probity_models::RulesModel;
use probity_testkit::{Acts, MemoryJournal, ScriptedPolicy, ScriptedTool, principal, run_id};
use probity_why::Arm;

use super::case::{Case, Piece, Stands};
use super::family::Role;

/// What an arm came to.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    /// The reply that is asked about, as flat text; empty where it never came.
    pub(crate) reply: String,
    /// Model calls after the fork point.
    pub(crate) calls: u32,
}

/// Runs arms of one recorded run.
pub(crate) trait Prober {
    /// The reply of call `asked` (from 0) in this arm.
    fn run(&mut self, arm: &Arm, asked: usize) -> Result<Ran>;
}

/// The recorded run, and the same task for arms: a fork at the call asked about is that call with another window; one
/// before it is the task again. Until that call the model does the same again, since it has no noise here.
pub(crate) struct StandIns<'a> {
    case: &'a Case,
    model: Arc<RulesModel>,
    runtime: tokio::runtime::Runtime,
    /// The windows that were sent, and what else went with them.
    requests: Vec<ModelRequest>,
}

impl<'a> StandIns<'a> {
    pub(crate) fn record(case: &'a Case) -> Result<Self> {
        let model = Arc::new(RulesModel::from_toml("rules/whybench", &case.rules)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let requests = run(&runtime, case, &model, &Arm::baseline(0))?;
        if requests.len() < case.turns {
            bail!("the run ended before the call asked about");
        }
        Ok(Self { case, model, runtime, requests })
    }

    fn reply(&self, request: &ModelRequest) -> Result<String> {
        let decided = self.model.decide(request)?;
        let item = Item {
            id: ItemId(u32::MAX),
            origin: Origin::Engine,
            label: Label::system(),
            content: Content::Reply(decided.reply.parts.into()),
        };
        Ok(item.flat_text())
    }
}

impl Prober for StandIns<'_> {
    fn run(&mut self, arm: &Arm, asked: usize) -> Result<Ran> {
        let from = usize::try_from(arm.from_call)?;
        let calls = u32::try_from(asked - from + 1)?;
        if from < asked {
            let requests = run(&self.runtime, self.case, &self.model, arm)?;
            let reply = match requests.get(asked) {
                Some(request) => self.reply(request)?,
                None => String::new(),
            };
            return Ok(Ran { reply, calls });
        }
        let recorded = self.requests.get(asked).context("no such call")?;
        let mut items = Vec::with_capacity(recorded.items.len() + arm.with.len());
        let mut replies = 0;
        for item in recorded.items.iter() {
            if matches!(item.content, Content::Person(_)) {
                for number in &arm.with {
                    let piece = &self.case.pieces[*number];
                    let Stands::Absent(name) = &piece.stands else { bail!("put back what was there") };
                    let content = Content::Context { name: name.clone(), text: piece.text.as_str().into() };
                    let id = ItemId(u32::MAX - u32::try_from(*number)?);
                    items.push(Arc::new(Item {
                        id,
                        origin: Origin::Task,
                        label: Label::untrusted(),
                        content,
                    }));
                }
            }
            let is_replaced = match &item.content {
                Content::Reply(_) => {
                    replies += 1;
                    arm.without.iter().any(|number| self.case.reply_of(*number) == Some(replies - 1))
                }
                Content::Context { text, .. } | Content::ToolResult { text, .. } => {
                    arm.without.iter().any(|number| *self.case.pieces[*number].text == **text)
                }
                _ => false,
            };
            items.push(if is_replaced { Arc::new(neutral_item(item)) } else { Arc::clone(item) });
        }
        let request = ModelRequest { items: Arc::new(items), ..recorded.clone() };
        Ok(Ran { reply: self.reply(&request)?, calls })
    }
}

/// A stand-in: about as long, of the same kind, and it says nothing.
fn neutral(text: &str) -> String {
    const WORDS: &str = "this part was left empty on purpose and says nothing about anything ";
    WORDS.chars().cycle().take(text.chars().count()).collect()
}

fn neutral_item(item: &Item) -> Item {
    let content = match &item.content {
        Content::Context { name, text } => {
            Content::Context { name: name.clone(), text: neutral(text).into() }
        }
        Content::ToolResult { call, provider_id, tool, text, .. } => Content::ToolResult {
            call: *call,
            provider_id: provider_id.clone(),
            tool: tool.clone(),
            text: neutral(text).into(),
            is_error: false,
        },
        // The call stays, so that its result has something to answer; what it was called with goes.
        Content::Reply(parts) => Content::Reply(parts.iter().map(neutral_part).collect()),
        other => other.clone(),
    };
    Item { content, ..item.clone() }
}

fn neutral_part(part: &ReplyPart) -> ReplyPart {
    match &part.kind {
        ReplyPartKind::Text(text) | ReplyPartKind::Reasoning(text) => ReplyPart::text(neutral(text)),
        ReplyPartKind::Call(call) => ReplyPart::call(call.provider_id.clone(), call.name.clone(), "{}"),
        ReplyPartKind::Opaque => part.clone(),
    }
}

/// What the model said before the call asked about, in order.
pub(crate) fn replies(case: &Case) -> Result<Vec<Piece>> {
    let recorded = StandIns::record(case)?;
    let window = &recorded.requests[case.turns - 1];
    let said = window.items.iter().filter(|item| matches!(item.content, Content::Reply(_)));
    let piece = |(call, item): (usize, &Arc<Item>)| Piece {
        stands: Stands::Reply { call },
        text: item.flat_text(),
        role: Role::Innocent,
    };
    Ok(said.enumerate().map(piece).collect())
}

/// Runs the task with the real machine and record; the windows that were sent.
fn run(
    runtime: &tokio::runtime::Runtime,
    case: &Case,
    model: &Arc<RulesModel>,
    arm: &Arm,
) -> Result<Vec<ModelRequest>> {
    let text = |number: usize| {
        let text = &case.pieces[number].text;
        if arm.without.binary_search(&number).is_ok() { neutral(text) } else { text.clone() }
    };
    let listening = Arc::new(Listening { model: Arc::clone(model), heard: Mutex::default() });
    let mut task = Task::new(Arc::clone(&listening) as Arc<dyn Model>, principal("ada"), case.person.clone());
    let (mut pages, mut tools) = (Vec::new(), BTreeSet::new());
    for (number, piece) in case.pieces.iter().enumerate() {
        match &piece.stands {
            Stands::Context(name) => task = task.context(name.clone(), text(number), Label::untrusted()),
            Stands::Absent(name) if arm.with.contains(&number) => {
                task = task.context(name.clone(), text(number), Label::untrusted());
            }
            Stands::Absent(_) | Stands::Reply { .. } => {}
            Stands::Page { tool, .. } => {
                tools.insert(tool.clone());
                pages.push(text(number));
            }
        }
    }
    let pages = Arc::new(pages);
    // Something that a family's rules may call in the reply that is asked about.
    tools.insert("send".to_owned());
    for tool in tools {
        let pages = Arc::clone(&pages);
        let reads = ScriptedTool::by(&tool, Effect::Pure, move |call| {
            let page = call.arguments().to_value().get("page").and_then(serde_json::Value::as_u64);
            let page = page.and_then(|page| usize::try_from(page).ok()?.checked_sub(1));
            let text = page.and_then(|page| pages.get(page)).cloned().unwrap_or_else(|| "done".to_owned());
            Acts::Returns(ToolOutput::text(text))
        });
        task = task.tool(Arc::new(reads));
    }
    let task = task.policy(Arc::new(ScriptedPolicy::allowing())).limits(Limits::default());
    let journal = MemoryJournal::new();
    runtime
        .block_on(run_task(task, run_id("whybench"), Host::new(Box::new(journal.clone()))))
        .map_err(|error| anyhow::anyhow!("run the task: {error}"))?;
    let heard = std::mem::take(&mut *listening.heard.lock().unwrap_or_else(PoisonError::into_inner));
    let recorded = journal.facts().iter().filter(|fact| matches!(fact, Fact::ModelCalled { .. })).count();
    if recorded != heard.len() {
        bail!("{} windows were sent, and {recorded} recorded", heard.len());
    }
    Ok(heard)
}

/// The rules model, and what it was asked.
struct Listening {
    model: Arc<RulesModel>,
    heard: Mutex<Vec<ModelRequest>>,
}

impl Model for Listening {
    fn name(&self) -> &ModelName {
        self.model.name()
    }

    fn call(
        &self,
        request: ModelRequest,
        cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        self.model.call(request, cx)
    }
}
