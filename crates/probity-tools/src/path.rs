//! Reading the paths that models write.
//!
//! The rule: a path that two readers could understand differently is refused, not repaired. `..` is refused even where
//! it would stay inside, because `a/../b` is `b` to a policy that reads text and something else to a kernel when `a` is
//! a link.

use probity_contract::{ToolError, ToolErrorClass};
use probity_egress::is_hard_to_see;

/// Bytes of one path (`PATH_MAX` of Linux without the closing zero).
const PATH_BYTES_MAX: usize = 4095;
/// Bytes of one name (`NAME_MAX` of Linux).
const NAME_BYTES_MAX: usize = 255;

/// A relative path as parts: none is empty, `.`, `..`, too long, or holds `/` or a character that is hard to see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RelPath {
    // INVARIANT: as in the type's first line.
    parts: Vec<String>,
}

impl RelPath {
    /// Reads and normalises a path.
    pub(crate) fn parse(text: &str) -> Result<Self, ToolError> {
        let refused = |why: &str| {
            Err(ToolError::new(
                ToolErrorClass::Refused,
                format!("the path `{}` is refused: {why}", crate::clip::word(text)),
            ))
        };
        if text.is_empty() {
            return invalid("the path is empty; write `.` for the root itself");
        }
        if text.len() > PATH_BYTES_MAX {
            return invalid(&format!("the path is {} bytes long; at most {PATH_BYTES_MAX} work", text.len()));
        }
        if text.chars().any(is_hard_to_see) {
            return refused("it holds control characters or characters that are hard to see");
        }
        if text.starts_with('/') {
            return refused("it is absolute; write it relative to a root");
        }
        let mut parts = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => return refused("it holds `..`; write it without"),
                _ if part.len() > NAME_BYTES_MAX => {
                    return invalid(&format!("a name in the path is longer than {NAME_BYTES_MAX} bytes"));
                }
                _ => parts.push(part.to_owned()),
            }
        }
        Ok(Self { parts })
    }

    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The first part and the path behind it.
    pub(crate) fn split_first(&self) -> Option<(&str, Self)> {
        let (first, rest) = self.parts.split_first()?;
        Some((first, Self { parts: rest.to_vec() }))
    }
}

impl std::fmt::Display for RelPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&join(&self.parts))
    }
}

/// Parts as text; `.` where there are none.
pub(crate) fn join(parts: &[String]) -> String {
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

fn invalid(message: &str) -> Result<RelPath, ToolError> {
    Err(ToolError::new(ToolErrorClass::InvalidArguments, message))
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
