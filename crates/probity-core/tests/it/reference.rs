//! The rules agree with a plain interpreter of the same lists.
//!
//! Files of rules and calls are drawn as values; the interpreter shares no code with the engine: it matches patterns by recursion
//! over characters, and looks at one thing after the other. Addresses have tests of their own.

use std::collections::BTreeMap;

use probity_contract::{
    Access, Arguments, CallFacts, CallId, Effect, FrozenCall, Label, PolicyName, PrincipalId, RunId, Target,
    ToolName, ToolSpec, Verdict,
};
use probity_core::{LayeredRules, Mode, RuleFile, RuleLayer, RuleSource, UNACCOUNTED_COMMAND};
use serde_json::json;

/// Numbers that look drawn and are the same every time (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(n).unwrap()).unwrap()
    }

    pub(crate) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

const TOOLS: [(&str, Effect); 3] =
    [("fs_read", Effect::Pure), ("run", Effect::Once), ("pay", Effect::Idempotent)];
const PATHS: [&str; 7] = ["a.md", "docs", "docs/a.md", "docs/deep/a.md", "Docs/a.md", "secret/key", "."];
const WORDS: [&str; 8] = ["git", "log", "rm", "-rf", "/bin/rm", "x", "sh", "a; /bin/rm x"];
const RAW: [&str; 6] = ["r''m $x", "git $x", "{rm,x}", "git log > x", "\"git\" `rm x`", "rm${IFS}x"];
const NAMES: [&str; 4] = ["ACME-1", "acme-1", "bob", "a/b"];
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

#[derive(Debug, Clone)]
enum Touched {
    Path { root: &'static str, path: &'static str, resolved: &'static str, write: bool, below: bool },
    Command(Vec<&'static str>),
    Unaccounted(&'static str),
    Other(&'static str),
}

/// A call, as the interpreter reads it.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    tool: &'static str,
    effect: Effect,
    to: Option<&'static str>,
    touched: Vec<Touched>,
}

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
    pub(crate) may_widen: bool,
}

/// What is said, the most permissive last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Said {
    Deny,
    Ask,
    Abstain,
    Allow,
}

pub(crate) fn tools() -> Vec<ToolSpec> {
    let tool = |(name, effect): (&str, Effect)| ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: String::new(),
        input_schema: json!({ "properties": { "to": {} } }),
        effect,
    };
    TOOLS.map(tool).to_vec()
}

impl Scene {
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let (tool, effect) = dice.one_of(&TOOLS);
        let touched = (0..dice.below(4)).map(|_| Touched::draw(dice, tool)).collect();
        Self { tool, effect, to: dice.once_in(2).then(|| dice.one_of(&NAMES)), touched }
    }

    pub(crate) fn call(&self) -> FrozenCall {
        let spec = tools().into_iter().find(|spec| spec.name.as_str() == self.tool).unwrap();
        let arguments = self.to.map_or_else(|| json!({}), |to| json!({ "to": to }));
        FrozenCall::freeze(CallFacts {
            run: RunId::new("r").unwrap(),
            call: CallId(1),
            principal: PrincipalId::new("ada").unwrap(),
            tool: spec.name.clone(),
            tool_digest: spec.digest(),
            arguments: Arguments::from_value(&arguments).unwrap(),
            targets: self.touched.iter().map(Touched::target).collect(),
            label: Label::untrusted(),
        })
        .unwrap()
    }

    fn commands(&self) -> usize {
        self.touched.iter().filter(|touched| matches!(touched, Touched::Command(_))).count()
    }

    fn has_unaccounted(&self) -> bool {
        self.touched.iter().any(|touched| matches!(touched, Touched::Unaccounted(_)))
    }

    fn runs(&self) -> bool {
        self.commands() > 0 || self.has_unaccounted()
    }

    /// All but the directory that a program runs in.
    fn subjects(&self) -> Vec<&Touched> {
        let mut subjects: Vec<&Touched> = self.touched.iter().collect();
        let first_path = subjects.iter().position(|touched| matches!(touched, Touched::Path { .. }));
        if let (true, Some(at)) = (self.runs(), first_path) {
            subjects.remove(at);
        }
        subjects
    }

    fn only_reads(&self) -> bool {
        let reads = |touched: &Touched| match touched {
            Touched::Path { write, .. } => !write,
            Touched::Other(_) => true,
            Touched::Command(_) | Touched::Unaccounted(_) => false,
        };
        self.effect == Effect::Pure && self.touched.iter().all(reads)
    }
}

impl Touched {
    fn draw(dice: &mut Dice, tool: &str) -> Self {
        match if tool == "run" { dice.below(7) } else { dice.below(4) } {
            0..=2 => {
                let path = dice.one_of(&PATHS);
                let resolved = if dice.once_in(4) { dice.one_of(&PATHS) } else { path };
                let (write, below) = (dice.once_in(4), dice.once_in(4));
                Self::Path { root: dice.one_of(&["work", "tmp"]), path, resolved, write, below }
            }
            3 => Self::Other(dice.one_of(&NAMES)),
            4 | 5 => Self::Command((0..=dice.below(3)).map(|_| dice.one_of(&WORDS)).collect()),
            _ => Self::Unaccounted(dice.one_of(&RAW)),
        }
    }

    fn target(&self) -> Target {
        match self {
            Self::Path { root, path, resolved, write, below } => Target::Path {
                root: (*root).to_owned(),
                path: (*path).to_owned(),
                resolved: (*resolved).to_owned(),
                access: if *write { Access::Write } else { Access::Read },
                recursive: *below,
            },
            Self::Command(argv) => {
                Target::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect() }
            }
            Self::Unaccounted(raw) => {
                Target::Other { what: UNACCOUNTED_COMMAND.to_owned(), value: (*raw).to_owned() }
            }
            Self::Other(value) => Target::Other { what: "account".to_owned(), value: (*value).to_owned() },
        }
    }
}

/// `*` and `?` stay within a directory unless they cross; `**` as a whole part stands for any number of parts.
fn like(pattern: &[char], text: &[char], at_start: bool, crosses: bool) -> bool {
    let any_rest =
        |from: usize, rest: &[char]| (from..=text.len()).any(|at| like(rest, &text[at..], false, crosses));
    match pattern {
        [] => text.is_empty(),
        ['*', '*'] if at_start => true,
        ['*', '*', '/', rest @ ..] if at_start => {
            like(rest, text, false, crosses)
                || (0..text.len()).any(|at| text[at] == '/' && like(rest, &text[at + 1..], false, crosses))
        }
        ['/', '*', '*'] => text.first() == Some(&'/'),
        ['/', '*', '*', '/', rest @ ..] => {
            text.first() == Some(&'/')
                && (0..text.len()).any(|at| text[at] == '/' && like(rest, &text[at + 1..], false, crosses))
        }
        ['*', rest @ ..] if crosses => any_rest(0, rest),
        ['*', rest @ ..] => {
            let end = text.iter().position(|c| *c == '/').unwrap_or(text.len());
            (0..=end).any(|at| like(rest, &text[at..], false, crosses))
        }
        ['?', rest @ ..] => {
            text.first().is_some_and(|c| crosses || *c != '/') && like(rest, &text[1..], false, crosses)
        }
        [first, rest @ ..] => text.first() == Some(first) && like(rest, &text[1..], false, crosses),
    }
}

fn exactly(pattern: &str, text: &str) -> bool {
    let [pattern, text] = [pattern, text].map(|text| text.chars().collect::<Vec<_>>());
    like(&pattern, &text, true, false)
}

fn loosely(pattern: &str, text: &str) -> bool {
    let folded = |text: &str| text.to_ascii_lowercase().chars().collect::<Vec<_>>();
    let stem = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/*"));
    let stem = stem.filter(|stem| !stem.is_empty());
    exactly(pattern, text)
        || like(&folded(pattern), &folded(text), true, true)
        || stem.is_some_and(|stem| like(&folded(stem), &folded(text), true, true))
}

/// Whether something below a directory could match: one of the two begins with the other, up to the first wildcard.
fn loosely_below(pattern: &str, dir: &str) -> bool {
    let dir = if dir == "." { String::new() } else { format!("{}/", dir.to_ascii_lowercase()) };
    let start: String = pattern.to_ascii_lowercase().chars().take_while(|c| !"*?".contains(*c)).collect();
    start.starts_with(&dir) || (start.len() < pattern.len() && dir.starts_with(&start))
}

fn words(pattern: &str) -> (Vec<&str>, bool) {
    let mut words: Vec<&str> = pattern.split(' ').collect();
    let is_open = words.len() > 1 && words.last() == Some(&"*");
    if is_open {
        words.pop();
    }
    (words, is_open)
}

/// Whether a command with these words stands anywhere in the arguments.
fn is_among(pattern: &str, argv: &[&str]) -> bool {
    let wanted = words(pattern).0;
    let cut = |text: &str, at: &str| {
        let parts = text.split(|c: char| c == ' ' || at.contains(c));
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole: Vec<String> = argv.iter().map(|arg| (*arg).to_owned()).collect();
    let pieces: Vec<String> = argv.iter().flat_map(|arg| cut(arg, ";|&()<>'\"`$")).collect();
    let plain = |arg: &&str| {
        let arg = arg.replace("${IFS}", " ").replace("$IFS", " ");
        cut(&arg.chars().filter(|c| !"'\"\\".contains(*c)).collect::<String>(), ";|&()<>`${},")
    };
    let plain: Vec<String> = argv.iter().flat_map(plain).collect();
    let bare = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| word.rsplit('/').next().unwrap().to_owned()).collect()
    };
    [whole, bare(&pieces), pieces, bare(&plain), plain].iter().any(|line| {
        line.windows(wanted.len())
            .any(|window| wanted.iter().zip(window).all(|(glob, word)| loosely(glob, word)))
    })
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
