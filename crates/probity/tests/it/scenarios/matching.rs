//! Rules and what calls really touch: names that begin alike, links, addresses, commands.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use probity_contract::{Policy, Tool, ToolSpec};
use probity_core::{Otherwise, RuleLists, RulePolicy};
use probity_testkit::{Judges, ScenarioRow, ScriptedPolicy, ScriptedTool, Turn, policy_name};
use probity_tools::{AllowedHost, HttpConfig, HttpGetTool, Root, fs_tools};
use serde_json::{Value, json};

use super::stage::{ROOT, Seen, Stage, below_root, expects, stage, wanted};

pub(super) async fn check(row: &ScenarioRow) {
    if row.seat == "load" {
        return unusable_rules(row);
    }
    match row.tool() {
        "shell" => command_lines(row).await,
        "fetch" => addresses(row).await,
        _ => paths(row).await,
    }
}

/// How a shell reads a string: commands behind commands, words that only look like words, more than can be looked at. A
/// tool that takes such a string, before rules; a person is asked about what no rule covers.
async fn command_lines(row: &ScenarioRow) {
    let command = row.arguments()["command"].as_str().expect("a command").to_owned();
    let mut lists = RuleLists::default();
    for sentence in row.policies() {
        let lower = sentence.to_lowercase();
        if lower.contains("auto-allow") || lower.contains("read-only") {
            lists.allow.extend(READING.map(|program| format!("shell({program} *)")));
        } else if lower.contains("the last one is denied") {
            // What comes before is allowed by name.
            let commands: Vec<&str> = command.split(';').collect();
            let program = |command: &str| command.split_whitespace().next().unwrap_or_default().to_owned();
            let (last, before) = commands.split_last().expect("a command");
            lists.deny.push(format!("shell({} *)", program(last)));
            lists.allow.extend(before.iter().map(|command| format!("shell({})", program(command))));
            lists.allow.dedup();
        } else {
            let said = said(sentence).unwrap_or_else(|| panic!("nobody reads the rule `{sentence}`"));
            let rule = format!("shell({})", said.pattern.trim_matches('\''));
            match said.list {
                "allow" => lists.allow.push(rule),
                "ask" => lists.ask.push(rule),
                _ => lists.deny.push(rule),
            }
        }
    }
    let tool = super::stage::scripted_tool(row);
    let rules =
        RulePolicy::new(policy_name("rules"), &lists, &[tool.spec().clone()], Otherwise::Ask).unwrap();
    stage(row, "shell", &row.arguments()).tool(&tool).policy(rules).play().await.expect(row);
}

/// Programs that a set of rules allows that shall only read.
const READING: [&str; 6] = ["ls", "cat", "find", "grep", "head", "git log"];

/// A rule of a row: which list it is for, the word for its tool, and its pattern.
struct Said {
    list: &'static str,
    tool: String,
    pattern: String,
}

/// Reads `allow(read under /proj)`, `deny(read ~/.ssh/**)` and `write under /proj allowed`; `None` for anything else.
fn said(sentence: &str) -> Option<Said> {
    let list = ["allow", "ask", "deny"].into_iter().find(|word| sentence.to_lowercase().contains(word))?;
    let inner = match sentence.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')) {
        Some((inner, _)) => inner.to_owned(),
        None => sentence.trim_end_matches("allowed").trim_end_matches("denied").trim().to_owned(),
    };
    let (tool, rest) = inner.split_once(' ')?;
    let pattern = match rest.strip_prefix("under ") {
        Some(path) => format!("{}/**", path.trim().trim_end_matches('/')),
        None => rest.trim().to_owned(),
    };
    Some(Said { list, tool: tool.to_owned(), pattern })
}

fn rule_policy(row: &ScenarioRow, tools: &[ToolSpec], rule: impl Fn(&Said) -> String) -> RulePolicy {
    let mut lists = RuleLists::default();
    for sentence in row.policies().iter().filter(|sentence| link(sentence).is_none()) {
        let said = said(sentence).unwrap_or_else(|| panic!("nobody reads the rule `{sentence}`"));
        let rule = rule(&said);
        match said.list {
            "allow" => lists.allow.push(rule),
            "ask" => lists.ask.push(rule),
            _ => lists.deny.push(rule),
        }
    }
    RulePolicy::new(policy_name("rules"), &lists, tools, Otherwise::Abstain).unwrap()
}

/// Reads `A -> B`.
fn link(sentence: &str) -> Option<(&str, &str)> {
    sentence.split_once("->").map(|(from, to)| (from.trim(), to.trim()))
}

/// Puts a file there, and what is above it.
fn put(top: &Path, path: &str) {
    let path = top.join(below_root(path));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if !path.exists() {
        fs::write(path, "what stands there").unwrap();
    }
}

/// The real file tools over one root in which `/`, `./` and `~/` lead below it.
async fn paths(row: &ScenarioRow) {
    let place = tempfile::tempdir().unwrap();
    let top = place.path().join("top");
    fs::create_dir(&top).unwrap();
    let path = row.arguments()["path"].as_str().expect("a path").to_owned();
    if row.tool() != "write" && row.policies().iter().all(|sentence| link(sentence).is_none()) {
        put(&top, &path);
    }
    for (from, to) in row.policies().iter().filter_map(|sentence| link(sentence)) {
        put(&top, to);
        let from = top.join(below_root(from));
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        symlink(top.join(below_root(to)), &from).unwrap();
        // One that does not lead out of the root by being absolute, too.
        let depth = below_root(&path).matches('/').count();
        fs::remove_file(&from).unwrap();
        symlink(format!("{}{}", "../".repeat(depth), below_root(to)), &from).unwrap();
    }
    let root = Root { name: ROOT.to_owned(), path: top.clone(), write: true };
    let tools = fs_tools(&[root]).unwrap();
    let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec().clone()).collect();
    let rules =
        rule_policy(row, &specs, |said| format!("fs_{}({ROOT}/{})", said.tool, below_root(&said.pattern)));
    let mut arguments = row.arguments();
    arguments["path"] = Value::from(below_root(&path));
    let mut stage = stage(row, &format!("fs_{}", row.tool()), &arguments).policy(rules);
    stage.tools = tools;
    match swapped(row) {
        None => stage.play().await.expect(row),
        Some((from, to)) => swap(row, stage, &top, &from, &to).await,
    }
}

/// Reads `FROM is swapped to a symlink to TO …`.
fn swapped(row: &ScenarioRow) -> Option<(String, String)> {
    let (before, after) = row.event.split_once("symlink to ")?;
    let from = before.split_whitespace().find(|word| word.contains('/'))?;
    let to = after.split_whitespace().next()?;
    Some((from.to_owned(), to.to_owned()))
}

/// What was checked becomes a link just before the effect, inside the root and out of it: nothing is written behind it.
async fn swap(row: &ScenarioRow, mut on: Stage, top: &Path, from: &str, to: &str) {
    let (from, inside) = (top.join(below_root(from)), top.join(below_root(to)));
    let outside = top.parent().unwrap().join("outside");
    fs::create_dir_all(&from).unwrap();
    fs::create_dir_all(&inside).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let leaf = Path::new(row.arguments()["path"].as_str().unwrap()).file_name().unwrap().to_owned();
    let policies = std::mem::take(&mut on.policies);
    for target in [&inside, &outside] {
        fs::remove_dir_all(&from).unwrap_or_else(|_| fs::remove_file(&from).unwrap());
        fs::create_dir(&from).unwrap();
        let (link, to) = (from.clone(), target.clone());
        let swapping = ScriptedPolicy::by("swapping", move |_, seat| {
            if seat == probity_contract::Seat::ExecuteRecheck {
                fs::remove_dir(&link).unwrap();
                symlink(&to, &link).unwrap();
            }
            Judges::abstains()
        });
        let mut arguments = row.arguments();
        arguments["path"] = Value::from(below_root(arguments["path"].as_str().unwrap()));
        let mut stage = stage(row, &format!("fs_{}", row.tool()), &arguments).policy(swapping);
        stage.tools.clone_from(&on.tools);
        stage.policies.extend(policies.iter().cloned());
        let seen = stage.play().await;
        let results = seen.results();
        assert!(!target.join(&leaf).exists(), "written behind the link: {results:?}");
        assert!(fs::symlink_metadata(&from).unwrap().is_symlink(), "the way was swapped");
        assert!(seen.results().iter().all(|result| !result.starts_with("Wrote")), "{results:?}");
    }
    assert_eq!(row.expects_run(), Some(false));
}

/// Addresses that only look like the one that is allowed, before the real tool and before a rule.
async fn addresses(row: &ScenarioRow) {
    let said = row.policies().iter().find_map(|sentence| said(sentence)).expect("a rule about addresses");
    let host = said.pattern.trim_start_matches("domain").trim().to_owned();
    let given = row.arguments()["url"].as_str().unwrap_or_default().to_owned();
    let mut urls = vec![
        format!("https://{host}.evil.test/"),
        format!("https://{host}@evil.test/"),
        format!("https://evil.test/{host}/"),
        format!("https://evil.test\\@{host}/"),
        format!("https://{}/", host.replacen('o', "\u{43e}", 1)),
        format!("https://x{host}/"),
    ];
    if given.contains("://") {
        urls.push(given);
    }
    for url in urls {
        real_fetch(row, &host, &url).await.expect(row);
        // The tool may allow more than the rule; the rule holds all the same.
        if let Ok(parsed) = url::Url::parse(&url) {
            let target = probity_contract::Target::Url {
                url: url.clone(),
                host: parsed.host_str().unwrap_or_default().to_owned(),
                port: 443,
                method: "GET".to_owned(),
            };
            let tool = ScriptedTool::echo().schema(json!({"type": "object"})).touching(vec![target]);
            let rules = rule_policy(row, &[tool.spec().clone()], |_| format!("echo({host})"));
            let stage = stage(row, "echo", &json!({"url": url})).tool(&tool).policy(rules);
            let seen = stage.play().await;
            assert!(wanted(row.expected("decision").unwrap()).contains(&seen.decision()), "{url}");
        }
    }
}

async fn real_fetch(row: &ScenarioRow, host: &str, url: &str) -> Seen {
    let allowed: AllowedHost = host.parse().unwrap();
    let tool: Arc<dyn Tool> = Arc::new(HttpGetTool::new(HttpConfig::new(vec![allowed])).unwrap());
    let rules = rule_policy(row, &[tool.spec().clone()], |_| format!("http_get({host})"));
    let mut stage = stage(row, "http_get", &json!({"url": url})).policy(rules);
    stage.turns = vec![Turn::calls(&[("http_get", &json!({"url": url}).to_string())]), Turn::text("done")];
    stage.tools.push(tool);
    stage.play().await
}

/// Rules that cannot be meant: they are refused, loudly, and nothing starts without them.
fn unusable_rules(row: &ScenarioRow) {
    expects(row, &["reject", "refuse", "warn"]);
    let tool = super::stage::scripted_tool(row);
    let specs = [tool.spec().clone()];
    let words = row.policies().join("; ");
    let quoted: Vec<(&str, &str)> = ["allow(", "deny(", "ask("]
        .into_iter()
        .flat_map(|list| words.split(list).skip(1).map(move |rest| (list, rest)))
        .filter_map(|(list, rest)| rest.split_once(')').map(|(rule, _)| (list, rule.trim_matches('\''))))
        .collect();
    assert!(!quoted.is_empty(), "nobody reads the rules `{words}`");
    let mut all = RuleLists::default();
    for (list, rule) in quoted {
        match list {
            "allow(" => all.allow.push(rule.to_owned()),
            "ask(" => all.ask.push(rule.to_owned()),
            _ => all.deny.push(rule.to_owned()),
        }
    }
    let load = |lists: &RuleLists| -> Result<Arc<dyn Policy>, _> {
        RulePolicy::new(policy_name("rules"), lists, &specs, Otherwise::Abstain)
            .map(|policy| Arc::new(policy) as Arc<dyn Policy>)
    };
    assert!(load(&all).is_err(), "the rules are taken: {all:?}");
    for rule in &all.deny {
        let alone = RuleLists { deny: vec![rule.clone()], ..RuleLists::default() };
        let error = load(&alone).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(rule.as_str()), "`{rule}` names no tool, and nobody is told: {error}");
    }
}
