//! Calls as plain data.

use probity_contract::{Access, Effect, FrozenCall, Integrity, Label, Readers, Seat, Target, ToolSpec};
use probity_testkit::principal;
use serde_json::{Value, json};

use super::dice::Dice;
use crate::scene::{call_with, tool};

pub(super) const NAMES: [&str; 4] = ["ada", "bob", "acme", "Acme"];
pub(super) const TAGS: [&str; 3] = ["urgent", "eu", "x y"];
pub(super) const PATHS: [&str; 5] = ["docs/a.md", "docs/b.md", "src/a.rs", "docs", "."];
pub(super) const ROOTS: [&str; 2] = ["work", "tmp"];
pub(super) const HOSTS: [&str; 3] = ["example.org", "api.example.org", "evil.example"];
pub(super) const WORDS: [&str; 4] = ["git", "log", "push", "--force"];
/// Amounts as a call may have them: what a double holds together with all smaller integers.
const AMOUNTS: [i64; 7] = [-1, 0, 1, 7, 100, 9_007_199_254_740_991, -9_007_199_254_740_991];
/// Fees in ten-thousandths.
pub(super) const FEES: [i64; 5] = [-10_000, 0, 1, 2_500, 12_345];

/// What a call is, as the interpreter reads it.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) is_pay: bool,
    pub(super) amount: i64,
    pub(super) to: &'static str,
    pub(super) fee: Option<i64>,
    pub(super) memo: Option<&'static str>,
    memo_is_null: bool,
    pub(super) tags: Option<Vec<&'static str>>,
    pub(super) flag: Option<bool>,
    pub(super) level: i64,
    pub(super) who: &'static str,
    pub(super) untrusted: bool,
    pub(super) readers: Option<Vec<&'static str>>,
    pub(super) seat: Seat,
    targets: Vec<Touched>,
}

#[derive(Debug, Clone)]
enum Touched {
    Path { root: &'static str, path: &'static str, resolved: &'static str, write: bool, below: bool },
    Url { host: &'static str, port: u16 },
    Command { argv: Vec<&'static str> },
    Other { value: &'static str },
}

/// One resource, as the interpreter reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    Path { root: &'static str, path: &'static str, write: bool },
    Tree { root: &'static str, path: &'static str, write: bool },
    Url { host: &'static str, port: u16 },
    Command { argv: Vec<&'static str> },
    Other { value: &'static str },
    Tool,
}

pub(super) fn tools() -> Vec<ToolSpec> {
    let text = json!({ "type": "string" });
    let nested =
        json!({ "type": "object", "required": ["level"], "properties": { "level": { "type": "integer" } } });
    let pay = json!({ "type": "object", "required": ["amount", "to", "nested"], "properties": {
        "amount": { "type": "integer" },
        "to": text,
        "fee": { "type": "number" },
        "memo": { "type": ["string", "null"] },
        "tags": { "type": "array", "items": text },
        "flag": { "type": "boolean" },
        "nested": nested,
    } });
    vec![
        tool("pay", Effect::Once, pay),
        tool("note", Effect::Pure, json!({ "type": "object", "properties": { "to": text } })),
    ]
}

impl Scene {
    pub(super) fn draw(dice: &mut Dice) -> Self {
        let maybe = |dice: &mut Dice| dice.once_in(2);
        Self {
            is_pay: !dice.once_in(4),
            amount: dice.one_of(&AMOUNTS),
            to: dice.one_of(&NAMES),
            fee: maybe(dice).then(|| dice.one_of(&FEES)),
            memo: maybe(dice).then(|| dice.one_of(&NAMES)),
            memo_is_null: maybe(dice),
            tags: maybe(dice).then(|| dice.some_of(&TAGS)),
            flag: maybe(dice).then(|| dice.once_in(2)),
            level: dice.one_of(&AMOUNTS),
            who: dice.one_of(&NAMES),
            untrusted: maybe(dice),
            readers: maybe(dice).then(|| dice.some_of(&NAMES)),
            seat: dice.one_of(&[Seat::Adjudicate, Seat::ExecuteRecheck]),
            targets: (0..dice.within(0, 3)).map(|_| Touched::draw(dice)).collect(),
        }
    }

    pub(super) fn resources(&self) -> Vec<Seen> {
        let mut seen = Vec::new();
        for target in &self.targets {
            match target {
                Touched::Path { root, path, resolved, write, below } => {
                    for path in [path, resolved] {
                        seen.push(match below {
                            true => Seen::Tree { root, path, write: *write },
                            false => Seen::Path { root, path, write: *write },
                        });
                    }
                }
                Touched::Url { host, port } => seen.push(Seen::Url { host, port: *port }),
                Touched::Command { argv } => seen.push(Seen::Command { argv: argv.clone() }),
                Touched::Other { value } => seen.push(Seen::Other { value }),
            }
        }
        if seen.is_empty() {
            seen.push(Seen::Tool);
        }
        seen
    }

    pub(super) fn hosts(&self) -> Vec<&'static str> {
        let host = |target: &Touched| match target {
            Touched::Url { host, .. } => Some(*host),
            Touched::Path { .. } | Touched::Command { .. } | Touched::Other { .. } => None,
        };
        self.targets.iter().filter_map(host).collect()
    }

    fn arguments(&self) -> Value {
        if !self.is_pay {
            return json!({ "to": self.to });
        }
        let mut arguments =
            json!({ "amount": self.amount, "to": self.to, "nested": { "level": self.level } });
        let mut put = |name: &str, value: Value| {
            arguments.as_object_mut().unwrap().insert(name.to_owned(), value);
        };
        if let Some(fee) = self.fee {
            // Ten-thousandths written as a number of JSON.
            let (sign, digits) = (if fee < 0 { "-" } else { "" }, fee.unsigned_abs());
            let text = format!("{sign}{}.{:04}", digits / 10_000, digits % 10_000);
            put("fee", serde_json::from_str(&text).unwrap());
        }
        match self.memo {
            Some(memo) => put("memo", json!(memo)),
            None if self.memo_is_null => put("memo", Value::Null),
            None => {}
        }
        if let Some(tags) = &self.tags {
            put("tags", json!(tags));
        }
        if let Some(flag) = self.flag {
            put("flag", json!(flag));
        }
        arguments
    }

    pub(super) fn call(&self, tools: &[ToolSpec]) -> FrozenCall {
        let tool = tools.get(usize::from(!self.is_pay)).unwrap();
        let targets = self.targets.iter().map(Touched::target).collect();
        call_with(tool, &self.arguments().to_string(), targets, |facts| {
            facts.principal = principal(self.who);
            let readers =
                self.readers.as_ref().map(|readers| readers.iter().map(|name| (*name).to_owned()).collect());
            facts.label = Label {
                integrity: if self.untrusted { Integrity::Untrusted } else { Integrity::System },
                readers: readers.map_or(Readers::Everyone, Readers::Only),
            };
        })
    }
}

impl Touched {
    fn draw(dice: &mut Dice) -> Self {
        match dice.within(0, 5) {
            0 | 1 => {
                let path = dice.one_of(&PATHS);
                let resolved = if dice.once_in(4) { dice.one_of(&PATHS) } else { path };
                let (write, below) = (dice.once_in(2), dice.once_in(3));
                Self::Path { root: dice.one_of(&ROOTS), path, resolved, write, below }
            }
            2 => Self::Url { host: dice.one_of(&HOSTS), port: dice.one_of(&[80, 443]) },
            3 => Self::Command { argv: dice.some_of(&WORDS) },
            _ => Self::Other { value: dice.one_of(&NAMES) },
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
            Self::Url { host, port } => Target::Url {
                url: format!("https://{host}/"),
                host: (*host).to_owned(),
                port: *port,
                method: "GET".to_owned(),
            },
            Self::Command { argv } => {
                Target::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect() }
            }
            Self::Other { value } => Target::Other { what: "account".to_owned(), value: (*value).to_owned() },
        }
    }
}
