//! Drafts as the lines of a record.
//!
//! Windows are rebuilt by content: a message that equals one that was there before is that item. The alternative, an
//! item for every message of every window, lost: a record would grow with the square of the turns, and nothing would
//! connect what a model said with what it read again later.

mod calls;
mod equal;
mod lines;
mod replies;
mod start;

use std::collections::{HashMap, HashSet};

use probity_contract::{
    Body, CallId, Ending, Fact, ForeignTo, ItemId, Label, ModelCallId, ModelErrorClass, Origin, RunId,
    Spending, ToolChoice, Usage, WindowDelta,
};
use serde_json::Value;

use self::calls::Calls;
use self::equal::{Hash, Sameness, hash_of, hash_without_ids};
use self::lines::Lines;
use self::replies::Replied;
use crate::draft::{Kept, Message, ModelStep, Piece, Role, Step};

pub(crate) use lines::Written;
pub(crate) use start::{Given, StartOf, started};

/// Writes one run.
pub(crate) struct Writer {
    lines: Lines,
    items: HashMap<Hash, Vec<ItemId>>,
    items_without_ids: HashMap<Hash, Vec<ItemId>>,
    /// What a later call sees that does not say what it saw.
    so_far: Vec<ItemId>,
    /// The window of the last call.
    window: Vec<ItemId>,
    /// How many items are known to stand at the front of both.
    in_both: usize,
    calls: Calls,
    /// Calls of which no reply is known yet, by what they saw.
    unanswered: HashMap<Hash, ModelCallId>,
    calls_to_models: u32,
    items_added: u32,
    labels: HashMap<ItemId, Label>,
    /// Of each place in `window`, the join of the labels up to there.
    window_labels: Vec<Label>,
    /// Runs that calls of this one have started, by the key of the call.
    children: HashMap<String, Vec<Child>>,
    placed: Vec<(RunId, CallId)>,
    usage: Usage,
    last_reply: Option<(ItemId, bool)>,
    failed: Option<String>,
    tools_offered: bool,
    guessed: u32,
}

impl Writer {
    pub(crate) fn new(start: StartOf, children: HashMap<String, Vec<Child>>) -> Self {
        let started_at_unix_ms = start.started.started_at_unix_ms;
        let tools_offered = !start.started.tools.is_empty();
        let mut lines = Lines::new(started_at_unix_ms);
        lines.fact(None, Fact::RunStarted(Box::new(start.started)));
        for (at, value) in start.foreign {
            lines.foreign(ForeignTo::Run, at, &value);
        }
        Self {
            lines,
            items: HashMap::new(),
            items_without_ids: HashMap::new(),
            so_far: Vec::new(),
            window: Vec::new(),
            in_both: 0,
            calls: Calls::default(),
            unanswered: HashMap::new(),
            calls_to_models: 0,
            items_added: 0,
            labels: HashMap::new(),
            window_labels: Vec::new(),
            children,
            placed: Vec::new(),
            usage: Usage::default(),
            last_reply: None,
            failed: None,
            tools_offered,
            guessed: 0,
        }
    }

    pub(crate) fn step(&mut self, step: Step) {
        match step {
            Step::Message(message) => {
                let item = match message.role {
                    Role::Assistant => self.guessed_reply(&message, None),
                    Role::System | Role::User | Role::Tool => self.add(&message),
                };
                self.so_far.push(item);
            }
            Step::Cleared => {
                self.so_far.clear();
                self.in_both = 0;
            }
            Step::Model(step) => self.model(*step),
            Step::Tool(step) => self.tool(*step),
        }
    }

    pub(crate) fn finish(self) -> Written {
        let (calls, usage) = (self.calls_to_models, self.usage);
        let mut written = self.lines.finish(self.last_reply, self.failed, usage, self.guessed);
        written.spent =
            Spending { turns: calls, tool_calls: self.calls.count(), usage, ..Spending::default() };
        written.placed = self.placed;
        written
    }

    fn model(&mut self, step: ModelStep) {
        let is_told = step.input.is_some();
        if let Some(input) = &step.input {
            let guessed = self.guessed;
            let (window, known) = self.resolve(input);
            if step.continues {
                self.so_far.extend(window);
                // A guessed call has had another window in between.
                self.in_both = if guessed == self.guessed { self.in_both } else { 0 };
            } else {
                self.so_far = window;
                self.in_both = known;
            }
        }
        let call = self.called(step.at_unix_ms, None);
        self.keep(ForeignTo::ModelCall(call), step.foreign);
        if !step.id.is_empty() {
            self.lines.foreign(ForeignTo::ModelCall(call), "/id".to_owned(), &Value::from(step.id));
        }
        if !step.tools.is_empty() {
            self.lines.foreign(ForeignTo::ModelCall(call), "/tools".to_owned(), &Value::from(step.tools));
        }
        self.usage = self.usage.plus(&step.usage);
        self.failed = None;
        let ended = step.ended_at_unix_ms.or(step.at_unix_ms);
        match (step.output, step.error) {
            (Some(output), _) => {
                let (stop, usage, model) = (step.stop, step.usage, step.model);
                let replied = Replied { call, stop, usage, model, response_id: step.response_id };
                let item = self.reply(&output, replied, ended);
                self.so_far.push(item);
            }
            (None, Some(error)) => {
                let class = ModelErrorClass::ServerError;
                self.failed = Some(error.clone());
                self.lines.fact(ended, Fact::ModelFailed { call, class, error });
            }
            (None, None) if is_told => {
                self.unanswered.insert(equal::hash_of_items(&self.so_far), call);
            }
            (None, None) => {}
        }
    }

    /// Writes a model call that saw `list`, or everything so far. What is known to stand at the front of both this
    /// window and the last one is not compared again.
    fn called(&mut self, at: Option<u64>, list: Option<(&[ItemId], usize)>) -> ModelCallId {
        self.calls_to_models = self.calls_to_models.saturating_add(1);
        let call = ModelCallId(self.calls_to_models);
        let (list, known) = list.unwrap_or((&self.so_far, self.in_both));
        let rest = |items: &[ItemId]| items.get(known..).unwrap_or_default().to_vec();
        let (before, now) = (self.window.get(known..).unwrap_or_default(), rest(list));
        let keep = known + before.iter().zip(&now).take_while(|(before, now)| before == now).count();
        let added: Vec<ItemId> = now.into_iter().skip(keep - known).collect();
        self.window.truncate(keep);
        self.window_labels.truncate(keep);
        for item in &added {
            let above = self.window_labels.last().cloned().unwrap_or_else(Label::system);
            let own = self.labels.get(item);
            self.window_labels.push(own.map_or_else(|| above.clone(), |own| above.join(own)));
            self.window.push(*item);
        }
        self.in_both = self.window.len();
        let window = WindowDelta { keep: u32::try_from(keep).unwrap_or(u32::MAX), added };
        let (tool_choice, tools_offered) = (ToolChoice::Auto, self.tools_offered);
        let fact = Fact::ModelCalled { call, window, tool_choice, tools_offered, output_tokens_max: None };
        self.lines.fact(at, fact);
        call
    }

    /// The items of a window: those that are there, and those that are new. Beside them, how many at its front are those
    /// of the last window.
    fn resolve(&mut self, input: &[Message]) -> (Vec<ItemId>, usize) {
        let mut window = Vec::with_capacity(input.len());
        let mut seen: HashSet<ItemId> = HashSet::with_capacity(input.len());
        let mut same = Sameness::default();
        let mut running = equal::RunningHash::default();
        let mut known = 0;
        for message in input {
            let found = same.find(message, &self.items, &self.items_without_ids);
            let item = found.filter(|item| !seen.contains(item)).unwrap_or_else(|| {
                if message.role != Role::Assistant {
                    return self.add(message);
                }
                if let Some(call) = self.unanswered.remove(&running.now()) {
                    return self.reply(message, Replied::of(call), None);
                }
                let item = self.guessed_reply(message, Some((&window, known)));
                known = window.len();
                item
            });
            seen.insert(item);
            running.push(item);
            window.push(item);
        }
        (window, known)
    }

    /// A reply of which the trace does not tell the call: what stood before it is taken for what the model saw.
    fn guessed_reply(&mut self, message: &Message, before: Option<(&[ItemId], usize)>) -> ItemId {
        self.guessed = self.guessed.saturating_add(1);
        let call = self.called(None, before);
        self.lines.foreign(ForeignTo::ModelCall(call), "/guessed".to_owned(), &Value::Bool(true));
        self.reply(message, Replied::of(call), None)
    }

    fn next_item(&mut self, message: &Message) -> ItemId {
        self.items_added = self.items_added.saturating_add(1);
        let item = ItemId(self.items_added);
        self.items.entry(hash_of(message)).or_default().push(item);
        self.items_without_ids.entry(hash_without_ids(message)).or_default().push(item);
        item
    }

    fn keep(&mut self, about: ForeignTo, kept: Vec<Kept>) {
        for (at, value) in kept {
            self.lines.foreign(about, at, &value);
        }
    }

    /// Adds a message that no model said.
    fn add(&mut self, message: &Message) -> ItemId {
        if message.role == Role::Tool {
            return self.add_result(message);
        }
        let item = self.next_item(message);
        let text = self.lines.part(&message.words());
        let (origin, label, body) = match message.role {
            Role::System => (Origin::Task, Label::system(), Body::Instructions { text }),
            Role::User | Role::Assistant | Role::Tool => {
                (Origin::Principal, Label::person(), Body::Person { text })
            }
        };
        self.added(item, origin, label, body, message);
        item
    }

    fn added(&mut self, item: ItemId, origin: Origin, label: Label, body: Body, message: &Message) {
        self.labels.insert(item, label.clone());
        self.lines.fact(message.at_unix_ms, Fact::ItemAdded { item, origin, label, body });
        let about = ForeignTo::Item(item);
        // All that a message says beside its body is one entry: there may be a million messages.
        let mut kept = serde_json::Map::new();
        if let Some(name) = message.name.as_ref().filter(|_| message.role != Role::Tool) {
            kept.insert("name".to_owned(), name.as_str().into());
        }
        for (at, value) in &message.foreign {
            kept.insert(at.trim_start_matches('/').to_owned(), value.clone());
        }
        if !kept.is_empty() {
            self.lines.foreign(about, String::new(), &Value::Object(kept));
        }
        if message.role != Role::Assistant {
            for (index, piece) in message.pieces.iter().enumerate() {
                if let Piece::Other(value) = piece {
                    self.lines.foreign(about, format!("/content/{index}"), value);
                }
            }
        }
    }
}

/// A run that a call has started.
pub(crate) struct Child {
    pub(crate) run: RunId,
    pub(crate) ending: Option<Ending>,
    pub(crate) spent: Spending,
}
