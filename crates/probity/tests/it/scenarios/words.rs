//! Reads what the rows say of policies and of what is expected.

use std::sync::Arc;

use probity_contract::{FrozenCall, Policy, PolicyName, Seat, ToolSpec, Verdict};
use probity_core::{Otherwise, RuleLists, RulePolicy};
use probity_testkit::{Judges, ScenarioRow, ScriptedPolicy, fake_token, policy_name};
use serde_json::Value;
use tokio::task::JoinError;

/// The words of a panic, bounded.
pub(super) fn panic_words(broken: JoinError) -> String {
    let words = match broken.try_into_panic() {
        Err(aborted) => aborted.to_string(),
        Ok(payload) => match payload.downcast::<String>() {
            Ok(words) => *words,
            Err(payload) => {
                payload.downcast::<&str>().map_or_else(|_| "?".to_owned(), |words| (*words).to_owned())
            }
        },
    };
    words.chars().take(2_000).collect()
}

/// Everything that a row says, in lower case.
pub(super) fn all_words(row: &ScenarioRow) -> String {
    format!("{} | {} | {}", row.policies().join("; "), row.event, row.seat).to_lowercase()
}

pub(super) fn says(row: &ScenarioRow, any: &[&str]) -> bool {
    let words = all_words(row);
    any.iter().any(|one| words.contains(one))
}

/// What a policy does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Does {
    Throws(String),
    Panics,
    Hangs,
    /// It answers with each of these in turn, one for each time that the scenario is played.
    Answers(Vec<String>),
    Denies,
    Asks,
    Allows,
    Abstains,
}

/// When it does that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// Only of the arguments that the model proposed.
    Original,
    /// Only of arguments that a person has put in their place.
    Edited,
    /// When it is asked what the call touches.
    Targets,
    /// When it is asked once more, just before the effect.
    Recheck,
}

/// One clause about a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub name: String,
    /// Whether it belongs to a task above.
    pub above: bool,
    pub does: Does,
    pub when: When,
    /// What stands in brackets behind the verdict.
    pub pattern: Option<String>,
}

/// All clauses of a row.
pub(super) fn clauses(row: &ScenarioRow) -> Vec<Clause> {
    let sentences = row.policies();
    let clauses = sentences.iter().flat_map(|sentence| split(sentence));
    let read = |(at, clause): (usize, &str)| {
        self::clause(clause, at).unwrap_or_else(|| panic!("nobody reads the policy `{clause}`"))
    };
    clauses.enumerate().map(read).collect()
}

/// The parts between semicolons that stand in no quotes.
fn split(sentence: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quoted) = (Vec::new(), 0, false);
    for (at, c) in sentence.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            ';' if !quoted => {
                parts.push(sentence.get(from..at).unwrap().trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(sentence.get(from..).unwrap().trim());
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

fn clause(text: &str, at: usize) -> Option<Clause> {
    let (name, rest) = name(text, at);
    let lower = rest.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|one| lower.contains(one));
    let (does, pattern) = if has(&["throw", "raise", "reject", "errors", "fails"]) {
        (Does::Throws(thrown(rest)), None)
    } else if has(&["panic"]) {
        (Does::Panics, None)
    } else if has(&[
        "never return",
        "never resolve",
        "never answer",
        "hangs",
        "time limit",
        "does not return",
    ]) {
        (Does::Hangs, None)
    } else if has(&["returns", "answers with"]) {
        (Does::Answers(answers(rest)), None)
    } else {
        let (verdict, pattern) = verdict(rest)?;
        (verdict, pattern)
    };
    let when = if has(&["edited", "the edit", "on the edit"]) {
        When::Edited
    } else if has(&["original"]) {
        When::Original
    } else if has(&["recheck", "just before", "last seat", "before use", "second time"]) {
        When::Recheck
    } else if has(&["reading the call's target", "telling the target", "the call's target"]) {
        When::Targets
    } else {
        When::Always
    };
    let whole = text.to_lowercase();
    let above = ["parent", "inherited", "ancestor"].iter().any(|word| whole.contains(word));
    Some(Clause { name, above, does, when, pattern })
}

/// The name before a colon, or a capital letter that stands as a word.
fn name(text: &str, at: usize) -> (String, &str) {
    if let Some((name, rest)) = text.split_once(':')
        && name.len() <= 24
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        && !name.to_lowercase().contains("text")
        && !["throws", "returns"].iter().any(|word| name.contains(word))
    {
        return (name.trim().to_owned(), rest.trim());
    }
    let is_name = |word: &&str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|c| c.is_ascii_uppercase()) && chars.all(|c| c.is_ascii_digit())
    };
    match text.split_whitespace().find(is_name).filter(|name| *name != "A") {
        Some(name) => (name.to_owned(), text),
        None => (format!("policy {}", at + 1), text),
    }
}

/// The verdict that is named first, and what stands in brackets behind it.
fn verdict(text: &str) -> Option<(Does, Option<String>)> {
    let lower = text.to_lowercase();
    let words = [
        ("abstain", Does::Abstains),
        ("no opinion", Does::Abstains),
        ("says nothing", Does::Abstains),
        ("deny", Does::Denies),
        ("denies", Does::Denies),
        ("ask", Does::Asks),
        ("allow", Does::Allows),
        ("permit", Does::Allows),
    ];
    let found = words.into_iter().filter_map(|(word, does)| lower.find(word).map(|at| (at, word, does)));
    let (at, word, does) = found.min_by_key(|(at, ..)| *at)?;
    let rest = text.get(at + word.len()..)?.trim_start_matches('s').trim();
    let pattern = match rest.strip_prefix('(') {
        Some(rest) => rest.rsplit_once(')').map(|(pattern, _)| pattern.trim().trim_matches('\'').to_owned()),
        None => {
            rest.split_whitespace().next().filter(|word| word.contains(['/', '*', '.'])).map(str::to_owned)
        }
    };
    Some((does, pattern))
}

/// What stands in the first quotes, with what the rest of the clause says is in it: bytes, control characters, a key.
fn thrown(text: &str) -> String {
    let quoted = text.split_once('\'').and_then(|(_, rest)| rest.split_once('\'')).map(|(quoted, _)| quoted);
    let mut thrown = unescaped(quoted.unwrap_or("it broke"));
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        if let Some(code) = word.strip_prefix("U+") {
            thrown.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
        } else if word.starts_with("ESC[") {
            thrown.push('\u{1b}');
            thrown.push_str(word.trim_start_matches("ESC"));
        }
    }
    if text.contains("straddling") {
        // So that the cap falls into the key.
        let before = 190_usize.saturating_sub(thrown.chars().count());
        thrown.push_str(&"x".repeat(before));
        thrown.push(' ');
        thrown.push_str(&fake_token(14));
        thrown.push(' ');
    }
    if let Some(kilobytes) =
        text.split(" kB").next().and_then(|before| before.rsplit(' ').next()?.parse().ok())
    {
        let kilobytes: usize = kilobytes;
        thrown.push_str(&"y".repeat((kilobytes * 1_000).saturating_sub(thrown.len())));
    }
    thrown
}

pub(super) fn unescaped(text: &str) -> String {
    // A row that is written as JSON twice.
    let text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t");
    let mut parts = text.split("\\u");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..4).and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match code {
            Some(c) => {
                plain.push(c);
                plain.push_str(part.get(4..).unwrap_or_default());
            }
            None => {
                plain.push_str("\\u");
                plain.push_str(part);
            }
        }
    }
    plain
}

/// What a policy answers that answers with no verdict, one text for each that is named.
fn answers(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let (_, named) =
        lower.split_once("returns").or_else(|| lower.split_once("answers with")).unwrap_or(("", &lower));
    named.split(" / ").map(|named| answer(named.trim())).collect()
}

fn answer(named: &str) -> String {
    let has = |word: &str| named.contains(word);
    let text = if named.starts_with('{') {
        // As a script would write it down.
        let object = named.split('}').next().unwrap_or_default().trim_start_matches('{');
        let members = object.split(',').filter(|member| !member.trim().is_empty()).map(|member| {
            let (name, value) = member.split_once(':').unwrap_or((member, "null"));
            let plain = |text: &str| text.trim().trim_matches(['\'', '"']).to_owned();
            format!("{}:{}", Value::from(plain(name)), Value::from(plain(value)))
        });
        return format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    } else if has("extra") || has("unknown field") || has("unknown member") {
        r#"{"verdict":"allow","reason":"yes","extra":1}"#
    } else if has("null") || has("undefined") || has("nothing") {
        "null"
    } else if has("number") {
        "7"
    } else if has("bool") || has("true") {
        "true"
    } else if has("string") || has("text") {
        r#""allow""#
    } else if has("array") || has("list") {
        r#"["allow"]"#
    } else if has("empty object") {
        "{}"
    } else if has("typo")
        || has("misspelt")
        || has("misspelled")
        || has("unknown verdict")
        || has("unknown word")
    {
        r#"{"verdict":"alow","reason":"yes"}"#
    } else if has("empty reason") || has("no reason") {
        r#"{"verdict":"deny","reason":""}"#
    } else {
        panic!("nobody reads the answer `{named}`")
    };
    text.to_owned()
}

/// One policy of several clauses with one name; `play` counts how often the scenario was played before.
pub(super) fn policy(name: &str, clauses: &[Clause], original: &Value, play: usize) -> ScriptedPolicy {
    let (clauses, original) = (clauses.to_vec(), original.clone());
    ScriptedPolicy::by(name, move |call: &FrozenCall, seat| {
        let edited = call.arguments().to_value() != original;
        let holds = |clause: &&Clause| match clause.when {
            When::Always => true,
            When::Original => !edited,
            When::Edited => edited,
            When::Recheck => seat == Seat::ExecuteRecheck,
            When::Targets => false,
        };
        // What is said of a special case goes before what is said in general.
        let special = clauses.iter().filter(|clause| clause.when != When::Always).find(holds);
        match special.or_else(|| clauses.iter().find(holds)) {
            Some(clause) => judges(&clause.does, play),
            None => Judges::allows(),
        }
    })
}

fn judges(does: &Does, play: usize) -> Judges {
    match does {
        Does::Throws(text) => Judges::Fails(text.clone()),
        Does::Panics => Judges::Panics("it panicked".to_owned()),
        Does::Hangs => Judges::Hangs,
        Does::Answers(texts) => Judges::Answers(texts.get(play).cloned().unwrap_or_default()),
        Does::Denies => Judges::denies("the scenario denies it"),
        Does::Asks => Judges::asks("the scenario asks"),
        Does::Allows => Judges::allows(),
        Does::Abstains => Judges::Says(Verdict::Abstain),
    }
}

/// How often a scenario with these clauses is to be played: once for each answer that is named.
pub(super) fn plays(clauses: &[Clause]) -> usize {
    let of = |clause: &Clause| match &clause.does {
        Does::Answers(texts) => texts.len(),
        _ => 1,
    };
    clauses.iter().map(of).max().unwrap_or(1)
}

/// A rule policy of one clause, its pattern being about `tool`. A pattern `tool X` means the whole tool.
pub(super) fn rules(clause: &Clause, tool: &ToolSpec) -> Arc<dyn Policy> {
    let whole = tool.name.as_str().to_owned();
    let rule = match clause.pattern.as_deref() {
        None => whole,
        Some(pattern) if pattern.starts_with("tool ") => whole,
        Some(pattern) => {
            let first = pattern.split_whitespace().next().unwrap_or_default();
            let pattern = if first == whole { pattern.trim_start_matches(first).trim() } else { pattern };
            format!("{whole}({})", super::stage::in_root(pattern))
        }
    };
    let mut lists = RuleLists::default();
    match clause.does {
        Does::Allows => lists.allow.push(rule),
        Does::Asks => lists.ask.push(rule),
        Does::Denies => lists.deny.push(rule),
        _ => panic!("a rule says allow, ask or deny: {clause:?}"),
    }
    let name: PolicyName = policy_name(&clause.name);
    Arc::new(RulePolicy::new(name, &lists, std::slice::from_ref(tool), Otherwise::Abstain).unwrap())
}
