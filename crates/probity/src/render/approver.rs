//! Asks the person at the terminal whether a call may run.

use std::io::{BufRead, IsTerminal};
use std::sync::Arc;

use probity_contract::{Answer, Approver, BoxFuture, PendingCall, PrincipalId};
use probity_egress::Egress;

use super::screen::Screen;

/// Shows a call from its frozen bytes and takes a typed answer. One question at a time.
pub(crate) struct TerminalApprover {
    screen: Arc<Screen>,
    person: PrincipalId,
    turn: tokio::sync::Mutex<()>,
}

impl TerminalApprover {
    pub(crate) fn new(screen: Arc<Screen>, person: PrincipalId) -> Self {
        Self { screen, person, turn: tokio::sync::Mutex::new(()) }
    }

    async fn put(&self, question: &PendingCall) -> Answer {
        // Held over the whole question on purpose: two questions at once would share one keyboard.
        let _turn = self.turn.lock().await;
        let view = question.view();
        view.lines().iter().for_each(|line| self.screen.tell(line));
        let mut whole_seen = view.cut_arguments().is_empty();
        let answer = loop {
            forget_typed_ahead();
            self.screen.ask(&Egress::fixed(match (view.hides_credential(), whole_seen) {
                (true, _) => "  it cannot be approved here. [n]o / no, because …: ",
                (false, true) => "  run it? [y]es / [n]o / no, because …: ",
                (false, false) => "  [s]how the rest first / [n]o / no, because …: ",
            }));
            let Some(typed) = read_line().await else { break Answer::Nobody };
            self.screen.answered();
            let by = self.person.clone();
            match typed.trim() {
                "y" | "yes" if whole_seen && !view.hides_credential() => {
                    break Answer::Approve { by, more: 0 };
                }
                "s" | "show" if !view.cut_arguments().is_empty() => {
                    view.cut_arguments().iter().for_each(|line| self.screen.tell(line));
                    whole_seen = true;
                }
                "n" | "no" => {
                    break Answer::Refuse { by, reason: "the person said no".to_owned(), for_good: false };
                }
                other => match other.strip_prefix("no,").or_else(|| other.strip_prefix("n ")) {
                    Some(reason) => {
                        let reason = reason.trim().to_owned();
                        break Answer::Refuse { by, reason, for_good: false };
                    }
                    None => self
                        .screen
                        .tell(&Egress::fixed("  type one of the letters in brackets, or `no, because …`")),
                },
            }
        };
        self.screen.answered();
        answer
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
