//! What stands in place of a suspect: the same kind of thing, about as long, and nothing in it that an answer could be made of.

use serde_json::{Map, Value};

/// The sentence that is repeated. Without numbers, names and quotes, so that no atom of a text stands in it.
const SENTENCE: &str = "this part was left out. ";

/// The word in place of a short text in a value.
const WORD: &str = "left out";

/// Nesting up to which a value keeps its shape.
const DEPTH_MAX: usize = 64;

/// What stands in place of a text.
///
/// A JSON object or list keeps its shape: names and lengths of lists stay, texts become neutral ones of about the same length, numbers,
/// truth values and null become null. Any other text becomes a neutral one of about the same length. An empty text stays empty.
#[must_use]
pub fn stand_in(text: &str) -> String {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '[']) {
        // Deeply nested values do not parse and are plain texts then.
        if let Ok(value) = serde_json::from_str::<Value>(trimmed) {
            return neutral_value(&value, DEPTH_MAX).to_string();
        }
    }
    neutral_text(text)
}

fn neutral_value(value: &Value, depth_left: usize) -> Value {
    let Some(below) = depth_left.checked_sub(1) else { return Value::Null };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Value::Null,
        Value::String(text) => Value::String(neutral_text(text)),
        Value::Array(values) => values.iter().map(|value| neutral_value(value, below)).collect(),
        Value::Object(members) => {
            let neutral = |(name, value): (&String, &Value)| (name.clone(), neutral_value(value, below));
            Value::Object(members.iter().map(neutral).collect::<Map<_, _>>())
        }
    }
}

/// Whole sentences as far as they fit, at least one word; never longer than the text by more than that word.
fn neutral_text(text: &str) -> String {
    let wanted = text.chars().count();
    if text.trim().is_empty() {
        return String::new();
    }
    if wanted < SENTENCE.len() {
        return WORD.to_owned();
    }
    let repeated = SENTENCE.repeat(wanted / SENTENCE.len());
    repeated.trim_end().to_owned()
}

#[cfg(test)]
#[path = "stand_in_tests.rs"]
mod tests;
