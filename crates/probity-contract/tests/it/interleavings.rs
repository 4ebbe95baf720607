//! Every interleaving of what threads share, by a model checker, on the very text that is used.

#[path = "../../src/sync/latch.rs"]
mod latch;

/// The model checker's primitives, in the place of the standard library's.
mod atomics {
    pub(super) use loom::sync::atomic::{AtomicBool, Ordering};
}

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use latch::Latch;

/// Every interleaving with at most two switches that no thread asked for: what three threads can get wrong shows with these,
/// and all there are would take minutes.
fn check(threads: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(threads);
}

/// A decision is a cancellation if and only if the signal had fired before it was sealed.
#[test]
fn i08_a_decision_is_a_cancellation_if_and_only_if_the_signal_fired_before_it_was_sealed() {
    check(|| {
        let latch = Arc::new(Latch::new());
        // Stands for whatever else tells that the task was cancelled: a message, an error of a tool.
        let told = Arc::new(AtomicBool::new(false));
        // Set right before the signal is fired.
        let about_to = Arc::new(AtomicBool::new(false));
        let firing = {
            let (latch, told, about_to) = (Arc::clone(&latch), Arc::clone(&told), Arc::clone(&about_to));
            thread::spawn(move || {
                about_to.store(true, Ordering::Relaxed);
                latch.fire();
                told.store(true, Ordering::Release);
            })
        };
        let deciding = || {
            let (latch, told, about_to) = (Arc::clone(&latch), Arc::clone(&told), Arc::clone(&about_to));
            thread::spawn(move || {
                let was_told = told.load(Ordering::Acquire);
                let sealed = latch.is_fired();
                assert!(!was_told || sealed, "it had fired, and the decision is none of a cancellation");
                // What was done before the signal is seen by whoever sees the signal.
                assert!(!sealed || about_to.load(Ordering::Relaxed), "a cancellation that nobody asked for");
                // It stays what it was.
                assert!(!sealed || latch.is_fired());
            })
        };
        let deciders = [deciding(), deciding()];
        firing.join().unwrap();
        for decider in deciders {
            decider.join().unwrap();
        }
        assert!(latch.is_fired());
    });
}

/// However many fire it, one is the first: those who wait are woken once.
#[test]
fn i08_of_all_who_fire_the_signal_one_is_the_first() {
    for many in 2..=3 {
        check(move || {
            let (latch, first) = (Arc::new(Latch::new()), Arc::new(AtomicUsize::new(0)));
            let fire = || {
                let (latch, first) = (Arc::clone(&latch), Arc::clone(&first));
                thread::spawn(move || {
                    if latch.fire() {
                        first.fetch_add(1, Ordering::Relaxed);
                    }
                })
            };
            let threads: Vec<_> = (0..many).map(|_| fire()).collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(first.load(Ordering::Relaxed), 1);
        });
    }
}
