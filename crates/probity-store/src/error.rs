use std::io;
use std::path::PathBuf;

use probity_contract::RunId;
use probity_trace::RecordError;

/// Why the store could not do something. `Display` names what was being done; it may hold a path, so it is redacted
/// before it leaves. What to do next stands in [`StoreError::hint`].
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("{doing}")]
    Io {
        /// What was being done.
        doing: String,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// Other users may look into the directory, and it is not for us to change that.
    #[error("open the store `{}`: other users may look into it (mode {mode:03o})", path.display())]
    NotOwnerOnly {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The store can be read and not written.
    #[error("write to the store `{}`: it was opened for reading only", path.display())]
    ReadOnly {
        /// The directory.
        path: PathBuf,
    },
    /// There is a record of that run.
    #[error("begin the record of run `{0}`: there is one already")]
    Exists(RunId),
    /// No run is called or begins like that.
    #[error("find run `{0}`: there is none")]
    NotFound(String),
    /// Several runs begin like that.
    #[error("find run `{prefix}`: {} runs begin like that: {}", candidates.len(), listed(candidates))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// The runs.
        candidates: Vec<RunId>,
    },
    /// A process is writing the record.
    #[error("change the record of run `{0}`: the run is going on")]
    Running(RunId),
    /// The record is larger than this program reads.
    #[error(
        "read the record of run `{run}`: it has {bytes} bytes, over the limit of {}",
        crate::RECORD_BYTES_MAX
    )]
    TooLarge {
        /// The run.
        run: RunId,
        /// Its size.
        bytes: u64,
    },
    /// The record is damaged or of a later version. What stands before the damage is inside.
    #[error("read the record of run `{run}`")]
    Record {
        /// The run.
        run: RunId,
        /// What is wrong with it.
        #[source]
        source: RecordError,
    },
}

const LISTED_MAX: usize = 10;

fn listed(candidates: &[RunId]) -> String {
    let shown =
        candidates.iter().take(LISTED_MAX).map(|run| format!("`{run}`")).collect::<Vec<_>>().join(", ");
    if candidates.len() > LISTED_MAX { format!("{shown} …") } else { shown }
}

impl StoreError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io { source, .. } => io_hint(source.kind()),
            Self::NotOwnerOnly { .. } => Some(
                "choose a directory of its own for the store, or take the rights of others away with `chmod 700`",
            ),
            Self::ReadOnly { .. } => Some("choose a directory that you own and may write"),
            Self::Exists(_) => Some("choose another run id"),
            Self::NotFound(_) => Some("list the runs to see their ids"),
            Self::Ambiguous { .. } => Some("give more characters of the run id"),
            Self::Running(_) => Some("wait for the run to end, or cancel it"),
            Self::TooLarge { .. } => None,
            Self::Record { .. } => {
                Some("what stands before the damage can still be shown; later entries are not trusted")
            }
        }
    }

    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}

fn io_hint(kind: io::ErrorKind) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    if matches!(kind, Kind::StorageFull | Kind::QuotaExceeded) {
        Some("free some space on the disk")
    } else if matches!(kind, Kind::ReadOnlyFilesystem | Kind::PermissionDenied) {
        Some("choose a directory that you may write")
    } else if matches!(kind, Kind::NotADirectory | Kind::AlreadyExists) {
        Some("choose another directory: something that is no directory stands in the way")
    } else {
        None
    }
}
