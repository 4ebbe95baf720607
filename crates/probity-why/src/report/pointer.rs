//! Where the value that a JSON pointer names stands in a text.

use std::ops::Range;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Deserializer;

/// The bytes of the value; `None` where the text is no JSON or has no such value.
pub(super) fn locate(json: &str, pointer: &str) -> Option<Range<usize>> {
    let mut at = skip_blank(json, 0)?;
    if !pointer.is_empty() {
        for name in pointer.strip_prefix('/')?.split('/') {
            at = member(json, at, &name.replace("~1", "/").replace("~0", "~"))?;
        }
    }
    let (_, end) = read::<IgnoredAny>(json, at)?;
    Some(at..end)
}

/// Where a member of the object, or of the array, at this place begins.
fn member(json: &str, at: usize, name: &str) -> Option<usize> {
    let is_object = match json.as_bytes().get(at)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let mut at = skip_blank(json, at + 1)?;
    let mut position = 0_usize;
    loop {
        let is_meant = if is_object {
            let (found, end) = read::<String>(json, at)?;
            at = skip_blank(json, skip(json, end, b':')?)?;
            found == name
        } else {
            // `01` names nothing.
            name.parse() == Ok(position) && position.to_string() == name
        };
        if is_meant {
            return Some(at);
        }
        position += 1;
        let (_, end) = read::<IgnoredAny>(json, at)?;
        at = skip_blank(json, skip(json, end, b',')?)?;
    }
}

/// One value, and where it ends.
fn read<T: DeserializeOwned>(json: &str, at: usize) -> Option<(T, usize)> {
    let mut values = Deserializer::from_str(json.get(at..)?).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, at + values.byte_offset()))
}

fn skip_blank(json: &str, at: usize) -> Option<usize> {
    let rest = json.get(at..)?;
    Some(at + (rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()))
}

fn skip(json: &str, at: usize, what: u8) -> Option<usize> {
    let at = skip_blank(json, at)?;
    (*json.as_bytes().get(at)? == what).then_some(at + 1)
}
