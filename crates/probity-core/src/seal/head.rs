use probity_contract::RunId;
use serde::{Deserialize, Serialize};

use super::{CheckpointError, NONCE_BYTES};

/// The version of sealed checkpoints that this program makes, and opens.
pub const CHECKPOINT_VERSION: u32 = 1;

/// What every checkpoint begins with, before its version.
const MAGIC: &[u8] = b"probity-checkpoint ";
/// Bytes of the head's line.
const HEAD_BYTES_MAX: usize = 4 * 1024;

/// What of a checkpoint can be read without its key. It is authenticated with the rest: until a checkpoint was opened, this
/// is only what it says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointHead {
    /// Whose it is.
    pub run: RunId,
    /// Which of its run it is, counted from 1.
    pub generation: u64,
    /// Milliseconds since 1970 UTC.
    pub made_at_unix_ms: u64,
    /// The same; it is not opened from then on.
    pub expires_at_unix_ms: u64,
    /// The key that has sealed it, by its id.
    pub key: String,
}

/// Head, nonce, the bytes of both as they are authenticated, and what is sealed.
type Parts<'a> = (CheckpointHead, [u8; NONCE_BYTES], &'a [u8], &'a [u8]);

impl CheckpointHead {
    /// Reads the head of a checkpoint without opening it.
    ///
    /// # Errors
    /// When it is none, or of another version.
    pub fn read(sealed: &[u8]) -> Result<Self, CheckpointError> {
        Self::split(sealed).map(|(head, ..)| head)
    }

    /// `probity-checkpoint 1`, the head as a line of JSON, the nonce.
    pub(super) fn written(&self, nonce: &[u8; NONCE_BYTES]) -> Option<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(format!("{CHECKPOINT_VERSION}\n").into_bytes());
        bytes.extend(serde_json::to_vec(self).ok()?);
        bytes.push(b'\n');
        bytes.extend(nonce);
        Some(bytes)
    }

    pub(super) fn split(sealed: &[u8]) -> Result<Parts<'_>, CheckpointError> {
        let not_one = CheckpointError::NotOne;
        let rest = sealed.strip_prefix(MAGIC).ok_or(not_one.clone())?;
        let (version, rest) = line(rest).ok_or(not_one.clone())?;
        let number: Option<u32> = std::str::from_utf8(version).ok().and_then(|version| version.parse().ok());
        // Written in one way only, or a changed byte of the head could go unnoticed.
        match number.filter(|number| number.to_string().as_bytes() == version) {
            Some(CHECKPOINT_VERSION) => {}
            Some(other) => return Err(CheckpointError::Version(other)),
            None => return Err(not_one),
        }
        let (head, rest) = line(rest).ok_or(not_one.clone())?;
        let head: Self = serde_json::from_slice(head).map_err(|_| not_one.clone())?;
        let (nonce, secret) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(not_one.clone())?;
        let written = sealed.get(..sealed.len().saturating_sub(secret.len())).ok_or(not_one)?;
        Ok((head, *nonce, written, secret))
    }
}

fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().take(HEAD_BYTES_MAX).position(|byte| *byte == b'\n')?;
    let (line, rest) = bytes.split_at_checked(end)?;
    Some((line, rest.split_first()?.1))
}
