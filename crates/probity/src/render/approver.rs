//! Asks the person at the terminal whether a call may run.

use std::io::{BufRead, IsTerminal};
use std::sync::Arc;

use probity_contract::{Access, Answer, Approver, BoxFuture, FrozenCall, PendingCall, PrincipalId, Target};
use probity_egress::{
    Egress, SamePrincipal, Words, bounded_summary, egress_text, is_hard_to_see, one_line_untrusted,
};

use super::screen::Screen;

/// Characters of one argument that are shown; the rest is counted.
const ARGUMENT_CHARS_MAX: usize = 2_000;
/// Characters of one target or reason that are shown.
const LINE_CHARS_MAX: usize = 400;

type Passed = Egress<SamePrincipal>;

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
        let view = View::of(question);
        view.lines.iter().for_each(|line| self.screen.tell(line));
        let mut whole_seen = view.cut_arguments.is_empty();
        let answer = loop {
            forget_typed_ahead();
            self.screen.ask(&Egress::fixed(match (view.hides_credential, whole_seen) {
                (true, _) => "  it cannot be approved here. [n]o / no, because …: ",
                (false, true) => "  run it? [y]es / [n]o / no, because …: ",
                (false, false) => "  [s]how the rest first / [n]o / no, because …: ",
            }));
            let Some(typed) = read_line().await else { break Answer::Nobody };
            self.screen.answered();
            let by = self.person.clone();
            match typed.trim() {
                "y" | "yes" if whole_seen && !view.hides_credential => break Answer::Approve { by },
                "s" | "show" if !view.cut_arguments.is_empty() => {
                    view.cut_arguments.iter().for_each(|line| self.screen.tell(line));
                    whole_seen = true;
                }
                "n" | "no" => break Answer::Refuse { by, reason: "the person said no".to_owned() },
                other => match other.strip_prefix("no,").or_else(|| other.strip_prefix("n ")) {
                    Some(reason) => break Answer::Refuse { by, reason: reason.trim().to_owned() },
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

/// What a person is shown of a question: a pure function of the frozen call.
struct View {
    lines: Vec<Passed>,
    /// Arguments that are too long for the lines, whole.
    cut_arguments: Vec<Passed>,
    /// Whether a part was redacted: nobody can approve what cannot be shown.
    hides_credential: bool,
}

impl View {
    fn of(question: &PendingCall) -> Self {
        let call = &question.call;
        let words = Words::<SamePrincipal>::new;
        let tool = one_line_untrusted(call.tool().as_str(), LINE_CHARS_MAX);
        let head = words().text("The model wants to run ").passed(&tool).text(" with").done();
        let mut view = Self { lines: vec![head], cut_arguments: Vec::new(), hides_credential: false };
        view.arguments(call);
        for target in call.targets() {
            let (target, hides) = target_words(target);
            view.hides_credential |= hides;
            view.lines.push(words().text("  it touches ").passed(&target).done());
        }
        for asker in &question.askers {
            let policy = one_line_untrusted(asker.policy.as_str(), LINE_CHARS_MAX);
            let reason = one_line_untrusted(&asker.reason, LINE_CHARS_MAX);
            view.lines.push(words().text("  asked by ").passed(&policy).text(": ").passed(&reason).done());
        }
        let digest = egress_text::<SamePrincipal>(&call.digest().short());
        let principal = one_line_untrusted(call.facts().principal.as_str(), LINE_CHARS_MAX);
        view.lines.push(words().text("  digest ").passed(&digest).text(", for ").passed(&principal).done());
        if view.hides_credential {
            view.lines.push(Egress::fixed(
                "  a part looks like a credential and cannot be shown; only a rule could allow this call",
            ));
        }
        view
    }

    fn arguments(&mut self, call: &FrozenCall) {
        let words = Words::<SamePrincipal>::new;
        let value = call.arguments().to_value();
        let members = value.as_object().cloned().unwrap_or_default();
        if members.is_empty() {
            self.lines.push(Egress::fixed("    no arguments"));
        }
        for (name, value) in &members {
            let (whole, hides) = shown(&format!("{name} = {value}"));
            self.hides_credential |= hides;
            let chars = whole.as_str().chars().count();
            if chars <= ARGUMENT_CHARS_MAX {
                self.lines.push(words().text("    ").passed(&whole).done());
                continue;
            }
            let cut = bounded_summary(&whole, ARGUMENT_CHARS_MAX);
            let hidden = u64::try_from(chars - ARGUMENT_CHARS_MAX).unwrap_or(u64::MAX);
            let note = words().text("    ").passed(&cut).text(" [").number(hidden);
            self.lines.push(note.text(" more characters are NOT shown]").done());
            self.cut_arguments.push(words().text("    ").passed(&whole).done());
        }
    }
}

/// What the call touches, on one line, and whether a part of it was redacted.
fn target_words(target: &Target) -> (Passed, bool) {
    let text = match target {
        Target::Path { root, path, resolved, access, recursive } => {
            let access = match access {
                Access::Read => "read",
                Access::Write => "write",
            };
            let link = if path == resolved { String::new() } else { format!(" -> {resolved}") };
            let below = if *recursive { " and everything below it" } else { "" };
            format!("{access} {root}/{path}{link}{below}")
        }
        Target::Url { url, method, .. } => format!("{method} {url}"),
        Target::Command { argv } => format!("command {argv:?}"),
        Target::Other { what, value } => format!("{what} {value}"),
    };
    let (whole, hides) = shown(&text);
    (one_line_untrusted(whole.as_str(), LINE_CHARS_MAX), hides)
}

/// The text with what cannot be seen written out, and whether a part of it was redacted.
///
/// Passed first as it is: a credential with a character written out in its middle is none that a pass knows.
fn shown(text: &str) -> (Passed, bool) {
    let passed = egress_text::<SamePrincipal>(text);
    let written = visible(passed.as_str());
    let whole = egress_text::<SamePrincipal>(&written);
    let hides = passed.as_str() != text || whole.as_str() != written;
    (whole, hides)
}

/// The text with every character that cannot be seen, or that turns the direction of writing, written out.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hard_to_see(c) || matches!(c, '\u{fe00}'..='\u{fe0f}') {
            shown.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    shown
}
