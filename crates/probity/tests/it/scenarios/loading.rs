//! What must not start: rule sets that cannot be read, tools whose sandbox cannot stand.

use std::path::PathBuf;
use std::sync::Arc;

use probity_core::{Otherwise, RuleLists, RulePolicy};
use probity_testkit::{ScenarioRow, ScriptedPolicy, policy_name};
use probity_tools::{Root, ShellConfig, ShellTool};
use serde_json::json;

use super::stage::{expects, scripted_tool, stage};
use super::words::says;

pub(super) async fn check(row: &ScenarioRow) {
    if says(row, &["sandbox"]) {
        without_sandbox(row).await;
    } else if says(row, &["rule"]) {
        broken_rules(row);
    } else {
        panic!("nobody reads what is loaded: {:?}", row.policies());
    }
}

/// The number before a word, or one.
fn count(words: &str, of: &str) -> usize {
    let before = words.split(of).next().unwrap_or_default();
    before.split_whitespace().rev().find_map(|word| word.parse().ok()).unwrap_or(1)
}

/// A set with one rule that cannot be used is no set at all; without that rule it denies what it says.
fn broken_rules(row: &ScenarioRow) {
    use probity_contract::Tool as _;
    expects(row, &["refuse", "reject", "deny"]);
    assert_ne!(row.expects_run(), Some(true));
    let tool = scripted_tool(row);
    let (name, spec) = (tool.spec().name.as_str().to_owned(), tool.spec().clone());
    let words = row.policies().join(" ").to_lowercase();
    let mut deny: Vec<String> =
        (1..=count(&words, "valid")).map(|n| format!("{name}(forbidden-{n} *)")).collect();
    let load = |lists: serde_json::Value| -> Result<RulePolicy, String> {
        let lists: RuleLists = serde_json::from_value(lists).map_err(|error| error.to_string())?;
        RulePolicy::new(policy_name("rules"), &lists, std::slice::from_ref(&spec), Otherwise::Abstain)
            .map_err(|error| error.to_string())
    };
    assert!(load(json!({"deny": deny})).is_ok(), "the other rules are sound");
    let broken = if words.contains("syntax") || words.contains("parse") || words.contains("malformed") {
        vec![format!("{name}(not closed"), format!("{name}(x))) (")]
    } else if words.contains("empty") {
        vec![format!("{name}()")]
    } else if words.contains("unknown tool") {
        vec!["no-such-tool".to_owned()]
    } else if words.contains("unknown field") || words.contains("unknown key") {
        assert!(load(json!({"deny": deny, "denny": []})).is_err());
        return;
    } else {
        panic!("nobody reads the broken rule: {words}")
    };
    for broken in broken {
        for at in [0, deny.len() / 2, deny.len()] {
            deny.insert(at, broken.clone());
            assert!(load(json!({"deny": deny})).is_err(), "the rule `{broken}` is taken");
            deny.remove(at);
        }
    }
}

/// A shell whose sandbox the kernel cannot keep runs nothing, and does not only warn.
async fn without_sandbox(row: &ScenarioRow) {
    let place = tempfile::tempdir().unwrap();
    let root = Root { name: "fs".to_owned(), path: place.path().to_owned(), write: true };
    let mut config = ShellConfig::new(vec![root]);
    config.helper = Some(PathBuf::from(env!("CARGO_BIN_EXE_probity")));
    // Newer than any kernel that there is.
    config.landlock_abi_min = 99;
    let shell = ShellTool::new(config).unwrap();
    let arguments = json!({"argv": ["touch", "made"]});
    let mut stage = stage(row, "shell", &arguments).policy(ScriptedPolicy::allowing());
    stage.tools.push(Arc::new(shell));
    let seen = stage.play().await;
    let results = seen.results();
    assert!(results.iter().all(|result| result.contains("99 is needed")), "{results:?}");
    assert!(!place.path().join("made").exists(), "the program ran without its sandbox");
    assert_eq!(row.expects_run(), Some(false));
}
