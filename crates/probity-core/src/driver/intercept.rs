//! Asks interceptors, and whoever may lift a deny of theirs. Whatever is not an answer is a deny.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{Cancel, Consultant, Consultation, Interceptor, Occasion, PolicyError};
use probity_egress::{Egress, SamePrincipal, egress_panic, one_line_untrusted};
use tokio::sync::mpsc;
use tokio::task::JoinError;
use tokio::time::Instant;

use super::owned::Owned;
use super::watch::{Broken, Watch};
use crate::boundary::{Consulted, Heard, RowHeard, scrubbed};
use crate::run::Outcome;

/// A row of interceptors and what they are asked about.
pub(super) struct Row {
    /// Who, by number; `None` where there is nobody under it.
    pub(super) seats: Vec<(u32, Option<Arc<dyn Interceptor>>)>,
    pub(super) occasion: Occasion,
    /// How far it is. Whoever keeps the deadlines reads it, whatever has become of who writes it.
    progress: Mutex<Progress>,
}

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
    /// All have said a plain allow, or nobody was to be asked any more.
    Nobody,
    /// This was said.
    Heard(Heard),
    /// This was thrown: whether it was no verdict, and in which words.
    Thrown(bool, Egress<SamePrincipal>),
}

impl Row {
    pub(super) fn new(seats: Vec<(u32, Option<Arc<dyn Interceptor>>)>, occasion: Occasion) -> Self {
        let progress = Progress { passed: 0, asked: Instant::now(), is_closed: false };
        Self { seats, occasion, progress: Mutex::new(progress) }
    }

    /// What was counted holds, whoever broke while the lock was held.
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has a row of interceptors look, each at its own copy of an occasion, one after the other until one says anything but a plain
/// allow. None is waited for longer than `timeout`. `alive` is let go when the futures of the interceptors are gone: what they
/// have started has no other hold on it then.
pub(super) async fn intercept(
    passage: u64,
    row: Row,
    timeout: Duration,
    cancel: Cancel,
    watch: Watch,
    alive: mpsc::Sender<()>,
) -> Outcome {
    let row = Arc::new(row);
    // A task of its own: an interceptor that blocks its thread must not take the deadline with it.
    let mut asked = Owned::spawn(ask_row(Arc::clone(&row), cancel.clone(), alive));
    let ended = by_deadlines(&mut asked, &row, timeout).await;
    drop(asked);
    // The row has ended or is closed: what is read here does not change any more.
    let number = row.progress().passed;
    let passed = row.seats.iter().take(number).map(|(seat, _)| *seat).collect();
    let heard = |last| Outcome::Intercepted { passage, row: RowHeard { passed, last } };
    let Some((seat, interceptor)) = row.seats.get(number) else { return heard(None) };
    let (last, told) = match ended {
        Some(Ok(Last::Heard(last))) => (last, None),
        // Nobody sits there.
        Some(Ok(Last::Nobody)) => (Heard::Failed, None),
        Some(Ok(Last::Thrown(true, line))) => (Heard::Malformed, Some(("malformed", line))),
        Some(Ok(Last::Thrown(false, line))) => (Heard::Failed, Some(("error", line))),
        Some(Err(broken)) => (Heard::Failed, Some(("panic", panic_words(broken)))),
        None => (Heard::TimedOut, Some(("timeout", Egress::fixed("the interceptor took too long")))),
    };
    // The task's own signal tells a cancellation apart: nobody's fault, and not reported.
    if let Some((class, line)) = told
        && let Some(interceptor) = interceptor
        && !cancel.is_fired()
    {
        let who = Broken { call: None, tool: None, seat: None, who: interceptor.name().as_str() };
        watch.failed(&who, class, &without(&row.occasion, &line));
    }
    heard(Some((*seat, last)))
}

async fn ask_row(row: Arc<Row>, cancel: Cancel, alive: mpsc::Sender<()>) -> Last {
    let _alive = alive;
    for (_, interceptor) in &row.seats {
        let Some(interceptor) = interceptor else { return Last::Nobody };
        match interceptor.intercept(row.occasion.clone(), &cancel).await.map_err(own_words) {
            Ok(verdict) => {
                let heard = Heard::Verdict(verdict);
                if !heard.is_plain_allow() {
                    return Last::Heard(heard);
                }
            }
            Err((is_malformed, line)) => return Last::Thrown(is_malformed, line),
        }
        let mut progress = row.progress();
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
    row: &Row,
    timeout: Duration,
) -> Option<Result<Last, JoinError>> {
    let mut deadline = row.progress().asked + timeout;
    loop {
        if let Ok(ended) = tokio::time::timeout_at(deadline, &mut *asked).await {
            return Some(ended);
        }
        // Somebody else may have been asked since: then it is their time that counts.
        let mut progress = row.progress();
        let now_due = progress.asked + timeout;
        if now_due == deadline {
            progress.is_closed = true;
            return None;
        }
        deadline = now_due;
    }
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
