//! Runs that are kept in sealed checkpoints and taken up again, on the machine itself.

use std::sync::{Arc, Barrier, Mutex};

use probity_contract::{
    Answer, AnswerKind, CallId, Effect, Emission, Fact, Level, ModelCallId, Opinion, PendingCall, ReplyPart,
    Said, ToolOutcomeKind, Verdict,
};
use probity_core::{Checkpoint, CheckpointError, KeyRing, Making, NONCE_BYTES, Outcome, Run, Unexpected};
use probity_testkit::{ScenarioRow, policy_name, principal};
use serde_json::Value;

use super::desk::{Desk, Owed, answered, approve, finished, judged, not_known, replied, spec, told, tool};
use super::stage::{Decision, expects, tool_name, wanted};

const MADE_AT_UNIX_MS: u64 = 1_000;

fn ring() -> KeyRing {
    KeyRing::parse(&KeyRing::written(&[7; 32])).unwrap()
}

/// The run as it is kept: sealed, as checkpoint number `generation`.
fn sealed(run: &Run, generation: u64) -> Vec<u8> {
    let nonce = [u8::try_from(generation).unwrap(); NONCE_BYTES];
    let (host, made_at_unix_ms) = (Value::Null, MADE_AT_UNIX_MS);
    Checkpoint::seal(
        &ring(),
        &run.snapshot().unwrap(),
        &Making { generation, made_at_unix_ms, ttl_s: 60, host: &host, nonce },
    )
    .unwrap()
}

/// Another driver takes the run up from a checkpoint, where the last one was number `last`.
fn opened(desk: &Desk, sealed: &[u8], last: u64) -> Result<Desk, CheckpointError> {
    let checkpoint = Checkpoint::open(&ring(), sealed, MADE_AT_UNIX_MS, last)?;
    Ok(desk.goes_on_as(checkpoint.run))
}

/// The run as another driver has it that takes it up now.
fn taken_up(desk: &Desk) -> Desk {
    opened(desk, &sealed(&desk.run, 1), 1).unwrap()
}

fn opinions(verdict: Verdict) -> Vec<Opinion> {
    vec![Opinion {
        level: Level::OWN,
        policy: policy_name("careful"),
        epoch: None,
        said: Said::Verdict(verdict),
    }]
}

fn asks() -> Verdict {
    Verdict::Ask { reason: "sure?".to_owned() }
}

fn denies() -> Verdict {
    Verdict::Deny { reason: "not any more".to_owned() }
}

/// A run that has come to its question about the row's call with these arguments.
pub(super) fn asking(row: &ScenarioRow, arguments: &Value) -> (PendingCall, Desk) {
    let name = tool_name(row);
    let mut desk = Desk::new(Run::new(spec(vec![tool(&name, Effect::Once)])).unwrap());
    let part = ReplyPart::call("p1", &name, arguments.to_string());
    desk.feed(replied(ModelCallId(1), vec![part])).unwrap();
    while desk.question().is_none() {
        pay(&mut desk, &asks());
    }
    (desk.question().unwrap(), desk)
}

/// Pays the oldest debt, the policy saying this. People are not there.
fn pay(desk: &mut Desk, verdict: &Verdict) {
    try_to_pay(desk, verdict).unwrap();
}

fn try_to_pay(desk: &mut Desk, verdict: &Verdict) -> Result<(), Unexpected> {
    match desk.open[0].clone() {
        Owed::Model(call) => desk.feed(replied(call, vec![ReplyPart::text("done")])),
        Owed::Targets(call, _) => desk.feed(told(call, Vec::new())),
        Owed::Opinions(call, seat) => desk.feed(judged(&call, seat, opinions(verdict.clone()))),
        Owed::Answer(question) => desk.feed(answered(&question, Answer::Nobody)),
        Owed::Reconcile(call) => desk.feed(not_known(call)),
        Owed::Tool(call) => desk.feed(finished(call.id(), "done")),
    }
}

/// The same for a run that was written to and need not make sense: it may wait for what nobody owes, and for nothing.
fn go_on_whatever(mut desk: Desk, verdict: &Verdict) -> Desk {
    for _ in 0..100 {
        if desk.ending.is_some() || desk.open.is_empty() {
            break;
        }
        if try_to_pay(&mut desk, verdict).is_err() {
            desk.open.remove(0);
        }
    }
    desk
}

/// Lets the run go on to its end, the policy saying this.
fn go_on(mut desk: Desk, verdict: &Verdict) -> Desk {
    while desk.ending.is_none() {
        pay(&mut desk, verdict);
    }
    desk
}

fn facts(lines: &[Emission]) -> Vec<Fact> {
    let facts = lines.iter().filter_map(|line| match line {
        Emission::Entry(entry) => Some(entry.fact.clone()),
        Emission::Part(_) => None,
    });
    facts.collect()
}

fn is_void(fact: &Fact) -> bool {
    matches!(fact, Fact::Answered { answer: AnswerKind::Void, .. })
}

/// An approval does not outrank what is said now.
pub(super) fn under_other_rules(row: &ScenarioRow) {
    let (question, desk) = asking(row, &row.arguments());
    // Answered before the pause, and after.
    for answered_before in [true, false] {
        let mut desk = taken_up(&desk);
        if answered_before {
            desk.feed(answered(&question, approve())).unwrap();
        }
        let mut desk = taken_up(&desk);
        if !answered_before {
            desk.feed(answered(&question, approve())).unwrap();
        }
        let desk = go_on(desk, &denies());
        assert!(desk.started.is_empty(), "{:?}", desk.started);
        assert!(facts(&desk.lines).iter().any(|fact| matches!(fact, Fact::Denied { .. })));
    }
    // Nothing changed, it runs.
    let mut desk = taken_up(&desk);
    desk.feed(answered(&question, approve())).unwrap();
    assert_eq!(go_on(desk, &asks()).started.len(), 1);
    assert_eq!(wanted(row.expected("decision").unwrap()), [Decision::Deny]);
}

/// Every byte of a checkpoint is flipped, older ones are brought, and answers and parts are taken from one run to another.
pub(super) fn tampered(row: &ScenarioRow) {
    let (question, desk) = asking(row, &row.arguments());
    let kept = sealed(&desk.run, 2);
    assert!(opened(&desk, &kept, 2).is_ok());
    for at in 0..kept.len() {
        for bit in [1, 0x80] {
            let mut flipped = kept.clone();
            flipped[at] ^= bit;
            assert!(opened(&desk, &flipped, 2).is_err(), "byte {at} of {} can be flipped", kept.len());
        }
        assert!(opened(&desk, &kept[..at], 2).is_err(), "cut after {at} bytes");
    }
    let older = opened(&desk, &sealed(&desk.run, 1), 2).err();
    assert!(matches!(older, Some(CheckpointError::Older { .. })), "{older:?}");

    // Should the seal ever not hold: bytes of the run itself. Not each stands for something that an approval is bound to, but
    // whatever can be read back must not run anything but the approved call.
    let (stored, digest) = (desk.stored(), question.call().digest());
    let mut refused = 0;
    for at in 0..stored.len() {
        let mut flipped = stored.as_bytes().to_vec();
        flipped[at] ^= 1;
        let Some(mut desk) = String::from_utf8(flipped).ok().and_then(|text| desk.taken_up(&text).ok())
        else {
            refused += 1;
            continue;
        };
        let _void = desk.feed(answered(&question, approve()));
        let desk = go_on_whatever(desk, &asks());
        assert!(desk.started.iter().all(|call| call.digest() == digest), "byte {at}: another call runs");
        assert!(desk.started.len() <= 1, "byte {at}: it runs twice");
    }
    assert!(refused > stored.len() / 4, "{refused} of {} flipped bytes are noticed", stored.len());

    // The approval of one run's question in another run, and the question itself put into the other run.
    let mut arguments = row.arguments();
    arguments["content"] = Value::from("something else");
    let (foreign, mut other) = asking(row, &arguments);
    assert_ne!(foreign.binding(), question.binding());
    assert!(other.feed(answered(&question, approve())).is_err());
    assert!(go_on(other, &asks()).started.is_empty());
    let mut state: Value = serde_json::from_str(&stored).unwrap();
    state["calls"]["1"]["question"] = serde_json::to_value(&foreign).unwrap();
    if let Ok(mut desk) = desk.taken_up(&state.to_string()) {
        let _void = desk.feed(answered(&foreign, approve()));
        let desk = go_on_whatever(desk, &asks());
        assert!(desk.started.is_empty(), "an approval of another call is taken");
    }
    assert!(wanted(row.expected("decision").unwrap()).contains(&Decision::Deny));
}

/// An answer that was made up: its binding stands for no question that was put.
pub(super) fn forged(row: &ScenarioRow) {
    let (question, mut desk) = asking(row, &row.arguments());
    let foreign = probity_contract::Digest::of("test", &[b"forged"]);
    for (call, binding) in
        [(CallId(1), foreign), (CallId(1), question.call().digest()), (CallId(2), question.binding())]
    {
        let outcome = Outcome::Answered { call, binding, answer: approve() };
        assert!(desk.feed(outcome).is_err());
    }
    let desk = go_on(desk, &asks());
    assert!(desk.started.is_empty());
    assert!(facts(&desk.lines).iter().any(is_void), "it is written down that somebody tried");
}

/// Two to four deliver the approval at once, or go on with it from one checkpoint: one start.
pub(super) fn used_by_many(row: &ScenarioRow) {
    for many in 2..=4 {
        for _ in 0..8 {
            let (question, desk) = asking(row, &row.arguments());
            let (desk, barrier) = (Arc::new(Mutex::new(desk)), Arc::new(Barrier::new(many)));
            let deliver = || {
                let (desk, barrier, question) = (Arc::clone(&desk), Arc::clone(&barrier), question.clone());
                std::thread::spawn(move || {
                    barrier.wait();
                    desk.lock().unwrap().feed(answered(&question, approve())).is_ok()
                })
            };
            let threads: Vec<_> = (0..many).map(|_| deliver()).collect();
            let taken: Vec<bool> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
            let desk = Arc::try_unwrap(desk).ok().unwrap().into_inner().unwrap();
            assert_eq!(go_on(desk, &asks()).started.len(), 1);
        }
        // Several processes with one checkpoint in which the approval lies, and one count of uses.
        let (question, mut desk) = asking(row, &row.arguments());
        desk.feed(answered(&question, approve())).unwrap();
        let kept = sealed(&desk.run, 1);
        let starts = (0..many).map(|_| {
            let desk = go_on(opened(&desk, &kept, 1).unwrap(), &asks());
            desk.started.len()
        });
        assert_eq!(starts.sum::<usize>(), 1, "one of {many} processes");
    }
    assert_eq!(row.expects_run(), Some(true));
}

/// A clock that goes back revives nothing.
pub(super) fn clock_steps_back(row: &ScenarioRow) {
    let (question, mut desk) = asking(row, &row.arguments());
    let expires_at_ms = question.facts().expires_at_ms;
    for now_ms in [expires_at_ms, 5] {
        desk.now_ms = now_ms;
        let who = "somebody".to_owned();
        let reported = Outcome::FailureReported { call: None, seat: None, who, error: "failed".to_owned() };
        desk.feed(reported).unwrap();
    }
    desk.feed(answered(&question, approve())).unwrap();
    assert!(go_on(desk, &asks()).started.is_empty());
}

/// Every outcome that belonged to a refused call comes again, in the run and in one that was stored.
pub(super) fn rejected(row: &ScenarioRow) {
    let (question, mut desk) = asking(row, &row.arguments());
    let refuse = || Answer::Refuse { by: principal("eve"), reason: "no".to_owned(), for_good: false };
    let before = sealed(&desk.run, 1);
    desk.feed(answered(&question, refuse())).unwrap();
    let call = question.call().clone();
    let again = || {
        let seats = [probity_contract::Seat::Adjudicate, probity_contract::Seat::ExecuteRecheck];
        let allow = || opinions(Verdict::Allow { reason: "yes".to_owned() });
        let mut outcomes = vec![answered(&question, approve()), told(call.id(), Vec::new())];
        outcomes.extend(seats.map(|seat| judged(&call, seat, allow())));
        outcomes.push(replied(
            ModelCallId(1),
            vec![ReplyPart::call("p1", tool_name(row), row.arguments().to_string())],
        ));
        outcomes
    };
    for outcome in again() {
        assert!(desk.feed(outcome).is_err(), "somebody waits for what was settled");
    }
    let mut later = taken_up(&desk);
    for outcome in again() {
        assert!(later.feed(outcome).is_err());
    }
    assert!(go_on(later, &asks()).started.is_empty());
    // A checkpoint from before the refusal is not the last.
    assert!(opened(&desk, &before, 2).is_err());
}

/// An answer to a question that was put anew: ignored, and written down.
pub(super) fn late_answer(row: &ScenarioRow) {
    let (question, mut desk) = asking(row, &row.arguments());
    desk.feed(answered(&question, approve())).unwrap();
    let with_epoch = |rules: &[u8]| {
        let mut opinions = opinions(asks());
        opinions[0].epoch = Some(probity_contract::Digest::of("test.rules", &[rules]));
        opinions
    };
    while desk.question().is_none() {
        match desk.open[0].clone() {
            Owed::Opinions(call, seat) => desk.feed(judged(&call, seat, with_epoch(b"new"))).unwrap(),
            _ => pay(&mut desk, &asks()),
        }
    }
    let second = desk.question().unwrap();
    assert_ne!(second.binding(), question.binding());
    let voids = |desk: &Desk| facts(&desk.lines).iter().filter(|fact| is_void(fact)).count();
    let before = voids(&desk);
    assert!(desk.feed(answered(&question, approve())).is_err());
    assert_eq!(voids(&desk), before + 1);
    assert!(desk.question().is_some(), "the second question stays open");
    assert!(go_on(desk, &asks()).started.is_empty());
}

/// The process ends at every point of the way; the effect is known, absent or in doubt, and happens once.
pub(super) fn in_doubt(row: &ScenarioRow) {
    expects(row, &["in-doubt", "in doubt", "unknown", "exactly one", "not silently"]);
    let mut unknown = 0;
    // Stored and taken up after so many outcomes.
    for crash in 0..12 {
        let (question, mut desk) = asking(row, &row.arguments());
        let mut answered_once = false;
        let mut fed = 0;
        while desk.ending.is_none() {
            if fed == crash {
                let started = desk.started.len();
                let running = desk.open.iter().any(|owed| matches!(owed, Owed::Tool(_)));
                desk = taken_up(&desk);
                let told = facts(&desk.lines).into_iter().filter(|fact| {
                    matches!(fact, Fact::ToolFinished { outcome: ToolOutcomeKind::Unknown(_), .. })
                });
                if running {
                    assert_eq!((told.count(), started), (1, 1), "an effect in doubt is told to be");
                    unknown += 1;
                }
            }
            fed += 1;
            if let Some(open) = desk.question().filter(|_| !answered_once) {
                assert_eq!(open.binding(), question.binding());
                answered_once = true;
                desk.feed(answered(&open, approve())).unwrap();
                continue;
            }
            pay(&mut desk, &asks());
        }
        assert_eq!(desk.started.len(), 1, "after {crash} outcomes: it ran {} times", desk.started.len());
    }
    assert!(unknown > 0, "the process never ended while the tool ran");
}
