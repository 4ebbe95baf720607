//! Calls as plain data.

use probity_contract::{
    Access, Arguments, CallFacts, CallId, Effect, FrozenCall, Label, PrincipalId, RunId, Target, ToolName,
    ToolSpec,
};
use probity_core::UNACCOUNTED_COMMAND;
use serde_json::json;

use super::dice::Dice;

const TOOLS: [(&str, Effect); 3] =
    [("fs_read", Effect::Pure), ("run", Effect::Once), ("pay", Effect::Idempotent)];
const PATHS: [&str; 7] = ["a.md", "docs", "docs/a.md", "docs/deep/a.md", "Docs/a.md", "secret/key", "."];
const WORDS: [&str; 8] = ["git", "log", "rm", "-rf", "/bin/rm", "x", "sh", "a; /bin/rm x"];
const RAW: [&str; 6] = ["r''m $x", "git $x", "{rm,x}", "git log > x", "\"git\" `rm x`", "rm${IFS}x"];
const NAMES: [&str; 4] = ["ACME-1", "acme-1", "bob", "a/b"];
#[derive(Debug, Clone)]
pub(super) enum Touched {
    Path { root: &'static str, path: &'static str, resolved: &'static str, write: bool, below: bool },
    Command(Vec<&'static str>),
    Unaccounted(&'static str),
    Other(&'static str),
}

/// A call, as the interpreter reads it.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(super) tool: &'static str,
    effect: Effect,
    pub(super) to: Option<&'static str>,
    touched: Vec<Touched>,
}

pub(crate) fn tools() -> Vec<ToolSpec> {
    let tool = |(name, effect): (&str, Effect)| ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: String::new(),
        input_schema: json!({ "properties": { "to": {} } }),
        effect,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
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
            operands: Vec::new(),
            arguments_from: Vec::new(),
        })
        .unwrap()
    }

    pub(super) fn commands(&self) -> usize {
        self.touched.iter().filter(|touched| matches!(touched, Touched::Command(_))).count()
    }

    pub(super) fn has_unaccounted(&self) -> bool {
        self.touched.iter().any(|touched| matches!(touched, Touched::Unaccounted(_)))
    }

    pub(super) fn runs(&self) -> bool {
        self.commands() > 0 || self.has_unaccounted()
    }

    /// All but the directory that a program runs in.
    pub(super) fn subjects(&self) -> Vec<&Touched> {
        let mut subjects: Vec<&Touched> = self.touched.iter().collect();
        let first_path = subjects.iter().position(|touched| matches!(touched, Touched::Path { .. }));
        if let (true, Some(at)) = (self.runs(), first_path) {
            subjects.remove(at);
        }
        subjects
    }

    pub(super) fn only_reads(&self) -> bool {
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
