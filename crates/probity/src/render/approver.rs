//! Asks the person at the terminal whether a call may run.

use std::io::{BufRead, IsTerminal};
use std::sync::Arc;

use probity_contract::{Answer, Approver, BoxFuture, PendingCall, PrincipalId};
use probity_egress::Egress;

use super::screen::Screen;

/// How often a call can be approved at once.
const TIMES_MAX: u32 = 100;

/// Shows a call from its frozen bytes and takes a typed answer. One question at a time.
pub(crate) struct TerminalApprover {
    screen: Arc<Screen>,
    person: PrincipalId,
}

impl TerminalApprover {
    pub(crate) const fn new(screen: Arc<Screen>, person: PrincipalId) -> Self {
        Self { screen, person }
    }

    async fn put(&self, question: &PendingCall) -> Answer {
        let _turn = self.screen.keyboard().await;
        let view = question.view();
        view.lines().iter().for_each(|line| self.screen.tell(line));
        let mut whole_seen = view.cut_arguments().is_empty();
        let answer = loop {
            let may_approve = whole_seen && !view.hides_credential();
            let Some(typed) = self
                .typed(match (view.hides_credential(), whole_seen) {
                    (true, _) => {
                        "  it cannot be approved here. [e]dit / [n]o / no, because … / never / later: "
                    }
                    (false, true) => {
                        "  run it? [y]es / yes, N times / [e]dit / [n]o / no, because … / never / later: "
                    }
                    (false, false) => {
                        "  [s]how the rest first / [e]dit / [n]o / no, because … / never / later: "
                    }
                })
                .await
            else {
                break Answer::Nobody;
            };
            let by = self.person.clone();
            match Typed::read(&typed) {
                Some(Typed::Yes { more }) if may_approve => break Answer::Approve { by, more },
                Some(Typed::No { reason, for_good }) => break Answer::Refuse { by, reason, for_good },
                Some(Typed::Later) => break Answer::Later,
                Some(Typed::Show) if !view.cut_arguments().is_empty() => {
                    view.cut_arguments().iter().for_each(|line| self.screen.tell(line));
                    whole_seen = true;
                }
                Some(Typed::Edit) => {
                    let typed =
                        self.typed("  all arguments, as one line of JSON; nothing to go back: ").await;
                    match typed.as_deref().map(str::trim) {
                        None => break Answer::Nobody,
                        Some("") => {}
                        Some(arguments) => break Answer::Edit { by, arguments: arguments.to_owned() },
                    }
                }
                Some(Typed::Yes { .. } | Typed::Show) | None => self.screen.tell(&Egress::fixed(
                    "  type one of the words, or the letter in its brackets; `no, because …`",
                )),
            }
        };
        self.screen.answered();
        answer
    }

    async fn typed(&self, question: &'static str) -> Option<String> {
        typed(&self.screen, question).await
    }
}

/// What is typed behind a question.
pub(super) async fn typed(screen: &Screen, question: &'static str) -> Option<String> {
    forget_typed_ahead();
    screen.ask(&Egress::fixed(question));
    let typed = read_line().await;
    if typed.is_some() {
        screen.answered();
    }
    typed
}

/// What a person can type.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    Yes { more: u32 },
    No { reason: String, for_good: bool },
    Edit,
    Show,
    Later,
}

impl Typed {
    fn read(typed: &str) -> Option<Self> {
        let typed = typed.trim();
        let no = |reason: &str, for_good| Self::No { reason: reason.trim().to_owned(), for_good };
        Some(match typed {
            "y" | "yes" => Self::Yes { more: 0 },
            "e" | "edit" => Self::Edit,
            "s" | "show" => Self::Show,
            "later" => Self::Later,
            "n" | "no" => no("the person said no", false),
            "never" => no("the person said never", true),
            other => {
                if let Some(times) = other.strip_prefix("yes,") {
                    let times = times.trim().strip_suffix("times").unwrap_or(times).trim();
                    let times: u32 = times.parse().ok().filter(|times| (1..=TIMES_MAX).contains(times))?;
                    return Some(Self::Yes { more: times - 1 });
                }
                let reason = other.strip_prefix("no,").or_else(|| other.strip_prefix("n "));
                reason
                    .map(|reason| no(reason, false))
                    .or_else(|| other.strip_prefix("never,").map(|reason| no(reason, true)))?
            }
        })
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, question: &'a PendingCall) -> BoxFuture<'a, Answer> {
        Box::pin(self.put(question))
    }
}

/// Drops what was typed before the question was there: it cannot be an answer to it.
fn forget_typed_ahead() {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let _unsupported = rustix::termios::tcflush(&stdin, rustix::termios::QueueSelector::IFlush);
    }
}

async fn read_line() -> Option<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        // The end of input, like an error, means that nobody answers.
        let bytes = std::io::stdin().lock().read_line(&mut line).ok()?;
        (bytes > 0).then_some(line)
    });
    read.await.ok().flatten()
}

#[cfg(test)]
#[path = "approver_tests.rs"]
mod tests;
