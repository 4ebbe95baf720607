//! SHA-256 digests that name what was hashed.

use std::fmt;

use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest over a domain label and one or more byte strings.
///
/// Preimages are injective: the label and every part go in with their length before them, so no two different lists of
/// parts share a preimage, and a digest made for one purpose never equals one made for another. The one exception is
/// [`Digest::of_content`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest([u8; 32]);

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_hex(&self.0, serializer)
    }
}

impl Digest {
    /// The digest of `parts` under `domain`, for example `probity.call.v1`.
    #[must_use]
    pub fn of(domain: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in std::iter::once(domain.as_bytes()).chain(parts.iter().copied()) {
            // A usize fits u64 on every supported target.
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// The SHA-256 of a file's content, as `sha256sum` prints it, without a domain: people compare it with that.
    #[must_use]
    pub fn of_content(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 12 hexadecimal digits, for people; not unique.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

/// A text that is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read a digest: expected 64 lower-case hexadecimal digits")]
pub struct DigestError;

/// Writes 32 bytes as 64 lower-case hexadecimal digits, all at once: digests are named at every step of a run.
pub(crate) fn write_hex(bytes: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(hex_text(&hex(bytes)).ok_or(fmt::Error)?)
}

/// Writes 32 bytes as a text of 64 digits without allocating: a record names a text in nearly every line.
pub(crate) fn serialize_hex<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    let digits = hex(bytes);
    serializer.serialize_str(hex_text(&digits).ok_or_else(|| S::Error::custom("a digest has no digits"))?)
}

fn hex_text(digits: &[u8; 64]) -> Option<&str> {
    std::str::from_utf8(digits).ok()
}

fn hex(bytes: &[u8; 32]) -> [u8; 64] {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + (nibble - 10) };
    let mut digits = [0_u8; 64];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    digits
}

pub(crate) fn from_hex(text: &str) -> Result<[u8; 32], DigestError> {
    let nibble = |b: u8| match b {
        b'0'..=b'9' => Ok(b - b'0'),
        b'a'..=b'f' => Ok(b - b'a' + 10),
        _ => Err(DigestError),
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut bytes = [0_u8; 32];
    if pairs.len() != bytes.len() || !rest.is_empty() {
        return Err(DigestError);
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Ok(bytes)
}

impl TryFrom<String> for Digest {
    type Error = DigestError;
    fn try_from(text: String) -> Result<Self, DigestError> {
        from_hex(&text).map(Self)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
