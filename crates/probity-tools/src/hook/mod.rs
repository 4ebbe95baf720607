//! Interceptors that are other programs: a child process that speaks lines of JSON, and a server that is asked over HTTP.
//!
//! The decision: whatever is not exactly a verdict, in time, to the question that was asked, is a failure, and a failure is a
//! deny. What a program says in place of a verdict is told by its shape and never quoted; only the last line of a child's
//! standard error is, after the credential pass. The protocol stands in `docs/interceptors.md`, the reasons in
//! `docs/design/foreign-interceptors.md`.

mod answer;
mod child;
mod environment;
mod http;
mod loopback;
mod process;
mod pump;
mod talk;

use std::error::Error;
use std::fmt;

use probity_contract::{InterceptorName, NotAVerdict, PolicyError};

pub use http::{HttpHook, HttpInterceptor};
pub use process::{ProcessHook, ProcessInterceptor};

/// Bytes of one question: what passes at one point, with its envelope. A longer one is not asked, and denies.
const QUESTION_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one answer: one line of a child, one body of a server.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// An interceptor that cannot be offered as it was configured.
#[derive(Debug, thiserror::Error)]
#[error("set up the interceptor `{name}`: {why}")]
pub struct HookSetupError {
    name: InterceptorName,
    why: String,
}

impl HookSetupError {
    fn new(name: &InterceptorName, why: impl Into<String>) -> Self {
        Self { name: name.clone(), why: why.into() }
    }
}

/// Why a question has no verdict.
#[derive(Debug, Clone)]
enum Fault {
    /// Something came that is none.
    NotAVerdict(NotAVerdict),
    /// Nothing came.
    Broke(Broke),
}

/// How asking broke off, in our words; what they quote of the other program has passed and is one line.
#[derive(Debug, Clone)]
struct Broke(String);

impl fmt::Display for Broke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Broke {}

impl Fault {
    fn broke(words: impl Into<String>) -> Self {
        Self::Broke(Broke(words.into()))
    }
}

impl From<Fault> for PolicyError {
    fn from(fault: Fault) -> Self {
        let boxed: Box<dyn Error + Send + Sync> = match fault {
            Fault::NotAVerdict(shape) => Box::new(shape),
            Fault::Broke(broke) => Box::new(broke),
        };
        Self::from(boxed)
    }
}
