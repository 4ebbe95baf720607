//! Who wrote what in one world, as far as its tools have told, and whether a call's arguments come from there.
//!
//! A value is believed where the person's message has it, or where something has it that nobody outside could write and
//! nothing that somebody outside wrote has it as well: where it stands in both, the outsider may be the one who chose it.

use probity_contract::FrozenCall;
use serde_json::Value;

use super::adapter::Returned;
use super::spelling::Text;

/// Arguments that say something and decide nothing: what stands in them is read by whoever the other arguments name.
pub(crate) const DATA: [&str; 6] = ["body", "content", "description", "message", "subject", "title"];

/// How finely a tool tells who wrote its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grain {
    /// A result as a whole: one outsider's word in it makes all of it theirs.
    Result,
    /// Each value of a result: an id that the service gave stands beside a title that somebody wrote.
    Value,
}

/// What is known of one world.
#[derive(Debug)]
pub(crate) struct Sources {
    grain: Grain,
    message: Text,
    inside: Text,
    outside: Text,
}

impl Sources {
    pub(crate) fn new(grain: Grain, message: &str) -> Self {
        Self { grain, message: Text::of(message), inside: Text::default(), outside: Text::default() }
    }

    /// Takes what a call brought back. What the call itself had brought along and nobody vouches for stays what it was.
    pub(crate) fn take(&mut self, arguments: &Value, returned: &Returned) {
        let brought: Vec<String> = leaves(arguments)
            .filter(|value| !self.vouches_for(value, &[]))
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect();
        let is_outside = |value: &str| {
            let text = Text::of(value);
            brought.iter().any(|words| text.has_words(words))
        };
        let all_outside = returned.foreign && self.grain == Grain::Result;
        returned.outside.iter().for_each(|value| self.outside.add(value));
        for value in &returned.inside {
            if all_outside || is_outside(value) { self.outside.add(value) } else { self.inside.add(value) }
        }
    }

    /// Whether the person wrote the value.
    pub(crate) fn person_wrote(&self, value: &Value, beside: &[&str]) -> bool {
        self.message.has(value, beside)
    }

    /// Whether the person wrote the value, or nobody outside can have chosen it.
    pub(crate) fn vouches_for(&self, value: &Value, beside: &[&str]) -> bool {
        self.person_wrote(value, beside)
            || (!self.outside.has(value, beside) && self.inside.has(value, beside))
    }

    /// Whether these words stand in something that somebody outside wrote, and in nothing else.
    pub(crate) fn only_outsiders_wrote(&self, words: &str) -> bool {
        self.outside.has_words(words) && !self.message.has_words(words) && !self.inside.has_words(words)
    }

    /// Whether these words stand in something that somebody outside wrote.
    pub(crate) fn outsiders_wrote(&self, words: &str) -> bool {
        self.outside.has_words(words)
    }
}

/// Names of the arguments that need somebody who vouches for them and have nobody.
///
/// `schema` is the tool's: a value out of a list that it gives, `true`, `false` and `null` need nobody. Of data only the addresses
/// in it do.
pub(crate) fn unfounded(
    call: &FrozenCall,
    schema: &Value,
    vouches_for: impl Fn(&Value, &[&str]) -> bool,
) -> Vec<String> {
    let arguments = call.arguments().to_value();
    let beside: Vec<&str> = leaves(&arguments).filter_map(Value::as_str).collect();
    let names = arguments.as_object().into_iter().flatten().filter(|(name, argument)| {
        let is_data = DATA.contains(&name.as_str());
        !leaves(argument).all(|value| {
            let data = value.as_str().filter(|_| is_data);
            let is_founded = match data {
                Some(text) => addresses(text).iter().all(|address| vouches_for(&Value::from(*address), &[])),
                None => (is_data && value.is_number()) || vouches_for(value, &beside),
            };
            is_founded || is_listed(schema, name, value)
        })
    });
    names.map(|(name, _)| name.clone()).collect()
}

/// The values of an argument that are no lists and no objects; those that say nothing are left out.
fn leaves(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(values) => Box::new(values.iter().flat_map(leaves)),
        Value::Object(members) => Box::new(members.values().flat_map(leaves)),
        Value::Null | Value::Bool(_) => Box::new(std::iter::empty()),
        Value::String(text) if text.trim().is_empty() => Box::new(std::iter::empty()),
        Value::Number(_) | Value::String(_) => Box::new(std::iter::once(value)),
    }
}

/// Whether the schema lists the value among those that the argument may have.
fn is_listed(schema: &Value, name: &str, value: &Value) -> bool {
    let Some(property) = schema.pointer(&format!("/properties/{name}")) else { return false };
    let named = property.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    let definition = named.and_then(|path| schema.pointer(path)).unwrap_or(property);
    definition.get("enum").and_then(Value::as_array).is_some_and(|listed| listed.contains(value))
}

/// Links, mail addresses and account numbers in a text: where something goes.
pub(crate) fn addresses(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "'\"()[]{}<>,;".contains(c));
    words.map(|word| word.trim_end_matches(['.', '!', '?', ':'])).filter(|word| is_address(word)).collect()
}

fn is_address(word: &str) -> bool {
    let is_mail = word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let account = word.as_bytes();
    let is_account = account.len() >= 10
        && account.iter().take(2).all(u8::is_ascii_uppercase)
        && account.iter().skip(2).all(u8::is_ascii_digit);
    word.contains("://") || word.starts_with("www.") || is_mail || is_account
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
