//! What the graph says of runs that the machine has really made.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Answer, Body, CallId, Cancel, Durability, Effect, Emission, HookVerdict, ItemId, Journal as _,
    ModelCallId, Origin, Point, Points, ReplyPart, Stop,
};
use probity_testkit::{
    Acts, Asked, Judges, MemoryJournal, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn,
    principal,
};
use probity_trace::{
    Author, Difference, Follow, Graph, NodeKind, Record, RunAt, UnknownReason, encode_frame, encode_header,
    first_divergence,
};

use crate::boundary::{hook, scrubbing};
use crate::children::{ASKS_SCOUT, agent, delegating, profile};
use crate::resuming::{deployment, ending};
use crate::scene::{Played, scene};

fn record_of(lines: &[Emission]) -> Record {
    let mut bytes = Vec::new();
    encode_header(&mut bytes);
    lines.iter().for_each(|line| encode_frame(line, &mut bytes).unwrap());
    Record::read(&bytes).unwrap().record
}

fn records(played: &Played) -> Vec<Record> {
    let children = played.children.begun().into_iter().map(|(_, _, journal)| journal);
    std::iter::once(played.journal.clone())
        .chain(children)
        .map(|journal| record_of(&journal.lines()))
        .collect()
}

fn items(graph: &Graph<'_>, of: Option<probity_trace::NodeId>) -> Vec<u32> {
    let slice = graph.backward(of, Follow::Data);
    slice.items().filter(|(run, _)| *run == RunAt::FIRST).map(|(_, item)| item.0).collect()
}

/// What the record says that a model saw is what it was asked.
fn check_seen(journal: &MemoryJournal, asked: &[Asked]) {
    let record = record_of(&journal.lines());
    let calls: Vec<ModelCallId> = record.model_calls().collect();
    assert_eq!(calls.len(), asked.len());
    for (call, asked) in calls.into_iter().zip(asked) {
        let seen = record.seen(call).unwrap();
        assert_eq!(seen.text, asked.text(), "{call}");
        let items: Vec<ItemId> = seen.items.iter().map(|item| item.item).collect();
        assert_eq!(items, asked.window.iter().map(|(item, _)| *item).collect::<Vec<_>>(), "{call}");
    }
}

const ACT: (&str, &str) = ("act", r#"{"text":"x"}"#);

#[tokio::test(start_paused = true)]
async fn an_answer_hangs_on_the_message_the_call_and_what_the_tool_brought() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let denied = ScriptedTool::new("deny", Effect::Once, Acts::Echoes);
    let policy = ScriptedPolicy::by("house", |call, _| match call.tool().as_str() {
        "deny" => Judges::denies("not this"),
        _ => Judges::allows(),
    });
    let turns = [
        Turn::calls(&[ACT, ("deny", r#"{"text":"y"}"#), ("none", "{}")]),
        Turn::text("done"),
        Turn::text("more"),
    ];
    let played = scene(turns).tool(&tool).tool(&denied).policy(&policy).run_whole().await;
    check_seen(&played.journal, &played.model.asked());
    let records = records(&played);
    let graph = Graph::of(&[&records[0]]);
    let run = RunAt::FIRST;
    let answer = graph.answer(run);
    assert_eq!(items(&graph, answer), [1, 2, 3, 4, 5, 6]);
    let slice = graph.backward(answer, Follow::Data);
    let expected = [
        graph.proposal(run, CallId(1)),
        graph.execution(run, CallId(1)),
        graph.outcome(run, CallId(1)),
        graph.outcome(run, CallId(2)),
        graph.outcome(run, CallId(3)),
    ];
    assert!(expected.iter().all(|node| slice.contains(node.unwrap())));
    let kinds = expected.map(|node| graph.kind(node.unwrap()).unwrap());
    use NodeKind::{Denial, Execution, Outcome, Proposal, Rejection};
    assert_eq!(kinds, [Proposal, Execution, Outcome, Denial, Rejection]);
    let unknown: Vec<_> = slice.unknown().map(|unknown| unknown.reason).collect();
    assert_eq!(unknown, [UnknownReason::Outside], "one tool ran, and nothing else reached it");
    // Of what lets things happen the slice of data knows nothing, but for the words of a denial.
    assert_eq!(slice.of_kind(NodeKind::Judgement).count(), 1);
    assert_eq!(graph.backward(answer, Follow::DataAndControl).of_kind(NodeKind::Judgement).count(), 3);
    // No result reached another, nor a call that was proposed beside it.
    assert_eq!(items(&graph, graph.result(run, CallId(2))), [1, 2, 4]);
    assert_eq!(first_divergence(&records[0], &records[0]), None);
}

#[tokio::test(start_paused = true)]
async fn slices_go_through_tasks_that_a_call_starts() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let turns = [Turn::calls(&[ACT]), Turn::text("found")];
    let scene = delegating(profile(turns).instructions("be brief").tool(Arc::new(tool)));
    let played = scene.allowing().run_whole().await;
    let records = records(&played);
    let graph = Graph::of(&records.iter().collect::<Vec<_>>());
    let child = graph.run(&records[1].start().unwrap().run).unwrap();
    let answer = graph.backward(graph.answer(RunAt::FIRST), Follow::Data);
    let execution = graph.execution(child, CallId(1)).unwrap();
    assert!(answer.contains(graph.answer(child).unwrap()) && answer.contains(execution));
    assert!(!answer.unknown().any(|unknown| unknown.reason == UnknownReason::RecordNotGiven));
    // What the child was asked is the call's, and the answer to it reached the person's answer.
    let question = records[1].items().find(|item| matches!(item.body, Body::Person { .. })).unwrap();
    assert_eq!(question.origin, Origin::Task);
    let question = graph.item(child, question.item).unwrap();
    let before = graph.backward([question], Follow::Data);
    assert!(before.contains(graph.proposal(RunAt::FIRST, CallId(1)).unwrap()));
    assert!(!before.contains(graph.answer(child).unwrap()));
    let after = graph.forward([execution], Follow::Data);
    assert!(after.contains(graph.answer(RunAt::FIRST).unwrap()) && !after.contains(question));
    let authorship = graph.who_wrote(question);
    let last = authorship.steps.last().unwrap();
    assert_eq!((last.run, last.kind), (RunAt::FIRST, NodeKind::ModelCall));
    // Without the record of the child that is what is said.
    let alone = Graph::of(&[&records[0]]);
    let slice = alone.backward(alone.answer(RunAt::FIRST), Follow::Data);
    assert!(slice.unknown().any(|unknown| unknown.reason == UnknownReason::RecordNotGiven));
    let alone = Graph::of(&[&records[1]]);
    let slice = alone.backward(alone.answer(RunAt::FIRST), Follow::Data);
    assert!(slice.unknown().any(|unknown| unknown.reason == UnknownReason::RecordNotGiven));
}

#[tokio::test(start_paused = true)]
async fn two_tasks_of_one_reply_do_not_reach_each_other() {
    let model = ScriptedModel::by(|request| match request.items.len() {
        1 => Turn::calls(&[ASKS_SCOUT, ASKS_SCOUT]),
        _ => Turn::text("done"),
    });
    let child = profile([Turn::text("found"), Turn::text("found too")]);
    let scene = crate::scene::scene_of(model).task(|task| task.tool(agent(child))).allowing();
    let played = scene.run_whole().await;
    let records = records(&played);
    assert_eq!(records.len(), 3);
    let graph = Graph::of(&records.iter().collect::<Vec<_>>());
    let runs: Vec<RunAt> = graph.runs().collect();
    for call in [CallId(1), CallId(2)] {
        let slice = graph.backward(graph.result(runs[0], call), Follow::Data);
        let reached = runs[1..].iter().filter(|run| slice.contains(graph.end(**run).unwrap())).count();
        assert_eq!(reached, 1);
    }
    let all = graph.backward(graph.answer(runs[0]), Follow::Data);
    assert!(runs[1..].iter().all(|run| all.contains(graph.end(*run).unwrap())));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_person_has_changed_says_so() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy =
        ScriptedPolicy::by("careful", |call, _| match call.arguments().as_str().contains(r#""x""#) {
            true => Judges::asks("who is x?"),
            false => Judges::allows(),
        });
    let person = ScriptedApprover::new(|_| {
        Some(Answer::Edit { by: principal("eve"), arguments: r#"{"text":"y"}"#.to_owned() })
    });
    let scene = scene([Turn::calls(&[ACT]), Turn::text("done")]);
    let played = scene.tool(&tool).policy(&policy).approver(&person).run_whole().await;
    let record = records(&played).remove(0);
    let compared = record.compared_call(CallId(1)).unwrap();
    let changed = Difference::At { pointers: vec!["/text".to_owned()], is_cut: false };
    assert_eq!(compared.proposed_against_executed, Some(changed));
    let graph = Graph::of(&[&record]);
    let result = graph.result(RunAt::FIRST, CallId(1)).unwrap();
    let reasons: Vec<_> = graph.backward([result], Follow::Data).unknown().map(|node| node.reason).collect();
    assert!(reasons.contains(&UnknownReason::Person), "{reasons:?}");
    let by: Vec<_> = graph.who_wrote(result).steps.into_iter().filter_map(|step| step.by).collect();
    assert!(by.contains(&Author::Person(Some(principal("eve")))), "{by:?}");
    assert!(matches!(by.last(), Some(Author::Model { .. })), "{by:?}");
}

#[tokio::test(start_paused = true)]
async fn what_interceptors_put_in_place_hangs_on_them() {
    let cases = [
        (Point::Input, "do it"),
        (Point::PreModelCall, "do it"),
        (Point::PostModelCall, "act on it"),
        (Point::PreToolCall, "it"),
        (Point::PostToolCall, "it"),
        (Point::Output, "it is"),
    ];
    for (point, what) in cases {
        let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
        let says = ReplyPart::text("I act on it.");
        let call = ReplyPart::call("a", "act", r#"{"text":"it"}"#);
        let turns = [Turn::parts(vec![says, call], Stop::ToolCalls), Turn::text("it is done")];
        let scene = scene(turns).tool(&tool).allowing();
        let scene = scene.task(|task| task.interceptor(scrubbing(Points::one(point), what, "nothing")));
        let played = scene.run_whole().await;
        check_seen(&played.journal, &played.model.asked());
        let record = records(&played).remove(0);
        let graph = Graph::of(&[&record]);
        let slice = graph.backward(graph.answer(RunAt::FIRST), Follow::Data);
        let changed = slice.of_kind(NodeKind::Interception).count();
        let unknown = slice.unknown().filter(|node| node.reason == UnknownReason::Interceptor).count();
        assert!(changed > 0 && unknown == changed, "{point}: {changed} changes, {unknown} unknown");
        // The message is behind it all the same.
        assert!(slice.contains(graph.item(RunAt::FIRST, ItemId(1)).unwrap()), "{point}");
    }
}

/// A process that ends between a checkpoint and the next: the run goes on from before what stands in its record.
#[tokio::test(start_paused = true)]
async fn a_run_that_was_taken_up_saw_what_its_record_says() {
    // An interceptor that changes the window at once, or when a result stands in it; in the second process it lets all pass.
    for at_items in [1, 3] {
        let tool = ScriptedTool::new("act", Effect::Pure, Acts::Echoes);
        let mut deployment =
            deployment(&[&tool], &ScriptedPolicy::allowing(), vec![Turn::calls(&[ACT]), Turn::hangs()]);
        let changes = hook("late", Points::one(Point::PreModelCall), move |occasion| {
            let messages = occasion.target().to_string();
            let is_meant = occasion.target().as_array().is_some_and(|messages| messages.len() >= at_items);
            if !is_meant || !messages.contains("do it") {
                return Ok(HookVerdict::allow());
            }
            Ok(HookVerdict::replace(
                "scrubbed",
                serde_json::from_str(&messages.replace("do it", "do them"))?,
            )?)
        });
        deployment.interceptors = vec![changes];
        let kill = Cancel::new();
        let stop = kill.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stop.fire();
        });
        assert!(deployment.start_killed(kill).await.is_none());
        check_seen(&deployment.journal, &deployment.model.asked());
        let lines_before = deployment.journal.lines();
        let states = deployment.kept.states.lock().unwrap().clone();
        assert!(states.len() > 2, "{} states", states.len());
        // Each state that was kept is taken up once, on a record of its own.
        for (state, _) in states {
            let mut again = deployment.clone();
            again.interceptors =
                vec![hook("late", Points::one(Point::PreModelCall), |_| Ok(HookVerdict::allow()))];
            again.model = ScriptedModel::by(|request| match request.items.len() {
                1 => Turn::calls(&[ACT]),
                _ => Turn::text("done"),
            });
            again.journal = MemoryJournal::new();
            again.journal.clone().append(&lines_before, Durability::Durable).unwrap();
            ending(again.resume(&state).await.unwrap());
            let record = record_of(&again.journal.lines());
            let seen = record.seen(record.model_calls().last().unwrap()).unwrap();
            assert_eq!(seen.text, again.model.asked().last().unwrap().text());
            let graph = Graph::of(&[&record]);
            let slice = graph.backward(graph.answer(RunAt::FIRST), Follow::Data);
            assert!(slice.contains(graph.item(RunAt::FIRST, ItemId(1)).unwrap()));
            let untold = [UnknownReason::NotInRecord, UnknownReason::WindowNotTold];
            assert!(!slice.unknown().any(|node| untold.contains(&node.reason)));
        }
    }
}
