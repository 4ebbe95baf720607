//! Asks the person at the terminal whether something that an interceptor has denied goes on all the same.

use std::sync::Arc;

use probity_contract::{
    BoxFuture, Consultant, Consultation, HookVerdict, NotAVerdict, PolicyError, Resolution, Resolve,
};
use probity_egress::{
    Egress, SamePrincipal, Words, egress_text, fenced_for_human, is_hard_to_see, one_line_untrusted,
};
use serde_json::Value;

use super::approver::typed;
use super::screen::Screen;

/// Code points of what is shown at first.
const SHOWN_CHARS_MAX: usize = 2_000;
/// Code points of a reason.
const REASON_CHARS_MAX: usize = 400;

type Passed = Egress<SamePrincipal>;

/// Shows what was denied and why, and takes a typed answer. One question at a time.
///
/// What stands there is the person's to read, between fences and after the credential pass. Where that has taken something out,
/// nobody can let it through: nobody can approve what is hidden. What the deployment hides from approvers is hidden on purpose.
pub(crate) struct TerminalConsultant {
    screen: Arc<Screen>,
}

impl TerminalConsultant {
    pub(crate) const fn new(screen: Arc<Screen>) -> Self {
        Self { screen }
    }

    async fn put(&self, consultation: &Consultation) -> Result<Resolve, NotAVerdict> {
        let _turn = self.screen.keyboard().await;
        let view = View::of(consultation);
        view.lines.iter().for_each(|line| self.screen.tell(line));
        let mut whole_seen = view.rest.is_none();
        let decision = loop {
            let question = match (view.hides_credential, whole_seen) {
                (true, _) => "  it cannot be let through here. [n]o / no, because …: ",
                (false, true) => "  let it through? [y]es / [n]o / no, because …: ",
                (false, false) => "  [s]how all of it first / [n]o / no, because …: ",
            };
            let Some(typed) = typed(&self.screen, question).await else { break Resolve::Unresolved };
            match (typed.trim(), &view.rest) {
                ("y" | "yes", _) if whole_seen && !view.hides_credential => {
                    break Resolve::Approve(HookVerdict::allow());
                }
                ("n" | "no", _) => break Resolve::Reject(HookVerdict::deny("the person said no")?),
                ("s" | "show", Some(rest)) => {
                    self.screen.tell(rest);
                    whole_seen = true;
                }
                (other, _) => match other.strip_prefix("no,").map(str::trim) {
                    Some(reason) if !reason.is_empty() => break Resolve::Reject(HookVerdict::deny(reason)?),
                    Some(_) | None => self.screen.tell(&Egress::fixed(
                        "  type one of the words, or the letter in its brackets; `no, because …`",
                    )),
                },
            }
        };
        self.screen.answered();
        Ok(decision)
    }
}

impl Consultant for TerminalConsultant {
    fn consult<'a>(
        &'a self,
        consultation: &'a Consultation,
    ) -> BoxFuture<'a, Result<Resolution, PolicyError>> {
        Box::pin(async move {
            let decision =
                self.put(consultation).await.map_err(|error| PolicyError::new(error.to_string()))?;
            Ok(Resolution { identity: consultation.identity.clone(), decision })
        })
    }
}

/// What a person is shown of a deny that may be lifted.
struct View {
    lines: Vec<Passed>,
    /// All of what was denied, where the lines show less.
    rest: Option<Passed>,
    hides_credential: bool,
}

impl View {
    fn of(consultation: &Consultation) -> Self {
        let words = Words::<SamePrincipal>::new;
        let Consultation { verdict, occasion, .. } = consultation;
        let point = occasion.point().name();
        let reason = one_line_untrusted(verdict.reason().unwrap_or("no reason"), REASON_CHARS_MAX);
        let head = words().text("An interceptor stops this ").text(point).text(": ").passed(&reason).done();
        let mut lines = vec![head];
        if let Some(message) = verdict.message() {
            let message = one_line_untrusted(message, REASON_CHARS_MAX);
            lines.push(words().text("  it says: ").passed(&message).done());
        }
        let text = visible(occasion.target());
        let hides_credential = egress_text::<SamePrincipal>(&text).as_str() != text;
        lines.push(fenced_for_human(point, &text, SHOWN_CHARS_MAX));
        if hides_credential {
            lines.push(Egress::fixed("  it holds what looks like a credential, which is not shown"));
        }
        let chars = text.chars().count();
        let is_cut = chars > SHOWN_CHARS_MAX;
        let rest = is_cut.then(|| fenced_for_human(point, &text, chars.saturating_add(1)));
        Self { lines, rest, hides_credential }
    }
}

/// Whether its text is all that matters of it.
fn is_message(target: &Value) -> bool {
    let mut names = target.as_object().into_iter().flat_map(|members| members.keys());
    names.all(|name| matches!(name.as_str(), "content" | "role"))
}

/// The text of a message, or what else passes as JSON, with what could not be seen written out.
fn visible(target: &Value) -> String {
    let text = match target.get("content").and_then(Value::as_str) {
        Some(content) if is_message(target) => content.to_owned(),
        _ => serde_json::to_string_pretty(target).unwrap_or_default(),
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_hard_to_see(c) {
            shown.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
#[path = "consultant_tests.rs"]
mod tests;
