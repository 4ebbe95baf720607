//! One fork: asks the model, serves what it proposes from the record, and stops where something would act.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use probity_contract::{
    CallId, Content, Effect, Integrity, Item, ItemId, Label, ModelCallId, ModelErrorClass, ModelReply,
    ModelRequest, Origin, ProposedCall, Readers, ReplyPart, ReplyPartKind, ToolChoice, ToolName,
};

use super::ForkError;
use super::changes::{Change, Changes};
use super::kept::{Asked, Kept, Unjudged};
use super::recorded::{CallKey, Recorded};

/// Calls to the model that a fork makes beyond those that the run made itself.
pub const TURNS_BEYOND_MAX: usize = 8;

/// Reads of the world as it is now that one fork asks for.
pub const LIVE_READS_MAX: usize = 32;

/// A run that goes on differently from one model call on.
///
/// It has no tool, no policy and no person, and makes no entry in any record: whatever comes out of it, nothing has happened. A
/// recorded call whose tool has an effect is served as often as it was made, not once more. Calls that only read, and that the record
/// cannot serve, it asks for where it was [told to](Self::with_live_reads); whoever runs it has them judged and made, or does not.
#[derive(Debug)]
pub struct Fork<'r> {
    recorded: &'r Recorded<'r>,
    asked: Asked,
    kept: Kept,
    changes: Changes,
    from: usize,
    request: ModelRequest,
    // Calls to the model of this fork that were answered.
    turns: usize,
    // How many calls of each sort were served, those before the fork included.
    served: HashMap<CallKey, usize>,
    next_item: u32,
    next_call: u32,
    last_reply: Vec<ReplyPart>,
    // Of the last reply: the calls that have no result yet, and the window as it grows.
    unserved: VecDeque<ProposedCall>,
    items: Vec<Arc<Item>>,
    may_read: BTreeSet<ToolName>,
    // What was read live, so that one fork sees one world.
    was_read: HashMap<CallKey, LiveRead>,
    state: State,
}

#[derive(Debug)]
enum State {
    Asks,
    Reads(ProposedCall),
    Over(ForkEnd),
}

/// What a read brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRead {
    /// What the model reads of it.
    pub text: Arc<str>,
    /// Whether that is an error.
    pub is_error: bool,
    /// Who may read it. A later read is judged by that.
    pub readers: Readers,
}

/// What a fork wants next.
#[derive(Debug)]
pub enum ForkStep {
    /// Ask a model; then [`Fork::heard`].
    Ask(ModelRequest),
    /// A call that only reads and was never made: have it judged and made, then [`Fork::heard_read`]. Comes only after
    /// [`Fork::with_live_reads`].
    Read(ProposedCall),
    /// It is over.
    Done(ForkEnd),
}

/// How a fork ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkEnd {
    /// The part asked about came out, as it was or otherwise.
    Came {
        /// Whether it is as it was.
        is_kept: bool,
    },
    /// A call was proposed that cannot be served: nothing of the sort was recorded, or once more would be a repeated effect.
    Diverged {
        /// The tool.
        tool: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// The model did not answer.
    Failed(ModelErrorClass),
    /// Whether the part is as it was could not be told.
    Unjudged(Unjudged),
    /// It went on and on.
    TurnsOver,
}

impl<'r> Fork<'r> {
    /// A fork at the model call `from`, which asks whether a part of the run comes out as it did. Forked at the call that was asked about,
    /// the first reply tells.
    ///
    /// # Errors
    /// When that call's window is not known whole, something to be changed is not there, or `from` comes after what was asked.
    pub fn begin(
        recorded: &'r Recorded<'r>,
        from: usize,
        changes: &[Change],
        asked: Asked,
        kept: Kept,
    ) -> Result<Self, ForkError> {
        if from > asked.place() {
            return Err(ForkError::NoSuchCall(from));
        }
        let changes = Changes::of(recorded, changes)?;
        let before = recorded.request(from)?;
        let request = ModelRequest {
            items: Arc::new(changes.window(recorded, &before.items)),
            tools: changes.tools(&before.tools),
            ..before
        };
        let mut served = HashMap::new();
        for call in recorded.tool_calls.iter().filter(|call| call.by < from) {
            *served.entry(call.key.clone()).or_insert(0) += 1;
        }
        let next_item = recorded.items.keys().map(|item| item.0).max().unwrap_or(0).saturating_add(1);
        let calls = recorded.tool_calls.iter().map(|call| call.call.0);
        let next_call = calls.max().unwrap_or(0).saturating_add(1);
        let (last_reply, state) = (Vec::new(), State::Asks);
        Ok(Self {
            recorded,
            asked,
            kept,
            changes,
            from,
            request,
            turns: 0,
            served,
            next_item,
            next_call,
            last_reply,
            unserved: VecDeque::new(),
            items: Vec::new(),
            may_read: BTreeSet::new(),
            was_read: HashMap::new(),
            state,
        })
    }

    /// Lets the fork ask for reads by these tools, as far as they only read by the record's own word. What came back then is of
    /// the world as it is now, not as it was: the fork is of another world than the run.
    #[must_use]
    pub fn with_live_reads(mut self, tools: impl IntoIterator<Item = ToolName>) -> Self {
        let is_read = |tool: &ToolName| self.recorded.effect_of(tool.as_str()) == Effect::Pure;
        self.may_read = tools.into_iter().filter(is_read).collect();
        self
    }

    /// What it wants next. The same again until it has heard.
    #[must_use]
    pub fn step(&self) -> ForkStep {
        match &self.state {
            State::Asks => ForkStep::Ask(self.request.clone()),
            State::Reads(call) => ForkStep::Read(call.clone()),
            State::Over(end) => ForkStep::Done(end.clone()),
        }
    }

    /// Takes what the model answered; after the end nothing changes any more.
    pub fn heard(&mut self, answer: Result<&ModelReply, ModelErrorClass>) {
        if !matches!(self.state, State::Asks) {
            return;
        }
        let reply = match answer {
            Ok(reply) => reply,
            Err(class) => return self.end(ForkEnd::Failed(class)),
        };
        self.turns += 1;
        self.last_reply.clone_from(&reply.parts);
        let is_kept = match self.kept.holds(&reply.parts) {
            Ok(is_kept) => is_kept,
            Err(unjudged) => return self.end(ForkEnd::Unjudged(unjudged)),
        };
        let calls: Vec<ProposedCall> = reply.parts.iter().filter_map(call_of).cloned().collect();
        if self.is_told(is_kept, calls.is_empty()) {
            return self.end(ForkEnd::Came { is_kept });
        }
        if self.turns >= self.turns_max() {
            return self.end(ForkEnd::TurnsOver);
        }
        let mut items: Vec<Arc<Item>> = self.request.items.as_ref().clone();
        let model_call = u32::try_from(self.from.saturating_add(self.turns)).unwrap_or(u32::MAX);
        let origin = Origin::Model(ModelCallId(model_call));
        // Whatever stood in its window may stand in a reply.
        let readers = items.iter().fold(Readers::Everyone, |all, item| all.join(&item.label.readers));
        items.push(self.item(origin, readers, Content::Reply(reply.parts.as_slice().into())));
        (self.items, self.unserved) = (items, calls.into());
        self.serve_all();
    }

    /// Takes what the read that was asked for brought back; `None` where it was not made. What was not asked for is not taken.
    pub fn heard_read(&mut self, read: Option<LiveRead>) {
        let State::Reads(call) = &self.state else { return };
        let call = call.clone();
        self.state = State::Asks;
        let Some(read) = read else { return self.diverged(call) };
        self.was_read.insert(CallKey::of(&call.name, &call.arguments), read);
        self.unserved.push_front(call);
        self.serve_all();
    }

    /// Serves what the model has proposed, until it is served or cannot be.
    fn serve_all(&mut self) {
        while let Some(call) = self.unserved.pop_front() {
            let served = self.serve(&call).or_else(|| self.serve_read(&call));
            match served {
                Some((id, readers, content)) => {
                    let item = self.item(Origin::Tool(id), readers, content);
                    self.items.push(item);
                }
                None if self.may_be_read(&call) => {
                    self.state = State::Reads(call);
                    return;
                }
                None => return self.diverged(call),
            }
        }
        let items = std::mem::take(&mut self.items);
        self.request = self.next_request(items);
    }

    fn may_be_read(&self, call: &ProposedCall) -> bool {
        self.was_read.len() < LIVE_READS_MAX && self.may_read.iter().any(|tool| tool.as_str() == call.name)
    }

    /// What a call has read live before.
    fn serve_read(&mut self, call: &ProposedCall) -> Option<Served> {
        let read = self.was_read.get(&CallKey::of(&call.name, &call.arguments))?.clone();
        let id = self.next_call();
        Some((id, read.readers, result(id, call, read.text, read.is_error)))
    }

    fn next_call(&mut self) -> CallId {
        let call = CallId(self.next_call);
        self.next_call = self.next_call.saturating_add(1);
        call
    }

    fn diverged(&mut self, call: ProposedCall) {
        self.end(ForkEnd::Diverged { tool: call.name, arguments: call.arguments });
    }

    /// How many reads of the world as it is now were made for it.
    #[must_use]
    pub fn live_reads(&self) -> usize {
        self.was_read.len()
    }

    /// Whether this reply tells how the part asked about came out.
    fn is_told(&self, is_kept: bool, is_last: bool) -> bool {
        let place = self.from.saturating_add(self.turns).saturating_sub(1);
        match self.asked {
            // Forked at the very call, its reply is the question. Else a call may come earlier or later than it did.
            Asked::Proposal(asked) => self.from == asked || is_kept || is_last,
            // The answer of a run is whatever comes last; what was said on the way is compared at its place.
            Asked::Reply(asked) => {
                let is_answer = asked.saturating_add(1) == self.recorded.model_calls();
                is_last || (self.from == asked) || (!is_answer && place >= asked)
            }
        }
    }

    fn turns_max(&self) -> usize {
        self.recorded.model_calls().saturating_sub(self.from).saturating_add(TURNS_BEYOND_MAX)
    }

    fn item(&mut self, origin: Origin, readers: Readers, content: Content) -> Arc<Item> {
        let id = ItemId(self.next_item);
        self.next_item = self.next_item.saturating_add(1);
        // A live read is judged by what stands in the window, so who may read it is kept; nothing in a fork is believed more.
        let label = Label { integrity: Integrity::Untrusted, readers };
        Arc::new(Item { id, origin, label, content })
    }

    /// What a call brought back in the record, as the fork shows it; `None` where it cannot be served.
    fn serve(&mut self, proposed: &ProposedCall) -> Option<Served> {
        let key = CallKey::of(&proposed.name, &proposed.arguments);
        let recorded: Vec<_> = self.recorded.tool_calls.iter().filter(|call| call.key == key).collect();
        let count = self.served.entry(key).or_insert(0);
        let served = match recorded.get(*count) {
            Some(call) => *call,
            None => {
                let last = *recorded.last()?;
                let may_repeat = !last.is_started || last.effect == Effect::Pure;
                may_repeat.then_some(last)?
            }
        };
        *count += 1;
        let recorded = self.recorded.item(served.result?)?;
        let shown = self.changes.item(recorded);
        let Content::ToolResult { text, is_error, .. } = &shown.content else { return None };
        let (text, is_error, readers) = (Arc::clone(text), *is_error, shown.label.readers.clone());
        let call = self.next_call();
        Some((call, readers, result(call, proposed, text, is_error)))
    }

    /// The request that follows: that of the recorded call at this place, as far as it is about anything but the window.
    fn next_request(&self, items: Vec<Arc<Item>>) -> ModelRequest {
        let place = self.from.saturating_add(self.turns);
        let like = self.recorded.settings(place);
        let (tools, tool_choice, params) = match like {
            Some((tools, tool_choice, params)) => (self.changes.tools(&tools), tool_choice, params),
            None => (Arc::clone(&self.request.tools), ToolChoice::Auto, Arc::clone(&self.request.params)),
        };
        ModelRequest { items: Arc::new(items), tools, tool_choice, params }
    }

    fn end(&mut self, end: ForkEnd) {
        self.state = State::Over(end);
    }

    /// How many calls to the model were answered in it.
    #[must_use]
    pub const fn turns(&self) -> usize {
        self.turns
    }

    /// What the model said last in it; empty where it was not asked yet.
    #[must_use]
    pub fn last_reply(&self) -> &[ReplyPart] {
        &self.last_reply
    }

    /// The window as it stands.
    #[must_use]
    pub fn window(&self) -> &[Arc<Item>] {
        &self.request.items
    }
}

/// The result of a call, and who may read it.
type Served = (CallId, Readers, Content);

fn result(call: CallId, proposed: &ProposedCall, text: Arc<str>, is_error: bool) -> Content {
    let (provider_id, tool) = (proposed.provider_id.clone(), proposed.name.clone());
    Content::ToolResult { call, provider_id, tool, text, is_error }
}

const fn call_of(part: &ReplyPart) -> Option<&ProposedCall> {
    match &part.kind {
        ReplyPartKind::Call(call) => Some(call),
        ReplyPartKind::Text(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
    }
}
