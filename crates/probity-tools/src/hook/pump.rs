//! Carries questions to one child and its answers back.
//!
//! A task of its own: a question whose asker goes away in the middle of being written is written to its end, so that the next
//! one begins a line.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use probity_contract::NotAVerdict;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc::UnboundedReceiver;

use super::child::{Leash, Pipes};
use super::talk::Talk;
use super::{ANSWER_BYTES_MAX, Fault};
use crate::clip;

/// Bytes of standard error that are kept, the last ones.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// Milliseconds for what a dead child has left in its pipes.
const DRAIN_MS_MAX: u64 = 100;
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A question as it is written.
pub(super) struct Question {
    pub(super) id: u64,
    pub(super) line: Vec<u8>,
}

/// Runs until the child has ended, says what it should not, or nobody can ask it any more.
pub(super) async fn pump(
    pipes: Pipes,
    questions: UnboundedReceiver<Question>,
    talk: Arc<Mutex<Talk>>,
    leash: Arc<Leash>,
) {
    let Pipes { stdin, stdout, stderr } = pipes;
    // Whatever stops this task, nobody waits for an answer that cannot come.
    let _over = Over(Arc::clone(&talk), Arc::clone(&leash));
    let mut pump = Pump {
        questions,
        writing: Writing { pipe: Some(stdin), queue: VecDeque::new(), written: 0 },
        answers: Lines { pipe: stdout, rest: Vec::new() },
        complaints: Complaints { pipe: Some(stderr), kept: Vec::new(), is_cut: false },
        talk: Arc::clone(&talk),
    };
    let fault = match pump.run().await {
        Stopped::NotNeeded => Fault::broke("it was ended"),
        Stopped::OutOfStep(shape) => Fault::NotAVerdict(shape),
        Stopped::Gone => {
            let status = leash.end();
            pump.complaints.drain().await;
            Fault::broke(pump.complaints.words(status))
        }
    };
    lock(&talk).end(&fault);
}

struct Over(Arc<Mutex<Talk>>, Arc<Leash>);

impl Drop for Over {
    fn drop(&mut self) {
        lock(&self.0).end(&Fault::broke("it was ended"));
        self.1.end();
    }
}

enum Stopped {
    /// Nobody can ask any more.
    NotNeeded,
    /// It has said what answers no open question.
    OutOfStep(NotAVerdict),
    /// It has ended, or closed one of its standard streams.
    Gone,
}

struct Pump {
    questions: UnboundedReceiver<Question>,
    writing: Writing,
    answers: Lines,
    complaints: Complaints,
    talk: Arc<Mutex<Talk>>,
}

impl Pump {
    async fn run(&mut self) -> Stopped {
        loop {
            self.writing.next(&self.talk);
            let heard = tokio::select! {
                question = self.questions.recv() => match question {
                    Some(question) => {
                        self.writing.queue.push_back(question);
                        continue;
                    }
                    None => return Stopped::NotNeeded,
                },
                wrote = self.writing.write(), if !self.writing.queue.is_empty() => match wrote {
                    Ok(()) => continue,
                    // What it has answered before it stopped listening still counts.
                    Err(_) => {
                        self.writing.close();
                        let last = Duration::from_millis(DRAIN_MS_MAX);
                        tokio::time::timeout(last, self.answers.read()).await.unwrap_or(Ok(false))
                    }
                },
                () = self.complaints.read() => continue,
                heard = self.answers.read() => heard,
            };
            let is_open = match heard {
                Ok(is_open) => is_open,
                Err(_) => return Stopped::Gone,
            };
            if let Err(shape) = self.answers.hear(&mut lock(&self.talk)) {
                return Stopped::OutOfStep(shape);
            }
            if !is_open || self.writing.pipe.is_none() {
                return Stopped::Gone;
            }
        }
    }
}

/// Questions on their way.
struct Writing {
    pipe: Option<Sender>,
    queue: VecDeque<Question>,
    /// Bytes of the first question that are written.
    written: usize,
}

impl Writing {
    /// Drops questions that nobody waits for any more, as long as nothing of them is written.
    fn next(&mut self, talk: &Mutex<Talk>) {
        while self.written == 0
            && let Some(first) = self.queue.front()
        {
            let mut talk = lock(talk);
            if !talk.is_abandoned(first.id) {
                return;
            }
            talk.forget(first.id);
            self.queue.pop_front();
        }
    }

    /// Writes some of the first question. Safe to drop: a byte is either written or not.
    async fn write(&mut self) -> io::Result<()> {
        let (Some(pipe), Some(first)) = (&self.pipe, self.queue.front()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        pipe.writable().await?;
        match pipe.try_write(first.line.get(self.written..).unwrap_or_default()) {
            Ok(bytes) => self.written += bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if self.written >= first.line.len() {
            self.queue.pop_front();
            self.written = 0;
        }
        Ok(())
    }

    fn close(&mut self) {
        self.pipe = None;
        self.queue.clear();
        self.written = 0;
    }
}

/// What comes out of the child, line by line.
struct Lines {
    pipe: Receiver,
    rest: Vec<u8>,
}

impl Lines {
    /// Reads what is there; whether more can come.
    async fn read(&mut self) -> io::Result<bool> {
        read(&self.pipe, &mut self.rest).await
    }

    /// Hands over all whole lines at once.
    fn hear(&mut self, talk: &mut Talk) -> Result<(), NotAVerdict> {
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let is_long = |line: &[u8]| line.len() > ANSWER_BYTES_MAX;
        let (lines, rest) = self.rest.split_at(whole);
        let lines = || lines.split_inclusive(|byte| *byte == b'\n');
        if lines().any(is_long) || is_long(rest) {
            return Err(NotAVerdict::of_shape("a line that is too long"));
        }
        talk.hear(lines())?;
        self.rest.drain(..whole);
        Ok(())
    }
}

/// What a child says on its standard error: the last of it.
struct Complaints {
    pipe: Option<Receiver>,
    kept: Vec<u8>,
    is_cut: bool,
}

impl Complaints {
    /// Reads what is there. Never done where nothing more can come.
    async fn read(&mut self) {
        let Some(pipe) = &self.pipe else { return std::future::pending().await };
        if !matches!(read(pipe, &mut self.kept).await, Ok(true)) {
            self.pipe = None;
        }
        let over = self.kept.len().saturating_sub(STDERR_BYTES_MAX);
        self.is_cut |= over > 0;
        self.kept.drain(..over);
    }

    async fn drain(&mut self) {
        let all = async {
            while self.pipe.is_some() {
                self.read().await;
            }
        };
        let _late = tokio::time::timeout(Duration::from_millis(DRAIN_MS_MAX), all).await;
    }

    /// How the child ended, with the last line that it wrote: the one in which most languages put the error itself.
    fn words(&self, status: Option<ExitStatus>) -> String {
        let how = status.map_or_else(|| "how is not known".to_owned(), |status| status.to_string());
        let text = String::from_utf8_lossy(&self.kept);
        let mut lines = text.lines();
        if self.is_cut {
            // Half of a line may hold half of a credential, which no pass would know.
            lines.next();
        }
        match lines.map(str::trim).rfind(|line| !line.is_empty()) {
            Some(line) => format!("its process ended without an answer ({how}): {}", clip::word(line)),
            None => format!("its process ended without an answer ({how})"),
        }
    }
}

/// Reads what is there at the end of `into`; whether more can come. Safe to drop: a byte is either read or not.
async fn read(pipe: &Receiver, into: &mut Vec<u8>) -> io::Result<bool> {
    pipe.readable().await?;
    let before = into.len();
    into.resize(before + CHUNK_BYTES, 0);
    let read = pipe.try_read(into.get_mut(before..).unwrap_or_default());
    into.truncate(before + read.as_ref().copied().unwrap_or(0));
    match read {
        Ok(0) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
