//! How the program ends: exit codes, and errors that fit on a screen.

use std::error::Error;

use probity_contract::Ending;
use probity_egress::{Egress, SamePrincipal, egress_error, egress_text};

/// The exit codes. They are part of the interface and do not change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
    /// The task was answered, or the command did what it was asked.
    Ok = 0,
    /// The run ended without an answer: the model refused, or a part of the program failed. Of
    /// `redact --check`: something would be redacted. Of `policy explain`: the call would be denied. Of `policy test`: a
    /// case is not as expected. Of `diff`: the runs differ.
    Failed = 1,
    /// The command line, a rule, the task file or a file it names is wrong.
    Usage = 2,
    /// Something that the task needs is missing: a key, a file, a sandbox.
    Setup = 3,
    /// A limit was reached; there is a partial answer or none.
    Limit = 4,
    /// The answer does not follow the output schema.
    OutputInvalid = 5,
    /// The record could not be written or read.
    Store = 6,
    /// There is no such run.
    NotFound = 7,
    /// The model could not be asked.
    Model = 8,
    /// An input could not be read, or an output not written.
    Io = 9,
    /// The run waits for a person; `probity approve` answers and `probity resume` goes on.
    Paused = 10,
    /// An interceptor has refused a message, or could not have it judged. What was refused is not shown.
    MessageDenied = 11,
    /// Cancelled, by Ctrl-C or SIGTERM.
    Cancelled = 130,
}

/// The table for `--help`.
pub(crate) const CODES_HELP: &str = "\
Exit codes:
    0  answered, or done
    1  ended without an answer; `redact --check` found something; `policy explain`: denied;
       `policy test`: a case is not as expected; `diff`: the runs differ
    2  the command line, a rule, the task file or a file it names is wrong
    3  something that the task needs is missing: a key, a root, a sandbox
    4  a limit was reached; the answer is partial or missing
    5  the answer does not follow the output schema
    6  the record could not be written or read
    7  no such run
    8  the model could not be asked
    9  an input could not be read, or an output not written
   10  the run waits for a person: see `probity approve`
   11  an interceptor has refused a message, which goes no further
  130  cancelled";

impl Code {
    /// The code that tells of how a run ended.
    pub(crate) const fn of_ending(ending: &Ending) -> Self {
        match ending {
            Ending::Answered => Self::Ok,
            Ending::WrappedUp { .. } | Ending::LimitReached { .. } | Ending::Incomplete => Self::Limit,
            Ending::Refused => Self::Failed,
            Ending::MessageDenied(_) => Self::MessageDenied,
            Ending::OutputInvalid => Self::OutputInvalid,
            Ending::ModelFailed { .. } => Self::Model,
            Ending::Cancelled => Self::Cancelled,
            Ending::RecordFailed { .. } => Self::Store,
        }
    }
}

/// An error that ends the program: what failed, the next step to take, and the code.
#[derive(Debug)]
pub(crate) struct Fatal {
    pub(crate) code: Code,
    pub(crate) words: Egress<SamePrincipal>,
    pub(crate) hint: Option<Egress<SamePrincipal>>,
}

impl Fatal {
    /// From an error and all its causes.
    pub(crate) fn of(code: Code, error: &(dyn Error + 'static)) -> Self {
        Self { code, words: egress_error(error), hint: None }
    }

    /// From words of ours that may quote input.
    pub(crate) fn new(code: Code, words: &str) -> Self {
        Self { code, words: egress_text(words), hint: None }
    }

    /// Adds the next step to take.
    pub(crate) fn hint(mut self, hint: &str) -> Self {
        self.hint = Some(egress_text(hint));
        self
    }
}
