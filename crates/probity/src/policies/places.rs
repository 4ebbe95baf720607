//! What decides where a path leads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links in one path, as Linux bounds them.
const LINKS_MAX: usize = 40;

/// Every entry that is passed on the way to what `path` names, links and that itself included, each in its canonical place.
///
/// Who can change any of them can change where the path leads. Comparing the canonical end alone would miss the links. It
/// does not see a second name (hard link) of the file.
pub(super) fn on_the_way_to(path: &Path) -> io::Result<Vec<PathBuf>> {
    let passed = on_the_way_to_what_may_come(path)?;
    passed.last().map_or(Ok(()), |end| end.symlink_metadata().map(drop))?;
    Ok(passed)
}

/// The same of what may not be there yet, or only the first part of the way to it: where it would be.
pub(super) fn on_the_way_to_what_may_come(path: &Path) -> io::Result<Vec<PathBuf>> {
    let path = std::path::absolute(path)?;
    let mut left: VecDeque<OsString> = parts(&path).collect();
    let (mut at, mut passed, mut links) = (PathBuf::from("/"), Vec::new(), 0);
    while let Some(part) = left.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let entry = at.join(&part);
        passed.push(entry.clone());
        let is_link = match entry.symlink_metadata() {
            Ok(found) => found.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if !is_link {
            at = entry;
            continue;
        }
        links += 1;
        if links > LINKS_MAX {
            return Err(io::Error::other("too many links"));
        }
        let target = entry.read_link()?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        parts(&target).rev().for_each(|part| left.push_front(part));
    }
    Ok(passed)
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
