//! What the structure of a value gives away: a name over a value, beside it, or before it.

use crate::clean::marker_len;
use crate::engine::{is_user_pair, looks_drawn};
use crate::pass::egress_text;
use crate::snapshot_tree::Tree;
use crate::tier::Tier;
use crate::vocabulary::{Name, Strength, classify_name};

/// A member's value that says what another member's value is called.
const NAMING: &[&str] = &[
    "k",
    "id",
    "key",
    "name",
    "field",
    "header",
    "param",
    "parameter",
    "variable",
    "var",
    "env",
    "property",
    "option",
    "setting",
    "attribute",
    "label",
    "type",
];
/// A member whose value belongs to the name that a [`NAMING`] member says.
const NAMED: &[&str] = &["v", "val", "value", "values", "default"];
/// A number of fewer digits is a count, a version or a state, whatever name it stands under.
const SECRET_DIGITS_MIN: usize = 6;
/// An array of fewer bytes or characters is not read as a text.
const PIECES_MIN: usize = 6;
/// A longer text is not a name.
const NAME_CHARS_MAX: usize = 80;

/// The value of a member or pair with this passed name: as it is, a marker, or with markers in it.
pub(crate) fn under(name: &str, value: Tree) -> Tree {
    if let Some(marker) = whole(name, &value) {
        return marker;
    }
    match (value, classify(name)) {
        (Tree::Array(items), Some(Name::Credential(_, Strength::Key))) => {
            Tree::Array(items.into_iter().map(|item| whole(name, &item).unwrap_or(item)).collect())
        }
        (value, _) => value,
    }
}

/// What a name says. One with a marker in it says nothing: the words of a marker are no words of a name.
fn classify(name: &str) -> Option<Name> {
    if name.contains("[REDACTED:") { None } else { classify_name(name) }
}

/// The marker for the whole value of a member with this name, `None` when the value may be read.
fn whole(name: &str, value: &Tree) -> Option<Tree> {
    let (kind, strength) = match classify(name)? {
        Name::Credential(kind, strength) => (kind, strength),
        Name::Authorization => ("authorization", Strength::Password),
        Name::Cookie => ("cookie", Strength::Password),
    };
    let secret = match value {
        // `key`, `token` and the like are common words: here, too, the value must look drawn.
        Tree::String(text) if strength == Strength::Key => looks_drawn(text),
        Tree::Array(_) | Tree::Object(_) if strength == Strength::Key => false,
        Tree::String(text) => !text.is_empty() && !is_marker(text),
        Tree::Array(items) => !items.is_empty(),
        Tree::Object(members) => !members.is_empty(),
        Tree::Number(number) => match strength {
            Strength::Password => true,
            Strength::Secret => {
                number.to_string().bytes().filter(u8::is_ascii_digit).count() >= SECRET_DIGITS_MIN
            }
            Strength::Key => false,
        },
        Tree::Null | Tree::Bool(_) | Tree::Marker(_) => false,
    };
    secret.then_some(Tree::Marker(kind))
}

fn is_marker(text: &str) -> bool {
    marker_len(text) == Some(text.len())
}

/// An object in which one member names what another holds: `{"name": "DB_PASSWORD", "value": "…"}`.
pub(crate) fn object(mut members: Vec<(String, Tree)>) -> Tree {
    let said: Vec<String> =
        members.iter().filter_map(|(member, said)| name_said(member, said)).map(str::to_owned).collect();
    if !said.is_empty() {
        for (member, value) in &mut members {
            let letters = letters(member);
            if NAMED.contains(&letters.as_str()) || letters.ends_with("value") || letters.ends_with("values")
            {
                for name in &said {
                    *value = under(name, value.take());
                }
            }
        }
    }
    Tree::Object(members)
}

/// The credential name that this member says another one has.
fn name_said<'v>(member: &str, said: &'v Tree) -> Option<&'v str> {
    let said =
        said.as_str().filter(|said| said.len() <= NAME_CHARS_MAX && !said.contains(char::is_whitespace))?;
    let class = classify(said)?;
    let letters = letters(member);
    let names = match letters.as_str() {
        // `{"type": "password"}` is an input of a form; `{"type": "token"}` says little.
        "type" => matches!(class, Name::Credential(_, Strength::Password)),
        letters => NAMING.contains(&letters) || letters.ends_with("key") || letters.ends_with("name"),
    };
    names.then_some(said)
}

fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// An array whose elements belong together: pairs of name and value, arguments, headers in a row, a text in pieces.
pub(crate) fn array<T: Tier>(mut items: Vec<Tree>) -> Tree {
    if let Some(kind) = text_in_pieces::<T>(&items) {
        return Tree::Marker(kind);
    }
    if items.iter().all(|item| pair_name(item).is_some()) {
        for item in &mut items {
            let name = pair_name(item).unwrap_or_default().to_owned();
            if let Some(value) = item.as_array_mut().and_then(|pair| pair.last_mut()) {
                *value = under(&name, value.take());
            }
        }
        return Tree::Array(items);
    }
    let mut before: Option<String> = None;
    for item in &mut items {
        let Some(text) = item.as_str().map(str::to_owned) else {
            before = None;
            continue;
        };
        before = match before.as_deref().and_then(|name| after(name, &text)) {
            Some(after) => {
                *item = after;
                None
            }
            None => (text.len() <= NAME_CHARS_MAX && !text.contains(char::is_whitespace)).then_some(text),
        };
    }
    Tree::Array(items)
}

/// The name in an array of two, the first of which is a text.
fn pair_name(item: &Tree) -> Option<&str> {
    match item.as_array()? {
        [Tree::String(name), _] => Some(name),
        _ => None,
    }
}

/// What becomes of a text that stands after another in an array.
fn after(before: &str, text: &str) -> Option<Tree> {
    let value = Tree::String(text.to_owned());
    // A marker names nothing: what it replaced did not either.
    if before.contains("[REDACTED:") {
        return None;
    }
    let Some(flag) = before.strip_prefix('-') else {
        // A list of names is no list of values: here the value must look like one.
        let looks = match classify(before)? {
            Name::Authorization => text.contains(' ') || looks_drawn(text),
            Name::Cookie => text.contains('='),
            Name::Credential(..) => looks_drawn(text),
        };
        return looks.then(|| whole(before, &value)).flatten();
    };
    if text.starts_with('-') {
        return None;
    }
    if matches!(before, "-u" | "--user" | "--proxy-user" | "-U") {
        // The pair goes whole, as it does in the text of a command.
        return is_user_pair(text, true).then_some(Tree::Marker("password"));
    }
    whole(flag.trim_start_matches('-'), &value)
}

/// The kind of what an array of bytes, or of single characters, spells, when the pass would remove something of it.
fn text_in_pieces<T: Tier>(items: &[Tree]) -> Option<&'static str> {
    if items.len() < PIECES_MIN {
        return None;
    }
    let bytes: Option<Vec<u8>> = items.iter().map(|item| u8::try_from(item.as_u64()?).ok()).collect();
    let (kind, text) = match bytes {
        Some(bytes) => ("bytes", String::from_utf8_lossy(&bytes).into_owned()),
        None => ("text", items.iter().map(single).collect::<Option<String>>()?),
    };
    (egress_text::<T>(&text).as_str() != text).then_some(kind)
}

fn single(item: &Tree) -> Option<char> {
    let mut chars = item.as_str()?.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}
