//! Asks the person at the terminal whether a call may run.

use std::io::BufRead;
use std::sync::Arc;

use probity_contract::{Access, Answer, Approver, BoxFuture, FrozenCall, PendingCall, PrincipalId, Target};
use probity_egress::{Egress, SamePrincipal, Words, egress_text, one_line_untrusted};
use serde_json::Value;

use super::screen::{Screen, is_hidden};

/// Characters of one argument that are shown; the rest is counted.
const ARGUMENT_CHARS_MAX: usize = 2_000;
/// Characters of one target or reason that are shown.
const LINE_CHARS_MAX: usize = 400;

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
        for line in view(question) {
            self.screen.tell(&line);
        }
        loop {
            self.screen.ask(&Egress::fixed("  run it? [y]es / [n]o / no, because …: "));
            let Some(typed) = read_line().await else { return Answer::Nobody };
            let by = self.person.clone();
            match typed.trim() {
                "y" | "yes" => return Answer::Approve { by },
                "n" | "no" => return Answer::Refuse { by, reason: "the person said no".to_owned() },
                "" => {}
                other => match other.strip_prefix("no,").or_else(|| other.strip_prefix("n ")) {
                    Some(reason) => return Answer::Refuse { by, reason: reason.trim().to_owned() },
                    None => self.screen.tell(&Egress::fixed("  type y, n, or `no, because …`")),
                },
            }
        }
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, question: &'a PendingCall) -> BoxFuture<'a, Answer> {
        Box::pin(self.put(question))
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

/// The question in lines: a pure function of the frozen call.
fn view(question: &PendingCall) -> Vec<Egress<SamePrincipal>> {
    let call = &question.call;
    let words = Words::<SamePrincipal>::new;
    let tool = one_line_untrusted(call.tool().as_str(), LINE_CHARS_MAX);
    let digest = egress_text::<SamePrincipal>(&call.digest().short());
    let mut lines = vec![words().text("The model wants to run ").passed(&tool).text(" with").done()];
    lines.extend(arguments(call));
    for target in call.targets() {
        lines.push(words().text("  it touches ").passed(&target_words(target)).done());
    }
    for asker in &question.askers {
        let policy = one_line_untrusted(asker.policy.as_str(), LINE_CHARS_MAX);
        let reason = one_line_untrusted(&asker.reason, LINE_CHARS_MAX);
        lines.push(words().text("  asked by ").passed(&policy).text(": ").passed(&reason).done());
    }
    lines.push(words().text("  digest ").passed(&digest).text(", for ").passed(&principal(call)).done());
    lines
}

fn principal(call: &FrozenCall) -> Egress<SamePrincipal> {
    one_line_untrusted(call.facts().principal.as_str(), LINE_CHARS_MAX)
}

fn arguments(call: &FrozenCall) -> Vec<Egress<SamePrincipal>> {
    let words = Words::<SamePrincipal>::new;
    let value = call.arguments().to_value();
    let members = value.as_object().cloned().unwrap_or_default();
    if members.is_empty() {
        return vec![Egress::fixed("    no arguments")];
    }
    let line = |(name, value): (&String, &Value)| {
        let name = egress_text::<SamePrincipal>(&visible(name));
        // Passed before the cut, so that no part of a credential is left at the edge.
        let shown = egress_text::<SamePrincipal>(&visible(&value.to_string()));
        let chars = shown.as_str().chars().count();
        let line = words().text("    ").passed(&name).text(" = ");
        if chars <= ARGUMENT_CHARS_MAX {
            return line.passed(&shown).done();
        }
        let cut = probity_egress::bounded_summary(&shown, ARGUMENT_CHARS_MAX);
        let hidden = u64::try_from(chars - ARGUMENT_CHARS_MAX).unwrap_or(u64::MAX);
        line.passed(&cut).text(" [").number(hidden).text(" more characters are NOT shown]").done()
    };
    members.iter().map(line).collect()
}

fn target_words(target: &Target) -> Egress<SamePrincipal> {
    let text = match target {
        Target::Path { root, path, resolved, access } => {
            let access = match access {
                Access::Read => "read",
                Access::Write => "write",
            };
            let link = if path == resolved { String::new() } else { format!(" -> {resolved}") };
            format!("{access} {root}/{path}{link}")
        }
        Target::Url { url, method, .. } => format!("{method} {url}"),
        Target::Command { argv } => format!("command {argv:?}"),
        Target::Other { what, value } => format!("{what} {value}"),
    };
    one_line_untrusted(&visible(&text), LINE_CHARS_MAX)
}

/// The text with every character that cannot be seen, or that turns the direction of writing, written out.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_hidden(c) || matches!(c, '\u{200c}' | '\u{200d}' | '\u{ad}' | '\u{34f}') {
            shown.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    shown
}
