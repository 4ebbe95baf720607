//! Tells a run's events to the person at the terminal as they happen.

use std::sync::Arc;

use probity_contract::{CallId, Event, Failure, FailureLane, LimitKind, Observer};
use probity_egress::{Egress, SamePrincipal, Words};

use super::screen::Screen;

/// Streams answer text to standard output and tells the rest on standard error.
pub(crate) struct Watcher {
    screen: Arc<Screen>,
    /// Whether answer text is streamed; not where one JSON document is asked for.
    text: bool,
    /// Whether calls and judgements are told.
    calls: bool,
    /// Whether reasoning is told.
    reasoning: bool,
}

type Passed = Egress<SamePrincipal>;

impl Watcher {
    pub(crate) const fn new(screen: Arc<Screen>, text: bool, calls: bool, reasoning: bool) -> Self {
        Self { screen, text, calls, reasoning }
    }

    fn call(&self, call: CallId, words: Words<SamePrincipal>) {
        if self.calls {
            let line = Words::new().text("  c").number(call.0.into()).text(" ").passed(&words.done()).done();
            self.screen.tell(&line);
        }
    }
}

fn took(ms: u64) -> Words<SamePrincipal> {
    Words::new().text(" (").number(ms).text(" ms)")
}

impl Observer for Watcher {
    fn on_event(&self, event: &Event) {
        let words = Words::<SamePrincipal>::new;
        match event {
            Event::ModelStarted { .. } => self.screen.busy("waiting for the model"),
            Event::Text { delta, .. } if self.text => self.screen.stream(delta),
            Event::Reasoning { delta, .. } if self.reasoning => self.screen.think(delta),
            Event::Text { .. } | Event::Reasoning { .. } => {}
            Event::ModelFinished { .. } | Event::StreamHeld { .. } => self.screen.idle(),
            // A failed call ends the run, and the last line says why.
            Event::ModelFailed { .. } => self.screen.idle(),
            Event::CallFrozen { call, tool, arguments } => {
                self.call(*call, words().text("→ ").passed(tool).text(" ").passed(arguments));
            }
            Event::CallRejected { call, tool, reason } => {
                self.call(*call, words().text("✗ ").passed(tool).text(" ").passed(reason));
            }
            Event::CallAllowed { call, by } => {
                self.call(*call, words().text("  allowed (").passed(by).text(")"))
            }
            Event::CallDenied { call, by, reason, .. } => {
                let who: Passed = by.as_ref().map_or_else(
                    || Egress::fixed("denied: "),
                    |by| words().text("denied by ").passed(by).text(": ").done(),
                );
                self.call(*call, words().text("✗ ").passed(&who).passed(reason));
            }
            Event::Asking { call } => self.call(*call, words().text("? a person must decide")),
            Event::ToolStarted { .. } => {
                if self.calls {
                    self.screen.busy("running the tool");
                }
            }
            Event::ToolFinished { call, ok, summary, ran_ms } => {
                let start = if *ok { "✓ " } else { "✗ " };
                self.call(*call, words().text(start).passed(summary).passed(&took(*ran_ms).done()));
            }
            Event::LimitHit { limit } => {
                self.screen.tell(
                    &words().text("  the limit of ").text(limit_words(*limit)).text(" is reached").done(),
                );
            }
            Event::OutputRejected { errors } => {
                self.screen.tell(&words().text("  ").passed(errors).done());
            }
        }
    }
}

/// Reports failed policies, interceptors and whoever else is asked on standard error.
pub(crate) struct FailureTeller(pub(crate) Arc<Screen>);

impl FailureLane for FailureTeller {
    fn on_failure(&self, failure: &Failure) {
        let who = if failure.seat.is_some() { "  the policy " } else { "  " };
        let words = Words::new()
            .text(who)
            .passed(&failure.who)
            .text(" failed (")
            .text(failure.class)
            .text("): ")
            .passed(&failure.text);
        self.0.tell(&words.done());
    }
}

/// What a limit is of, in words.
pub(crate) const fn limit_words(limit: LimitKind) -> &'static str {
    match limit {
        LimitKind::Turns => "model calls",
        LimitKind::ToolCalls => "tool calls",
        LimitKind::Tokens => "tokens",
        LimitKind::Cost => "cost",
        LimitKind::WallTime => "time",
        LimitKind::CallsPerReply => "calls in one reply",
    }
}
