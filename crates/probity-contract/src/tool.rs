//! The port to tools, and what a tool declares of itself.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::future::BoxFuture;
use crate::gate::{FrozenCall, Permit};
use crate::ids::ToolName;
use crate::json::{Arguments, canonical_bytes};
use crate::label::Readers;
use crate::lineage::{Allowance, Lineage};
use crate::shown::Shown;

/// Something that acts in the world when the gate has permitted one frozen call.
///
/// `run` takes the [`Permit`] by value: there is no other way to start a tool, and a permit starts one tool once. The
/// tool acts on the arguments inside the permit, which are the bytes that policies and people have seen.
///
/// A tool may be cancelled by dropping its future; work that outlives the future must watch `cx.cancel`.
pub trait Tool: Send + Sync {
    /// What the tool is called and takes. Stable for the life of the value.
    fn spec(&self) -> &ToolSpec;

    /// What a call with these arguments would touch, resolved as far as it can be without acting.
    ///
    /// # Errors
    /// When the targets cannot be told; the call is then denied.
    fn targets<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>>;

    /// The files that a call with these arguments would read or change by name, as they are now. An approval is bound to
    /// them: where one has changed before the effect, the call is denied.
    ///
    /// # Errors
    /// When they cannot be told; the call is then denied.
    fn operands<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Operand>, ToolError>> {
        let _ = arguments;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// What the tasks that one call of this tool starts may spend at most; `None` for a tool that starts none. It must not
    /// change while the value lives. Less is reserved where the calling task has less, and a call for which nothing is left is
    /// denied. A tool that has said nothing here gets an empty [`ToolContext::lineage`].
    fn delegates(&self) -> Option<Allowance> {
        None
    }

    /// Acts on the permitted call.
    ///
    /// # Errors
    /// When the act failed or could not be started; the words are redacted before anyone reads them.
    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;

    /// What became of a call that was started under `idempotency_key` and of which nothing was heard. Asked of tools whose
    /// effect is [`Effect::Reconcile`], and of no others. It must change nothing.
    ///
    /// # Errors
    /// When it cannot be told; the outcome then stays unknown.
    fn reconcile<'a>(
        &'a self,
        call: &'a FrozenCall,
        idempotency_key: &'a str,
    ) -> BoxFuture<'a, Result<Reconciled, ToolError>> {
        let _ = (call, idempotency_key);
        let why = "the tool cannot tell what became of a call";
        Box::pin(std::future::ready(Err(ToolError::new(ToolErrorClass::Unavailable, why))))
    }
}

/// What became of a call of which nothing was heard.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconciled {
    /// It was done, and this came of it.
    Done(ToolOutput),
    /// It was not done and will not be: the call may run again.
    NotDone,
}

/// What a run hands to a tool beside the permit.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// Fires when the task is cancelled or the call's time is up.
    pub cancel: Cancel,
    /// The time that is left for the call.
    pub timeout: Duration,
    /// Bytes after which the output will be cut; a tool should stop producing there.
    pub output_bytes_max: usize,
    /// The same for every try of this call: for tools whose effect is `idempotent`.
    pub idempotency_key: String,
    /// Below which tasks are started, by tools that start any.
    pub lineage: Lineage,
}

/// What a model is told about a tool, and what the engine must know to run it safely.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// The name in calls and rules.
    pub name: ToolName,
    /// What the model reads.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// What a repetition would do.
    pub effect: Effect,
    /// The server that it comes from, where it is not part of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The digest of the profile under which it acts, where there is one: of a sandbox, or of the task that it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Digest>,
    /// Arguments, as JSON pointers in which `*` stands for any index, whose every value is taken for good, whoever chose it: `true`
    /// and `false`, and what the schema lists (`enum`, `const`). Such a value is [`Integrity::Endorsed`](crate::Integrity) in
    /// a call; a value of any other type is not, so a run whose tool declares one does not start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endorses: Vec<String>,
}

impl ToolSpec {
    /// The digest of the whole definition; a frozen call is bound to it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        // A spec of strings, an enum and a JSON value always has a canonical form; should it ever not, the error text
        // takes the place, so that the digest still differs from that of any well-formed spec.
        let bytes = canonical_bytes(self).unwrap_or_else(|error| error.to_string().into_bytes());
        Digest::of("probity.tool.v1", &[&bytes])
    }
}

/// What happens when a call is made twice. It decides how an unknown outcome is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads only: may run again at any time.
    Pure,
    /// May run again under the same key.
    Idempotent,
    /// The tool can be asked what became of a call.
    Reconcile,
    /// Must not be repeated: an unknown outcome is reported as unknown.
    Once,
}

/// Something that a call touches. Policies judge these beside the arguments.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    /// A file or directory inside a declared root.
    Path {
        /// The root's name.
        root: String,
        /// The path relative to the root as the call named it, normalised, `/` between parts, `.` for the root itself.
        path: String,
        /// The same after following links; equal to `path` where there are none.
        resolved: String,
        /// What is done to it.
        access: Access,
        /// Whether it is done to everything below as well. Left out of the canonical form where it is not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        recursive: bool,
    },
    /// A network address.
    Url {
        /// The URL without userinfo and fragment.
        url: String,
        /// The host in lower case, ASCII form.
        host: String,
        /// The port.
        port: u16,
        /// The method in upper case.
        method: String,
    },
    /// A program that is run.
    Command {
        /// Program and arguments, never a shell string.
        argv: Vec<String>,
    },
    /// Anything else: a table, a recipient, an account.
    Other {
        /// What sort of thing it is, for example `recipient`.
        what: String,
        /// Which one.
        value: String,
    },
}

/// A file that a call reads or changes by name, as it is when the call is frozen. `Display` of its parts is for people.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// The root's name.
    pub root: String,
    /// The path relative to the root, after following links.
    pub path: String,
    /// The device, in decimal digits: a number of 64 bits has no canonical form in JSON.
    pub device: String,
    /// The inode, in the same way.
    pub inode: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// What is in it.
    pub holds: Holds,
}

/// What is in a file, as far as it is looked into.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// SHA-256 of its content.
    Content(Digest),
    /// It is too large to be read for this; when it was changed last, in nanoseconds since 1970 UTC, in decimal digits.
    ChangedAt(String),
}

/// What a call touches, and the files that it names, as the tool tells it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Touches {
    /// What policies judge.
    pub targets: Vec<Target>,
    /// What an approval is bound to beside.
    pub operands: Vec<Operand>,
}

impl From<Vec<Target>> for Touches {
    fn from(targets: Vec<Target>) -> Self {
        Self { targets, operands: Vec::new() }
    }
}

/// What a call does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads content or names.
    Read,
    /// Creates, changes or removes.
    Write,
}

/// What a tool brought back. It is content for the model that asked and is not redacted on that way.
#[derive(Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Whether the tool vouches for the text: its source is one that nobody outside can write. Who gives back what a call
    /// asked for must not say so of it.
    pub trusted: bool,
    /// Who may read the text. Who may not read what the call was made from may not read this either, whatever stands here.
    pub readers: Readers,
    /// Values within a text that the tool does not vouch for as a whole, for which it vouches: ids, figures, addresses of its own
    /// records that nobody outside can write. Once for each place where the value stands, and only where it stands as a word of
    /// its own: what stands more often than it is told here was written by somebody else, too. What does not stand in the text,
    /// or has an untrusted argument of the call in it, is passed over.
    pub vouched: Vec<String>,
}

impl ToolOutput {
    /// Untrusted text for everyone.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Why a tool could not do it.
///
/// The words are what the model reads; they must help to do better. `Display` and `Debug` have passed the credential pass,
/// the field has not.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", Shown(message))]
pub struct ToolError {
    /// The sort of failure.
    pub class: ToolErrorClass,
    /// The words, unredacted.
    pub message: String,
}

/// The sorts of tool failures. Stable names; they stand in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorClass {
    /// The arguments make no sense to the tool.
    InvalidArguments,
    /// The tool does not do this by its own rules (outside the root, a forbidden host, a binary file).
    Refused,
    /// What was named does not exist.
    NotFound,
    /// It was tried and failed.
    Failed,
    /// It took too long. The effect is unknown.
    TimedOut,
    /// It was cancelled. The effect is unknown.
    Cancelled,
    /// The tool panicked. The effect is unknown.
    Panicked,
    /// What the tool needs to work safely could not be set up; nothing was done.
    Unavailable,
}

impl ToolError {
    /// An error of a class with its words.
    #[must_use]
    pub fn new(class: ToolErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pure => "pure",
            Self::Idempotent => "idempotent",
            Self::Reconcile => "reconcile",
            Self::Once => "once",
        })
    }
}
