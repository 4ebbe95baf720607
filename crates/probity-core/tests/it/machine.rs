//! Single decisions of the machine, step by step.

use std::sync::Arc;

use probity_contract::{
    Answer, AnswerKind, Bench, Body, CallId, Denial, DenialCode, Digest, Effect, Emission, Ending, Fact,
    Level, LimitKind, ModelCallId, ModelReply, Opinion, Prices, Redemption, ReplyPart, Roster, Said, Seat,
    Stop, ToolErrorClass, ToolOutcomeKind, Touches, Usage, Verdict,
};
use probity_core::{MemoryRedeemer, Outcome, Run, SpecError, Step, Unexpected};
use probity_testkit::{policy_name, principal};

use crate::record_check::entries;
use crate::simulator::{Ends, Plan, Schedule, Script, Trouble, play, state};

/// Takes steps until the machine waits or has ended; the lines of the record and the other steps.
fn steps(run: &mut Run) -> (Vec<Emission>, Vec<Step>) {
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    while let Some(step) = run.next() {
        match step {
            Step::Record { lines: more, .. } => lines.extend(more),
            Step::Notify(_) => {}
            Step::Redeem { call, binding } => {
                let result = Redemption::claim(&MemoryRedeemer::new(), &call.facts().run, binding);
                run.feed(0, Outcome::Redeemed { call: call.id(), result }).unwrap();
            }
            Step::Done(_) => {
                others.push(step);
                break;
            }
            step => others.push(step),
        }
    }
    (lines, others)
}

fn reply(parts: Vec<ReplyPart>, stop: Stop) -> ModelReply {
    ModelReply { parts, stop, usage: Usage::default(), model: None, response_id: None }
}

fn act(id: &str) -> ReplyPart {
    ReplyPart::call(id, "act", r#"{"text":"x"}"#)
}

fn opinions(verdict: Verdict) -> Vec<Opinion> {
    vec![Opinion::own(policy_name("plan"), Said::Verdict(verdict))]
}

fn ask() -> Verdict {
    Verdict::Ask { reason: "the plan".to_owned() }
}

/// A run that has asked a person about its one call, and the digest of the question.
fn asking() -> (Run, Digest) {
    let mut run = Run::new(Script::new(Vec::new()).spec()).unwrap();
    steps(&mut run);
    let result = Ok(reply(vec![act("p1")], Stop::ToolCalls));
    run.feed(0, Outcome::ModelReplied { call: ModelCallId(1), result }).unwrap();
    steps(&mut run);
    run.feed(0, Outcome::Resolved { call: CallId(1), result: Ok(Touches::default()) }).unwrap();
    steps(&mut run);
    let (call, seat) = (CallId(1), Seat::Adjudicate);
    run.feed(0, Outcome::Judged { call, seat, opinions: opinions(ask()) }).unwrap();
    let (_, others) = steps(&mut run);
    let [Step::Ask { question }] = &others[..] else { panic!("{others:?}") };
    let digest = question.binding();
    (run, digest)
}

fn facts(lines: &[Emission]) -> Vec<Fact> {
    entries(lines).into_iter().map(|entry| entry.fact).collect()
}

fn denial(lines: &[Emission]) -> Option<Denial> {
    facts(lines).into_iter().find_map(|fact| match fact {
        Fact::Denied { denial, .. } => Some(denial),
        _ => None,
    })
}

/// Takes a call that has waited up to the seat before its effect.
fn resolve_again(run: &mut Run) {
    let (_, others) = steps(run);
    assert!(matches!(&others[..], [Step::Resolve { .. }]), "{others:?}");
    run.feed(0, Outcome::Resolved { call: CallId(1), result: Ok(Touches::default()) }).unwrap();
    let (_, others) = steps(run);
    assert!(matches!(&others[..], [Step::Judge { seat: Seat::ExecuteRecheck, .. }]), "{others:?}");
}

const TTL_MS: u64 = 86_400_000;

#[test]
fn i21_an_approval_counts_until_just_before_it_expires() {
    let check = |now_ms: u64, answer: Answer, expected: Option<DenialCode>| {
        let (mut run, digest) = asking();
        run.feed(now_ms, Outcome::Answered { call: CallId(1), binding: digest, answer }).unwrap();
        let (lines, others) = steps(&mut run);
        assert_eq!(denial(&lines).map(|denial| denial.code), expected, "at {now_ms}");
        let goes_on = others.iter().any(|step| matches!(step, Step::Resolve { .. }));
        assert_eq!(goes_on, expected.is_none());
    };
    let approve = || Answer::Approve { more: 0, by: principal("eve") };
    check(0, approve(), None);
    check(TTL_MS - 1, approve(), None);
    check(TTL_MS, approve(), Some(DenialCode::Expired));
    check(TTL_MS + 1, approve(), Some(DenialCode::Expired));
    check(0, Answer::Nobody, Some(DenialCode::NobodyToAsk));
    // The driver gives up when the time is over: then somebody was asked, and did not answer in time.
    check(TTL_MS, Answer::Nobody, Some(DenialCode::Expired));
}

#[test]
fn i21_a_clock_that_goes_back_revives_no_approval() {
    let (mut run, digest) = asking();
    let failure =
        Outcome::FailureReported { call: None, seat: None, who: "x".to_owned(), error: "y".to_owned() };
    run.feed(TTL_MS, failure).unwrap();
    let answer = Answer::Approve { more: 0, by: principal("eve") };
    run.feed(5, Outcome::Answered { call: CallId(1), binding: digest, answer }).unwrap();
    let (lines, _) = steps(&mut run);
    assert_eq!(denial(&lines).map(|denial| denial.code), Some(DenialCode::Expired));
}

#[test]
fn i21_an_approval_that_expires_before_the_effect_gives_no_permit() {
    let (mut run, digest) = asking();
    let answer = Answer::Approve { more: 0, by: principal("eve") };
    run.feed(0, Outcome::Answered { call: CallId(1), binding: digest, answer }).unwrap();
    resolve_again(&mut run);
    let (call, seat) = (CallId(1), Seat::ExecuteRecheck);
    run.feed(TTL_MS, Outcome::Judged { call, seat, opinions: opinions(ask()) }).unwrap();
    let (lines, others) = steps(&mut run);
    assert_eq!(denial(&lines).map(|denial| denial.code), Some(DenialCode::Expired));
    assert!(!others.iter().any(|step| matches!(step, Step::RunTool { .. })));
}

#[test]
fn i29_an_answer_for_another_digest_has_no_effect_and_is_written_down() {
    let (mut run, _) = asking();
    let digest = Digest::of("test", &[b"another call"]);
    let answer = Answer::Approve { more: 0, by: principal("eve") };
    assert_eq!(run.feed(0, Outcome::Answered { call: CallId(1), binding: digest, answer }), Err(Unexpected));
    let (lines, others) = steps(&mut run);
    assert!(others.is_empty());
    let written = matches!(
        &facts(&lines)[..],
        [Fact::Answered { answer: AnswerKind::Void, by: Some(_), digest: written, .. }] if *written == digest
    );
    assert!(written, "{lines:?}");
}

/// A person who approves answers for what asked before; a policy that asks only at the last seat asks then.
#[test]
fn a_policy_that_asks_only_just_before_the_effect_puts_its_question_then() {
    let mut run = Run::new(Script::new(Vec::new()).spec()).unwrap();
    steps(&mut run);
    let result = Ok(reply(vec![act("p1")], Stop::ToolCalls));
    run.feed(0, Outcome::ModelReplied { call: ModelCallId(1), result }).unwrap();
    steps(&mut run);
    let call = CallId(1);
    run.feed(0, Outcome::Resolved { call, result: Ok(Touches::default()) }).unwrap();
    steps(&mut run);
    let allow = Verdict::Allow { reason: "yes".to_owned() };
    run.feed(0, Outcome::Judged { call, seat: Seat::Adjudicate, opinions: opinions(allow) }).unwrap();
    steps(&mut run);
    run.feed(0, Outcome::Judged { call, seat: Seat::ExecuteRecheck, opinions: opinions(ask()) }).unwrap();
    let (lines, others) = steps(&mut run);
    let [Step::Ask { question }] = &others[..] else { panic!("{others:?}") };
    assert_eq!((denial(&lines), question.facts().seat), (None, Seat::ExecuteRecheck));
}

/// I47: a model that pauses again and again is asked only as often as the turns allow, also for its last answer.
#[test]
fn i47_a_model_that_only_pauses_comes_to_an_end() {
    let mut script = Script::new(Vec::new());
    script.limits.turns_max = 3;
    let mut run = Run::new(script.spec()).unwrap();
    for call in 1..=4 {
        let (_, others) = steps(&mut run);
        assert!(
            matches!(&others[..], [Step::CallModel { call: asked, .. }] if asked.0 == call),
            "{others:?}"
        );
        let result = Ok(reply(vec![ReplyPart::text("wait")], Stop::Paused));
        run.feed(0, Outcome::ModelReplied { call: ModelCallId(call), result }).unwrap();
    }
    let (_, others) = steps(&mut run);
    let ended = matches!(&others[..], [Step::Done(Ending::WrappedUp { limit: LimitKind::Turns })]);
    assert!(ended, "{others:?}");
}

#[test]
fn calls_beyond_the_limit_of_one_reply_are_answered_and_not_judged() {
    let mut run = Run::new(Script::new(Vec::new()).spec()).unwrap();
    steps(&mut run);
    let result = Ok(reply((0..130).map(|at| act(&format!("p{at}"))).collect(), Stop::ToolCalls));
    run.feed(0, Outcome::ModelReplied { call: ModelCallId(1), result }).unwrap();
    let (lines, others) = steps(&mut run);
    assert_eq!(others.iter().filter(|step| matches!(step, Step::Resolve { .. })).count(), 128);
    let facts = facts(&lines);
    assert_eq!(facts.iter().filter(|fact| matches!(fact, Fact::CallProposed { .. })).count(), 130);
    assert!(facts.contains(&Fact::LimitHit { limit: LimitKind::CallsPerReply }));
}

/// What a model proposes beyond the limit is not carried along with the calls on their way, nor told one by one: the
/// work of a step does not grow with it.
#[test]
fn the_calls_on_their_way_are_never_more_than_the_limit() {
    let mut run = Run::new(Script::new(Vec::new()).spec()).unwrap();
    steps(&mut run);
    let parts = (0..4_000).map(|at| ReplyPart::call(format!("p{at}"), "no_such_tool", "")).collect();
    let outcome = Outcome::ModelReplied { call: ModelCallId(1), result: Ok(reply(parts, Stop::ToolCalls)) };
    run.feed(0, outcome).unwrap();
    assert_eq!(state(&run)["calls"].as_object().unwrap().len(), 128);
    let (mut events, mut results) = (0, 0);
    while let Some(step) = run.next() {
        match step {
            Step::Notify(_) => events += 1,
            Step::Record { lines, .. } => {
                let items = facts(&lines).into_iter().filter_map(|fact| match fact {
                    Fact::ItemAdded { body: Body::ToolResult { provider_id, .. }, .. } => Some(provider_id),
                    _ => None,
                });
                items.for_each(|provider_id| {
                    assert_eq!(provider_id, format!("p{results}"));
                    results += 1;
                });
            }
            _ => {}
        }
    }
    assert_eq!(results, 4_000);
    assert!(events < 140, "{events}");
}

#[test]
fn nothing_is_taken_once_a_run_has_ended() {
    let script = Script::new(vec![vec![Plan::Runs(Ends::Well)]]);
    let mut played = play(&script, Schedule::oldest_first(), Trouble::None);
    let before = state(&played.run);
    let result = Ok(reply(vec![act("p9")], Stop::ToolCalls));
    let late = [
        Outcome::Cancelled,
        Outcome::RecordFailed("late".to_owned()),
        Outcome::ModelReplied { call: ModelCallId(2), result },
        Outcome::Resolved { call: CallId(1), result: Ok(Touches::default()) },
        Outcome::FailureReported { call: None, seat: None, who: "x".to_owned(), error: "y".to_owned() },
    ];
    for outcome in late {
        assert_eq!(played.run.feed(0, outcome), Err(Unexpected));
        assert_eq!(state(&played.run), before);
        assert!(matches!(played.run.next(), Some(Step::Done(Ending::Answered))));
    }
}

#[test]
fn a_run_reads_back_at_every_point_of_its_way() {
    let (run, _) = asking();
    let text = serde_json::to_string(&run).unwrap();
    let read: Run = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    let fresh = Run::new(Script::new(Vec::new()).spec()).unwrap();
    let text = serde_json::to_string(&fresh).unwrap();
    let mut read: Run = serde_json::from_str(&text).unwrap();
    let (_, others) = steps(&mut read);
    assert!(matches!(&others[..], [Step::CallModel { .. }]));
}

/// The grant that a stored run carries is no permit: the policies are heard again, and one that now denies is obeyed.
#[test]
fn a_stored_run_is_judged_again_and_a_policy_that_changed_its_mind_is_obeyed() {
    let (mut run, digest) = asking();
    let answer = Answer::Approve { more: 0, by: principal("eve") };
    run.feed(0, Outcome::Answered { call: CallId(1), binding: digest, answer }).unwrap();
    let mut read: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    resolve_again(&mut read);
    let deny = Verdict::Deny { reason: "not any more".to_owned() };
    let (call, seat) = (CallId(1), Seat::ExecuteRecheck);
    read.feed(0, Outcome::Judged { call, seat, opinions: opinions(deny) }).unwrap();
    let (lines, others) = steps(&mut read);
    assert_eq!(denial(&lines).map(|denial| denial.code), Some(DenialCode::Policy));
    assert!(!others.iter().any(|step| matches!(step, Step::RunTool { .. })));
}

/// A pause between the seats takes what the task's own policies said; the run goes on, and everybody is heard again.
#[test]
fn a_run_stored_between_the_seats_of_two_levels_is_heard_again_and_asks_again() {
    let roster = || Roster::new(vec![policy_name("plan")]).unwrap();
    let said = |level, verdict| Opinion { level: Level(level), ..Opinion::own(policy_name("plan"), verdict) };
    let allow = || Said::Verdict(Verdict::Allow { reason: "yes".to_owned() });
    let asks = || Said::Verdict(ask());
    for (recheck, asked) in [(asks(), true), (allow(), false)] {
        let mut spec = Script::new(Vec::new()).spec();
        spec.bench = Bench::of(roster()).for_child(roster()).unwrap();
        let mut run = Run::new(spec).unwrap();
        let call = CallId(1);
        let result = Ok(reply(vec![act("p1")], Stop::ToolCalls));
        let outcomes = [
            Outcome::ModelReplied { call: ModelCallId(1), result },
            Outcome::Resolved { call, result: Ok(Touches::default()) },
            Outcome::Judged { call, seat: Seat::Adjudicate, opinions: vec![said(0, asks())] },
        ];
        for outcome in outcomes {
            steps(&mut run);
            run.feed(0, outcome).unwrap();
        }
        let (_, others) = steps(&mut run);
        assert!(matches!(&others[..], [Step::Judge { seat: Seat::Inherited, .. }]), "{others:?}");
        let mut run: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
        let opinions = vec![said(1, allow())];
        run.feed(0, Outcome::Judged { call, seat: Seat::Inherited, opinions }).unwrap();
        let (_, others) = steps(&mut run);
        assert!(matches!(&others[..], [Step::Judge { seat: Seat::ExecuteRecheck, .. }]), "{others:?}");
        let opinions = vec![said(0, recheck), said(1, allow())];
        run.feed(0, Outcome::Judged { call, seat: Seat::ExecuteRecheck, opinions }).unwrap();
        let (lines, others) = steps(&mut run);
        assert!(denial(&lines).is_none(), "{lines:?}");
        assert_eq!(matches!(&others[..], [Step::Ask { .. }]), asked, "{others:?}");
        assert_eq!(matches!(&others[..], [Step::RunTool { .. }]), !asked, "{others:?}");
    }
}

/// A spec is checked when it is used, whoever wrote it.
#[test]
fn a_spec_that_cannot_be_run_is_refused() {
    let check = |change: fn(&mut probity_core::RunSpec), expected: &str| {
        let mut spec = Script::new(Vec::new()).spec();
        change(&mut spec);
        assert_eq!(Run::new(spec).unwrap_err().to_string(), expected);
    };
    check(|spec| spec.items.clear(), "the task has no prompt");
    check(|spec| spec.limits.cost_usd_max = Some(1.0), "a limit of cost needs the model's prices");
    for bad in [f64::NAN, f64::INFINITY, -0.5] {
        let mut spec = Script::new(Vec::new()).spec();
        spec.prices = Some(Prices { input_usd: 1.0, cached_input_usd: None, output_usd: 1.0 });
        Run::new(spec.clone()).unwrap();
        let changes: [fn(&mut Prices, f64); 3] = [
            |prices, bad| prices.input_usd = bad,
            |prices, bad| prices.cached_input_usd = Some(bad),
            |prices, bad| prices.output_usd = bad,
        ];
        for change in changes {
            let mut spec = spec.clone();
            spec.prices.iter_mut().for_each(|prices| change(prices, bad));
            assert!(matches!(Run::new(spec), Err(SpecError::BadNumber(_))), "{bad}");
        }
        spec.limits.cost_usd_max = Some(bad);
        let error = Run::new(spec).unwrap_err().to_string();
        assert_eq!(error, "`cost_usd_max` must be a number that is not negative");
    }
    check(
        |spec| spec.tools = Arc::from([spec.tools[0].clone(), spec.tools[0].clone()]),
        "two tools are called `act`",
    );
}

/// A run whose one call has its permit and not its tool, stored before or after the record tells of the start.
fn permitted(effect: Effect, recorded: bool) -> Run {
    let mut run = Run::new(Script { effect, ..Script::new(Vec::new()) }.spec()).unwrap();
    let allow = || Verdict::Allow { reason: "yes".to_owned() };
    let call = CallId(1);
    let result = Ok(reply(vec![act("p1")], Stop::ToolCalls));
    let outcomes = [
        Outcome::ModelReplied { call: ModelCallId(1), result },
        Outcome::Resolved { call, result: Ok(Touches::default()) },
        Outcome::Judged { call, seat: Seat::Adjudicate, opinions: opinions(allow()) },
        Outcome::Judged { call, seat: Seat::ExecuteRecheck, opinions: opinions(allow()) },
    ];
    for outcome in outcomes {
        steps(&mut run);
        run.feed(0, outcome).unwrap();
    }
    if recorded {
        assert!(matches!(run.next(), Some(Step::Record { .. })));
    }
    serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap()
}

/// Once the record tells of a start, nobody who reads the run back can say that the tool never had its permit.
#[test]
fn a_permit_lost_in_a_pause_is_unused_only_where_the_record_does_not_tell_of_it() {
    let check = |effect: Effect, recorded: bool, outcome: Option<ToolOutcomeKind>, again: bool| {
        let mut run = permitted(effect, recorded);
        let (lines, others) = steps(&mut run);
        let facts = facts(&lines);
        let finished = facts.iter().find_map(|fact| match fact {
            Fact::ToolFinished { outcome, .. } => Some(*outcome),
            _ => None,
        });
        assert_eq!(finished, outcome, "{effect} {recorded}");
        assert!(!facts.iter().any(|fact| matches!(fact, Fact::ToolStarted { .. })), "{effect} {recorded}");
        let goes_on = others.iter().any(|step| matches!(step, Step::Resolve { .. }));
        assert_eq!(goes_on, again, "{effect} {recorded}");
    };
    let cut_off = ToolErrorClass::Cancelled;
    for effect in [Effect::Pure, Effect::Idempotent, Effect::Reconcile, Effect::Once] {
        check(effect, false, None, true);
    }
    check(Effect::Pure, true, Some(ToolOutcomeKind::Failed(cut_off)), true);
    check(Effect::Idempotent, true, Some(ToolOutcomeKind::Unknown(cut_off)), true);
    check(Effect::Reconcile, true, Some(ToolOutcomeKind::Unknown(cut_off)), false);
    check(Effect::Once, true, Some(ToolOutcomeKind::Unknown(cut_off)), false);
}

/// A grant is an answer to those who asked. A policy that asks for the first time after it has not been answered.
#[test]
fn an_approval_does_not_cover_a_policy_that_asks_later() {
    let mut spec = Script::new(Vec::new()).spec();
    spec.bench = Bench::of(Roster::new(vec![policy_name("plan"), policy_name("other")]).unwrap());
    let mut run = Run::new(spec).unwrap();
    let both = |other: Verdict| {
        let said = |name, verdict| Opinion::own(policy_name(name), Said::Verdict(verdict));
        vec![said("plan", ask()), said("other", other)]
    };
    let call = CallId(1);
    let result = Ok(reply(vec![act("p1")], Stop::ToolCalls));
    let allow = Verdict::Allow { reason: "yes".to_owned() };
    let outcomes = [
        Outcome::ModelReplied { call: ModelCallId(1), result },
        Outcome::Resolved { call, result: Ok(Touches::default()) },
        Outcome::Judged { call, seat: Seat::Adjudicate, opinions: both(allow) },
    ];
    for outcome in outcomes {
        steps(&mut run);
        run.feed(0, outcome).unwrap();
    }
    let (_, others) = steps(&mut run);
    let [Step::Ask { question }] = &others[..] else { panic!("{others:?}") };
    let (digest, answer) = (question.binding(), Answer::Approve { more: 0, by: principal("eve") });
    run.feed(0, Outcome::Answered { call, binding: digest, answer }).unwrap();
    resolve_again(&mut run);
    run.feed(0, Outcome::Judged { call, seat: Seat::ExecuteRecheck, opinions: both(ask()) }).unwrap();
    let (lines, others) = steps(&mut run);
    let [Step::Ask { question }] = &others[..] else { panic!("{others:?}") };
    assert_eq!((denial(&lines), question.facts().askers.len()), (None, 2));
}

/// Whoever answers twice, or too late, finds the answer in the record: it was given, and had no effect.
#[test]
fn i29_an_answer_to_a_call_that_waits_for_none_is_written_down_as_void() {
    let (mut run, digest) = asking();
    let call = CallId(1);
    let answered = |call, who| Outcome::Answered {
        call,
        binding: digest,
        answer: Answer::Approve { more: 0, by: principal(who) },
    };
    run.feed(0, answered(call, "eve")).unwrap();
    steps(&mut run);
    assert_eq!(run.feed(0, answered(call, "bob")), Err(Unexpected));
    let (lines, others) = steps(&mut run);
    assert!(others.is_empty(), "{others:?}");
    let expected = Fact::Answered { call, digest, answer: AnswerKind::Void, by: Some(principal("bob")) };
    assert_eq!(facts(&lines), [expected]);
    assert_eq!(run.feed(0, answered(CallId(2), "bob")), Err(Unexpected));
    assert!(steps(&mut run).0.is_empty(), "a call that never was");
}
