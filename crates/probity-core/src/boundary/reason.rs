//! The reason of a refusal must not repeat what it refuses: whoever may not read the message reads the reason.

use std::collections::HashSet;

use probity_contract::HostError;
use serde_json::Value;

/// Bytes of a piece that is taken out wherever it stands in what was refused. Shorter ones are words that any two texts share.
const PIECE_BYTES: usize = 8;

/// What stands in place of a piece, the first of which that is not itself a piece of what was refused.
const MARKS: [&str; 2] = ["[withheld]", "…"];

/// Stands for a reason of which nothing can be said; shorter than any piece.
const NOTHING: &str = "[…]";

type Piece = [u8; PIECE_BYTES];

/// Pieces of some reasons that stand in what was refused.
#[derive(Debug, Default)]
pub(crate) struct Withheld(HashSet<Piece>);

impl Withheld {
    /// Finds the pieces of `reasons` in the texts, the names and the JSON of `refused`, and those that would come about where a
    /// mark is put in place of one.
    ///
    /// Takes time in proportion to the length of both and memory in proportion to the reasons.
    pub(crate) fn between<'a>(
        reasons: impl IntoIterator<Item = &'a str>,
        refused: impl IntoIterator<Item = &'a Value>,
    ) -> Self {
        let (reasons, refused): (Vec<&str>, Vec<&Value>) =
            (reasons.into_iter().collect(), refused.into_iter().collect());
        let said = reasons.iter().copied().flat_map(pieces).collect();
        let mut withheld = Self(common(&said, &refused));
        if !withheld.0.is_empty() {
            let marked = |reason: &&str| MARKS.map(|mark| withheld.replaced(reason, mark));
            let marked: Vec<String> = reasons.iter().flat_map(marked).collect();
            let said = marked.iter().flat_map(|text| pieces(text)).collect();
            withheld.0.extend(common(&said, &refused));
        }
        withheld
    }

    /// The same of a word that may be the engine's own: it says nothing of what was refused, and the record needs it whole.
    pub(super) fn said(&self, word: &str) -> String {
        if HostError::is_said_by(word) { word.to_owned() } else { self.scrub(word) }
    }

    /// The reason without these pieces.
    pub(crate) fn scrub(&self, reason: &str) -> String {
        if self.0.is_empty() {
            return reason.to_owned();
        }
        let scrubbed = MARKS.into_iter().map(|mark| self.replaced(reason, mark));
        scrubbed.into_iter().find(|text| !self.is_in(text)).unwrap_or_else(|| NOTHING.to_owned())
    }

    fn is_in(&self, text: &str) -> bool {
        pieces(text).any(|piece| self.0.contains(&piece))
    }

    fn replaced(&self, reason: &str, mark: &str) -> String {
        // Up to where a piece reaches that began at or before the byte.
        let mut withheld_to = 0;
        let mut starts = pieces(reason).map(|piece| self.0.contains(&piece));
        let mut is_withheld = Vec::with_capacity(reason.len());
        for at in 0..reason.len() {
            if starts.next() == Some(true) {
                withheld_to = at + PIECE_BYTES;
            }
            is_withheld.push(at < withheld_to);
        }
        let (mut text, mut is_inside) = (String::with_capacity(reason.len()), false);
        for (at, char) in reason.char_indices() {
            let bytes = is_withheld.get(at..at + char.len_utf8()).unwrap_or_default();
            if bytes.contains(&true) {
                if !is_inside {
                    text.push_str(mark);
                }
                is_inside = true;
            } else {
                text.push(char);
                is_inside = false;
            }
        }
        text
    }
}

/// Words without the pieces of at least eight bytes that stand in `refused`.
pub(crate) fn scrubbed<'a>(words: &'a str, refused: impl IntoIterator<Item = &'a Value>) -> String {
    Withheld::between([words], refused).scrub(words)
}

/// The text on one line, as reasons are told: whatever is no visible character is one blank.
fn folded(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Those of the pieces that stand in the values.
fn common(said: &HashSet<Piece>, values: &[&Value]) -> HashSet<Piece> {
    let mut found = HashSet::new();
    if said.is_empty() {
        return found;
    }
    let mut look = |text: &str| {
        found.extend(pieces(text).filter(|piece| said.contains(piece)));
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            found.extend(pieces(&folded(text)).filter(|piece| said.contains(piece)));
        }
    };
    for value in values {
        each_text(value, &mut look);
        look(&value.to_string());
    }
    found
}

fn pieces(text: &str) -> impl Iterator<Item = Piece> {
    text.as_bytes().windows(PIECE_BYTES).filter_map(|window| window.try_into().ok())
}

/// Hands over every text and every member name. Not recursive: the value is foreign.
fn each_text(value: &Value, look: &mut impl FnMut(&str)) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => look(text),
            Value::Array(values) => left.extend(values),
            Value::Object(members) => {
                members.keys().for_each(|name| look(name));
                left.extend(members.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
#[path = "reason_tests.rs"]
mod tests;
