//! Policies that break, say nonsense or are not there, and what is told of it.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::{Answer, CallId, Fact, Failure, FailureLane};
use probity_testkit::{
    Acts, Blocker, Judges, ScenarioRow, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn, Watcher,
    principal,
};
use serde_json::json;

use super::stage::{Decision, Seen, Stage, scripted_tool, stage, tool_name, wanted};
use super::words::{Clause, Does, When, clauses, plays, policy, says};

pub(super) async fn check(row: &ScenarioRow) {
    let expected = wanted(row.expected("decision").expect("a decision"));
    if says(row, &["no policy", "zero policies", "empty policy set"]) {
        without_policies(row).await;
    } else if expected == [Decision::Cancelled] {
        cancelled(row).await;
    } else if says(row, &["sink", "onerror", "failure lane"]) {
        lanes(row).await;
    } else {
        let clauses = clauses(row);
        for play in 0..plays(&clauses) {
            played(row, &clauses, play).await.expect(row);
        }
    }
}

fn set(row: &ScenarioRow) -> (Stage, ScriptedTool) {
    let tool = scripted_tool(row);
    (stage(row, &tool_name(row), &row.arguments()).tool(&tool), tool)
}

/// Puts every policy on its level, and a person who edits where the scenario has one.
async fn played(row: &ScenarioRow, clauses: &[Clause], play: usize) -> Seen {
    let (mut stage, _) = set(row);
    if let Some(clause) = clauses.iter().find(|clause| clause.when == When::Targets) {
        // Whoever tells what a call touches is the tool.
        let breaks =
            if clause.does == Does::Hangs { Acts::Hangs } else { Acts::Panics("it broke".to_owned()) };
        let tool = scripted_tool(row).resolving(breaks);
        stage.tools = vec![Arc::new(tool)];
    }
    let mut names: Vec<(&str, bool)> =
        clauses.iter().map(|clause| (clause.name.as_str(), clause.above)).collect();
    names.dedup();
    for (name, above) in names {
        let own: Vec<Clause> = clauses.iter().filter(|clause| clause.name == name).cloned().collect();
        let policy = Arc::new(policy(name, &own, &row.arguments(), play));
        if above { stage.above.push(policy) } else { stage.policies.push(policy) }
    }
    if stage.policies.is_empty() {
        stage = stage.policy(ScriptedPolicy::allowing());
    }
    if says(row, &["edit"]) {
        // Somebody has to ask for a person to be there.
        let original = row.arguments();
        let careful = ScriptedPolicy::by("careful", move |call, _| {
            let edited = call.arguments().to_value() != original;
            if edited { Judges::allows() } else { Judges::asks("sure?") }
        });
        stage = stage.policy(careful);
        let mut arguments = row.arguments();
        let name = if arguments.get("content").is_some() { "content" } else { "edited" };
        arguments[name] = json!("other");
        let edit = move |_: &_| Some(Answer::Edit { by: principal("eve"), arguments: arguments.to_string() });
        stage.approver = Some(Arc::new(ScriptedApprover::new(edit)));
    }
    stage.play().await
}

async fn without_policies(row: &ScenarioRow) {
    set(row).0.play().await.expect(row);
    // Unless somebody says that everything may run.
    let (stage, tool) = set(row);
    stage.policy(ScriptedPolicy::allowing()).play().await;
    assert_eq!(tool.start_count(), 1);
}

/// The signal fires before, while and after the policy judges. It is the signal that tells, not what the policy says.
async fn cancelled(row: &ScenarioRow) {
    for moment in ["before", "during", "after"] {
        let (stage, tool) = set(row);
        let cancel = stage.cancel.clone();
        if moment == "before" {
            cancel.fire();
        }
        let policy = ScriptedPolicy::by("P", move |_, _| {
            cancel.fire();
            if moment == "after" { Judges::allows() } else { Judges::Fails("it was aborted".to_owned()) }
        });
        let seen = stage.policy(policy).play().await;
        seen.expect(row);
        assert_eq!((seen.decision(), tool.start_count()), (Decision::Cancelled, 0), "{moment}");
    }
}

/// A lane that never comes back.
struct Stuck(Blocker);

impl FailureLane for Stuck {
    fn on_failure(&self, _: &Failure) {
        self.0.block();
    }
}

/// Whatever becomes of the report: the call is denied in time, and the next one is judged as ever.
async fn lanes(row: &ScenarioRow) {
    let blocker = Blocker::new();
    let lanes: [Arc<dyn FailureLane>; 2] = [Arc::new(Watcher::panicking()), Arc::new(Stuck(blocker.clone()))];
    for lane in lanes {
        let (mut stage, tool) = set(row);
        let call = (tool_name(row), row.arguments().to_string());
        let again = Turn::calls(&[(&call.0, &call.1)]);
        stage.turns = vec![again.clone(), again, Turn::text("done")];
        stage.lane = Some(lane);
        let policy = ScriptedPolicy::by("P", |call, _| {
            if call.id() == CallId(1) { Judges::Fails("it broke".to_owned()) } else { Judges::allows() }
        });
        let seen = tokio::time::timeout(Duration::from_secs(10), stage.policy(policy).play()).await;
        let seen = seen.expect("a stuck lane holds the run up");
        let denied =
            seen.facts().into_iter().any(|fact| matches!(fact, Fact::Denied { call: CallId(1), .. }));
        let ran: Vec<CallId> = tool.starts().iter().map(|start| start.call.id()).collect();
        assert!(denied && ran == [CallId(2)], "{ran:?}");
    }
    blocker.release();
    assert_eq!(
        (wanted(row.expected("decision").unwrap()), row.expects_run()),
        (vec![Decision::Deny], Some(false))
    );
}
