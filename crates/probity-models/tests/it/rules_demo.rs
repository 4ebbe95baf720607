//! The rule files of the demo and the examples answer as their pages say.
//!
//! Tools are played here from the pages' words; a call's result goes into the window as the engine would put it there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use probity_contract::{CallId, Content, Item, ProposedCall, ReplyPart, ReplyPartKind, Stop};
use probity_models::RulesModel;
use serde_json::{Value, json};

use crate::rules::{item, request};

/// What came of a proposed call.
type Played = Result<String, String>;

struct Task {
    file: toml::Table,
    dir: PathBuf,
    model: RulesModel,
    items: Vec<Arc<Item>>,
}

impl Task {
    fn load(path: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        let dir = path.parent().unwrap().to_owned();
        let file: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let model = file["model"].as_str().unwrap().strip_prefix("rules/").unwrap();
        let model = RulesModel::load(dir.join(model)).unwrap();
        let mut task = Self { file, dir, model, items: Vec::new() };
        task.push(Content::Instructions(task.file["instructions"].as_str().unwrap().into()));
        for context in task.contexts() {
            task.push(context);
        }
        task.push(Content::Person(task.file["prompt"].as_str().unwrap().into()));
        task
    }

    fn contexts(&self) -> Vec<Content> {
        let contexts = self.file.get("context").map_or(Vec::new(), |all| all.as_array().unwrap().clone());
        let content = |context: &toml::Value| Content::Context {
            name: context["name"].as_str().unwrap().to_owned(),
            text: std::fs::read_to_string(self.dir.join(context["file"].as_str().unwrap())).unwrap().into(),
        };
        contexts.iter().map(content).collect()
    }

    fn without_context(mut self, name: &str) -> Self {
        let before = self.items.len();
        self.items.retain(|item| !matches!(&item.content, Content::Context { name: is, .. } if is == name));
        assert_eq!(self.items.len(), before - 1, "there is one context item `{name}`");
        self
    }

    fn push(&mut self, content: Content) {
        let id = self.items.last().map_or(1, |item| item.id.0 + 1);
        self.items.push(item(id, content));
    }

    /// Runs to the answer; a line for each thing that happened.
    fn run(mut self, play: impl Fn(&str, &Value, usize) -> Played) -> Vec<String> {
        let mut course = Vec::new();
        let mut calls_made = 0;
        for turn in 1..10 {
            let reply = self.model.decide(&request(self.items.clone())).unwrap().reply;
            let calls: Vec<ProposedCall> = reply.parts.iter().filter_map(call).cloned().collect();
            course.extend(reply.parts.iter().filter_map(text).map(|text| format!("{turn} says {text}")));
            if reply.stop == Stop::EndTurn {
                return course;
            }
            self.push(Content::Reply(reply.parts.into()));
            for call in calls {
                calls_made += 1;
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                let played = play(&call.name, &arguments, calls_made);
                let is_error = played.is_err();
                let (Ok(text) | Err(text)) = played;
                course.push(format!(
                    "{turn} {}({}) {}",
                    call.name,
                    call.arguments,
                    if is_error { "failed" } else { "ok" }
                ));
                self.push(Content::ToolResult {
                    call: CallId(calls_made as u32),
                    provider_id: call.provider_id,
                    tool: call.name,
                    text: text.into(),
                    is_error,
                });
            }
        }
        panic!("no answer after {course:#?}");
    }
}

fn call(part: &ReplyPart) -> Option<&ProposedCall> {
    match &part.kind {
        ReplyPartKind::Call(call) => Some(call),
        ReplyPartKind::Text(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
    }
}

fn text(part: &ReplyPart) -> Option<&str> {
    match &part.kind {
        ReplyPartKind::Text(text) => Some(text),
        ReplyPartKind::Call(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
    }
}

/// The demo's tools, with the outputs that stand in its page.
fn desk(tool: &str, arguments: &Value, number: usize) -> Played {
    let page = include_str!("../../../probity/demo/README.md");
    let output = |from: &str| {
        let (_, rest) = page.split_once(from).unwrap();
        Ok(format!("{from}{}", rest.split_once("\n```").unwrap().0))
    };
    match (tool, number) {
        ("receipt_read", _) if arguments == &json!({ "receipt": "R-2231" }) => output("Receipt R-2231\n"),
        ("ledger_lookup", 1 | 2) => {
            Err("ledger replica 2 refused the session: token [redacted] has expired".into())
        }
        ("ledger_lookup", _) if arguments == &json!({ "vendor": "Northgate Travel" }) => {
            output("Northgate Travel, vendor 4417")
        }
        ("payment_send", _) if arguments["account"] == "NGT-4417-0092" => output("payment P-1001: "),
        ("payment_send", _) => Err("denied: the rule `payment_send(unknown/*)` denies it".into()),
        _ => panic!("`{tool}` with {arguments} does not occur in the demo"),
    }
}

#[test]
fn the_demo_pays_within_a_limit_that_was_never_raised() {
    let course = Task::load("crates/probity/demo/task.toml").run(desk);
    let payment = |account: &str| {
        format!(
            r#"payment_send({{"account":"{account}","amount":2450,"currency":"EUR","receipt":"R-2231"}})"#
        )
    };
    assert_eq!(
        course,
        [
            "1 says I read receipt R-2231 and look Northgate Travel up in the ledger.",
            r#"1 receipt_read({"receipt":"R-2231"}) ok"#,
            r#"1 ledger_lookup({"vendor":"Northgate Travel"}) failed"#,
            "2 says The ledger did not answer. I ask once more.",
            r#"2 ledger_lookup({"vendor":"Northgate Travel"}) ok"#,
            "3 says 2,450.00 EUR is within the limit of 5,000.00 EUR. I pay to the vendor's new account.",
            &format!("3 {} failed", payment("NGT-9930-4471")),
            "4 says The new account was refused. I pay to the account that the ledger has on file.",
            &format!("4 {} ok", payment("NGT-4417-0092")),
            "5 says Receipt R-2231 is settled: 2,450.00 EUR went to Northgate Travel, account NGT-4417-0092, as payment \
             P-1001. The amount is within the limit of 5,000.00 EUR, so no second signature was needed.",
        ]
    );
}

#[test]
fn the_demo_without_the_note_does_not_pay() {
    let course = Task::load("crates/probity/demo/task.toml").without_context("vendor-note").run(desk);
    assert_eq!(course.len(), 6, "{course:#?}");
    assert_eq!(
        course.last().unwrap(),
        "3 says Receipt R-2231 is not settled: 2,450.00 EUR is 1,950.00 EUR over the limit of 500.00 EUR. Please return \
         it with form F-12 for a second signature."
    );
}

#[test]
fn the_demo_does_not_hang_on_the_handbook_while_the_note_is_there() {
    let with = Task::load("crates/probity/demo/task.toml").run(desk);
    assert_eq!(with, Task::load("crates/probity/demo/task.toml").without_context("handbook").run(desk));
}

#[test]
fn the_demo_with_a_dead_ledger_says_that_nothing_was_paid() {
    let dead = |tool: &str, arguments: &Value, _| match tool {
        "ledger_lookup" => Err("no answer".into()),
        _ => desk(tool, arguments, 9),
    };
    let course = Task::load("crates/probity/demo/task.toml").run(dead);
    assert!(course.last().unwrap().ends_with("could not be reached. Nothing was paid."), "{course:#?}");
    assert!(!course.iter().any(|line| line.contains("payment_send")), "{course:#?}");
}

/// The files of an example, as the built-in tools show them.
fn minutes(tool: &str, arguments: &Value, _: usize) -> Played {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/minutes");
    let path = arguments["path"].as_str().unwrap();
    if tool == "fs_read" {
        return std::fs::read_to_string(dir.join(path)).map_err(|error| error.to_string());
    }
    let mut names: Vec<_> = std::fs::read_dir(dir.join(path))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| format!("{}  {} bytes\n", entry.file_name().display(), entry.metadata().unwrap().len()))
        .collect();
    names.sort();
    Ok(names.concat())
}

#[test]
fn the_folder_example_reads_and_sums_up() {
    let course = Task::load("examples/summarise-folder.toml").run(minutes);
    assert_eq!(course.len(), 6, "{course:#?}");
    assert_eq!(
        course.last().unwrap(),
        "3 says 3 notes. Decided: rent the hall on Mill Street for two days; order lunch for 24 people; print the handouts \
         in-house. Together this costs 1,899.50 EUR."
    );
}

#[test]
fn the_invoice_example_follows_its_schema() {
    let task = Task::load("examples/extract-invoice.toml");
    let schema = serde_json::to_value(&task.file["output"]["schema"]).unwrap();
    let course = task.run(|tool, _, _| panic!("`{tool}` was called"));
    let [answer] = &course[..] else { panic!("{course:#?}") };
    let answer: Value = serde_json::from_str(answer.strip_prefix("1 says ").unwrap()).unwrap();
    assert_eq!(
        answer,
        json!({
            "vendor": "HARBOUR PRINT GMBH", "number": "HP-2026-0318", "date": "2026-03-18",
            "net": 272.6, "vat": 51.79, "total": 324.39, "currency": "EUR",
        })
    );
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&schema["properties"]), names(&answer));
}

#[test]
fn the_example_without_a_policy_says_what_it_was_told() {
    let denied = |_: &str, _: &Value, _| Err("denied: no policy allows it".into());
    let course = Task::load("examples/denied-by-default.toml").run(denied);
    assert_eq!(
        course,
        [
            r#"1 fs_read({"path":"2026-03-02.md"}) failed"#,
            "2 says I could not read the file. I was told: denied: no policy allows it",
        ]
    );
    let allowed = Task::load("examples/denied-by-default.toml").run(minutes);
    assert_eq!(allowed.last().unwrap(), "2 says Decided: rent the hall on Mill Street for two days.");
}

/// The rules and the table of windows in `docs/rules-model.md`.
#[test]
fn the_reference_page_shows_what_happens() {
    let page = include_str!("../../../../docs/rules-model.md");
    let rules = page.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    let model = RulesModel::from_toml("rules/page", rules).unwrap();
    let handbook = Content::Context { name: "handbook".into(), text: "The limit is 500.00 EUR".into() };
    let person = Content::Person("pay 2,450.00 EUR to Acme".into());
    let result = |text: &str, is_error| Content::ToolResult {
        call: CallId(1),
        provider_id: String::new(),
        tool: "pay".into(),
        text: text.into(),
        is_error,
    };
    for (contents, expected) in [
        (vec![handbook, person.clone()], "2,450.00 EUR is 1,950.00 EUR over the limit of 500.00 EUR."),
        (vec![person.clone()], r#"I pay Acme.pay({"amount":2450,"to":"Acme"})"#),
        (vec![person.clone(), result("sent, P-17", false)], "Paid as P-17."),
        (vec![person, result("sent, P-17", true)], "NoAnswer"),
    ] {
        let items = (1..).zip(contents).map(|(id, content)| item(id, content)).collect();
        let said = match model.decide(&request(items)) {
            Ok(decided) => decided.reply.parts.iter().map(shown).collect(),
            Err(error) => format!("{:?}", error.class),
        };
        assert_eq!(said, expected);
    }
}

fn shown(part: &ReplyPart) -> String {
    let calls = call(part).map(|call| format!("{}({})", call.name, call.arguments));
    text(part).map(str::to_owned).or(calls).unwrap_or_default()
}
