use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use probity_contract::{
    BoxStream, Cancel, ItemId, Model, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelName,
    ModelReply, ModelRequest, Prices, ReplyPart, ReplyPartKind, Stop, ToolChoice, Usage,
};

use crate::blocker::Blocker;
use crate::gauge::{Gauge, Guard};
use crate::names::model_name;
use crate::{break_down, lock};

/// What a scripted model does when it is asked once.
#[derive(Debug, Clone)]
pub struct Turn {
    waits: Option<Cancel>,
    blocks: Option<Blocker>,
    events: Vec<ModelEvent>,
    end: End,
}

#[derive(Debug, Clone)]
enum End {
    Finishes(ModelReply),
    Fails(ModelError),
    BreaksOff,
    Hangs,
    Panics(String),
}

impl Turn {
    fn ending(end: End) -> Self {
        Self { waits: None, blocks: None, events: Vec::new(), end }
    }

    /// Answers with this reply.
    #[must_use]
    pub fn reply(reply: ModelReply) -> Self {
        Self::ending(End::Finishes(reply))
    }

    /// Answers with text, for 10 tokens read and 5 written.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::parts(vec![ReplyPart::text(text)], Stop::EndTurn)
    }

    /// Proposes calls, each a tool's name and arguments, for 10 tokens read and 5 written. Provider ids are `p1`, `p2` …
    #[must_use]
    pub fn calls(calls: &[(&str, &str)]) -> Self {
        let part = |(at, (name, arguments)): (usize, &(&str, &str))| {
            ReplyPart::call(format!("p{}", at + 1), *name, *arguments)
        };
        Self::parts(calls.iter().enumerate().map(part).collect(), Stop::ToolCalls)
    }

    /// Answers with these parts, for 10 tokens read and 5 written.
    #[must_use]
    pub fn parts(parts: Vec<ReplyPart>, stop: Stop) -> Self {
        let usage = Usage { input: Some(10), output: Some(5), ..Usage::default() };
        Self::reply(ModelReply { parts, stop, usage, model: None, response_id: None })
    }

    /// Fails.
    #[must_use]
    pub fn fails(class: ModelErrorClass, words: &str) -> Self {
        Self::ending(End::Fails(ModelError::new(class, words)))
    }

    /// Adds advice to a failure.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        if let End::Fails(error) = &mut self.end {
            error.hint = Some(hint.to_owned());
        }
        self
    }

    /// Ends its stream without a reply and without an error.
    #[must_use]
    pub fn breaks_off() -> Self {
        Self::ending(End::BreaksOff)
    }

    /// Never ends its stream.
    #[must_use]
    pub fn hangs() -> Self {
        Self::ending(End::Hangs)
    }

    /// Panics with these words.
    #[must_use]
    pub fn panics(words: &str) -> Self {
        Self::ending(End::Panics(words.to_owned()))
    }

    /// Sends these events first.
    #[must_use]
    pub fn after_events(mut self, events: Vec<ModelEvent>) -> Self {
        self.events = events;
        self
    }

    /// Sends text deltas first.
    #[must_use]
    pub fn after_deltas(self, deltas: &[&str]) -> Self {
        let delta = |delta: &&str| ModelEvent::Text { part: 0, delta: (*delta).to_owned() };
        self.after_events(deltas.iter().map(delta).collect())
    }

    /// Sends the reply's text and reasoning first, in deltas of `chars` characters.
    #[must_use]
    pub fn streamed_by(mut self, chars: usize) -> Self {
        if let End::Finishes(reply) = &self.end {
            let parts = (0_u32..).zip(&reply.parts);
            self.events = parts.flat_map(|(at, part)| deltas_of(at, part, chars.max(1))).collect();
        }
        self
    }

    /// Does nothing before the signal has fired.
    #[must_use]
    pub fn after(mut self, signal: Cancel) -> Self {
        self.waits = Some(signal);
        self
    }

    /// Blocks its thread first.
    #[must_use]
    pub fn blocked_by(mut self, blocker: Blocker) -> Self {
        self.blocks = Some(blocker);
        self
    }
}

fn deltas_of(part: u32, of: &ReplyPart, chars: usize) -> Vec<ModelEvent> {
    let pieces = |text: &str| -> Vec<String> {
        let all: Vec<char> = text.chars().collect();
        all.chunks(chars).map(|piece| piece.iter().collect()).collect()
    };
    match &of.kind {
        ReplyPartKind::Text(text) => {
            pieces(text).into_iter().map(|delta| ModelEvent::Text { part, delta }).collect()
        }
        ReplyPartKind::Reasoning(text) => {
            pieces(text).into_iter().map(|delta| ModelEvent::Reasoning { part, delta }).collect()
        }
        ReplyPartKind::Call(call) => {
            let started = ModelEvent::CallStarted { part, name: call.name.clone() };
            let grown = pieces(&call.arguments);
            let grown = grown.into_iter().map(|delta| ModelEvent::CallArguments { part, delta });
            std::iter::once(started).chain(grown).collect()
        }
        ReplyPartKind::Opaque => Vec::new(),
    }
}

/// What a model was asked. Copied out of the request, so that it keeps no window alive.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The window: each item's id and flat text.
    pub window: Vec<(ItemId, String)>,
    /// The names of the tools offered.
    pub tools: Vec<String>,
    /// Whether a tool had to be called.
    pub tool_choice: ToolChoice,
    /// Tokens that the reply might have.
    pub output_tokens_max: Option<u64>,
}

impl Asked {
    /// The texts of the window, joined by line feeds.
    #[must_use]
    pub fn text(&self) -> String {
        self.window.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// A model whose answers are written down beforehand. A clone is the same model.
///
/// Where the script is over it fails with [`ModelErrorClass::NoAnswer`].
#[derive(Clone)]
pub struct ScriptedModel {
    name: ModelName,
    prices: Option<Prices>,
    answers: Answers,
    asked: Option<Arc<Mutex<Vec<Asked>>>>,
    streams: Gauge,
}

#[derive(Clone)]
enum Answers {
    Script(Arc<Mutex<VecDeque<Turn>>>),
    By(Arc<dyn Fn(&ModelRequest) -> Turn + Send + Sync>),
}

impl ScriptedModel {
    fn answering(answers: Answers) -> Self {
        let asked = Some(Arc::default());
        Self { name: model_name("test/scripted"), prices: None, answers, asked, streams: Gauge::default() }
    }

    /// A model that takes one turn after the other.
    #[must_use]
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::answering(Answers::Script(Arc::new(Mutex::new(turns.into_iter().collect()))))
    }

    /// A model that looks at what it is asked.
    #[must_use]
    pub fn by(answers: impl Fn(&ModelRequest) -> Turn + Send + Sync + 'static) -> Self {
        Self::answering(Answers::By(Arc::new(answers)))
    }

    /// Sets what tokens cost.
    #[must_use]
    pub const fn priced(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Does not remember what it was asked, which would grow with the square of the turns. For benchmarks.
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.asked = None;
        self
    }

    /// What it was asked, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.as_ref().map(|asked| lock(asked).clone()).unwrap_or_default()
    }

    /// Streams that are open.
    #[must_use]
    pub const fn streams(&self) -> &Gauge {
        &self.streams
    }

    fn turn(&self, request: &ModelRequest) -> Turn {
        let turn = match &self.answers {
            Answers::Script(turns) => lock(turns).pop_front(),
            Answers::By(answers) => Some(answers(request)),
        };
        turn.unwrap_or_else(|| Turn::fails(ModelErrorClass::NoAnswer, "the script is over"))
    }
}

struct Playing {
    _stream: Guard,
    waits: Option<Cancel>,
    blocks: Option<Blocker>,
    events: std::vec::IntoIter<ModelEvent>,
    end: Option<End>,
}

impl Playing {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        if let Some(blocker) = self.blocks.take() {
            blocker.block();
        }
        if let Some(signal) = self.waits.take() {
            signal.fired().await;
        }
        if let Some(event) = self.events.next() {
            return Some(Ok(event));
        }
        match self.end.take()? {
            End::Finishes(reply) => Some(Ok(ModelEvent::Finished(reply))),
            End::Fails(error) => Some(Err(error)),
            End::BreaksOff => None,
            End::Hangs => pending().await,
            End::Panics(words) => break_down(words),
        }
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn prices(&self) -> Option<Prices> {
        self.prices
    }

    fn call(
        &self,
        request: ModelRequest,
        _cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let Turn { waits, blocks, events, end } = self.turn(&request);
        if let Some(asked) = &self.asked {
            let window = request.items.iter().map(|item| (item.id, item.flat_text())).collect();
            let tools = request.tools.iter().map(|tool| tool.name.as_str().to_owned()).collect();
            let output_tokens_max = request.params.output_tokens_max;
            lock(asked).push(Asked { window, tools, tool_choice: request.tool_choice, output_tokens_max });
        }
        let playing = Playing {
            _stream: self.streams.enter(),
            waits,
            blocks,
            events: events.into_iter(),
            end: Some(end),
        };
        Box::pin(stream::unfold(playing, |mut playing| async move {
            playing.next().await.map(|event| (event, playing))
        }))
    }
}
