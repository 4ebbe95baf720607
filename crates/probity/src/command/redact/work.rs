//! Works on several inputs at once, and tells what became of them in their order.

use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use probity_contract::Cancel;
use probity_egress::{Tier, Words, egress_value};
use serde_json::{Value, json};

use super::out::{Out, Turns, lock};
use super::progress::Progress;
use super::text::{Reading, Sink, Stop, Tally};
use super::{Passed, in_place, inputs, jsonl, label, stopped, text, trouble};
use crate::cli::{Format, RedactArgs};
use crate::exit::{Code, Fatal};
use crate::render::Screen;

/// What all inputs share.
pub(super) struct Job {
    pub(super) files: Vec<PathBuf>,
    pub(super) format: Format,
    pub(super) in_place: bool,
    pub(super) key: [u8; 32],
    pub(super) cancel: Cancel,
    pub(super) screen: Arc<Screen>,
    pub(super) progress: Progress,
    pub(super) turns: Turns,
}

impl Job {
    pub(super) const fn reading(&self) -> Reading<'_> {
        Reading::new(self.key, &self.cancel, &self.progress)
    }

    /// Passes one input as what it was said to be.
    pub(super) fn pass<T: Tier>(
        &self,
        input: &mut impl io::Read,
        reading: &Reading<'_>,
        sink: &mut impl Sink,
    ) -> Result<Tally, Stop> {
        match self.format {
            Format::Text => text::pass::<T>(input, reading, sink),
            Format::Jsonl => jsonl::pass::<T>(input, reading, sink),
        }
    }
}

/// Every file. One that fails is told and does not keep the others from their turn; the code is the first one's.
pub(super) fn all<T: Tier>(job: Job, outcome: Outcome, jobs: usize) -> Result<Code, Fatal> {
    let shared = Arc::new(Shared { job, next: AtomicUsize::new(0), outcome: Mutex::new(outcome) });
    let job = &shared.job;
    // Where the system gives no more threads, fewer do.
    let workers: Vec<JoinHandle<()>> = (0..if jobs > 1 { jobs } else { 0 })
        .map_while(|_| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().spawn(move || shared.work::<T>()).ok()
        })
        .collect();
    if workers.is_empty() {
        shared.work::<T>();
    }
    job.turns.wait(job.files.len());
    // Elsewhere a worker may still wait for an input that nobody needs any more.
    if job.in_place {
        workers.into_iter().for_each(|worker| drop(worker.join()));
    }
    job.screen.idle();
    lock(&shared.outcome).done(&job.screen)
}

struct Shared {
    job: Job,
    next: AtomicUsize,
    outcome: Mutex<Outcome>,
}

impl Shared {
    /// Takes one input after the other. One that is finished is kept until it has been told.
    fn work<T: Tier>(&self) {
        let Job { files, turns, .. } = &self.job;
        let _ends = Ends(turns);
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(index) else { return };
            let name = label(path);
            let mut out = Out::new(turns, index, &name);
            let result = one::<T>(&self.job, path, &name, &mut out);
            if !turns.wait(index) {
                return;
            }
            // What came before a failure goes out, too.
            let settled = out.settle().map_err(|stop| Failure::of(stop, &name));
            let result = result.and_then(|tally| settled.map(|()| tally));
            if !lock(&self.outcome).take(&self.job.screen, &name, result) {
                self.job.cancel.fire();
                turns.end();
                return;
            }
            turns.pass_on();
        }
    }
}

/// Ends all turns where a worker panics, since its own would never end.
struct Ends<'a>(&'a Turns);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// Why an input was given up.
enum Failure {
    Fatal(Fatal),
    /// Nobody reads the output any more, which is no error.
    ReaderGone,
}

impl Failure {
    fn of(stop: Stop, name: &Passed) -> Self {
        match stop {
            Stop::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => Self::ReaderGone,
            stop @ (Stop::Read(_)
            | Stop::Write(_)
            | Stop::Report(_)
            | Stop::LongLine(_)
            | Stop::Cancelled
            | Stop::Enough) => Self::Fatal(stopped(stop, name)),
        }
    }
}

fn one<T: Tier>(job: &Job, path: &Path, name: &Passed, out: &mut Out<'_>) -> Result<Tally, Failure> {
    if job.in_place {
        return in_place::redact::<T>(job, path, name, out).map_err(Failure::Fatal);
    }
    let opened = inputs::open(path).map_err(|error| trouble(Code::Usage, "read `", name, &error));
    let mut input = opened.map_err(Failure::Fatal)?;
    job.turns.refuse_loop(&input, name).map_err(Failure::Fatal)?;
    job.pass::<T>(&mut input, &job.reading(), out).map_err(|stop| Failure::of(stop, name))
}

/// What became of the inputs so far.
pub(super) struct Outcome {
    files: usize,
    json: bool,
    check: bool,
    /// Whether counts are told.
    counts: bool,
    quiet: bool,
    done: usize,
    found: bool,
    failed: Option<Code>,
    told: Vec<Value>,
    ended: Option<Result<Code, Fatal>>,
}

impl Outcome {
    pub(super) fn new(args: &RedactArgs, json: bool, files: usize) -> Self {
        let counts = !args.quiet && (args.check || args.in_place);
        let (quiet, check) = (args.quiet, args.check);
        let (done, found, failed, told, ended) = (0, false, None, Vec::new(), None);
        Self { files, json, check, counts, quiet, done, found, failed, told, ended }
    }

    /// Tells of the next input; false where it shall be the last.
    fn take(&mut self, screen: &Screen, name: &Passed, result: Result<Tally, Failure>) -> bool {
        self.done += 1;
        match result {
            Ok(tally) => {
                self.found |= tally.total > 0;
                if let Some(first) = tally.first_text_line.filter(|_| !self.quiet) {
                    screen.tell(&text_lines(name, first, tally.text_lines));
                }
                if self.json {
                    self.told.push(document(name, &tally));
                } else if tally.total > 0 && self.counts {
                    screen.tell(&line(name, &tally));
                }
            }
            Err(Failure::ReaderGone) => self.ended = Some(Ok(Code::Ok)),
            Err(Failure::Fatal(fatal))
                if fatal.code == Code::Cancelled || (self.files == 1 && !self.json) =>
            {
                self.ended = Some(Err(fatal));
            }
            Err(Failure::Fatal(fatal)) => {
                self.failed = self.failed.or(Some(fatal.code));
                if self.json {
                    self.told.push(json!({ "file": name, "error": fatal.words, "hint": fatal.hint }));
                } else {
                    crate::fail(&fatal, false, screen);
                }
            }
        }
        self.ended.is_none()
    }

    fn done(&mut self, screen: &Screen) -> Result<Code, Fatal> {
        if let Some(ended) = self.ended.take() {
            return ended;
        }
        if self.json {
            screen.json(&egress_value(&json!({ "found": self.found, "files": self.told })));
        }
        if self.done < self.files {
            // A panic, which has been told.
            return Ok(Code::Failed);
        }
        Ok(self.failed.unwrap_or(if self.found && self.check { Code::Failed } else { Code::Ok }))
    }
}

/// `path: 3 redacted: 2 github-token, 1 jwt`.
fn line(name: &Passed, tally: &Tally) -> Passed {
    let mut words = Words::new().passed(name).text(": ").number(tally.total).text(" redacted");
    for (index, (kind, count)) in tally.by_kind.iter().enumerate() {
        words = words.text(if index == 0 { ": " } else { ", " }).number(*count).text(" ").text(kind);
    }
    words.done()
}

// Kinds are values and not member names: `password` as a member's name would hide its count.
fn document(name: &Passed, tally: &Tally) -> Value {
    let kinds: Vec<Value> =
        tally.by_kind.iter().map(|(kind, count)| json!({ "kind": kind, "count": count })).collect();
    json!({ "file": name, "redacted": tally.total, "kinds": kinds })
}

fn text_lines(name: &Passed, first: u64, count: u64) -> Passed {
    let words = Words::new().passed(name).text(": line ").number(first);
    let words = match NonZero::new(count.saturating_sub(1)) {
        None => words.text(" is not JSON and was"),
        Some(more) => words.text(" and ").number(more.get()).text(" more are not JSON and were"),
    };
    words.text(" passed as text").done()
}
