//! Roots: the only places that tools may touch, and what a called path leads to inside them.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use probity_contract::{Access, Digest, Holds, Operand, Target, ToolError, ToolErrorClass, ToolName};

use crate::follow::follow;
use crate::path::{RelPath, join};
use crate::setup::ToolSetupError;

/// File systems that are windows into the kernel, by the magic number of `statfs(2)`: procfs, sysfs, securityfs,
/// debugfs, tracefs, cgroup, cgroup2, bpf, devpts.
const KERNEL_FILE_SYSTEMS: [i64; 9] = [
    0x9fa0,
    0x6265_6572,
    0x7363_6673,
    0x6462_6720,
    0x7472_6163,
    0x0027_e0eb,
    0x6367_7270,
    0xcafe_4a11,
    0x1cd1,
];

/// Bytes of a file up to which an approval is bound to its content; of a larger one to its size and when it was changed.
pub(crate) const OPERAND_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A directory that tools may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// What calls and policies name it: 1 to 64 ASCII letters, digits, `_` or `-`.
    pub name: String,
    /// Where it is. It must exist when the tools are set up, and links to it are followed then and never again.
    pub path: PathBuf,
    /// Whether tools may change what is in it.
    pub write: bool,
}

/// The roots of one set of tools, opened.
#[derive(Debug)]
pub(crate) struct Roots {
    // INVARIANT: at least one, names distinct.
    opened: Vec<OpenRoot>,
}

#[derive(Debug)]
pub(crate) struct OpenRoot {
    pub(crate) name: String,
    /// Absolute, without links, UTF-8.
    pub(crate) path: String,
    pub(crate) write: bool,
    dir: Dir,
    device: u64,
}

/// What a called path leads to: the parts are relative to the root and without links.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    roots: Arc<Roots>,
    root: usize,
    called: String,
    parts: Vec<String>,
}

/// The directory that holds a resolved path, reached without following a link, and the name in it.
pub(crate) struct Place {
    pub(crate) parent: Dir,
    pub(crate) leaf: String,
}

impl Roots {
    /// Opens the roots. This is the one place that uses the process's own authority over the file system.
    pub(crate) fn open(tool: &str, roots: &[Root]) -> Result<Arc<Self>, ToolSetupError> {
        let mut names = BTreeSet::new();
        let mut opened: Vec<OpenRoot> = Vec::new();
        for Root { name, path, write } in roots {
            let config = |why: String| ToolSetupError::config(tool, why);
            ToolName::new(name).map_err(|error| ToolSetupError::name(tool, error))?;
            if !names.insert(name) {
                return Err(config(format!("two roots are called `{name}`")));
            }
            let io = |source| ToolSetupError::io(tool, format!("open the root `{name}`"), source);
            let real = std::fs::canonicalize(path).map_err(io)?;
            let text = real.to_str().ok_or_else(|| config(format!("the root `{name}` has no UTF-8 path")))?;
            let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(io)?;
            if is_kernel_file_system(&dir).map_err(io)? {
                return Err(config(format!("the root `{name}` lies in a file system of the kernel")));
            }
            // A rule names a path by its root; a file with two such names would slip a rule about one of them.
            let within = |other: &&OpenRoot| {
                real.starts_with(&other.path) || std::path::Path::new(&other.path).starts_with(&real)
            };
            if let Some(other) = opened.iter().find(within) {
                return Err(config(format!(
                    "the roots `{name}` and `{}` lie one inside the other; declare the outer one alone",
                    other.name
                )));
            }
            let device = dir.dir_metadata().map_err(io)?.dev();
            opened.push(OpenRoot { name: name.clone(), path: text.to_owned(), write: *write, dir, device });
        }
        if opened.is_empty() {
            return Err(ToolSetupError::config(tool, "at least one root is needed"));
        }
        Ok(Arc::new(Self { opened }))
    }

    pub(crate) fn all(&self) -> &[OpenRoot] {
        &self.opened
    }

    /// One sentence for the tool's description.
    pub(crate) fn describe(&self) -> String {
        let names: Vec<String> = self
            .opened
            .iter()
            .map(|root| {
                format!("`{}` ({})", root.name, if root.write { "read and write" } else { "read only" })
            })
            .collect();
        match self.opened.as_slice() {
            [_] => format!("Paths are relative to the root {}.", names.concat()),
            _ => format!(
                "Roots: {}. A path that starts with a root's name and `/` is inside that root; any other path is \
                 inside the first root.",
                names.join(", ")
            ),
        }
    }

    /// Which root a path names, and where in it.
    pub(crate) fn address(&self, path: &RelPath) -> (usize, RelPath) {
        if let (true, Some((first, rest))) = (self.opened.len() > 1, path.split_first())
            && let Some(index) = self.opened.iter().position(|root| root.name == first)
        {
            return (index, rest);
        }
        (0, path.clone())
    }

    /// The file that a word of a command means which is run in `cwd`, or `None` where it lies in no root. Read as the kernel
    /// does: `..` leaves the directory that the links before it lead to.
    pub(crate) fn named(self: &Arc<Self>, cwd: &Resolved, word: &str) -> Option<Resolved> {
        let (index, parts) = match word.strip_prefix('/') {
            None => {
                let parts = cwd.parts.iter().map(String::as_str).chain(word.split('/'));
                (cwd.root, parts.map(str::to_owned).collect::<Vec<_>>())
            }
            Some(_) => {
                let below = |root: &OpenRoot| {
                    let rest = word.strip_prefix(&root.path)?.strip_prefix('/')?;
                    Some(rest.split('/').map(str::to_owned).collect::<Vec<_>>())
                };
                self.opened.iter().enumerate().find_map(|(at, root)| Some((at, below(root)?)))?
            }
        };
        let root = self.opened.get(index)?;
        let parts = follow(&root.dir, &parts).ok()?;
        Some(Resolved { roots: Arc::clone(self), root: index, called: join(&parts), parts })
    }

    /// Follows a called path through its links, as far as it exists.
    pub(crate) fn resolve(self: &Arc<Self>, text: &str) -> Result<Resolved, ToolError> {
        let (index, path) = self.address(&RelPath::parse(text)?);
        let root = self.opened.get(index).ok_or_else(|| outside(text))?;
        let parts = follow(&root.dir, path.parts()).map_err(|why| why.into_error(&path.to_string()))?;
        Ok(Resolved { roots: Arc::clone(self), root: index, called: path.to_string(), parts })
    }
}

impl Resolved {
    pub(crate) fn root(&self) -> Result<&OpenRoot, ToolError> {
        self.roots.opened.get(self.root).ok_or_else(|| outside(&self.called))
    }

    /// The path in words: with its root's name where there are several.
    pub(crate) fn shown(&self) -> String {
        match (self.roots.opened.as_slice(), self.roots.opened.get(self.root)) {
            ([_, _, ..], Some(root)) => format!("{}/{}", root.name, self.called),
            _ => self.called.clone(),
        }
    }

    pub(crate) fn resolved(&self) -> String {
        join(&self.parts)
    }

    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }

    pub(crate) fn target(&self, access: Access, recursive: bool) -> Result<Target, ToolError> {
        Ok(Target::Path {
            root: self.root()?.name.clone(),
            path: self.called.clone(),
            resolved: self.resolved(),
            access,
            recursive,
        })
    }

    /// The file as it is now; `None` where there is no regular file. What stands in the place of a link that the path led
    /// through is not followed.
    pub(crate) fn operand(&self) -> Result<Option<Operand>, ToolError> {
        let Some(place) = self.hold(Missing::Fail).ok().flatten() else { return Ok(None) };
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        // A pipe that nobody writes must not be waited for.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        let Ok(file) = place.parent.open_with(&place.leaf, &options) else { return Ok(None) };
        let found = file.metadata().map_err(|error| self.error(&error))?;
        if !found.is_file() {
            return Ok(None);
        }
        self.refuse_kernel(&file, found.dev())?;
        let holds = if found.len() <= OPERAND_BYTES_MAX {
            let mut content = Vec::new();
            file.take(OPERAND_BYTES_MAX).read_to_end(&mut content).map_err(|error| self.error(&error))?;
            Holds::Content(Digest::of_content(&content))
        } else {
            let (s, ns) = (i128::from(found.mtime()), i128::from(found.mtime_nsec()));
            Holds::ChangedAt((s * 1_000_000_000 + ns).to_string())
        };
        Ok(Some(Operand {
            root: self.root()?.name.clone(),
            path: self.resolved(),
            device: found.dev().to_string(),
            inode: found.ino().to_string(),
            bytes: found.len(),
            holds,
        }))
    }

    /// Opens the directory itself.
    pub(crate) fn dir(&self) -> Result<Dir, ToolError> {
        walk(&self.root()?.dir, &self.parts, Missing::Fail).map_err(|error| self.error(&error))
    }

    /// Opens the directory that holds the path, or nothing when the path is the root itself.
    pub(crate) fn place(&self) -> Result<Option<Place>, ToolError> {
        self.hold(Missing::Fail)
    }

    /// The same, and directories that are missing on the way are made.
    pub(crate) fn place_made(&self) -> Result<Option<Place>, ToolError> {
        self.hold(Missing::Make)
    }

    fn hold(&self, missing: Missing) -> Result<Option<Place>, ToolError> {
        let Some((leaf, parents)) = self.parts.split_last() else { return Ok(None) };
        let parent = walk(&self.root()?.dir, parents, missing).map_err(|error| self.error(&error))?;
        Ok(Some(Place { parent, leaf: leaf.clone() }))
    }

    /// Whether an opened file belongs to a file system that is a window into the kernel.
    pub(crate) fn refuse_kernel(&self, file: &impl std::os::fd::AsFd, device: u64) -> Result<(), ToolError> {
        if device == self.root()?.device
            || !is_kernel_file_system(file).map_err(|error| self.error(&error))?
        {
            return Ok(());
        }
        Err(refused(format!("`{}` lies in a file system of the kernel", self.shown())))
    }

    /// An I/O error in words that name the path as it was called.
    pub(crate) fn error(&self, error: &io::Error) -> ToolError {
        path_error(error, &self.shown())
    }
}

/// An I/O error in words; the system's own text is kept short and holds no path.
pub(crate) fn path_error(error: &io::Error, shown: &str) -> ToolError {
    use ToolErrorClass::{Failed, InvalidArguments, NotFound, Refused};

    let known = [
        (io::ErrorKind::NotFound, NotFound, "it does not exist"),
        (io::ErrorKind::NotADirectory, NotFound, "a part of it is not a directory"),
        (io::ErrorKind::IsADirectory, InvalidArguments, "it is a directory"),
        (io::ErrorKind::AlreadyExists, Refused, "it exists already"),
        (io::ErrorKind::PermissionDenied, Refused, "permission was denied"),
    ];
    let kind = error.kind();
    let (class, why) = if let Some((_, class, why)) = known.iter().find(|(of, ..)| *of == kind) {
        (*class, (*why).to_owned())
    } else if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        (Refused, "a link stands where none was when the call was judged".to_owned())
    } else {
        (Failed, kind.to_string())
    };
    ToolError::new(class, format!("cannot use `{shown}`: {why}"))
}

pub(crate) fn refused(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorClass::Refused, message)
}

pub(crate) fn outside(shown: &str) -> ToolError {
    refused(format!("`{}` leads outside of its root", crate::clip::word(shown)))
}

/// What to do about a directory that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fail,
    Make,
}

/// Walks down from `root` without following a link at any step.
fn walk(root: &Dir, parts: &[String], missing: Missing) -> io::Result<Dir> {
    let mut here = root.try_clone()?;
    for part in parts {
        here = match here.open_dir_nofollow(part) {
            Err(error) if missing == Missing::Make && error.kind() == io::ErrorKind::NotFound => {
                match here.create_dir(part) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    _ => here.open_dir_nofollow(part)?,
                }
            }
            opened => opened?,
        };
    }
    Ok(here)
}

fn is_kernel_file_system(file: &impl std::os::fd::AsFd) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        // The field's width differs between targets.
        let magic = rustix::fs::fstatfs(file)?.f_type as i64;
        Ok(KERNEL_FILE_SYSTEMS.contains(&magic))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, KERNEL_FILE_SYSTEMS);
        Ok(false)
    }
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
