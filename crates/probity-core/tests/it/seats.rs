//! Who is heard at which seat, whatever is said there, and under which rules.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use probity_contract::{DenialCode, DenialDetail, Effect, Fact, Level, Opinion, Said, Seat, Target, Verdict};
use probity_core::{ShadowNotes, ShadowPolicy};
use probity_testkit::{Acts, Judges, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn, fake_token};

use crate::scene::{Played, Scene, scene};

fn one_call() -> (Scene, ScriptedTool) {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let scene = scene([Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")]);
    (scene.tool(&tool).limits(|limits| limits.judge_timeout_ms = 50), tool)
}

fn denial(played: &Played) -> Option<(DenialCode, Seat, Level)> {
    played.facts().into_iter().find_map(|fact| match fact {
        Fact::Denied { denial, .. } => Some((denial.code, denial.seat, denial.level)),
        _ => None,
    })
}

fn judged(played: &Played, wanted: Seat) -> Vec<Opinion> {
    let opinions = played.facts().into_iter().filter_map(|fact| match fact {
        Fact::Judged { seat, opinions, .. } if seat == wanted => Some(opinions),
        _ => None,
    });
    opinions.flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn i31_a_task_can_do_nothing_that_the_one_above_could_not() {
    let allow = ScriptedPolicy::allowing();
    let cases = [
        (vec![ScriptedPolicy::new("above", Judges::denies("not for children"))], DenialCode::Policy),
        (vec![ScriptedPolicy::new("above", Judges::abstains())], DenialCode::NotCovered),
        (
            vec![allow.clone(), ScriptedPolicy::new("too", Judges::Fails("x".to_owned()))],
            DenialCode::PolicyFailed,
        ),
        (Vec::new(), DenialCode::NoPolicy),
    ];
    for (above, code) in cases {
        let (scene, tool) = one_call();
        let above: Vec<&ScriptedPolicy> = above.iter().collect();
        // The nearest allows; it is the one above that which does not.
        let played = scene.policy(&allow).below(&[&allow]).below(&above).run_whole().await;
        assert_eq!((tool.start_count(), denial(&played)), (0, Some((code, Seat::Inherited, Level(2)))));
    }
}

#[tokio::test(start_paused = true)]
async fn i32_a_task_that_denies_is_not_overruled_from_above() {
    let (scene, tool) = one_call();
    let own = ScriptedPolicy::new("own", Judges::denies("not me"));
    let above = ScriptedPolicy::allowing();
    let played = scene.policy(&own).below(&[&above]).run_whole().await;
    assert_eq!(tool.start_count(), 0);
    assert_eq!(denial(&played), Some((DenialCode::Policy, Seat::Adjudicate, Level::OWN)));
    assert!(above.heard().is_empty(), "nothing was left to judge");
}

#[tokio::test(start_paused = true)]
async fn everybody_is_heard_again_just_before_the_effect() {
    let (scene, tool) = one_call();
    let (own, above) = (ScriptedPolicy::allowing(), ScriptedPolicy::allowing());
    let played = scene.policy(&own).below(&[&above]).run_whole().await;
    assert_eq!((tool.start_count(), played.answer()), (1, Some("done")));
    let seats =
        |policy: &ScriptedPolicy| policy.heard().into_iter().map(|(_, seat)| seat).collect::<Vec<_>>();
    assert_eq!(seats(&own), [Seat::Adjudicate, Seat::ExecuteRecheck]);
    assert_eq!(seats(&above), [Seat::Inherited, Seat::ExecuteRecheck]);
    let levels: Vec<Level> = judged(&played, Seat::ExecuteRecheck).iter().map(|said| said.level).collect();
    assert_eq!(levels, [Level(0), Level(1)], "one name on two levels is two policies");
}

#[tokio::test(start_paused = true)]
async fn i31_revoking_above_reaches_a_call_that_was_allowed_before() {
    let (scene, tool) = one_call();
    let above = ScriptedPolicy::by("above", |_, seat| match seat {
        Seat::ExecuteRecheck => Judges::Says(Verdict::Deny { reason: "revoked".to_owned() }),
        Seat::Targets | Seat::Adjudicate | Seat::Inherited | Seat::EditRecheck => Judges::allows(),
    });
    let played = scene.allowing().below(&[&above]).run_whole().await;
    assert_eq!(tool.start_count(), 0);
    assert_eq!(denial(&played), Some((DenialCode::Policy, Seat::ExecuteRecheck, Level(1))));
}

#[tokio::test(start_paused = true)]
async fn a_question_from_above_is_put_with_the_tasks_own() {
    let (scene, tool) = one_call();
    let own = ScriptedPolicy::new("careful", Judges::asks("mine"));
    let above = ScriptedPolicy::new("careful", Judges::asks("from above"));
    let person = ScriptedApprover::approving("eve");
    let played = scene.policy(&own).below(&[&above]).approver(&person).run_whole().await;
    assert_eq!((tool.start_count(), person.asked().len(), played.answer()), (1, 1, Some("done")));
    let asked = &person.asked()[0];
    let askers: Vec<(Level, &str)> =
        asked.facts().askers.iter().map(|asker| (asker.level, asker.reason.as_str())).collect();
    assert_eq!(askers, [(Level(0), "mine"), (Level(1), "from above")]);
    let principals: Vec<&str> = asked.facts().principals.iter().map(|who| who.as_str()).collect();
    assert_eq!(principals, ["ada", "boss"]);
}

/// Whatever breaks above breaks the call, is told of once, and names its seat.
#[tokio::test(start_paused = true)]
async fn i07_a_policy_above_that_breaks_denies_and_is_reported_once_without_its_secret() {
    let secret = fake_token(5);
    for (judges, class) in [
        (Judges::Fails(format!("cannot read {secret}")), "error"),
        (Judges::Panics(format!("cannot read {secret}")), "panic"),
        (Judges::Hangs, "timeout"),
    ] {
        let (scene, tool) = one_call();
        let above = ScriptedPolicy::new("above", judges);
        let played = scene.allowing().below(&[&above]).run_whole().await;
        assert_eq!(tool.start_count(), 0);
        assert_eq!(denial(&played), Some((DenialCode::PolicyFailed, Seat::Inherited, Level(1))));
        let failures = played.watcher.failures();
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!((failures[0].class, failures[0].seat), (class, Some(Seat::Inherited)));
        assert!(!played.everything_that_left().contains(&secret));
    }
}

#[tokio::test(start_paused = true)]
async fn i15_an_approval_under_other_rules_is_asked_for_again() {
    let (scene, tool) = one_call();
    let policy = ScriptedPolicy::new("careful", Judges::asks("sure?"));
    let rules = policy.clone();
    let person = ScriptedApprover::new(move |_| {
        // While the first question is open, the rules change.
        let _before = rules.rules().fetch_max(1, Ordering::SeqCst);
        Some(probity_contract::Answer::Approve { by: probity_testkit::principal("eve"), more: 0 })
    });
    let played = scene.policy(&policy).approver(&person).run_whole().await;
    assert_eq!((tool.start_count(), played.answer()), (1, Some("done")));
    let seats: Vec<Seat> = person.asked().iter().map(|asked| asked.facts().seat).collect();
    assert_eq!(seats, [Seat::Adjudicate, Seat::ExecuteRecheck]);
    let bindings: Vec<_> = person.asked().iter().map(probity_contract::PendingCall::binding).collect();
    let redeemed = played.facts().into_iter().find_map(|fact| match fact {
        Fact::ToolStarted { redeems, .. } => redeems,
        _ => None,
    });
    assert_eq!(redeemed, Some(bindings[1]));
    assert_ne!(bindings[0], bindings[1]);
}

#[tokio::test(start_paused = true)]
async fn i51_a_verdict_whose_rules_change_meanwhile_is_void() {
    // The rules change during each of the first judgements, or during all of them.
    for (changes, starts) in [(2, 1), (u64::MAX, 0)] {
        let (scene, tool) = one_call();
        let policy = ScriptedPolicy::new("restless", Judges::allows());
        let rules = policy.clone();
        let restless = ScriptedPolicy::by("restless", move |_, _| {
            if rules.rules().load(Ordering::SeqCst) < changes {
                rules.rules().fetch_add(1, Ordering::SeqCst);
            }
            Judges::allows()
        })
        .with_rules_of(&policy);
        let played = scene.policy(&restless).run_whole().await;
        assert_eq!(tool.start_count(), starts, "{changes}");
        if starts == 0 {
            assert_eq!(denial(&played), Some((DenialCode::PolicyFailed, Seat::Adjudicate, Level::OWN)));
            assert_eq!(played.watcher.failures().len(), 1);
        }
    }
}

/// The call is bound to what it touched when it was judged; days may lie between the question and the effect.
#[tokio::test(start_paused = true)]
async fn i16_a_target_that_changed_while_a_person_was_asked_denies() {
    let at = |resolved: &str| {
        vec![Target::Path {
            root: "work".to_owned(),
            path: "out/x".to_owned(),
            resolved: resolved.to_owned(),
            access: probity_contract::Access::Write,
            recursive: false,
        }]
    };
    for (later, starts) in [("out/x", 1), ("elsewhere/x", 0)] {
        let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
        let tool = tool.touching_in_turn([at("out/x"), at(later)]);
        let scene = scene([Turn::calls(&[("act", "{}")]), Turn::text("done")]).tool(&tool);
        let policy = ScriptedPolicy::new("careful", Judges::asks("sure?"));
        let scene = scene.policy(&policy).approver(&ScriptedApprover::approving("eve"));
        let played = scene.run_whole().await;
        assert_eq!(tool.start_count(), starts);
        let code = denial(&played).map(|(code, seat, _)| (code, seat));
        assert_eq!(code, (starts == 0).then_some((DenialCode::TargetsChanged, Seat::Targets)));
    }
}

/// An opinion for a level that is not heard at a seat is as bad as one that is missing.
#[test]
fn i33_nobody_speaks_for_another_level() {
    use probity_contract::{Bench, PolicyName, Roster, Ruling};
    let name = || PolicyName::new("p").unwrap();
    let roster = || Roster::new(vec![name()]).unwrap();
    let bench = Bench::of(roster()).for_child(roster()).unwrap();
    let said = |level| Opinion {
        level: Level(level),
        policy: name(),
        epoch: None,
        said: Said::Verdict(Verdict::Allow { reason: "yes".to_owned() }),
    };
    let all = [Seat::Targets, Seat::Adjudicate, Seat::Inherited, Seat::EditRecheck, Seat::ExecuteRecheck];
    for seat in all {
        for levels in [&[][..], &[0], &[1], &[2], &[0, 1], &[0, 0], &[1, 1], &[0, 2], &[0, 1, 2]] {
            let opinions: Vec<Opinion> = levels.iter().map(|level| said(*level)).collect();
            let whole: &[u8] = match seat {
                Seat::Targets => &[],
                Seat::Adjudicate => &[0],
                Seat::Inherited => &[1],
                Seat::EditRecheck | Seat::ExecuteRecheck => &[0, 1],
            };
            let allowed = bench.rule(seat, &opinions) == Ruling::Allow;
            assert_eq!(allowed, levels == whole, "{seat} {levels:?}");
        }
    }
    let deep = (0..4).try_fold(Bench::of(roster()), |bench, _| bench.for_child(roster())).unwrap();
    assert_eq!(deep.levels().len(), 5);
    assert!(deep.for_child(roster()).is_err());
}

/// With the strict setting no word of a policy, a tool or a person reaches the model; people and the record are told.
#[tokio::test(start_paused = true)]
async fn a_model_that_shall_read_codes_only_reads_no_reason() {
    let cases: [(Judges, DenialCode); 4] = [
        (Judges::denies("the vault is closed"), DenialCode::Policy),
        (Judges::Fails("the vault is closed".to_owned()), DenialCode::PolicyFailed),
        (Judges::Panics("the vault is closed".to_owned()), DenialCode::PolicyFailed),
        (Judges::asks("the vault is closed"), DenialCode::PersonRefused),
    ];
    for (judges, code) in cases {
        for (detail, told) in [(DenialDetail::Reason, true), (DenialDetail::Code, false)] {
            let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
            let person = ScriptedApprover::refusing("eve", "the vault is closed");
            let turns = [Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
            let scene = scene(turns).tool(&tool).policy(&ScriptedPolicy::new("vault", judges.clone()));
            let scene = scene.task(|task| task.denial_detail(detail)).approver(&person);
            let played = scene.run_whole().await;
            let (read, _) = played.result();
            assert_eq!(read.contains("the vault is closed"), told, "{read}");
            let bare = format!("the call was denied and did not run ({}).", code.name());
            assert_eq!(read == bare, !told, "{read}");
            assert_eq!((tool.start_count(), played.denials()), (0, vec![code]));
            let denied = played.facts().into_iter().find_map(|fact| match fact {
                Fact::Denied { denial, .. } => Some(denial.reason),
                _ => None,
            });
            assert!(denied.unwrap().contains("the vault is closed"));
        }
    }
}

#[test]
fn codes_are_called_as_they_are_written() {
    for code in [
        DenialCode::NoPolicy,
        DenialCode::NotCovered,
        DenialCode::Policy,
        DenialCode::PolicyFailed,
        DenialCode::TargetsFailed,
        DenialCode::Incomplete,
        DenialCode::NobodyToAsk,
        DenialCode::PersonRefused,
        DenialCode::Expired,
        DenialCode::Redeemed,
        DenialCode::TargetsChanged,
        DenialCode::ToolChanged,
        DenialCode::EditRefused,
        DenialCode::Cancelled,
        DenialCode::Limit,
    ] {
        assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        assert!(!code.remedy().is_empty());
    }
}

/// What is tried out stands in the record, whatever it says or breaks on, and the run is the same as without it.
#[tokio::test(start_paused = true)]
async fn what_a_policy_in_shadow_would_have_said_stands_in_the_record() {
    for judges in [
        Judges::allows(),
        Judges::denies("the vault is closed"),
        Judges::Panics("the vault is closed".to_owned()),
        Judges::Hangs,
    ] {
        let notes = ShadowNotes::new();
        let tried = ScriptedPolicy::new("new", judges.clone());
        let shadow = ShadowPolicy::new(Arc::new(tried), Arc::new(notes.clone()));
        let (scene, tool) = one_call();
        let scene = scene.allowing();
        let played = scene.task(|task| task.policy(Arc::new(shadow)).shadow_notes(notes)).run_whole().await;
        assert_eq!((tool.start_count(), played.answer()), (1, Some("done")), "{judges:?}");
        let noted: Vec<(Seat, bool)> = played
            .facts()
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::Shadowed { seat, policy, said, .. } => {
                    assert_eq!(policy.as_str(), "new");
                    Some((seat, format!("{said:?}").contains("the vault is closed")))
                }
                _ => None,
            })
            .collect();
        let speaks = matches!(judges, Judges::Says(Verdict::Deny { .. }) | Judges::Panics(_));
        match judges {
            Judges::Hangs => assert_eq!(noted, []),
            _ => assert_eq!(noted, [(Seat::Adjudicate, speaks), (Seat::ExecuteRecheck, speaks)]),
        }
    }
}
