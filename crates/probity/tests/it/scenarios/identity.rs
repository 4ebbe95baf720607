//! Which tool it is, and who may say so.

use std::path::Path;
use std::sync::Arc;

use probity_bindings::{Action, Approval, Field};
use probity_contract::{Effect, ModelCallId, Opinion, ReplyPart, Said, Tool as _, Verdict};
use probity_core::{
    LayeredRules, Mode, Otherwise, RuleLayer, RuleLists, RulePolicy, RuleSource, Run, SpecError, StartError,
    Task,
};
use probity_testkit::{Acts, ScenarioRow, ScriptedModel, ScriptedTool, Turn, policy_name, principal, run_id};
use serde_json::json;

use super::desk::{Desk, Owed, answered, finished, judged, not_known, replied, spec, told, tool};
use super::stage::{Decision, scripted_tool, stage, tool_name, wanted};
use super::words::says;
use crate::cli::Cli;

pub(super) async fn check(row: &ScenarioRow) {
    if says(row, &["digest", "list_changed", "description"]) {
        redefined(row);
    } else if says(row, &["both expose", "collision", "metadata", "readonlyhint"]) {
        metadata(row).await;
    } else if says(row, &["untrusted", "before trust", "not trusted"]) {
        untrusted_rules(row).await;
    } else if says(row, &["own policy", "policy.toml", "config", "hook"]) {
        own_policy(row).await;
    } else if says(row, &["read-only", "read scope", "scope"]) {
        scope(row).await;
    } else {
        panic!("nobody reads the event `{}`", row.event);
    }
}

/// A tool that is defined anew is another tool: what was approved for the old one, once or for more, is void.
fn redefined(row: &ScenarioRow) {
    assert_eq!(wanted(row.expected("decision").unwrap()), [Decision::Ask]);
    let action = Action::write("a", "b");
    let approval = Approval::of(&action).unwrap();
    assert!(approval.executes(&action).unwrap().is_some());
    assert!(approval.executes(&action.clone().with(Field::Workflow, "redefined")).unwrap().is_none());

    // Through the machine: an approval for more, and then the tool changes where the run is stored.
    let name = tool_name(row);
    let definition = tool(&name, Effect::Once);
    let mut desk = Desk::new(Run::new(spec(vec![definition.clone()])).unwrap());
    let go_on = |desk: &mut Desk, starts: usize| {
        while desk.question().is_none() && desk.started.len() < starts {
            pay(desk, &name);
        }
        desk.question()
    };
    // The first call comes before the model has read anything, so it is like no other: the second is approved for more.
    for (starts, more) in [(1, 0), (2, 5)] {
        let question = go_on(&mut desk, starts).expect("it asks");
        let by = principal("eve");
        desk.feed(answered(&question, probity_contract::Answer::Approve { by, more })).unwrap();
        assert!(go_on(&mut desk, starts).is_none());
        pay(&mut desk, &name);
    }
    let stored = desk.stored();
    let mut same = desk.taken_up(&stored).unwrap();
    assert!(
        go_on(&mut same, 3).is_none() && same.started.len() == 3,
        "the same tool runs without a question"
    );
    let redefined = stored.replace(&definition.description, "Does something else.");
    let mut other = desk.taken_up(&redefined).unwrap();
    assert!(go_on(&mut other, 3).is_some() && other.started.len() == 2, "another tool is asked about");
    assert_eq!(row.expects_run(), Some(false));
}

/// Pays the oldest debt; the model proposes the same call for ever.
fn pay(desk: &mut Desk, name: &str) {
    let ask = || {
        vec![Opinion::own(policy_name("careful"), Said::Verdict(Verdict::Ask { reason: "sure?".to_owned() }))]
    };
    let fed = match desk.open[0].clone() {
        Owed::Model(call) => {
            let parts = vec![ReplyPart::call("p1", name, "{}")];
            assert!(call < ModelCallId(5), "it goes on for ever");
            desk.feed(replied(call, parts))
        }
        Owed::Targets(call, _) => desk.feed(told(call, Vec::new())),
        Owed::Opinions(call, seat) => desk.feed(judged(&call, seat, ask())),
        Owed::Answer(question) => panic!("{question:?}"),
        Owed::Reconcile(call) => desk.feed(not_known(call)),
        Owed::Tool(call) => desk.feed(finished(call.id(), "done")),
    };
    fed.unwrap();
}

/// Two tools of one name do not start; what a tool says of itself allows nothing.
async fn metadata(row: &ScenarioRow) {
    let name = row.tool().rsplit('/').next().unwrap_or_default().to_owned();
    let harmless = ScriptedTool::new(&name, Effect::Pure, Acts::Echoes);
    let model = Arc::new(ScriptedModel::new([Turn::text("done")]));
    let task = Task::new(model, principal("ada"), "do it");
    let task = task.tool(Arc::new(harmless.clone())).tool(Arc::new(ScriptedTool::new(
        &name,
        Effect::Once,
        Acts::Echoes,
    )));
    let spec = task.spec(run_id("run"), 0).map_err(|error: StartError| error.to_string()).unwrap();
    assert!(matches!(Run::new(spec), Err(SpecError::ToolTwice(_))), "two tools are called `{name}`");

    // Alone, and called pure by itself: no policy, no run; and a rule about another tool is not about this one.
    let seen = stage(row, &name, &row.arguments()).tool(&harmless).play().await;
    assert_eq!((seen.decision(), harmless.start_count()), (Decision::Deny, 0));
    let lists = RuleLists { allow: vec!["echo".to_owned()], ..RuleLists::default() };
    let echo = ScriptedTool::echo();
    let specs = [harmless.spec().clone(), echo.spec().clone()];
    let rules = RulePolicy::new(policy_name("rules"), &lists, &specs, Otherwise::Abstain).unwrap();
    let seen = stage(row, &name, &row.arguments()).tool(&harmless).tool(&echo).policy(rules).play().await;
    assert_eq!((seen.decision(), harmless.start_count()), (Decision::Deny, 0));
    assert_eq!(row.expects_run(), Some(false));
}

/// A policy that a tool could write does not start, whether it is there or not; and what judges a run stays what it was.
async fn own_policy(row: &ScenarioRow) {
    let path = row.arguments()["path"].as_str().expect("a path").to_owned();
    let cli = Cli::new();
    let file = format!("project/{}", Path::new(&path).with_extension("cedar").display());
    let task = format!(
        "model = 'm.toml'\nprompt = 'x'\nprincipal = 'ada'\n[tools]\nuse = ['fs_write']\n\
         roots = [{{ name = 'project', path = 'project', write = true }}]\n[policy]\ncedar = ['{file}']\n"
    );
    cli.file("task.toml", task);
    cli.file("m.toml", "[[rule]]\nname = 'answer'\ntext = 'done'\n");
    cli.file(&file, "permit (principal, action, resource);");
    for exists in [true, false] {
        if !exists {
            std::fs::remove_file(cli.work().join(&file)).unwrap();
        }
        let done = cli.run(&["policy", "check", "task.toml"]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(!exists || done.err.contains("which tools may write"), "{done:?}");
    }

    // The rules of a run that is under way are those it was given, whatever its tools write.
    let tool = scripted_tool(row);
    let lists = RuleLists { allow: vec![format!("{}(fs/**)", tool_name(row))], ..RuleLists::default() };
    let rules =
        RulePolicy::new(policy_name("rules"), &lists, &[tool.spec().clone()], Otherwise::Abstain).unwrap();
    let before = probity_contract::Policy::epoch(&rules);
    let other = ScriptedTool::new("other", Effect::Once, Acts::Echoes);
    let mut stage =
        stage(row, &tool_name(row), &row.arguments()).tool(&tool).tool(&other).policy(rules.clone());
    let arguments = row.arguments().to_string();
    stage.turns = vec![
        Turn::calls(&[(&tool_name(row), &arguments)]),
        Turn::calls(&[("other", "{}")]),
        Turn::text("done"),
    ];
    stage.play().await;
    assert_eq!((tool.start_count(), other.start_count()), (1, 0), "what it wrote allows nothing");
    assert_eq!(probity_contract::Policy::epoch(&rules), before);
    assert!(wanted(row.expected("decision").unwrap()).contains(&Decision::Deny));
}

/// Rules of a folder that nobody has said to trust: they widen nothing, and what they deny is denied.
async fn untrusted_rules(row: &ScenarioRow) {
    let tool = scripted_tool(row);
    let specs = [tool.spec().clone()];
    let layer = |source, list: &str, may_widen| {
        let file = serde_json::from_value(json!({ list: [tool_name(row)] })).unwrap();
        RuleLayer { source, file_name: "rules.toml".to_owned(), file, may_widen }
    };
    let play = async |layers: &[RuleLayer]| {
        let rules = LayeredRules::new(policy_name("rules"), layers, &specs, Mode::UNSTATED).unwrap();
        let stage = stage(row, &tool_name(row), &row.arguments()).tool(&tool).policy(rules);
        stage.play().await
    };
    play(&[layer(RuleSource::Project, "allow", false)]).await.expect(row);
    let own = || layer(RuleSource::User, "allow", true);
    assert_eq!(play(&[layer(RuleSource::Project, "deny", false), own()]).await.decision(), Decision::Deny);
    assert_eq!(play(&[layer(RuleSource::Project, "allow", true), own()]).await.decision(), Decision::Allow);
}

/// What may read may not change: each tool is allowed for itself, and not the server that it is on.
async fn scope(row: &ScenarioRow) {
    let changing = scripted_tool(row);
    let (server, _) = row.tool().split_once(['.', '/', '_']).expect("a server and its tool");
    let reading = ScriptedTool::new(&format!("{server}_read"), Effect::Pure, Acts::Echoes);
    let lists = RuleLists { allow: vec![format!("{server}_read")], ..RuleLists::default() };
    let specs = [changing.spec().clone(), reading.spec().clone()];
    let rules = RulePolicy::new(policy_name("rules"), &lists, &specs, Otherwise::Abstain).unwrap();
    let stage = stage(row, &tool_name(row), &row.arguments()).tool(&changing).tool(&reading).policy(rules);
    stage.play().await.expect(row);
}
