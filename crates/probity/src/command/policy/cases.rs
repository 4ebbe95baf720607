//! `probity policy test`: what policies say of written-down calls, held against what is expected.

use std::path::Path;

use probity_contract::{FrozenCall, Policy, Seat, ToolSpec, Verdict};
use probity_core::{CallExample, Mode};
use probity_egress::{Egress, SamePrincipal, egress_text, egress_value, one_line_untrusted};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{rules_alone, specs, tell, tools};
use crate::cli::{Cli, PolicyTestArgs};
use crate::exit::{Code, Fatal};
use crate::policies::Policies;
use crate::policies::files::RULE_FILE_BYTES_MAX;
use crate::render::Screen;
use crate::task_file::{TaskFile, read_text};

/// Code points of one reason.
const REASON_CHARS_MAX: usize = 400;

const HINT: &str =
    r#"a case is `call` and `expect` (allow, ask, deny, none); `probity policy test --help` shows two"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: Option<String>,
    call: CallExample,
    expect: Word,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

/// What all policies say together, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Deny,
    Ask,
    Allow,
    None,
}

pub(crate) fn test(cli: &Cli, args: &PolicyTestArgs, screen: &Screen) -> Result<Code, Fatal> {
    let cases = read(&args.cases)?;
    let base = if args.on_terminal { Mode::ASK } else { Mode::DENY };
    let (tools, policies) = match rules_alone(&args.file)? {
        Some(layer) => (Vec::new(), Policies::alone(layer, base)?),
        None => {
            let mut file = TaskFile::load(&args.file)?;
            let tools = specs(&tools(&mut file)?);
            let policies = Policies::of(&file, &tools, args.on_terminal)?;
            (tools, policies)
        }
    };
    tell(&policies, screen);
    let mut tested = Vec::new();
    for case in &cases {
        let call = case.call.freeze(&tools).map_err(|error| wrong(&args.cases, &error.to_string()))?;
        let (said, why) = say(&policies, &call, &tools);
        tested.push(Tested { case, said, why });
    }
    let failed = tested.iter().filter(|tested| !tested.is_expected()).count();
    if cli.json {
        let cases: Vec<_> = tested.iter().map(Tested::value).collect();
        screen.json(&egress_value(&json!({ "cases": cases, "failed": failed })));
    } else {
        tested.iter().flat_map(Tested::lines).for_each(|line| screen.out(&line));
        let all = tested.len();
        screen.out(&egress_text(&match failed {
            0 => format!("{all} of {all} as expected"),
            failed => format!("{failed} of {all} not as expected"),
        }));
    }
    Ok(if failed == 0 { Code::Ok } else { Code::Failed })
}

/// A case with what was said.
struct Tested<'a> {
    case: &'a Case,
    said: Word,
    why: String,
}

impl Tested<'_> {
    fn is_expected(&self) -> bool {
        self.said == self.case.expect
    }

    fn name(&self) -> String {
        self.case.name.clone().unwrap_or_else(|| self.case.call.to_string())
    }

    fn lines(&self) -> Vec<Egress<SamePrincipal>> {
        let (mark, said) = (if self.is_expected() { "ok   " } else { "WRONG" }, self.said.text());
        let mut lines = vec![egress_text(&format!("{mark}  {said:5}  {}", self.name()))];
        if !self.is_expected() {
            let why = one_line_untrusted::<SamePrincipal>(&self.why, REASON_CHARS_MAX);
            lines.push(egress_text(&format!(
                "       expected {}: {}",
                self.case.expect.text(),
                why.as_str()
            )));
        }
        lines
    }

    fn value(&self) -> serde_json::Value {
        json!({
            "name": self.name(), "expect": self.case.expect, "said": self.said, "why": self.why,
            "as_expected": self.is_expected(),
        })
    }
}

impl Word {
    const fn text(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::None => "none",
        }
    }
}

/// The strictest word of all policies, and the first reason for it.
fn say(policies: &Policies, call: &FrozenCall, tools: &[ToolSpec]) -> (Word, String) {
    let word = |verdict: Verdict, name: &str| match verdict {
        Verdict::Deny { reason } => (Word::Deny, format!("{name}: {reason}")),
        Verdict::Ask { reason } => (Word::Ask, format!("{name}: {reason}")),
        Verdict::Allow { reason } => (Word::Allow, format!("{name}: {reason}")),
        Verdict::Abstain => (Word::None, "nobody has anything to say of it, and a run denies it".to_owned()),
    };
    let rules = policies.rules.as_ref().map(|rules| word(rules.verdict(call), rules.name().as_str()));
    let is_known = tools.iter().any(|tool| tool.name == *call.tool());
    let cedar = policies.cedar.as_ref().filter(|_| is_known).map(|cedar| {
        match cedar.verdict(call, Seat::Adjudicate) {
            Ok(verdict) => word(verdict, cedar.name().as_str()),
            Err(error) => (Word::Deny, format!("{}: {error}", cedar.name())),
        }
    });
    let all = rules.into_iter().chain(cedar);
    all.min_by_key(|(word, _)| *word).unwrap_or_else(|| word(Verdict::Abstain, ""))
}

fn read(path: &Path) -> Result<Vec<Case>, Fatal> {
    let text = read_text(path, RULE_FILE_BYTES_MAX)?;
    let cases = if path.extension().is_some_and(|end| end == "toml") {
        toml::from_str::<Cases>(&text).map_err(|error| wrong(path, &error.to_string()))?.case
    } else {
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let case = |(line, number): (&str, usize)| {
            serde_json::from_str(line).map_err(|error| wrong(path, &format!("line {number}: {error}")))
        };
        lines.map(case).collect::<Result<_, _>>()?
    };
    // A test of nothing would always pass.
    if cases.is_empty() { Err(wrong(path, "it has no case")) } else { Ok(cases) }
}

fn wrong(path: &Path, why: &str) -> Fatal {
    Fatal::new(Code::Usage, &format!("read the cases `{}`: {why}", path.display())).hint(HINT)
}
