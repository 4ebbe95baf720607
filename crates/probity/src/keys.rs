//! The keys that seal checkpoints: in the environment, or in a file that only its owner may read.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use probity_core::{KeyError, KeyId, KeyRing};
use rustix::fs::OFlags;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::exit::{Code, Fatal};
use crate::settings;

/// The key file of a data directory.
const KEY_FILE: &str = "key";
/// Bytes of a key file.
const KEY_FILE_BYTES_MAX: u64 = 64 * 1024;
const OTHERS_MASK: u32 = 0o077;

/// The keys of `PROBITY_KEY`, or of the key file in the data directory; `None` where there are none.
pub(crate) fn ring(data_dir: &Path) -> Result<Option<KeyRing>, Fatal> {
    if let Some(text) = settings::sealing_keys() {
        let hint = "PROBITY_KEY holds keys as they stand in a key file";
        return KeyRing::parse(&text).map(Some).map_err(|error| Fatal::of(Code::Setup, &error).hint(hint));
    }
    let path = path(data_dir);
    match read(&path) {
        Ok(text) => KeyRing::parse(&text).map(Some).map_err(|error| wrong(&path, &error)),
        Err(Refused::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(refused) => Err(refused.told(&path)),
    }
}

/// The same; where there are none, a key is made and put into the key file.
pub(crate) fn ring_or_new(data_dir: &Path) -> Result<KeyRing, Fatal> {
    if let Some(ring) = ring(data_dir)? {
        return Ok(ring);
    }
    let path = path(data_dir);
    match write_new(&path, &fresh()?) {
        // Another process was first; its key is as good.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(Refused::Io(error).told(&path)),
        Ok(()) | Err(_) => ring(data_dir)?
            .ok_or_else(|| Fatal::new(Code::Setup, "read the sealing key that was just made: it is gone")),
    }
}

/// Puts a new key before those of the key file, and gives the ids of all.
pub(crate) fn rotate(data_dir: &Path) -> Result<Vec<KeyId>, Fatal> {
    if settings::sealing_keys().is_some() {
        return Err(Fatal::new(Code::Usage, "replace the sealing key: it stands in PROBITY_KEY")
            .hint("put the new key before the old one in PROBITY_KEY, or unset it to use the key file"));
    }
    let path = path(data_dir);
    let before = match read(&path) {
        Ok(text) => text,
        Err(Refused::Io(error)) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(refused) => return Err(refused.told(&path)),
    };
    let text = format!("{}{before}", fresh()?);
    let ring = KeyRing::parse(&text).map_err(|error| wrong(&path, &error))?;
    let new = path.with_extension("new");
    let _left_over = std::fs::remove_file(&new);
    let written = write_new(&new, &text).and_then(|()| std::fs::rename(&new, &path));
    written.map_err(|error| Refused::Io(error).told(&path))?;
    Ok(ring.ids().cloned().collect())
}

/// Random bytes of the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Fatal> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += getrandom(rest, GetRandomFlags::empty())
            .map_err(|error| Fatal::of(Code::Failed, &io::Error::from(error)))?;
    }
    Ok(bytes)
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(KEY_FILE)
}

fn fresh() -> Result<String, Fatal> {
    Ok(format!("{}\n", KeyRing::written(&random()?).as_str()))
}

enum Refused {
    Io(io::Error),
    /// Others may read it, or it is somebody else's.
    NotOwnerOnly(u32),
}

impl Refused {
    fn told(&self, path: &Path) -> Fatal {
        let path = path.display();
        match self {
            Self::Io(error) => Fatal::new(Code::Setup, &format!("read the key file `{path}`: {error}"))
                .hint("name the key in PROBITY_KEY, or choose a data directory that you may write"),
            Self::NotOwnerOnly(mode) => Fatal::new(
                Code::Setup,
                &format!("read the key file `{path}`: others may read or change it (mode {mode:03o})"),
            )
            .hint("if nobody has, take the rights of others away with `chmod 600`; else replace the key"),
        }
    }
}

fn wrong(path: &Path, error: &KeyError) -> Fatal {
    Fatal::new(Code::Setup, &format!("{error}, in `{}`", path.display()))
        .hint("a key file has one key a line, the current one first")
}

fn read(path: &Path) -> Result<String, Refused> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(Refused::Io)?;
    let found = file.metadata().map_err(Refused::Io)?;
    if !found.is_file() {
        return Err(Refused::Io(io::Error::other("it is no plain file")));
    }
    if found.mode() & OTHERS_MASK != 0 || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Refused::NotOwnerOnly(found.mode() & 0o777));
    }
    let mut text = String::new();
    file.take(KEY_FILE_BYTES_MAX).read_to_string(&mut text).map_err(Refused::Io)?;
    Ok(text)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
