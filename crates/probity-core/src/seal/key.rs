use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use probity_contract::Digest;
use probity_egress::register_secret;
use zeroize::Zeroizing;

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// What a key begins with when it is written down.
const PREFIX: &str = "probity-key-1:";
/// Keys in one ring.
const KEYS_MAX: usize = 16;

/// The keys that seal and open checkpoints: the current one seals, all of them open.
///
/// A key that is replaced stays in the ring as long as checkpoints that it has sealed shall be opened. Neither `Display` nor
/// `Serialize`; `Debug` shows ids only, and the passes know every key of a ring as a secret.
#[derive(Clone)]
pub struct KeyRing {
    // INVARIANT: not empty; the first is the current one; no two are the same.
    keys: Vec<SealKey>,
}

#[derive(Clone)]
pub(super) struct SealKey {
    pub(super) id: KeyId,
    pub(super) bytes: Zeroizing<[u8; KEY_BYTES]>,
}

/// What a key is called: 16 hexadecimal digits that say nothing of the key itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyId(String);

/// Why a text is no ring of keys. It quotes nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Nothing.
    #[error("read the sealing keys: there is none")]
    None,
    /// Something else.
    #[error("read the sealing keys: key {0} is not `{PREFIX}` and 43 characters of base64url")]
    Malformed(usize),
    /// The same twice.
    #[error("read the sealing keys: key {0} stands there twice")]
    Twice(usize),
    /// Too many.
    #[error("read the sealing keys: there are more than {KEYS_MAX}")]
    TooMany,
}

impl KeyRing {
    /// Reads a ring as it is written down: keys behind each other, the current one first, with white space or commas between;
    /// what stands behind `#` on a line is not read.
    ///
    /// # Errors
    /// When there is no key, or something that is none.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let lines = text.lines().map(|line| line.split_once('#').map_or(line, |(before, _)| before));
        let words = lines.flat_map(|line| line.split([' ', '\t', ','])).map(str::trim);
        let mut keys: Vec<SealKey> = Vec::new();
        for (at, word) in words.filter(|word| !word.is_empty()).enumerate() {
            let key = SealKey::parse(word).ok_or(KeyError::Malformed(at + 1))?;
            if keys.iter().any(|known| known.id == key.id) {
                return Err(KeyError::Twice(at + 1));
            }
            if keys.len() == KEYS_MAX {
                return Err(KeyError::TooMany);
            }
            // Also without its prefix, should somebody quote it like that.
            register_secret(word);
            register_secret(word.strip_prefix(PREFIX).unwrap_or(word));
            keys.push(key);
        }
        if keys.is_empty() { Err(KeyError::None) } else { Ok(Self { keys }) }
    }

    /// A key as it is written down, from 32 random bytes.
    #[must_use]
    pub fn written(random: &[u8; KEY_BYTES]) -> Zeroizing<String> {
        let text =
            Zeroizing::new(format!("{PREFIX}{}", Zeroizing::new(URL_SAFE_NO_PAD.encode(random)).as_str()));
        register_secret(&text);
        text
    }

    /// The ids of all keys, the current one first.
    pub fn ids(&self) -> impl Iterator<Item = &KeyId> {
        self.keys.iter().map(|key| &key.id)
    }

    pub(super) fn current(&self) -> Option<&SealKey> {
        self.keys.first()
    }

    pub(super) fn find(&self, id: &str) -> Option<&SealKey> {
        self.keys.iter().find(|key| key.id.0 == id)
    }
}

impl SealKey {
    fn parse(word: &str) -> Option<Self> {
        let encoded = word.strip_prefix(PREFIX)?;
        let decoded = Zeroizing::new(URL_SAFE_NO_PAD.decode(encoded).ok()?);
        let bytes = Zeroizing::new(<[u8; KEY_BYTES]>::try_from(decoded.as_slice()).ok()?);
        let digest = Digest::of("probity.key-id.v1", &[bytes.as_slice()]).to_string();
        Some(Self { id: KeyId(digest.chars().take(16).collect()), bytes })
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}
