//! Where in a target a transform puts its value.

use probity_contract::HostError;
use serde_json::Value;

/// The root's names, the older of which stays accepted.
const ROOTS: [&str; 2] = ["$target", "$policy_target"];

/// A path that was read: members and indices from the target on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TargetPath<'a>(Vec<Segment<'a>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Segment<'a> {
    Member(&'a str),
    Index(usize),
}

impl<'a> TargetPath<'a> {
    /// Reads `$target`, followed by any number of `.member`, `["member"]` and `[index]`.
    ///
    /// # Errors
    /// `TransformTargetForbidden` where it starts elsewhere, `TransformInvalid` where it is no path.
    pub(super) fn parse(path: &'a str) -> Result<Self, HostError> {
        let root = ROOTS.into_iter().find_map(|root| path.strip_prefix(root));
        let mut rest = root.ok_or(HostError::TransformTargetForbidden)?;
        let mut segments = Vec::new();
        while !rest.is_empty() {
            let (segment, behind) = segment(rest).ok_or(HostError::TransformInvalid)?;
            segments.push(segment);
            rest = behind;
        }
        Ok(Self(segments))
    }

    /// Puts `value` in place of what stands there.
    ///
    /// # Errors
    /// `TransformInvalid` where nothing stands there; the target is then unchanged.
    pub(super) fn put(&self, target: &mut Value, value: Value) -> Result<(), HostError> {
        *self.find(target).ok_or(HostError::TransformInvalid)? = value;
        Ok(())
    }

    fn find<'v>(&self, target: &'v mut Value) -> Option<&'v mut Value> {
        self.0.iter().try_fold(target, |at, segment| match (at, segment) {
            (Value::Object(members), Segment::Member(name)) => members.get_mut(*name),
            (Value::Array(values), Segment::Index(index)) => values.get_mut(*index),
            _ => None,
        })
    }
}

/// The first segment of a text that is not empty, and what stands behind it.
fn segment(text: &str) -> Option<(Segment<'_>, &str)> {
    if let Some(behind) = text.strip_prefix('.') {
        let (name, behind) = member(behind)?;
        return Some((Segment::Member(name), behind));
    }
    if let Some(behind) = text.strip_prefix("[\"") {
        let (name, behind) = member(behind)?;
        return Some((Segment::Member(name), behind.strip_prefix("\"]")?));
    }
    let (digits, behind) = text.strip_prefix('[')?.split_once(']')?;
    let is_index = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((Segment::Index(digits.parse().ok().filter(|_| is_index)?), behind))
}

/// The letters, digits, `_` and `-` at the start of a text, of which there is one at least.
fn member(text: &str) -> Option<(&str, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = text.bytes().position(|byte| !is_part(byte)).unwrap_or(text.len());
    // Only ASCII stands before the end, so the text can be split there.
    text.split_at_checked(end).filter(|(name, _)| !name.is_empty())
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
