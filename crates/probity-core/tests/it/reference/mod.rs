//! The rules agree with a plain interpreter of the same lists.
//!
//! Files of rules and calls are drawn as values; the interpreter shares no code with the engine: it matches patterns by recursion
//! over characters, and looks at one thing after the other. Addresses have tests of their own.

mod dice;
mod pattern;
mod scene;

use std::collections::BTreeMap;

use probity_contract::{PolicyName, Verdict};
use probity_core::{LayeredRules, Mode, RuleFile, RuleLayer, RuleSource};
use serde_json::json;

pub(crate) use dice::Dice;
use pattern::{exactly, is_among, loosely, loosely_below, words};
pub(crate) use scene::Scene;
use scene::{Touched, tools};

const PATTERNS: [&str; 24] = [
    "work/docs/**",
    "work/docs/*",
    "work/docs/a.md",
    "docs/**",
    "**/*.md",
    "**/key",
    "**",
    "*",
    "work/*/a.md",
    "work/**/a.md",
    "work/d?cs/a.md",
    "*secret*",
    "git",
    "git *",
    "git log",
    "git log *",
    "rm *",
    "rm",
    "rm -rf *",
    "* x",
    "ACME-*",
    "bob",
    "a/*",
    "work",
];
const ARGUMENTS: [&str; 5] = ["to=ACME-*", "to=bob", "to=*", "to=a/*", "to=acme-?"];

/// A rule, as the interpreter reads it.
#[derive(Debug, Clone)]
struct Plain {
    tool: &'static str,
    pattern: Option<&'static str>,
}

/// A file, as the interpreter reads it.
#[derive(Debug, Clone)]
pub(crate) struct Lists {
    allow: Vec<Plain>,
    ask: Vec<Plain>,
    deny: Vec<Plain>,
    mode: &'static str,
    may_widen: bool,
}

/// What is said, the most permissive last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Said {
    Deny,
    Ask,
    Abstain,
    Allow,
}

fn full(root: &str, path: &str) -> String {
    if path == "." { root.to_owned() } else { format!("{root}/{path}") }
}

fn strict_target(pattern: &str, touched: &Touched) -> bool {
    match touched {
        Touched::Path { root, path, resolved, below, .. } => [path, resolved].iter().all(|path| {
            let full = full(root, path);
            match below {
                false => exactly(pattern, &full),
                true => {
                    (pattern == "**" || pattern.ends_with("/**")) && exactly(pattern, &format!("{full}/x"))
                }
            }
        }),
        Touched::Command(argv) => {
            let (words, is_open) = words(pattern);
            (argv.len() == words.len() || (is_open && argv.len() > words.len()))
                && words.iter().zip(argv).all(|(glob, word)| exactly(glob, word))
        }
        Touched::Unaccounted(_) => false,
        Touched::Other(value) => exactly(pattern, value),
    }
}

fn loose_target(pattern: &str, touched: &Touched, runs: bool) -> bool {
    match touched {
        Touched::Path { root, path, resolved, below, .. } => {
            let forms = [full(root, path), full(root, resolved), (*path).to_owned(), (*resolved).to_owned()];
            forms.iter().any(|form| loosely(pattern, form) || (*below && loosely_below(pattern, form)))
        }
        Touched::Command(argv) => is_among(pattern, argv),
        Touched::Unaccounted(value) | Touched::Other(value) => {
            loosely(pattern, value) || (runs && is_among(pattern, &[value]))
        }
    }
}

impl Plain {
    fn draw(dice: &mut Dice, is_allow: bool) -> Self {
        let named = ["fs_read", "run", "pay"];
        let tool = if is_allow || dice.once_in(2) {
            dice.one_of(&named)
        } else {
            dice.one_of(&["*", "fs_*", "*a*"])
        };
        let pattern = match dice.below(8) {
            0 => None,
            1 | 2 => Some(dice.one_of(&ARGUMENTS)),
            _ => Some(dice.one_of(&PATTERNS)),
        };
        Self { tool, pattern }
    }

    fn text(&self) -> String {
        self.pattern.map_or_else(|| self.tool.to_owned(), |pattern| format!("{}({pattern})", self.tool))
    }

    fn argument(&self) -> Option<&'static str> {
        self.pattern.and_then(|pattern| pattern.strip_prefix("to="))
    }

    fn is_strict(&self, scene: &Scene) -> bool {
        if !exactly(self.tool, scene.tool) || scene.has_unaccounted() {
            return false;
        }
        match (self.pattern, self.argument()) {
            (None, _) => true,
            (Some(_), Some(glob)) => scene.commands() < 2 && scene.to.is_some_and(|to| exactly(glob, to)),
            (Some(pattern), None) => {
                let subjects = scene.subjects();
                !subjects.is_empty() && subjects.iter().all(|touched| strict_target(pattern, touched))
            }
        }
    }

    fn covers(&self, scene: &Scene, touched: &Touched) -> bool {
        let pattern = self.pattern.filter(|_| self.argument().is_none());
        exactly(self.tool, scene.tool) && pattern.is_some_and(|pattern| strict_target(pattern, touched))
    }

    fn is_loose(&self, scene: &Scene) -> bool {
        if !loosely(self.tool, scene.tool) {
            return false;
        }
        let Some(pattern) = self.pattern else { return true };
        self.argument().is_some_and(|glob| scene.to.is_some_and(|to| loosely(glob, to)))
            || scene.subjects().iter().any(|touched| loose_target(pattern, touched, scene.runs()))
            || scene.to.is_some_and(|to| loosely(pattern, to))
    }
}

impl Lists {
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let mut rules = |most: usize, is_allow| {
            (0..dice.below(most + 1)).map(|_| Plain::draw(dice, is_allow)).collect::<Vec<_>>()
        };
        let (allow, ask, deny) = (rules(5, true), rules(1, false), rules(1, false));
        let modes =
            ["unstated", "unstated", "unstated", "ask", "deny", "allow-listed", "read-only", "read-only+ask"];
        let mode = if dice.once_in(2) { "unstated" } else { dice.one_of(&modes) };
        Self { allow, ask, deny, mode, may_widen: !dice.once_in(4) }
    }

    /// The same without what widens.
    pub(crate) fn narrowing(&self) -> Self {
        Self { allow: Vec::new(), may_widen: true, ..self.clone() }
    }

    /// The same where nobody has trusted it.
    pub(crate) fn untrusted(&self) -> Self {
        Self { may_widen: false, ..self.clone() }
    }

    /// As the engine is given it.
    pub(crate) fn layer(&self) -> RuleLayer {
        let list = |rules: &[Plain]| rules.iter().map(Plain::text).collect::<Vec<_>>();
        let (allow, ask, deny) = (list(&self.allow), list(&self.ask), list(&self.deny));
        let file: RuleFile =
            serde_json::from_value(json!({ "mode": self.mode, "allow": allow, "ask": ask, "deny": deny }))
                .unwrap();
        RuleLayer { source: RuleSource::Task, file_name: "drawn".to_owned(), file, may_widen: self.may_widen }
    }

    fn denies(&self, scene: &Scene) -> bool {
        self.deny.iter().any(|rule| rule.is_loose(scene))
            || (!self.asks(scene) && !self.covers(scene) && self.mode.ends_with("allow-listed"))
    }

    fn asks(&self, scene: &Scene) -> bool {
        self.ask.iter().any(|rule| rule.is_loose(scene))
    }

    fn covers(&self, scene: &Scene) -> bool {
        let alone = self.allow.iter().any(|rule| rule.is_strict(scene));
        let together = scene.commands() > 1
            && !scene.has_unaccounted()
            && scene
                .subjects()
                .iter()
                .all(|touched| self.allow.iter().any(|rule| rule.covers(scene, touched)));
        alone || together
    }
}

fn silence(modes: &[&str]) -> Said {
    let has = |name: &str| modes.iter().any(|mode| mode.split('+').any(|part| part == name));
    match (has("ask"), has("deny"), has("allow-listed")) {
        (_, _, true) | (true, true, _) => Said::Deny,
        (true, false, false) => Said::Ask,
        (false, _, false) => Said::Abstain,
    }
}

/// What all layers say together.
fn expected(layers: &[Lists], scene: &Scene) -> Said {
    let mut modes: Vec<&str> = layers.iter().map(|layer| layer.mode).collect();
    let speaks = |layer: &Lists| layer.may_widen && !["unstated", "read-only"].contains(&layer.mode);
    if !layers.iter().any(speaks) {
        modes.push("deny");
    }
    if modes.iter().any(|mode| mode.contains("read-only")) && !scene.only_reads() {
        return Said::Deny;
    }
    if layers.iter().any(|layer| layer.denies(scene)) {
        return Said::Deny;
    }
    let asks = |may_widen| layers.iter().any(|layer| layer.may_widen == may_widen && layer.asks(scene));
    let allowed = layers.iter().any(|layer| layer.may_widen && layer.covers(scene));
    let doubts = |layer: &Lists| layer.mode.ends_with("ask") && !layer.covers(scene);
    match (allowed, silence(&modes)) {
        _ if asks(true) => Said::Ask,
        (true, _) if asks(false) || layers.iter().any(doubts) => Said::Ask,
        (true, _) => Said::Allow,
        (false, Said::Abstain) if asks(false) => Said::Deny,
        (false, silence) => silence,
    }
}

pub(crate) fn load(layers: &[Lists]) -> LayeredRules {
    let layers: Vec<RuleLayer> = layers.iter().map(Lists::layer).collect();
    LayeredRules::new(PolicyName::new("rules").unwrap(), &layers, &tools(), Mode::UNSTATED).unwrap()
}

pub(crate) fn said(verdict: &Verdict) -> Said {
    match verdict {
        Verdict::Deny { .. } => Said::Deny,
        Verdict::Ask { .. } => Said::Ask,
        Verdict::Abstain => Said::Abstain,
        Verdict::Allow { .. } => Said::Allow,
    }
}

/// Agrees on 25 000 calls, and has met each answer often enough to mean something.
fn check(seed: u64) {
    let (mut dice, mut seen) = (Dice(seed), BTreeMap::new());
    for _ in 0..200 {
        let layers: Vec<Lists> = (0..=dice.below(3)).map(|_| Lists::draw(&mut dice)).collect();
        let rules = load(&layers);
        for _ in 0..125 {
            let scene = Scene::draw(&mut dice);
            let verdict = rules.verdict(&scene.call());
            let heard = said(&verdict);
            assert_eq!(heard, expected(&layers, &scene), "{layers:?}\n{scene:?}\n{verdict:?}");
            *seen.entry(heard).or_insert(0) += 1;
        }
    }
    for answer in [Said::Deny, Said::Ask, Said::Abstain, Said::Allow] {
        assert!(seen.get(&answer).is_some_and(|times| *times > 1_000), "{seen:?}");
    }
}

// Four tests, so that they run beside each other: 100 000 calls in all.

#[test]
fn the_rules_agree_with_a_plain_interpreter_on_the_first_25_000_calls() {
    check(1);
}

#[test]
fn the_rules_agree_with_a_plain_interpreter_on_the_second_25_000_calls() {
    check(2);
}

#[test]
fn the_rules_agree_with_a_plain_interpreter_on_the_third_25_000_calls() {
    check(3);
}

#[test]
fn the_rules_agree_with_a_plain_interpreter_on_the_fourth_25_000_calls() {
    check(4);
}
