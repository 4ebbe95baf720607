//! One run on the real driver, with everything around it in the test's hands.

use std::sync::Arc;

use probity_contract::{Approver, Body, Cancel, Clock, Content, Event, Fact, Limits, PartId, Policy, Tool};
use probity_core::{Finished, Host, SystemClock, Task, run_task};
use probity_testkit::{
    MemoryChildren, MemoryJournal, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn,
    Watcher, principal, run_id,
};

use crate::record_check::check_whole;

pub(crate) struct Scene {
    pub task: Task,
    pub model: ScriptedModel,
    pub journal: MemoryJournal,
    pub watcher: Watcher,
    pub clock: Arc<dyn Clock>,
    pub approver: Option<Arc<dyn Approver>>,
    pub cancel: Cancel,
    pub children: MemoryChildren,
}

/// A scene in which the model takes these turns.
pub(crate) fn scene(turns: impl IntoIterator<Item = Turn>) -> Scene {
    scene_of(ScriptedModel::new(turns))
}

pub(crate) fn scene_of(model: ScriptedModel) -> Scene {
    Scene {
        task: Task::new(Arc::new(model.clone()), principal("ada"), "do it"),
        model,
        journal: MemoryJournal::new(),
        watcher: Watcher::new(),
        clock: Arc::new(SystemClock::new()),
        approver: None,
        cancel: Cancel::new(),
        children: MemoryChildren::new(),
    }
}

impl Scene {
    pub(crate) fn tool(self, tool: &ScriptedTool) -> Self {
        let tool: Arc<dyn Tool> = Arc::new(tool.clone());
        self.task(|task| task.tool(tool))
    }

    pub(crate) fn policy(self, policy: &ScriptedPolicy) -> Self {
        let policy: Arc<dyn Policy> = Arc::new(policy.clone());
        self.task(|task| task.policy(policy))
    }

    /// Puts the task below one with these policies.
    pub(crate) fn below(self, policies: &[&ScriptedPolicy]) -> Self {
        let policies = policies.iter().map(|policy| Arc::new((*policy).clone()) as Arc<dyn Policy>).collect();
        self.task(|task| task.started_by(principal("boss"), policies))
    }

    pub(crate) fn allowing(self) -> Self {
        self.policy(&ScriptedPolicy::allowing())
    }

    pub(crate) fn limits(self, change: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        change(&mut limits);
        self.task(|task| task.limits(limits))
    }

    pub(crate) fn approver(mut self, approver: &ScriptedApprover) -> Self {
        self.approver = Some(Arc::new(approver.clone()));
        self
    }

    pub(crate) fn journal(mut self, journal: &MemoryJournal) -> Self {
        self.journal = journal.clone();
        self
    }

    pub(crate) fn watcher(mut self, watcher: &Watcher) -> Self {
        self.watcher = watcher.clone();
        self
    }

    pub(crate) fn task(mut self, change: impl FnOnce(Task) -> Task) -> Self {
        self.task = change(self.task);
        self
    }

    /// Runs the task to its end.
    pub(crate) async fn run(self) -> Played {
        let Self { task, model, journal, watcher, clock, approver, cancel, children } = self;
        let host = Host {
            journal: Box::new(journal.clone()),
            clock,
            observer: Some(Arc::new(watcher.clone())),
            failures: Some(Arc::new(watcher.clone())),
            approver,
            consultant: None,
            redeemer: None,
            children: Some(Arc::new(children.clone())),
            keeper: None,
            cancel,
        };
        let finished = run_task(task, run_id("run"), host).await.unwrap();
        Played { finished, model, journal, watcher, children }
    }

    /// Runs the task to its end, which must be a whole record.
    pub(crate) async fn run_whole(self) -> Played {
        let played = self.run().await;
        check_whole(&played.journal.lines());
        played
    }
}

pub(crate) struct Played {
    pub finished: Finished,
    pub model: ScriptedModel,
    pub journal: MemoryJournal,
    pub watcher: Watcher,
    pub children: MemoryChildren,
}

impl Played {
    pub(crate) fn answer(&self) -> Option<&str> {
        self.finished.answer.as_ref().map(|answer| answer.as_str())
    }

    /// What the model reads of its calls: text and whether it is an error, in order.
    pub(crate) fn results(&self) -> Vec<(String, bool)> {
        let items = self.finished.machine().items().iter();
        let results = items.filter_map(|item| match &item.content {
            Content::ToolResult { text, is_error, .. } => Some((text.as_ref().to_owned(), *is_error)),
            _ => None,
        });
        results.collect()
    }

    /// The one result.
    pub(crate) fn result(&self) -> (String, bool) {
        let mut results = self.results();
        assert_eq!(results.len(), 1, "{results:?}");
        results.remove(0)
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.journal.facts()
    }

    /// The codes of all denials in the event stream.
    pub(crate) fn denials(&self) -> Vec<probity_contract::DenialCode> {
        let events = self.watcher.events();
        let codes = events.iter().filter_map(|event| match event {
            Event::CallDenied { code, .. } => Some(*code),
            _ => None,
        });
        codes.collect()
    }

    /// Everything that left: record, events, failures, answer, and what the model was sent.
    pub(crate) fn everything_that_left(&self) -> String {
        let events = serde_json::to_string(&self.watcher.events()).unwrap();
        let failures = serde_json::to_string(&self.watcher.failures()).unwrap();
        let lines = serde_json::to_string(&self.journal.lines()).unwrap();
        let asked: Vec<String> = self.model.asked().iter().map(|asked| asked.text()).collect();
        format!(
            "{events}\n{failures}\n{lines}\n{:?}\n{:?}\n{}",
            self.finished.ending,
            self.answer(),
            asked.join("\n")
        )
    }

    /// The texts of all result items in the record.
    pub(crate) fn recorded_results(&self) -> Vec<PartId> {
        let bodies = self.facts().into_iter().filter_map(|fact| match fact {
            Fact::ItemAdded { body: Body::ToolResult { text, .. }, .. } => Some(text),
            _ => None,
        });
        bodies.collect()
    }
}
