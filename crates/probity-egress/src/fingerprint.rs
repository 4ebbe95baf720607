use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Makes the fingerprint of a removed text while it is swallowed piece by piece.
#[derive(Clone, Default)]
pub(crate) struct Fingerprints {
    fresh: Option<Hmac<Sha256>>,
    open: Option<Hmac<Sha256>>,
}

impl Fingerprints {
    pub(crate) fn under(key: [u8; 32]) -> Self {
        Self { fresh: Hmac::new_from_slice(&key).ok(), open: None }
    }

    pub(crate) fn begin(&mut self, text: &str) {
        self.open = self.fresh.clone();
        self.extend(text);
    }

    pub(crate) fn extend(&mut self, text: &str) {
        if let Some(open) = self.open.as_mut() {
            open.update(text.as_bytes());
        }
    }

    pub(crate) fn end(&mut self) -> Option<String> {
        let digest = self.open.take()?.finalize().into_bytes();
        Some(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The key does not show.
impl fmt::Debug for Fingerprints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.fresh.is_some() { "Fingerprints(keyed)" } else { "Fingerprints(none)" })
    }
}
