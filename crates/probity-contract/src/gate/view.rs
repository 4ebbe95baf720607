//! What a person is shown of a call before it may run.

use probity_egress::{
    Egress, SamePrincipal, Words, bounded_summary, egress_text, is_hard_to_see, look_alike_letters,
    one_line_untrusted,
};

use super::call::FrozenCall;
use super::ruling::Asker;
use super::sources::ArgumentSource;
use crate::digest::Digest;
use crate::tool::{Access, Holds, Operand, Target};

/// Characters of one argument that are shown; the rest is counted.
const ARGUMENT_CHARS_MAX: usize = 2_000;
/// Characters of one target or reason that are shown.
const LINE_CHARS_MAX: usize = 400;

type Passed = Egress<SamePrincipal>;

/// The lines that a person reads of a call: a function of the frozen call and of those who ask, and of nothing else.
///
/// Characters that cannot be seen, turn the direction of writing or look like Latin letters are written out. What was cut is counted and can
/// be had whole. What looks like a credential is not shown, and that is said: nobody can approve what is hidden. The whole
/// digest of the call is a line, so two different calls never read alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallView {
    lines: Vec<Passed>,
    cut_arguments: Vec<Passed>,
    hides_credential: bool,
}

impl CallView {
    /// The view of a call that these policies ask about.
    #[must_use]
    pub fn of(call: &FrozenCall, askers: &[Asker]) -> Self {
        let words = Words::<SamePrincipal>::new;
        let tool = one_line_untrusted(call.tool().as_str(), LINE_CHARS_MAX);
        let head = words().text("The model wants to run ").passed(&tool).text(" with").done();
        let mut view = Self { lines: vec![head], cut_arguments: Vec::new(), hides_credential: false };
        view.arguments(call);
        view.lines.extend(call.facts().arguments_from.iter().map(source_words));
        for target in call.targets() {
            let (target, hides) = target_words(target);
            view.hides_credential |= hides;
            view.lines.push(words().text("  it touches ").passed(&target).done());
        }
        for operand in call.operands() {
            let (operand, hides) = operand_words(operand);
            view.hides_credential |= hides;
            view.lines.push(words().text("  as it is now: ").passed(&operand).done());
        }
        for asker in askers {
            let policy = one_line_untrusted(asker.policy.as_str(), LINE_CHARS_MAX);
            let reason = one_line_untrusted(&asker.reason, LINE_CHARS_MAX);
            view.lines.push(words().text("  asked by ").passed(&policy).text(": ").passed(&reason).done());
        }
        let principal = one_line_untrusted(call.facts().principal.as_str(), LINE_CHARS_MAX);
        let digest = egress_text::<SamePrincipal>(&call.digest().to_string());
        view.lines.push(words().text("  for ").passed(&principal).text(", digest ").passed(&digest).done());
        if view.hides_credential {
            view.lines.push(Egress::fixed(
                "  a part looks like a credential and cannot be shown; only a rule could allow this call",
            ));
        }
        view
    }

    /// What is shown, line by line.
    #[must_use]
    pub fn lines(&self) -> &[Passed] {
        &self.lines
    }

    /// Arguments that are too long for the lines, whole. Who has not seen them has not seen the call.
    #[must_use]
    pub fn cut_arguments(&self) -> &[Passed] {
        &self.cut_arguments
    }

    /// Whether a part was redacted. Such a call cannot be approved by anybody.
    #[must_use]
    pub const fn hides_credential(&self) -> bool {
        self.hides_credential
    }

    /// The digest that stands for what is shown.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let lines: Vec<&[u8]> =
            self.lines.iter().chain(&self.cut_arguments).map(|line| line.as_str().as_bytes()).collect();
        Digest::of("probity.view.v1", &lines)
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

/// Why a value may be believed further than the call, on one line.
fn source_words(source: &ArgumentSource) -> Passed {
    let at = one_line_untrusted(&visible(&source.at), LINE_CHARS_MAX);
    let level = egress_text::<SamePrincipal>(&source.integrity.to_string());
    let mut words = Words::<SamePrincipal>::new().text("  ");
    if let Some(part) = &source.part {
        words = words.passed(&one_line_untrusted(&visible(part), LINE_CHARS_MAX)).text(" in ");
    }
    let words = words.passed(&at).text(" is ").passed(&level);
    match source.item {
        Some(item) => words.text(": it stands in item ").number(item.0.into()).done(),
        None => words.text(": its tool takes any value of its type").done(),
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

/// A file that the call names, on one line.
fn operand_words(operand: &Operand) -> (Passed, bool) {
    let Operand { root, path, device: _, inode: _, bytes, holds } = operand;
    let holds = match holds {
        Holds::Content(digest) => format!("sha256 {digest}"),
        Holds::ChangedAt(_) => "too large to be looked into".to_owned(),
    };
    let (whole, hides) = shown(&format!("{root}/{path}, {bytes} bytes, {holds}"));
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

/// The text with every character written out that cannot be seen, that turns the direction of writing, or that looks like a
/// Latin letter and is none.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut alike = look_alike_letters(text).into_iter().peekable();
    for (at, c) in text.char_indices() {
        let is_alike = alike.next_if_eq(&at).is_some();
        if is_alike || is_hard_to_see(c) || matches!(c, '\u{fe00}'..='\u{fe0f}') {
            shown.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    shown
}
