use std::fmt;

use probity_contract::RunId;

use super::Run;

/// A run as it stood at one moment, written down. All that the run has read is in it, raw: whoever keeps it seals it.
#[derive(Clone)]
pub struct Snapshot {
    run: RunId,
    json: Vec<u8>,
}

impl Snapshot {
    /// Whose it is.
    #[must_use]
    pub const fn run(&self) -> &RunId {
        &self.run
    }

    /// The run as JSON, to be read back with serde.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }
}

impl Run {
    /// Writes the run down.
    ///
    /// # Errors
    /// When it has no JSON form, which no run that was made or read has.
    pub fn snapshot(&self) -> Result<Snapshot, SnapshotError> {
        let json = serde_json::to_vec(self).map_err(|_| SnapshotError)?;
        Ok(Snapshot { run: self.id().clone(), json })
    }
}

/// A run that cannot be written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write the run down")]
pub struct SnapshotError;

/// Whose it is and how large, and nothing that was said in it.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("run", &self.run).field("bytes", &self.json.len()).finish()
    }
}
