//! What the record is told, and what happens where it cannot be told.

use probity_contract::{ContentSetting, Fact};
use probity_testkit::{Judges, MemoryJournal, ScenarioRow, ScriptedPolicy, fake_token};
use serde_json::Value;

use super::stage::{scripted_tool, stage, tool_name};
use super::words::says;

pub(super) async fn check(row: &ScenarioRow) {
    if says(row, &["disk full", "cannot be written", "record fails", "no space"]) {
        unwritten(row).await;
    } else if says(row, &["killed", "crash", "terminal record"]) {
        super::resuming::in_doubt(row);
    } else if says(row, &["secret"]) {
        secrets(row).await;
    } else {
        panic!("nobody reads the event `{}`", row.event);
    }
}

/// Whichever append fails, nothing runs that is not told: the first that fails is tried for each.
async fn unwritten(row: &ScenarioRow) {
    let set = |journal: MemoryJournal| {
        let tool = scripted_tool(row);
        let mut stage = stage(row, &tool_name(row), &row.arguments()).tool(&tool);
        stage.journal = journal;
        (stage.policy(ScriptedPolicy::allowing()), tool)
    };
    let whole = MemoryJournal::new();
    let (stage, tool) = set(whole.clone());
    stage.play().await;
    assert_eq!(tool.start_count(), 1, "with a disk that is not full it runs");
    let mut refused_starts = 0;
    for nth in 1..=whole.appends().len() {
        let journal = MemoryJournal::failing_from(nth);
        let (stage, tool) = set(journal.clone());
        stage.play().await;
        let told = journal.facts().iter().any(|fact| matches!(fact, Fact::ToolStarted { .. }));
        assert!(told || tool.start_count() == 0, "append {nth}: it runs and nobody is told");
        let refused = journal.refused().concat();
        let is_start = |line: &probity_contract::Emission| match line {
            probity_contract::Emission::Entry(entry) => matches!(entry.fact, Fact::ToolStarted { .. }),
            probity_contract::Emission::Part(_) => false,
        };
        if refused.iter().any(is_start) {
            refused_starts += 1;
            assert_eq!(tool.start_count(), 0, "append {nth}: the start could not be written");
        }
    }
    assert!(refused_starts > 0, "no append was the one that tells of the start");
    assert_eq!(row.expects_run(), Some(false));
}

/// A record of digests keeps nothing of what was said; and what looks like a credential leaves by no way.
async fn secrets(row: &ScenarioRow) {
    let token = fake_token(42);
    for secret in ["SECRET", token.as_str()] {
        let arguments = row.arguments().to_string().replace("SECRET", secret);
        assert!(arguments.contains(secret), "the arguments hold a secret");
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        let tool = scripted_tool(row);
        let mut stage = stage(row, &tool_name(row), &arguments).tool(&tool);
        stage.content = ContentSetting::Digests;
        let seen = stage.policy(ScriptedPolicy::new("P", Judges::denies("not this"))).play().await;
        seen.expect(row);
        let lines = serde_json::to_string(&seen.journal.lines()).unwrap();
        assert!(!lines.contains(secret), "the record tells the secret");
        let denied = seen.facts().iter().any(|fact| matches!(fact, Fact::Denied { .. }));
        let digest = seen.facts().iter().any(|fact| matches!(fact, Fact::CallFrozen { .. }));
        assert!(denied && digest, "the record tells which call it was and that it was denied");
        if secret == token {
            assert!(!seen.left().contains(secret), "the credential left");
        }
    }
    assert!(row.expected("audit").is_some());
}
