//! Asks interceptors, and whoever may lift a deny of theirs. Whatever is not an answer is a deny.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{Cancel, Consultant, Consultation, HookVerdict, Interceptor, Occasion, PolicyError};
use probity_egress::{Egress, SamePrincipal, egress_panic, one_line_untrusted};
use tokio::sync::mpsc;
use tokio::task::JoinError;
use tokio::time::Instant;

use super::owned::Owned;
use super::watch::{Broken, Watch};
use crate::boundary::{Consulted, Heard, scrubbed};
use crate::run::Outcome;

/// A row of interceptors and what they are asked about.
pub(super) struct Row {
    pub(super) passage: u64,
    /// Who, by number; `None` where there is nobody under it.
    pub(super) seats: Vec<(u32, Option<Arc<dyn Interceptor>>)>,
    pub(super) occasion: Occasion,
    /// How long each may take.
    pub(super) timeout: Duration,
}

/// How far a row is. Whoever keeps its deadlines reads it, whatever has become of who writes it.
struct Progress {
    /// How many have said a plain allow.
    passed: usize,
    /// When the one after them was asked.
    asked: Instant,
    /// Nobody after them is asked any more.
    is_closed: bool,
}

/// What ended a row.
enum Last {
    /// All have said a plain allow.
    Nobody,
    /// This was said.
    Heard(Heard),
    /// This was thrown: whether it was no verdict, and in which words.
    Thrown(bool, Egress<SamePrincipal>),
    /// There is no such interceptor.
    Missing,
}

/// Has a row of interceptors look, each at its own copy of an occasion, one after the other until one says anything but a plain
/// allow. `alive` is let go when the futures of the interceptors are gone: what they have started has no other hold on it then.
pub(super) async fn intercept(row: Row, cancel: Cancel, watch: Watch, alive: mpsc::Sender<()>) -> Outcome {
    let Row { passage, seats, occasion, timeout } = row;
    let (numbers, interceptors): (Vec<u32>, Vec<_>) = seats.into_iter().unzip();
    let interceptors: Arc<[Option<Arc<dyn Interceptor>>]> = interceptors.into();
    let progress = Arc::new(Mutex::new(Progress { passed: 0, asked: Instant::now(), is_closed: false }));
    // A task of its own: an interceptor that blocks its thread must not take the deadline with it.
    let mut asked = Owned::spawn(ask_row(
        Arc::clone(&interceptors),
        occasion.clone(),
        cancel.clone(),
        Arc::clone(&progress),
        alive,
    ));
    let ended = by_deadlines(&mut asked, &progress, timeout).await;
    drop(asked);
    // The row has ended or is closed: what is read here does not change any more.
    let passed = lock(&progress).passed;
    let mut heard: Vec<(u32, Heard)> = Vec::with_capacity(passed.saturating_add(1));
    heard.extend(numbers.iter().take(passed).map(|seat| (*seat, Heard::Verdict(HookVerdict::allow()))));
    let Some(seat) = numbers.get(passed) else { return Outcome::Intercepted { passage, heard } };
    let (last, told) = match ended {
        Some(Ok(Last::Heard(last))) => (last, None),
        // A row that has ended with nobody has no one left.
        Some(Ok(Last::Nobody | Last::Missing)) => (Heard::Failed, None),
        Some(Ok(Last::Thrown(true, line))) => (Heard::Malformed, Some(("malformed", line))),
        Some(Ok(Last::Thrown(false, line))) => (Heard::Failed, Some(("error", line))),
        Some(Err(broken)) => (Heard::Failed, Some(("panic", panic_words(broken)))),
        None => (Heard::TimedOut, Some(("timeout", Egress::fixed("the interceptor took too long")))),
    };
    // The task's own signal tells a cancellation apart: nobody's fault, and not reported.
    if let Some((class, line)) = told
        && let Some(Some(interceptor)) = interceptors.get(passed)
        && !cancel.is_fired()
    {
        let who = Broken { call: None, tool: None, seat: None, who: interceptor.name().as_str() };
        watch.failed(&who, class, &without(&occasion, &line));
    }
    heard.push((*seat, last));
    Outcome::Intercepted { passage, heard }
}

async fn ask_row(
    interceptors: Arc<[Option<Arc<dyn Interceptor>>]>,
    occasion: Occasion,
    cancel: Cancel,
    progress: Arc<Mutex<Progress>>,
    alive: mpsc::Sender<()>,
) -> Last {
    let _alive = alive;
    for interceptor in interceptors.iter() {
        let Some(interceptor) = interceptor else { return Last::Missing };
        match interceptor.intercept(occasion.clone(), &cancel).await.map_err(own_words) {
            Ok(verdict) => {
                let heard = Heard::Verdict(verdict);
                if !heard.is_plain_allow() {
                    return Last::Heard(heard);
                }
            }
            Err((is_malformed, line)) => return Last::Thrown(is_malformed, line),
        }
        let mut progress = lock(&progress);
        // Whoever blocks its thread past its time comes here all the same.
        if progress.is_closed {
            return Last::Nobody;
        }
        progress.passed = progress.passed.saturating_add(1);
        progress.asked = Instant::now();
    }
    Last::Nobody
}

/// Waits for a row as long as none of it is asked for longer than `timeout`; closes it and gives `None` when one is.
async fn by_deadlines(
    asked: &mut Owned<Last>,
    progress: &Mutex<Progress>,
    timeout: Duration,
) -> Option<Result<Last, JoinError>> {
    let mut deadline = lock(progress).asked + timeout;
    loop {
        if let Ok(ended) = tokio::time::timeout_at(deadline, &mut *asked).await {
            return Some(ended);
        }
        // Somebody else may have been asked since: then it is their time that counts.
        let mut progress = lock(progress);
        let now_due = progress.asked + timeout;
        if now_due == deadline {
            progress.is_closed = true;
            return None;
        }
        deadline = now_due;
    }
}

/// What was counted holds, whoever broke while the lock was held.
fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts a deny that may be lifted to whoever decides. Nobody, a failure and no answer in time all leave it as it is.
pub(super) async fn consult(
    consultant: Option<Arc<dyn Consultant>>,
    passage: u64,
    consultation: Consultation,
    left: Duration,
    watch: Watch,
) -> Outcome {
    let resolution = match consultant {
        None => Consulted::Nobody,
        Some(consultant) => {
            let shown = consultation.occasion.clone();
            let asked =
                Owned::spawn(async move { consultant.consult(&consultation).await.map_err(own_words) });
            let (class, line) = match tokio::time::timeout(left, asked).await {
                Ok(Ok(Ok(resolution))) => {
                    return Outcome::Consulted {
                        passage,
                        resolution: Consulted::Resolved(Box::new(resolution)),
                    };
                }
                Ok(Ok(Err((true, line)))) => {
                    watch.failed(&consultant_broke(), "malformed", &without(&shown, &line));
                    return Outcome::Consulted { passage, resolution: Consulted::Malformed };
                }
                Ok(Ok(Err((false, line)))) => ("error", line),
                Ok(Err(broken)) => ("panic", panic_words(broken)),
                Err(_elapsed) => ("timeout", Egress::fixed("nobody decided in time")),
            };
            watch.failed(&consultant_broke(), class, &without(&shown, &line));
            Consulted::Failed
        }
    };
    Outcome::Consulted { passage, resolution }
}

const fn consultant_broke() -> Broken<'static> {
    Broken { call: None, tool: None, seat: None, who: "consultant" }
}

/// What was thrown as one line, without what it repeats of what it was thrown about: that is refused now.
fn without(shown: &Occasion, thrown: &Egress<SamePrincipal>) -> Egress<SamePrincipal> {
    let line = one_line_untrusted::<SamePrincipal>(thrown.as_str(), THROWN_LINE_CHARS_MAX);
    one_line_untrusted(&scrubbed(line.as_str(), [shown.target()]), THROWN_LINE_CHARS_MAX)
}

/// Whether the answer was none, and what the error says itself. In the task of whoever made it: the words are its code.
fn own_words(error: PolicyError) -> (bool, Egress<SamePrincipal>) {
    (error.is_malformed(), error.own_words())
}

fn panic_words(broken: JoinError) -> Egress<SamePrincipal> {
    match broken.try_into_panic() {
        Ok(payload) => egress_panic(payload),
        Err(_aborted) => Egress::fixed("it was stopped"),
    }
}
