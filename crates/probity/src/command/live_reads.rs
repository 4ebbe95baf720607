//! Reads of the world as it is now, for a fork: each is a task of one call.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use probity_contract::{
    BoxFuture, Cancel, Content, Fact, Integrity, Item, Label, Model, ModelContext, ModelError, ModelEvent,
    ModelName, ModelReply, ModelRequest, ProposedCall, Readers, ReplyPart, RunId, Stop, Usage,
};
use probity_core::{Host, Mode, run_task};
use probity_store::Store;
use probity_why::{LiveRead, LiveReader};

use crate::exit::{Code, Fatal};
use crate::render::{FailureTeller, Screen};
use crate::task_file::TaskFile;
use crate::{settings, wire};

/// Makes reads by the tools of a task, under its policies.
///
/// A read is a run of its own: the ordinary machine with a model that proposes this call and no other. So it is frozen, judged,
/// intercepted, bounded and recorded as any call is, nobody is asked, and on top of the task's own rules only reads may run. All that
/// the fork's model had read stands before it as untrusted material.
pub(crate) struct TaskReader {
    file: TaskFile,
    store: Store,
    cancel: Cancel,
    screen: Arc<Screen>,
    made: Mutex<Vec<RunId>>,
}

impl TaskReader {
    pub(crate) fn new(
        mut file: TaskFile,
        store: Store,
        cancel: Cancel,
        screen: Arc<Screen>,
        of: &RunId,
    ) -> Self {
        file.title = Some(format!("a live read for a fork of {of}"));
        file.prompt = "A fork asks for this read.".to_owned();
        (file.instructions, file.context) = (None, Vec::new());
        (file.output, file.prices) = (Default::default(), None);
        file.tools.required = false;
        file.policy.mode = file.policy.mode.and(Mode::READ_ONLY);
        (file.limits.turns_max, file.limits.tool_calls_max) = (2, 1);
        Self { file, store, cancel, screen, made: Mutex::default() }
    }

    /// The runs that were made of reads.
    pub(crate) fn made(&self) -> Vec<RunId> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn make(&self, window: &[Arc<Item>], call: &ProposedCall) -> Result<Option<LiveRead>, Fatal> {
        let model = Arc::new(OneCall::new(call)?);
        let tools = wire::tools(&self.file.tools)?;
        let (task, _) = wire::task(self.file.clone(), Arc::clone(&model) as Arc<dyn Model>, tools, false)?;
        let texts: Vec<String> = window.iter().map(|item| item.flat_text()).collect();
        let readers = window.iter().fold(Readers::Everyone, |all, item| all.join(&item.label.readers));
        let label = Label { integrity: Integrity::Untrusted, readers };
        let task = task.context("fork", texts.join("\n"), label);
        let run = settings::fresh_run_id()?;
        let failed = |error: &dyn std::error::Error| Fatal::new(Code::Failed, &error.to_string());
        let journal = self.store.begin(&run).map_err(|error| failed(&error))?;
        let host = Host {
            failures: Some(Arc::new(FailureTeller(Arc::clone(&self.screen)))),
            children: Some(Arc::new(self.store.children())),
            cancel: self.cancel.clone(),
            ..Host::new(Box::new(journal))
        };
        if let Err(error) = run_task(task, run.clone(), host).await {
            // Nothing was begun, so there is nothing to keep.
            let _gone = self.store.delete(&run).await;
            return Err(failed(&error));
        }
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(run.clone());
        let record = self.store.read(&run).await.map_err(|error| failed(&error))?.record;
        let was_made = record.facts().any(|(_, fact)| matches!(fact, Fact::ToolFinished { .. }));
        Ok(model.heard().filter(|_| was_made))
    }
}

impl LiveReader for TaskReader {
    fn read<'a>(
        &'a self,
        window: &'a [Arc<Item>],
        call: &'a ProposedCall,
    ) -> BoxFuture<'a, Option<LiveRead>> {
        Box::pin(async move {
            match self.make(window, call).await {
                Ok(read) => read,
                Err(fatal) => {
                    self.screen.tell(&fatal.words);
                    None
                }
            }
        })
    }
}

/// Proposes one call, and takes down what it reads of it.
struct OneCall {
    name: ModelName,
    call: ReplyPart,
    heard: Mutex<Option<LiveRead>>,
}

impl OneCall {
    fn new(call: &ProposedCall) -> Result<Self, Fatal> {
        let name = ModelName::new("probity/live-read");
        let name = name.map_err(|error| Fatal::of(Code::Failed, &error))?;
        let call = ReplyPart::call("read", call.name.clone(), call.arguments.clone());
        Ok(Self { name, call, heard: Mutex::default() })
    }

    fn heard(&self) -> Option<LiveRead> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for OneCall {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn call(
        &self,
        request: ModelRequest,
        _cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let result = request.items.iter().find_map(|item| match &item.content {
            Content::ToolResult { text, is_error, .. } => {
                let readers = item.label.readers.clone();
                Some(LiveRead { text: Arc::clone(text), is_error: *is_error, readers })
            }
            Content::Instructions(_)
            | Content::Person(_)
            | Content::Context { .. }
            | Content::Reply(_)
            | Content::Notice(_) => None,
        });
        let part = if result.is_some() { ReplyPart::text("read") } else { self.call.clone() };
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = result;
        let (usage, stop) = (Usage::default(), Stop::EndTurn);
        let reply = ModelReply { parts: vec![part], stop, usage, model: None, response_id: None };
        stream::once(async { Ok(ModelEvent::Finished(reply)) }).boxed()
    }
}
