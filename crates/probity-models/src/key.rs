//! Keys: where they come from, and that they go nowhere but into one header.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limits::KEY_BYTES_MAX;
use crate::provider::Provider;

/// A provider's key.
///
/// It shows a mask wherever it is printed, has no serial form, and is told to the redaction passes when it is made, so
/// that it is found should a provider quote it. It comes from the environment or a file, never from a command line.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    // INVARIANT: not empty; visible ASCII only, so that it fits a header line.
    key: Arc<str>,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum ApiKeyError {
    /// It is empty, or has characters that no key has.
    #[error("use the key from {0}: a key is one line of visible ASCII characters")]
    Unfit(String),
    /// The file cannot be read.
    #[error("read the key file `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl ApiKey {
    /// Reads a provider's key from the environment of this process; `None` where no variable is set or all are empty.
    ///
    /// The variables are those of [`Provider::key_variables`]. This is the only place that reads the environment.
    ///
    /// # Errors
    /// When a variable is set to something that is no key.
    pub fn read_environment(provider: Provider) -> Result<Option<Self>, ApiKeyError> {
        let set = provider.key_variables().iter().find_map(|name| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some((*name, value))
        });
        let Some((name, value)) = set else { return Ok(None) };
        Self::checked(&value.to_string_lossy(), || format!("`{name}`")).map(Some)
    }

    /// Reads a key from a file that holds nothing else; white space around it is left out.
    ///
    /// # Errors
    /// When the file cannot be read or holds no key.
    pub fn read_file(path: &Path) -> Result<Self, ApiKeyError> {
        let wrong = |source| ApiKeyError::File { path: path.to_owned(), source };
        let mut text = Vec::new();
        let limit = u64::try_from(KEY_BYTES_MAX).unwrap_or(u64::MAX);
        let file = std::fs::File::open(path).map_err(wrong)?;
        file.take(limit).read_to_end(&mut text).map_err(wrong)?;
        Self::checked(&String::from_utf8_lossy(&text), || format!("the file `{}`", path.display()))
    }

    fn checked(text: &str, place: impl FnOnce() -> String) -> Result<Self, ApiKeyError> {
        let key = text.trim();
        if key.is_empty() || key.len() >= KEY_BYTES_MAX || !key.chars().all(|c| c.is_ascii_graphic()) {
            return Err(ApiKeyError::Unfit(place()));
        }
        probity_egress::register_secret(key);
        Ok(Self { key: Arc::from(key) })
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.key
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([key])")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
