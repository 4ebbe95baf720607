//! Answers that say more than yes or no: other arguments, and what holds for the very same call again.

use probity_contract::{Answer, AnswerKind, DenialCode, Effect, Fact, PendingCall, Seat, Verdict};
use probity_testkit::{Acts, Judges, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn, principal};

use crate::scene::{Played, Scene, scene};

fn text(question: &PendingCall) -> String {
    question.call().arguments().to_value()["text"].as_str().unwrap_or_default().to_owned()
}

fn approve(more: u32) -> Answer {
    Answer::Approve { by: principal("eve"), more }
}

fn edit(arguments: &str) -> Answer {
    Answer::Edit { by: principal("eve"), arguments: arguments.to_owned() }
}

/// A model that proposes `echo` with these texts, one turn each, before a policy that asks about each.
fn proposing(texts: &[&str]) -> (Scene, ScriptedTool) {
    let tool = ScriptedTool::echo();
    let calls = texts.iter().map(|text| Turn::calls(&[("echo", &format!(r#"{{"text":"{text}"}}"#))]));
    let scene = scene(calls.chain([Turn::text("done")])).tool(&tool);
    (scene.policy(&ScriptedPolicy::new("careful", Judges::asks("sure?"))), tool)
}

fn started(tool: &ScriptedTool) -> Vec<String> {
    tool.starts().iter().map(|start| start.call.arguments().as_str().to_owned()).collect()
}

fn answers(played: &Played) -> Vec<AnswerKind> {
    let answers = played.facts().into_iter().filter_map(|fact| match fact {
        Fact::Answered { answer, .. } => Some(answer),
        _ => None,
    });
    answers.collect()
}

#[tokio::test(start_paused = true)]
async fn ab11_an_edited_call_is_asked_about_again_and_the_model_is_told() {
    let (scene, tool) = proposing(&["v1"]);
    let person = ScriptedApprover::new(|question| match text(question).as_str() {
        "v1" => Some(edit(r#"{ "text": "v2" }"#)),
        _ => Some(approve(0)),
    });
    let played = scene.approver(&person).run_whole().await;
    assert_eq!(started(&tool), [r#"{"text":"v2"}"#]);
    assert_eq!(answers(&played), [AnswerKind::Edited, AnswerKind::Approved]);
    let seats: Vec<Seat> = person.asked().iter().map(|asked| asked.facts().seat).collect();
    assert_eq!(seats, [Seat::Adjudicate, Seat::EditRecheck]);
    let (result, is_error) = played.result();
    assert_eq!(result, "A person changed the arguments of this call to {\"text\":\"v2\"}.\nv2");
    assert!(!is_error);
}

/// I24: an edit can pass nothing that the same call from the model could not.
#[tokio::test(start_paused = true)]
async fn ab10_i24_an_edit_is_not_above_a_deny() {
    for from_above in [false, true] {
        let tool = ScriptedTool::echo();
        let careful = ScriptedPolicy::new("careful", Judges::asks("sure?"));
        let strict = ScriptedPolicy::by("strict", |call, _| {
            let forbidden = call.arguments().as_str().contains("/etc/");
            if forbidden { Judges::denies("never there") } else { Judges::allows() }
        });
        let calls = Turn::calls(&[("echo", r#"{"text":"a.txt"}"#)]);
        let scene = scene([calls, Turn::text("done")]).tool(&tool).policy(&careful);
        let scene = if from_above { scene.below(&[&strict]) } else { scene.policy(&strict) };
        let person = ScriptedApprover::new(|_| Some(edit(r#"{"text":"/etc/passwd"}"#)));
        let played = scene.approver(&person).run_whole().await;
        assert_eq!((tool.start_count(), person.asked().len()), (0, 1));
        let seat = played.facts().into_iter().find_map(|fact| match fact {
            Fact::Denied { denial, .. } => Some((denial.code, denial.seat, denial.level.0 > 0)),
            _ => None,
        });
        assert_eq!(seat, Some((DenialCode::Policy, Seat::EditRecheck, from_above)));
    }
}

#[tokio::test(start_paused = true)]
async fn fc04_fc05_a_policy_that_breaks_on_the_edit_denies_and_is_reported_once() {
    for from_above in [false, true] {
        let tool = ScriptedTool::echo();
        let careful = ScriptedPolicy::new("careful", Judges::asks("sure?"));
        let broken = ScriptedPolicy::by("broken", |_, seat| match seat {
            Seat::EditRecheck => Judges::Fails("cannot judge".to_owned()),
            Seat::Targets | Seat::Adjudicate | Seat::Inherited | Seat::ExecuteRecheck => Judges::allows(),
        });
        let calls = Turn::calls(&[("echo", r#"{"text":"a"}"#)]);
        let scene = scene([calls, Turn::text("done")]).tool(&tool).policy(&careful);
        let scene = if from_above { scene.below(&[&broken]) } else { scene.policy(&broken) };
        let played =
            scene.approver(&ScriptedApprover::new(|_| Some(edit(r#"{"text":"b"}"#)))).run_whole().await;
        assert_eq!((tool.start_count(), played.denials()), (0, vec![DenialCode::PolicyFailed]));
        let seats: Vec<Option<Seat>> = played.watcher.failures().iter().map(|failure| failure.seat).collect();
        assert_eq!(seats, [Some(Seat::EditRecheck)]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_the_tool_does_not_take_runs_nothing() {
    for arguments in
        ["", "{", "[]", "null", r#"{"text":1}"#, r#"{"text":"a","text":"b"}"#, r#"{"text":"a","x":1}"#]
    {
        let (scene, tool) = proposing(&["v1"]);
        let person = ScriptedApprover::new(move |_| Some(edit(arguments)));
        let played = scene.approver(&person).run_whole().await;
        assert_eq!((tool.start_count(), played.denials()), (0, vec![DenialCode::EditRefused]), "{arguments}");
    }
}

/// I47: a person who edits for ever is stopped.
#[tokio::test(start_paused = true)]
async fn i47_edits_come_to_an_end() {
    let (scene, tool) = proposing(&["v1"]);
    let person =
        ScriptedApprover::new(|question| Some(edit(&format!(r#"{{"text":"{}+"}}"#, text(question)))));
    let played = scene.approver(&person).run_whole().await;
    assert_eq!((tool.start_count(), played.denials()), (0, vec![DenialCode::EditRefused]));
    assert_eq!(person.asked().len(), 9, "eight edits, and one too many");
}

#[tokio::test(start_paused = true)]
async fn i30_an_approval_for_more_covers_the_very_same_call_and_no_other() {
    let (scene, tool) = proposing(&["a", "a", "b", "a", "a"]);
    let person = ScriptedApprover::new(|question| Some(approve(if text(question) == "a" { 2 } else { 0 })));
    let played = scene.approver(&person).run_whole().await;
    assert_eq!(tool.start_count(), 5);
    let asked: Vec<String> = person.asked().iter().map(text).collect();
    // The label of the second call differs from that of the first: by then the model has read a tool's result.
    assert_eq!(asked, ["a", "a", "b"]);
    let mut redeemed: Vec<_> = played
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::ToolStarted { redeems, .. } => redeems,
            _ => None,
        })
        .collect();
    redeemed.sort();
    redeemed.dedup();
    assert_eq!(redeemed.len(), 5, "each start uses up a question of its own");
}

#[tokio::test(start_paused = true)]
async fn i20_an_approval_for_more_is_used_up() {
    let (scene, tool) = proposing(&["a", "a", "a", "a", "a", "a"]);
    let person = ScriptedApprover::new(|_| Some(approve(1)));
    scene.approver(&person).run_whole().await;
    assert_eq!(
        (tool.start_count(), person.asked().len()),
        (6, 4),
        "the first alone, then each with one more"
    );
}

#[tokio::test(start_paused = true)]
async fn i30_an_approval_for_more_does_not_outlive_a_change_of_the_rules_or_a_deny() {
    use std::sync::atomic::Ordering;
    let tool = ScriptedTool::echo();
    let same = || Turn::calls(&[("echo", r#"{"text":"a"}"#)]);
    let policy = ScriptedPolicy::new("careful", Judges::asks("sure?"));
    let rules = policy.clone();
    let person = ScriptedApprover::new(move |_| Some(approve(9)));
    let turns = [same(), same(), same(), Turn::text("done")];
    let other = tool.clone();
    let watched = ScriptedPolicy::by("watching", move |_, _| {
        // Rules change when two calls have run.
        if other.start_count() == 2 {
            rules.rules().store(7, Ordering::SeqCst);
        }
        Judges::allows()
    });
    let scene = scene(turns).tool(&tool).policy(&watched).policy(&policy).approver(&person);
    scene.run_whole().await;
    assert_eq!((tool.start_count(), person.asked().len()), (3, 3));

    let (scene, tool) = proposing(&["a", "a", "a"]);
    let count = tool.clone();
    let strict = ScriptedPolicy::by("strict", move |_, _| match count.start_count() {
        0 | 1 => Judges::allows(),
        _ => Judges::Says(Verdict::Deny { reason: "enough".to_owned() }),
    });
    let person = ScriptedApprover::new(move |_| Some(approve(9)));
    let played = scene.policy(&strict).approver(&person).run_whole().await;
    assert_eq!((tool.start_count(), played.denials()), (2, vec![DenialCode::Policy]));
}

/// AB-18, I27: what was refused for good is refused, however often it is proposed.
#[tokio::test(start_paused = true)]
async fn ab18_a_refusal_for_good_stays() {
    let (scene, tool) = proposing(&["a", "b", "a", "a"]);
    let person = ScriptedApprover::new(|question| {
        let (by, reason) = (principal("eve"), "never".to_owned());
        Some(if text(question) == "a" { Answer::Refuse { by, reason, for_good: true } } else { approve(0) })
    });
    let played = scene.approver(&person).run_whole().await;
    assert_eq!(started(&tool), [r#"{"text":"b"}"#]);
    assert_eq!(played.denials(), [DenialCode::PersonRefused; 3]);
    let asked: Vec<String> = person.asked().iter().map(text).collect();
    assert_eq!(asked, ["a", "b"], "also when the model has read something else since");
}

/// Effect::Once is what an approval is mostly about: one yes, one start.
#[tokio::test(start_paused = true)]
async fn i20_one_approval_is_one_start() {
    let tool = ScriptedTool::new("pay", Effect::Once, Acts::Echoes);
    let calls = Turn::calls(&[("pay", "{}"), ("pay", "{}"), ("pay", "{}")]);
    let scene = scene([calls, Turn::text("done")]).tool(&tool);
    let scene = scene.policy(&ScriptedPolicy::new("careful", Judges::asks("sure?")));
    let yes = std::sync::atomic::AtomicBool::new(true);
    let person = ScriptedApprover::new(move |_| {
        let first = yes.swap(false, std::sync::atomic::Ordering::SeqCst);
        Some(if first { approve(0) } else { Answer::Nobody })
    });
    let played = scene.approver(&person).run_whole().await;
    assert_eq!((tool.start_count(), played.denials()), (1, vec![DenialCode::NobodyToAsk; 2]));
}
