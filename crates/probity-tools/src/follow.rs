//! Following a called path through its links, as far as it exists.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use cap_std::fs::Dir;
use probity_contract::ToolError;
use probity_egress::is_hard_to_see;

use crate::path::join;
use crate::root::{outside, path_error, refused};

/// Links that one path may pass through (what Linux allows).
pub(crate) const LINKS_MAX: usize = 40;

/// Why a path could not be followed.
pub(crate) enum Lost {
    Outside,
    Loop,
    HardToSee,
    Io(io::Error),
}

impl Lost {
    pub(crate) fn into_error(self, shown: &str) -> ToolError {
        match self {
            Self::Outside => outside(shown),
            Self::Loop => refused(format!("`{shown}` passes through more than {LINKS_MAX} links")),
            Self::HardToSee => refused(format!("`{shown}` is a link to a name that is hard to see")),
            Self::Io(error) => path_error(&error, shown),
        }
    }
}

/// The parts that `called` leads to when links are followed. What does not exist is kept as it was called.
///
/// A link is followed only when it is relative and never steps above the root, not even to come back.
pub(crate) fn follow(root: &Dir, called: &[String]) -> Result<Vec<String>, Lost> {
    let mut pending: VecDeque<String> = called.iter().cloned().collect();
    let mut done: Vec<String> = Vec::new();
    let mut links = 0;
    while let Some(part) = pending.pop_front() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                done.pop().ok_or(Lost::Outside)?;
                continue;
            }
            _ => done.push(part),
        }
        let here = join(&done);
        let metadata = match root.symlink_metadata(&here) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link may not lead through what is not there: `missing/..` has no meaning to agree on.
                if pending.iter().any(|part| part == "..") {
                    return Err(Lost::Io(error));
                }
                done.extend(pending.into_iter().filter(|part| !part.is_empty() && part != "."));
                return Ok(done);
            }
            Err(error) => return Err(Lost::Io(error)),
        };
        if metadata.is_symlink() {
            links += 1;
            if links > LINKS_MAX {
                return Err(Lost::Loop);
            }
            let goal = root.read_link_contents(&here).map_err(Lost::Io)?;
            done.pop();
            unshift(&mut pending, &goal)?;
        } else if !metadata.is_dir() && !pending.is_empty() {
            return Err(Lost::Io(io::ErrorKind::NotADirectory.into()));
        }
    }
    Ok(done)
}

fn unshift(pending: &mut VecDeque<String>, goal: &Path) -> Result<(), Lost> {
    let goal = goal.to_str().ok_or(Lost::HardToSee)?;
    if goal.starts_with('/') {
        return Err(Lost::Outside);
    }
    if goal.chars().any(is_hard_to_see) {
        return Err(Lost::HardToSee);
    }
    for part in goal.rsplit('/') {
        pending.push_front(part.to_owned());
    }
    Ok(())
}
