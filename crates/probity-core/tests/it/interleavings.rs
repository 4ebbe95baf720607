//! Every interleaving of what threads share, by a model checker: the small modules on their very text, and the machine
//! behind a lock.

#[path = "../../src/sync/nursery.rs"]
mod nursery;
#[path = "../../src/sync/purse.rs"]
mod purse;
#[path = "../../src/sync/steady.rs"]
mod steady;
#[path = "../../src/sync/used.rs"]
mod used;

/// The model checker's primitives, in the place of the standard library's.
mod atomics {
    pub(super) use loom::sync::Mutex;
}

use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use probity_contract::{
    Allowance, Answer, AnswerKind, CallId, Digest, Effect, Emission, Fact, ModelCallId, Opinion, PendingCall,
    ReplyPart, Said, Spending, Verdict,
};
use probity_core::Run;
use probity_testkit::{policy_name, principal};

use crate::desk::{Desk, Owed, answered, approve, finished, judged, not_known, replied, spec, told, tool};
use nursery::Nursery;
use purse::Purse;
use steady::Reading;
use used::Used;

/// Two to four use one approval: one is the first, whoever else uses what else.
#[test]
fn i20_of_all_who_redeem_a_grant_one_is_the_first() {
    for many in 2..=4 {
        // Four at once have more interleavings than are worth the time; two switches find what there is to find.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = (many > 2).then_some(2);
        model.check(move || {
            let (used, first) = (Arc::new(Used::new()), Arc::new(AtomicUsize::new(0)));
            let redeem = |_| {
                let (used, first) = (Arc::clone(&used), Arc::clone(&first));
                thread::spawn(move || {
                    if used.is_first(Digest::of("test", &[b"this"])) {
                        first.fetch_add(1, Ordering::Relaxed);
                    }
                })
            };
            // The thread of the model redeems too.
            let threads: Vec<_> = (1..many).map(redeem).collect();
            let own = used.is_first(Digest::of("test", &[b"this"]));
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(first.load(Ordering::Relaxed) + usize::from(own), 1);
            assert!(used.is_first(Digest::of("test", &[b"another"])), "another is not used by that");
        });
    }
}

/// Rules change while policies judge: an opinion that counts under a number was never worked out by older rules.
#[test]
fn i51_an_opinion_under_older_rules_never_counts_under_newer_ones() {
    loom::model(|| {
        // Rule 0 allows, rules 1 and 2 deny; each has its number.
        let (rules, epoch) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let changing = {
            let (rules, epoch) = (Arc::clone(&rules), Arc::clone(&epoch));
            thread::spawn(move || {
                for number in 1..=2 {
                    // In the order that the port asks for.
                    rules.store(number, Ordering::SeqCst);
                    epoch.store(number, Ordering::SeqCst);
                }
            })
        };
        let judge = || {
            let reading = Reading::begin(epoch.load(Ordering::SeqCst));
            let judged_by = rules.load(Ordering::SeqCst);
            reading.end(epoch.load(Ordering::SeqCst)).map(|epoch| (judged_by, epoch))
        };
        let said = judge();
        if let Some((judged_by, epoch)) = said {
            assert!(judged_by >= epoch, "rules {judged_by} under number {epoch}");
        }
        changing.join().unwrap();
        // When all is quiet, whatever was said before is known by its number to be of before.
        let now = judge().unwrap();
        assert_eq!(now, (2, 2));
        if let Some((judged_by, epoch)) = said {
            assert!(epoch != now.1 || judged_by == 2, "an old opinion under the number in force");
        }
    });
}

/// The bytes of a thread that runs the machine: that takes more than the model checker's own threads have.
const STACK_BYTES: usize = 4 * 1024 * 1024;

fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    // It counts in words.
    thread::Builder::new().stack_size(STACK_BYTES / 8).spawn(work).unwrap()
}

fn asks() -> Vec<Opinion> {
    vec![Opinion::own(policy_name("careful"), Said::Verdict(Verdict::Ask { reason: "sure?".to_owned() }))]
}

fn pay(desk: &mut Desk) {
    let fed = match desk.open[0].clone() {
        Owed::Model(ModelCallId(1)) => {
            desk.feed(replied(ModelCallId(1), vec![ReplyPart::call("p", "act", "{}")]))
        }
        Owed::Model(call) => desk.feed(replied(call, vec![ReplyPart::text("done")])),
        Owed::Targets(call, _) => desk.feed(told(call, Vec::new())),
        Owed::Opinions(call, seat) => desk.feed(judged(&call, seat, asks())),
        Owed::Answer(question) => desk.feed(answered(&question, Answer::Nobody)),
        Owed::Reconcile(call) => desk.feed(not_known(call)),
        Owed::Tool(call) => desk.feed(finished(call.id(), "done")),
    };
    fed.unwrap();
}

/// The run at its question, as it is stored.
fn stored() -> (String, PendingCall) {
    let mut desk = Desk::new(Run::new(spec(vec![tool("act", Effect::Once)])).unwrap());
    while desk.question().is_none() {
        pay(&mut desk);
    }
    (desk.stored(), desk.question().unwrap())
}

/// Several answers to one question come at once: one moves the run, the others are written down as void, and the tool starts
/// at most once. The real machine behind a lock, as a driver has it.
#[test]
fn i29_i20_of_several_answers_at_once_one_counts_and_the_others_are_void() {
    let (stored, question) = stored();
    let refuse = || Answer::Refuse { by: principal("eve"), reason: "no".to_owned(), for_good: false };
    for many in 2..=3 {
        let (stored, question) = (stored.clone(), question.clone());
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let (stored, question) = (stored.clone(), question.clone());
            let threads = spawn(move || {
                let mut run: Run = serde_json::from_str(&stored).unwrap();
                run.abandon_outstanding();
                let desk = Arc::new(Mutex::new(Desk::new(run)));
                let answer = |at: usize| {
                    let (desk, question) = (Arc::clone(&desk), question.clone());
                    spawn(move || {
                        let answer = if at == 1 { refuse() } else { approve() };
                        desk.lock().unwrap().feed(answered(&question, answer)).is_ok()
                    })
                };
                let threads: Vec<_> = (0..many).map(answer).collect();
                let taken: Vec<bool> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
                assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "one answer moves the run");
                let mut desk = desk.lock().unwrap();
                while desk.ending.is_none() {
                    pay(&mut desk);
                }
                assert!(desk.started.len() <= 1);
                let is_void = |line: &&Emission| match line {
                    Emission::Entry(entry) => {
                        matches!(entry.fact, Fact::Answered { answer: AnswerKind::Void, .. })
                    }
                    Emission::Part(_) => false,
                };
                assert_eq!(
                    desk.lines.iter().filter(is_void).count(),
                    many - 1,
                    "the others are written down"
                );
            });
            threads.join().unwrap();
        });
    }
}

/// What is decided of two calls: the first is allowed, the second denied.
fn opinion_of(call: CallId) -> Vec<Opinion> {
    let reason = "the rules".to_owned();
    let verdict = if call == CallId(1) { Verdict::Allow { reason } } else { Verdict::Deny { reason } };
    vec![Opinion::own(policy_name("careful"), Said::Verdict(verdict))]
}

/// Deals with the next debt that is about this call; false where there is none.
fn pay_for(desk: &mut Desk, call: CallId) -> bool {
    let owed = desk.open.iter().find_map(|owed| match owed {
        Owed::Opinions(frozen, seat) if frozen.id() == call => Some(judged(frozen, *seat, opinion_of(call))),
        Owed::Tool(frozen) if frozen.id() == call => Some(finished(call, "done")),
        _ => None,
    });
    owed.is_some_and(|outcome| desk.feed(outcome).is_ok())
}

/// What the record says was decided of a call, in order.
fn decided(desk: &Desk, of: CallId) -> Vec<String> {
    let decided = desk.lines.iter().filter_map(|line| match line {
        Emission::Entry(entry) => match &entry.fact {
            Fact::Judged { call, seat, opinions } if *call == of => Some(format!("{seat} {opinions:?}")),
            Fact::Denied { call, denial } if *call == of => Some(format!("denied {:?}", denial.code)),
            Fact::ToolStarted { call, .. } if *call == of => Some("started".to_owned()),
            Fact::ToolFinished { call, outcome, .. } if *call == of => Some(format!("{outcome:?}")),
            _ => None,
        },
        Emission::Part(_) => None,
    });
    decided.collect()
}

/// Opinions and results of two calls come from two threads, in every interleaving: each call is decided as if it were alone.
#[test]
fn i45_two_calls_are_decided_alike_in_every_interleaving() {
    let calls = [CallId(1), CallId(2)];
    let mut desk = Desk::new(Run::new(spec(vec![tool("act", Effect::Once)])).unwrap());
    let proposed =
        calls.map(|call| ReplyPart::call(format!("p{call}"), "act", format!(r#"{{"n":{}}}"#, call.0)));
    desk.feed(replied(ModelCallId(1), proposed.to_vec())).unwrap();
    for call in calls {
        desk.feed(told(call, Vec::new())).unwrap();
    }
    let stored = desk.stored();
    let begun = move || {
        let mut run: Run = serde_json::from_str(&stored).unwrap();
        run.abandon_outstanding();
        Desk::new(run)
    };
    let mut alone = begun();
    for call in calls {
        while pay_for(&mut alone, call) {}
    }
    let expected = calls.map(|call| decided(&alone, call));
    assert_eq!(expected.each_ref().map(Vec::len), [4, 2], "{expected:?}");
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let (begun, expected) = (begun.clone(), expected.clone());
        let threads = spawn(move || {
            let desk = Arc::new(Mutex::new(begun()));
            let threads = calls.map(|call| {
                let desk = Arc::clone(&desk);
                spawn(move || while pay_for(&mut desk.lock().unwrap(), call) {})
            });
            for thread in threads {
                thread.join().unwrap();
            }
            let desk = desk.lock().unwrap();
            assert_eq!(calls.map(|call| decided(&desk, call)), expected);
            assert_eq!(desk.started.len(), 1);
        });
        threads.join().unwrap();
    });
}

/// Tasks are started while their call ends: each is turned away, or known to whoever ends it. None is left behind.
#[test]
fn i31_i33_whoever_starts_while_a_call_ends_is_turned_away_or_stopped() {
    for many in 1..=3 {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = (many > 2).then_some(2);
        model.check(move || {
            let nursery = Arc::new(Nursery::new());
            let starts: Vec<_> = (0..many)
                .map(|child| {
                    let nursery = Arc::clone(&nursery);
                    thread::spawn(move || nursery.admit(|| child))
                })
                .collect();
            let mut stopped = nursery.close();
            let admitted: Vec<bool> = starts.into_iter().map(|start| start.join().unwrap()).collect();
            stopped.sort_unstable();
            let let_in: Vec<usize> = (0..many).filter(|child| admitted[*child]).collect();
            assert_eq!(stopped, let_in);
            assert!(!nursery.admit(|| many) && nursery.close().is_empty(), "closed is closed");
        });
    }
}

/// Tasks of one call take of what is kept for it at the same time, and give back: all together never have more than there was.
#[test]
fn tasks_that_run_side_by_side_never_have_more_than_there_was() {
    let kinds = |n: u32| Allowance {
        turns: n,
        tool_calls: n,
        tokens: Some(n.into()),
        cost_usd: Some(f64::from(n)),
        wall_ms: None,
    };
    loom::model(move || {
        let (purse, out) = (Arc::new(Purse::new(kinds(5))), Arc::new(AtomicU64::new(0)));
        let child = |wanted: u32, used: u32| {
            let (purse, out) = (Arc::clone(&purse), Arc::clone(&out));
            thread::spawn(move || {
                let taken = purse.take(&kinds(wanted));
                // Counted after it was taken and before it is given back, so this is never too much.
                let now = out.fetch_add(taken.turns.into(), Ordering::SeqCst) + u64::from(taken.turns);
                assert!(now <= 5, "{now} are out");
                let spent =
                    Spending { turns: used.min(taken.turns), ..kinds(used).least(&taken).all_spent() };
                out.fetch_sub(taken.without(&spent).turns.into(), Ordering::SeqCst);
                purse.give_back(&taken, &spent);
                spent.turns
            })
        };
        let spent: Vec<u32> =
            [child(3, 1), child(4, 4)].into_iter().map(|child| child.join().unwrap()).collect();
        let left = purse.take(&kinds(9));
        assert_eq!(left.turns + spent.iter().sum::<u32>(), 5, "nothing is lost and nothing is made");
        assert_eq!((left.tool_calls, left.tokens), (left.turns, Some(left.turns.into())));
    });
}

/// What is revoked above reaches a task below by its next call: no hearing that begins after the revocation is over allows.
#[test]
fn i31_a_call_that_is_heard_after_a_revocation_is_not_allowed() {
    loom::model(|| {
        // The policy of the task above, shared: the rules, their number, and whether the person has read that it is done.
        let rules = Arc::new((AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0)));
        let revoking = {
            let rules = Arc::clone(&rules);
            thread::spawn(move || {
                rules.0.store(1, Ordering::SeqCst);
                rules.1.store(1, Ordering::SeqCst);
                rules.2.store(1, Ordering::SeqCst);
            })
        };
        for _call in 0..2 {
            let revoked_before = rules.2.load(Ordering::SeqCst) == 1;
            let reading = Reading::begin(rules.1.load(Ordering::SeqCst));
            let allows = rules.0.load(Ordering::SeqCst) == 0;
            let counts = reading.end(rules.1.load(Ordering::SeqCst)).is_some();
            assert!(!(revoked_before && counts && allows), "allowed after it was revoked");
        }
        revoking.join().unwrap();
    });
}
