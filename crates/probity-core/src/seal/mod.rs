//! Sealed checkpoints: a run at rest, that only who has the key can read or make.
//!
//! A checkpoint holds everything that the run has read, so it is encrypted and authenticated as one piece
//! (XChaCha20-Poly1305), its head with it. What lost: a signature beside readable state, which would be one more exit that
//! has to be redacted, and could not be, for a redacted run cannot go on. Why it is so stands in `docs/design/checkpoint.md`.
//!
//! A seal says who made a checkpoint and that nothing was changed. It does not say that it is the last one: whoever keeps
//! checkpoints remembers the last generation and gives it to [`Checkpoint::open`].

mod head;
mod key;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::Deserialize;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::run::{Run, Snapshot};
pub use head::{CHECKPOINT_VERSION, CheckpointHead};
pub use key::{KeyError, KeyId, KeyRing};

/// Bytes of the random number that each seal needs. 24 are enough to draw it by chance for every checkpoint ever made.
pub const NONCE_BYTES: usize = 24;
/// Bytes of one sealed checkpoint.
pub const CHECKPOINT_BYTES_MAX: usize = 512 * 1024 * 1024;

/// A run at rest, and what its host needs to go on with it.
#[derive(Debug)]
pub struct Checkpoint {
    /// What is readable without the key.
    pub head: CheckpointHead,
    /// The run as it was stored. To be given to [`crate::resume_task`], or to be asked for its questions.
    pub run: Run,
    /// What the host put beside it.
    pub host: Value,
}

/// What is sealed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    run: Run,
    host: Value,
}

/// What a checkpoint is made of beside the run.
#[derive(Debug, Clone, Copy)]
pub struct Making<'a> {
    /// Which checkpoint of its run it is, counted from 1.
    pub generation: u64,
    /// Milliseconds since 1970 UTC.
    pub made_at_unix_ms: u64,
    /// Seconds after which it is not opened any more.
    pub ttl_s: u64,
    /// What the host wants to have beside it.
    pub host: &'a Value,
    /// Random bytes that no other seal of this key was made with.
    pub nonce: [u8; NONCE_BYTES],
}

/// Why a checkpoint could not be made or opened. Nothing of its content is in the words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The bytes begin like something else, or are cut off in the head.
    #[error("open the checkpoint: it is none, or its head is damaged")]
    NotOne,
    /// A newer program made it.
    #[error("open the checkpoint: it is of version {0}, and this program opens version {CHECKPOINT_VERSION}")]
    Version(u32),
    /// None of the keys has sealed it.
    #[error("open the checkpoint: it is sealed with the key `{0}`, which is not among those at hand")]
    ForeignKey(String),
    /// Something was changed, or it was made with another key of the same name.
    #[error("open the checkpoint: it is not what was sealed")]
    Altered,
    /// It is too old.
    #[error("open the checkpoint: it has expired")]
    Expired,
    /// The run has gone on since.
    #[error("open the checkpoint: it is number {found} of its run, and number {last} was made since")]
    Older {
        /// Its own number.
        found: u64,
        /// The least number that is good.
        last: u64,
    },
    /// It is sealed well and makes no run: a program with other rules made it.
    #[error("open the checkpoint: what was sealed is no run that this program can go on with")]
    NoRun,
    /// It is too large, or cannot be written as JSON.
    #[error("make the checkpoint: the run cannot be written down")]
    NotWritten,
}

impl CheckpointError {
    /// The next step to take.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotOne => "name a file that Probity has made, and copy it whole",
            Self::Version(_) => "open it with the version of Probity that made it, or a newer one",
            Self::ForeignKey(_) => {
                "put the key that sealed it behind the current one in the key file, or in PROBITY_KEY"
            }
            Self::Altered => "take the original; a checkpoint that was changed cannot be mended",
            Self::Expired => "start the task again",
            Self::Older { .. } => "take the last checkpoint of the run",
            Self::NoRun => "start the task again, or go on with it in the version of Probity that made it",
            Self::NotWritten => "give the task less to read",
        }
    }
}

impl Checkpoint {
    /// Seals a run with the current key.
    ///
    /// # Errors
    /// When it is too large.
    pub fn seal(ring: &KeyRing, state: &Snapshot, making: &Making<'_>) -> Result<Vec<u8>, CheckpointError> {
        let key = ring.current().ok_or(CheckpointError::NotWritten)?;
        let host = serde_json::to_vec(making.host).map_err(|_| CheckpointError::NotWritten)?;
        let parts: [&[u8]; 5] = [b"{\"run\":", state.json(), b",\"host\":", &host, b"}"];
        let plain = Zeroizing::new(parts.concat());
        let head = CheckpointHead {
            run: state.run().clone(),
            generation: making.generation,
            made_at_unix_ms: making.made_at_unix_ms,
            expires_at_unix_ms: making.made_at_unix_ms.saturating_add(making.ttl_s.saturating_mul(1_000)),
            key: key.id.to_string(),
        };
        let mut sealed = head.written(&making.nonce).ok_or(CheckpointError::NotWritten)?;
        let payload = Payload { msg: &plain, aad: &sealed };
        let cipher = XChaCha20Poly1305::new(&Key::from(*key.bytes));
        let secret = cipher.encrypt(&XNonce::from(making.nonce), payload);
        sealed.extend(secret.map_err(|_| CheckpointError::NotWritten)?);
        if sealed.len() > CHECKPOINT_BYTES_MAX { Err(CheckpointError::NotWritten) } else { Ok(sealed) }
    }

    /// Opens a sealed checkpoint at `now_unix_ms`. `least_generation` is the number of the last one that was made for its
    /// run, as far as whoever keeps them knows; 0 where nobody does.
    ///
    /// The run is as it was stored. What was said of its calls is not in it, and what people approved counts only as long as
    /// it holds, under the rules of now.
    ///
    /// # Errors
    /// When it is not one that this ring has sealed, has expired, or is not the last.
    pub fn open(
        ring: &KeyRing,
        sealed: &[u8],
        now_unix_ms: u64,
        least_generation: u64,
    ) -> Result<Self, CheckpointError> {
        let (head, nonce, written, secret) = CheckpointHead::split(sealed)?;
        let key = ring.find(&head.key).ok_or_else(|| CheckpointError::ForeignKey(head.key.clone()))?;
        let cipher = XChaCha20Poly1305::new(&Key::from(*key.bytes));
        let plain = cipher.decrypt(&XNonce::from(nonce), Payload { msg: secret, aad: written });
        let plain = Zeroizing::new(plain.map_err(|_| CheckpointError::Altered)?);
        // Only now is the head known to be what was sealed.
        if now_unix_ms >= head.expires_at_unix_ms {
            return Err(CheckpointError::Expired);
        }
        if head.generation < least_generation {
            return Err(CheckpointError::Older { found: head.generation, last: least_generation });
        }
        let content: Content = serde_json::from_slice(&plain).map_err(|_| CheckpointError::NoRun)?;
        if *content.run.id() != head.run {
            return Err(CheckpointError::NoRun);
        }
        Ok(Self { head, run: content.run, host: content.host })
    }
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
