//! What a model writes while it writes: to the observers at once, or held until somebody has looked at it.

use std::sync::{Arc, Mutex, PoisonError};

use probity_contract::{Event, ModelCallId, Window};
use probity_egress::{Redactor, SamePrincipal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::watch::Watch;
use crate::run::{Outcome, Release};

/// Where the deltas of one model call go.
pub(super) enum Sink {
    /// To the observers.
    Observers(Box<Deltas>),
    /// Nowhere; the reply is looked at as a whole.
    Held(Since),
    /// To the machine, in pieces that can be judged.
    Pieces(Pieces),
}

impl Sink {
    pub(super) fn text(&mut self, delta: &str) {
        match self {
            Self::Observers(deltas) => deltas.text(delta),
            Self::Held(since) => since.mark(),
            Self::Pieces(pieces) => pieces.text(delta),
        }
    }

    /// Reasoning that is not released at once is not released at all: nobody judges it.
    pub(super) fn reasoning(&mut self, delta: &str) {
        match self {
            Self::Observers(deltas) => deltas.reasoning(delta),
            Self::Held(_) | Self::Pieces(_) => {}
        }
    }

    pub(super) fn flush(self) {
        match self {
            Self::Observers(deltas) => deltas.flush(),
            Self::Held(_) | Self::Pieces(_) => {}
        }
    }
}

/// Since when text has been held that nobody has seen.
#[derive(Clone, Default)]
pub(super) struct Since(Arc<Mutex<Option<Instant>>>);

impl Since {
    fn mark(&self) {
        self.lock().get_or_insert_with(Instant::now);
    }

    fn take(&self) -> Option<Instant> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts what comes in into pieces that everybody who looks can judge.
pub(super) struct Pieces {
    call: ModelCallId,
    windows: Vec<Window>,
    // What has come and was not handed on.
    pending: String,
    // Bytes of it that came before the last delta.
    before_last: usize,
    since: Since,
    to: mpsc::UnboundedSender<Outcome>,
}

impl Pieces {
    fn text(&mut self, delta: &str) {
        self.since.mark();
        self.before_last = self.pending.len();
        self.pending.push_str(delta);
        let cut = self.cut();
        if cut > 0 {
            let rest = self.pending.split_off(cut);
            let piece = std::mem::replace(&mut self.pending, rest);
            self.before_last = self.before_last.saturating_sub(cut);
            // Nobody listens any more where the run has ended.
            let _ended = self.to.send(Outcome::ModelWrote { call: self.call, text: piece });
        }
    }

    /// Where the next piece ends; 0 where there is none yet. A piece always leaves something behind it, so that the last one
    /// is judged with the reply as a whole.
    fn cut(&self) -> usize {
        let mut cut = self.before_last;
        if self.windows.contains(&Window::Sentence) {
            cut = sentence_end(&self.pending, cut);
        }
        let bytes = self.windows.iter().map(|window| match window {
            Window::Bytes(bytes) => *bytes as usize,
            Window::Delta | Window::Sentence => 0,
        });
        if cut < bytes.max().unwrap_or(0) { 0 } else { cut }
    }
}

/// The end of the last whole sentence within the first `within` bytes, 0 where there is none.
fn sentence_end(text: &str, within: usize) -> usize {
    let mut end = 0;
    let mut after_stop = false;
    for (at, c) in text.char_indices().take_while(|(at, _)| *at <= within) {
        if c == '\n' || (after_stop && c.is_whitespace()) {
            end = at + c.len_utf8();
        }
        after_stop = matches!(c, '.' | '!' | '?' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}');
    }
    if end <= within { end } else { 0 }
}

/// The stream of a model call that is held, on the driver's side.
pub(super) struct Hold {
    deltas: Deltas,
    call: ModelCallId,
    watch: Watch,
    since: Since,
    held_bytes_max: usize,
    held_ms_max: u64,
}

/// The sink for a call's deltas and, where they are held, what releases them.
pub(super) fn open(
    call: ModelCallId,
    release: &Release,
    watch: &Watch,
    to: &mpsc::UnboundedSender<Outcome>,
) -> (Sink, Option<Hold>) {
    let since = Since::default();
    let sink = match release {
        Release::AsItComes => return (Sink::Observers(Box::new(Deltas::new(call, watch.clone()))), None),
        Release::Held => Sink::Held(since.clone()),
        Release::Pieces(windows) => Sink::Pieces(Pieces {
            call,
            windows: windows.clone(),
            pending: String::new(),
            before_last: 0,
            since: since.clone(),
            to: to.clone(),
        }),
    };
    let deltas = Deltas::new(call, watch.clone());
    let hold = Hold { deltas, call, watch: watch.clone(), since, held_bytes_max: 0, held_ms_max: 0 };
    (sink, Some(hold))
}

impl Hold {
    pub(super) const fn call(&self) -> ModelCallId {
        self.call
    }

    /// Lets a judged text out.
    pub(super) fn release(&mut self, text: &str) {
        let waited = self.since.take().map_or(0, |since| since.elapsed().as_millis());
        self.held_ms_max = self.held_ms_max.max(u64::try_from(waited).unwrap_or(u64::MAX));
        self.held_bytes_max = self.held_bytes_max.max(text.len());
        self.deltas.text(text);
    }

    /// Nothing more comes.
    pub(super) fn finish(self) {
        self.deltas.flush();
        let (held_bytes_max, held_ms_max) = (self.held_bytes_max as u64, self.held_ms_max);
        self.watch.notify(&Event::StreamHeld { call: self.call, held_bytes_max, held_ms_max });
    }
}

/// The deltas of one call on their way to the observer, each through the credential pass.
///
/// The pass runs over the joined text, not over single deltas, so that a credential which is split between two of them
/// is still found.
pub(super) struct Deltas {
    call: ModelCallId,
    watch: Watch,
    text: Redactor<SamePrincipal>,
    /// Of the reasoning under way; its end is held back and belongs before the text that follows.
    reasoning: Option<Redactor<SamePrincipal>>,
}

impl Deltas {
    pub(super) fn new(call: ModelCallId, watch: Watch) -> Self {
        Self { call, watch, text: Redactor::new(), reasoning: None }
    }

    pub(super) fn text(&mut self, delta: &str) {
        if self.watch.has_observer() {
            self.end_reasoning();
            let delta = self.text.push(delta);
            if !delta.is_empty() {
                self.watch.notify(&Event::Text { call: self.call, delta });
            }
        }
    }

    pub(super) fn reasoning(&mut self, delta: &str) {
        if self.watch.has_observer() {
            let delta = self.reasoning.get_or_insert_with(Redactor::new).push(delta);
            if !delta.is_empty() {
                self.watch.notify(&Event::Reasoning { call: self.call, delta });
            }
        }
    }

    fn end_reasoning(&mut self) {
        let delta = self.reasoning.take().map(Redactor::finish);
        if let Some(delta) = delta.filter(|delta| !delta.is_empty()) {
            self.watch.notify(&Event::Reasoning { call: self.call, delta });
        }
    }

    pub(super) fn flush(mut self) {
        self.end_reasoning();
        let text = self.text.finish();
        if !text.is_empty() {
            self.watch.notify(&Event::Text { call: self.call, delta: text });
        }
    }
}
