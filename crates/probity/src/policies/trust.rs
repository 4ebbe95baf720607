//! The list of projects whose rules may widen: what a person has looked at, by path and content.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use probity_contract::Digest;
use serde::{Deserialize, Serialize};

use super::files::{RULE_FILE_BYTES_MAX, in_folder};
use crate::exit::{Code, Fatal};
use crate::settings;
use crate::task_file::read_text;

/// The trusted folders, each with the digest of its rules: rules that have changed since are not those that were looked at.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TrustList {
    folder: Vec<Trusted>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trusted {
    path: PathBuf,
    rules: Digest,
}

impl TrustList {
    /// Where the list lies: beside the user's own rules.
    pub(crate) fn path() -> Option<PathBuf> {
        settings::config_dir().map(|dir| dir.join("trusted.toml"))
    }

    /// Reads the list; where there is none, nothing is trusted.
    pub(crate) fn load() -> Result<Self, Fatal> {
        let Some(path) = Self::path().filter(|path| path.symlink_metadata().is_ok()) else {
            return Ok(Self::default());
        };
        let text = read_text(&path, RULE_FILE_BYTES_MAX)?;
        toml::from_str(&text).map_err(|error| {
            let words = format!("read the list of trusted folders `{}`: {error}", path.display());
            Fatal::new(Code::Usage, &words).hint("mend it, or remove it and trust the folders again")
        })
    }

    /// Whether a person has trusted these rules of this folder.
    pub(crate) fn has(&self, folder: &Path, text: &str) -> bool {
        let rules = digest(text);
        let folder = folder.canonicalize();
        folder
            .is_ok_and(|folder| self.folder.iter().any(|known| known.path == folder && known.rules == rules))
    }

    /// Trusts the rules of a folder as they are, in place of what was trusted there before.
    pub(crate) fn add(&mut self, folder: &Path, text: &str) -> Result<(), Fatal> {
        let path = canonical(folder)?;
        self.folder.retain(|known| known.path != path);
        self.folder.push(Trusted { path, rules: digest(text) });
        self.store()
    }

    /// Takes trust from a folder. Tells whether it had any.
    pub(crate) fn remove(&mut self, folder: &Path) -> Result<bool, Fatal> {
        let path = canonical(folder)?;
        let many = self.folder.len();
        self.folder.retain(|known| known.path != path);
        self.store().map(|()| self.folder.len() < many)
    }

    /// Replaces the file as a whole, readable by its owner only.
    fn store(&self) -> Result<(), Fatal> {
        let path = Self::path().ok_or_else(|| {
            Fatal::new(Code::Setup, "find a place for the list of trusted folders: HOME is not set")
        })?;
        let failed = |error: std::io::Error| {
            Fatal::new(
                Code::Setup,
                &format!("write the list of trusted folders `{}`: {error}", path.display()),
            )
        };
        let text = toml::to_string(self).map_err(|error| Fatal::of(Code::Failed, &error))?;
        let dir = path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        file.persist(&path).map(drop).map_err(|error| failed(error.error))
    }
}

/// The rules of a folder, as text.
pub(crate) fn rules_of(folder: &Path) -> Result<String, Fatal> {
    read_text(&in_folder(folder), RULE_FILE_BYTES_MAX)
}

fn digest(text: &str) -> Digest {
    Digest::of("probity.trusted-rules.v1", &[text.as_bytes()])
}

fn canonical(folder: &Path) -> Result<PathBuf, Fatal> {
    folder
        .canonicalize()
        .map_err(|error| Fatal::new(Code::Usage, &format!("find the folder `{}`: {error}", folder.display())))
}
