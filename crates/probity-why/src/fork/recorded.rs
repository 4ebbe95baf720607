//! What a fork needs of a record: texts as content, windows, and every call with what came of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use probity_contract::{
    Arguments, Body, CallId, Content, Effect, Fact, Item, ItemId, ModelCallId, ModelParams, ModelRequest,
    Prices, ReplyPart, ToolChoice, ToolSpec,
};
use probity_trace::{Fidelity, Record, RecordedItem};

use super::ForkError;

/// A record, read for forks of it. Made once, shared by all forks.
#[derive(Debug)]
pub struct Recorded<'r> {
    record: &'r Record,
    pub(super) items: BTreeMap<ItemId, Arc<Item>>,
    /// Whether each item's text is the one that the model read.
    exact: HashMap<ItemId, bool>,
    calls_made: Vec<ModelCall>,
    pub(super) tool_calls: Vec<ToolCall>,
    tools: Arc<[ToolSpec]>,
    params: ModelParams,
    prices: Option<Prices>,
    first_seen: HashMap<ItemId, usize>,
    added_at: HashMap<ItemId, u64>,
    place_of: HashMap<ModelCallId, usize>,
    call_at: HashMap<CallId, usize>,
    /// Which call's result an item is.
    result_of: HashMap<ItemId, CallId>,
}

/// One call to the model.
#[derive(Debug)]
struct ModelCall {
    id: ModelCallId,
    seq: u64,
    tool_choice: ToolChoice,
    tools_offered: bool,
    output_tokens_max: Option<u64>,
    reply: Option<ItemId>,
}

/// Tools, whether one must be called, and parameters.
type CallSettings = (Arc<[ToolSpec]>, ToolChoice, Arc<ModelParams>);

/// One call to a tool, as it was proposed, and what came of it.
#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    pub(super) call: CallId,
    pub(super) key: CallKey,
    /// The place of the model call that proposed it.
    pub(super) by: usize,
    /// Whether the tool was started: only then there was an effect.
    pub(super) is_started: bool,
    pub(super) effect: Effect,
    pub(super) result: Option<ItemId>,
}

/// What makes two calls equal: the tool, and the canonical arguments or, where there are none, the text that was sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey {
    tool: String,
    arguments: String,
}

impl CallKey {
    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Of a call as a model wrote it.
    #[must_use]
    pub fn of(tool: &str, arguments: &str) -> Self {
        let canonical = Arguments::parse(arguments).map(|arguments| arguments.as_str().to_owned());
        Self { tool: tool.to_owned(), arguments: canonical.unwrap_or_else(|_| arguments.to_owned()) }
    }
}

impl<'r> Recorded<'r> {
    /// Reads a record for forks.
    ///
    /// # Errors
    /// When the record does not say what the run was given, or no model call is in it.
    pub fn of(record: &'r Record) -> Result<Self, ForkError> {
        let Some(Fact::RunStarted(started)) = record.facts().next().map(|(_, fact)| fact) else {
            return Err(ForkError::NoStart);
        };
        let mut recorded = Self {
            record,
            items: BTreeMap::new(),
            exact: HashMap::new(),
            calls_made: Vec::new(),
            tool_calls: Vec::new(),
            tools: started.tools.clone().into(),
            params: started.params.clone(),
            prices: started.prices,
            first_seen: HashMap::new(),
            added_at: HashMap::new(),
            place_of: HashMap::new(),
            call_at: HashMap::new(),
            result_of: HashMap::new(),
        };
        for item in record.items() {
            recorded.take_item(item);
        }
        for (line, fact) in record.facts() {
            recorded.take_fact(line.seq, fact);
        }
        if recorded.calls_made.is_empty() {
            return Err(ForkError::NoModelCall);
        }
        Ok(recorded)
    }

    fn take_item(&mut self, item: RecordedItem<'_>) {
        let (content, fidelity) = content_of(self.record, item.body);
        self.exact.entry(item.item).or_insert(fidelity == Fidelity::Full);
        self.added_at.entry(item.item).or_insert(item.seq);
        if fidelity > Fidelity::Redacted {
            return;
        }
        let (id, origin, label) = (item.item, item.origin, item.label.clone());
        self.items.entry(id).or_insert_with(|| Arc::new(Item { id, origin, label, content }));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what a fork does not need is most of a record")]
    fn take_fact(&mut self, seq: u64, fact: &Fact) {
        match fact {
            Fact::ModelCalled { call, window, tool_choice, tools_offered, output_tokens_max } => {
                // What is kept of the window before was seen before.
                for item in &window.added {
                    self.first_seen.entry(*item).or_insert(self.calls_made.len());
                }
                self.place_of.entry(*call).or_insert(self.calls_made.len());
                self.calls_made.push(ModelCall {
                    id: *call,
                    seq,
                    tool_choice: tool_choice.clone(),
                    tools_offered: *tools_offered,
                    output_tokens_max: *output_tokens_max,
                    reply: None,
                });
            }
            Fact::ModelReplied { call, item, .. } => {
                if let Some(made) = self.place_of(*call).and_then(|place| self.calls_made.get_mut(place)) {
                    made.reply.get_or_insert(*item);
                }
            }
            Fact::CallProposed { call, by, tool, arguments, .. } => {
                let text = self.record.part_text(*arguments);
                let by = self.place_of(*by).unwrap_or(self.calls_made.len());
                self.call_at.entry(*call).or_insert(self.tool_calls.len());
                self.tool_calls.push(ToolCall {
                    call: *call,
                    key: CallKey::of(tool, &text.text),
                    by,
                    is_started: false,
                    effect: self.effect_of(tool),
                    result: None,
                });
            }
            Fact::ToolStarted { call, effect, .. } => {
                if let Some(known) = self.tool_call_mut(*call) {
                    (known.is_started, known.effect) = (true, *effect);
                }
            }
            Fact::ItemAdded { item, body: Body::ToolResult { call, .. }, .. } => {
                self.result_of.insert(*item, *call);
                if let Some(known) = self.tool_call_mut(*call) {
                    known.result.get_or_insert(*item);
                }
            }
            Fact::ItemReplaced { item, by } => {
                let call = self.result_of.get(item).copied();
                if let Some(known) = call.and_then(|call| self.tool_call_mut(call)) {
                    known.result = Some(*by);
                }
            }
            Fact::Resumed { tools, .. } => {
                let mut known = self.tools.to_vec();
                for tool in tools {
                    match known.iter_mut().find(|known| known.name == tool.name) {
                        Some(known) => *known = tool.clone(),
                        None => known.push(tool.clone()),
                    }
                }
                self.tools = known.into();
            }
            _ => {}
        }
    }

    fn tool_call_mut(&mut self, call: CallId) -> Option<&mut ToolCall> {
        let at = self.call_at.get(&call)?;
        self.tool_calls.get_mut(*at)
    }

    /// What a repetition of a call of this tool would do; the worst where the record does not say.
    pub(super) fn effect_of(&self, tool: &str) -> Effect {
        self.tools.iter().find(|known| known.name.as_str() == tool).map_or(Effect::Once, |known| known.effect)
    }

    /// How many calls to the model there were.
    #[must_use]
    pub const fn model_calls(&self) -> usize {
        self.calls_made.len()
    }

    /// The place of a model call among them, counted from 0.
    #[must_use]
    pub fn place_of(&self, call: ModelCallId) -> Option<usize> {
        self.place_of.get(&call).copied()
    }

    /// The place of the model call that proposed a call, or whose reply an item is.
    #[must_use]
    pub fn place_of_reply(&self, item: ItemId) -> Option<usize> {
        self.calls_made.iter().position(|made| made.reply == Some(item))
    }

    /// The place of the model call that proposed a call.
    #[must_use]
    pub fn place_of_proposal(&self, call: CallId) -> Option<usize> {
        self.tool_calls.get(*self.call_at.get(&call)?).map(|known| known.by)
    }

    /// The tool of a call as it was proposed.
    #[must_use]
    pub fn tool_of(&self, call: CallId) -> Option<&str> {
        self.tool_calls.get(*self.call_at.get(&call)?).map(|known| known.key.tool())
    }

    /// The reply of a model call as the record has it.
    #[must_use]
    pub fn reply(&self, place: usize) -> Option<&Item> {
        self.items.get(&self.calls_made.get(place)?.reply?).map(AsRef::as_ref)
    }

    /// The items that a model call was sent, in order.
    ///
    /// # Errors
    /// When there is no such call, or the record does not say.
    pub fn window(&self, place: usize) -> Result<Vec<ItemId>, ForkError> {
        let made = self.calls_made.get(place).ok_or(ForkError::NoSuchCall(place))?;
        Ok(self.record.window(made.id)?)
    }

    /// The first model call that was sent an item.
    #[must_use]
    pub fn first_seen(&self, item: ItemId) -> Option<usize> {
        self.first_seen.get(&item).copied()
    }

    /// Items that were there before a model call and that neither it nor any call before was sent, in their order.
    #[must_use]
    pub fn never_sent(&self, place: usize) -> Vec<ItemId> {
        let Some(made) = self.calls_made.get(place) else { return Vec::new() };
        let replies: HashSet<ItemId> = self.calls_made.iter().filter_map(|made| made.reply).collect();
        let was_there = |item: &ItemId| self.added_at.get(item).is_some_and(|seq| *seq < made.seq);
        let was_sent = |item: &ItemId| self.first_seen.get(item).is_some_and(|seen| *seen <= place);
        let items = self.items.keys().copied();
        items.filter(|item| was_there(item) && !was_sent(item) && !replies.contains(item)).collect()
    }

    /// An item; `None` where its text was not kept.
    #[must_use]
    pub fn item(&self, item: ItemId) -> Option<&Arc<Item>> {
        self.items.get(&item)
    }

    /// Whether every text of a window is the one that the model read, byte for byte.
    #[must_use]
    pub fn is_exact(&self, place: usize) -> bool {
        let window = self.window(place).unwrap_or_default();
        !window.is_empty() && window.iter().all(|item| self.exact.get(item) == Some(&true))
    }

    /// The tools of the run.
    #[must_use]
    pub fn tools(&self) -> &Arc<[ToolSpec]> {
        &self.tools
    }

    /// What the model's tokens cost, where known.
    #[must_use]
    pub const fn prices(&self) -> Option<Prices> {
        self.prices
    }

    /// The request of a model call, as it was.
    ///
    /// # Errors
    /// When there is no such call, or its window or a text in it is not known.
    pub fn request(&self, place: usize) -> Result<ModelRequest, ForkError> {
        let made = self.calls_made.get(place).ok_or(ForkError::NoSuchCall(place))?;
        let item = |id: &ItemId| self.items.get(id).cloned().ok_or(ForkError::TextNotKept(*id));
        let items = self.window(place)?.iter().map(item).collect::<Result<Vec<_>, _>>()?;
        let (tools, tool_choice, params) = self.settings_of(made);
        Ok(ModelRequest { items: Arc::new(items), tools, tool_choice, params })
    }

    /// What a model call was asked with beside its window; `None` where there was no such call.
    pub(crate) fn settings(&self, place: usize) -> Option<CallSettings> {
        self.calls_made.get(place).map(|made| self.settings_of(made))
    }

    fn settings_of(&self, made: &ModelCall) -> CallSettings {
        let tools = if made.tools_offered { Arc::clone(&self.tools) } else { Arc::from([]) };
        let params = ModelParams { output_tokens_max: made.output_tokens_max, ..self.params.clone() };
        (tools, made.tool_choice.clone(), Arc::new(params))
    }
}

/// What an item says, and how much of that the record still has.
fn content_of(record: &Record, body: &Body) -> (Content, Fidelity) {
    let words = match body {
        Body::Instructions { text }
        | Body::Person { text }
        | Body::Context { text, .. }
        | Body::Notice { text }
        | Body::ToolResult { text, .. } => record.part_text(*text),
        Body::Reply { parts } => return reply_of(record, parts),
    };
    let text = Arc::<str>::from(words.text);
    let content = match body {
        Body::Instructions { .. } => Content::Instructions(text),
        Body::Context { name, .. } => Content::Context { name: name.clone(), text },
        Body::Notice { .. } => Content::Notice(text),
        Body::ToolResult { call, provider_id, tool, is_error, .. } => Content::ToolResult {
            call: *call,
            provider_id: provider_id.clone(),
            tool: tool.clone(),
            text,
            is_error: *is_error,
        },
        Body::Person { .. } | Body::Reply { .. } => Content::Person(text),
    };
    (content, words.fidelity)
}

fn reply_of(record: &Record, parts: &[probity_contract::PartId]) -> (Content, Fidelity) {
    let mut worst = Fidelity::Full;
    let mut read = Vec::with_capacity(parts.len());
    for part in parts {
        let words = record.part_text(*part);
        worst = worst.max(words.fidelity);
        match serde_json::from_str::<ReplyPart>(&words.text) {
            Ok(part) => read.push(part),
            Err(_) => worst = worst.max(Fidelity::Unknown),
        }
    }
    (Content::Reply(read.into()), worst)
}
