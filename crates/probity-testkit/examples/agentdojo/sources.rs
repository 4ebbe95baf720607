//! Who wrote what in one world, as far as its tools have told. Only an answer is looked at by it: calls have core's labels.

use super::adapter::Returned;
use super::spelling::Text;

/// What is known of one world.
#[derive(Debug)]
pub(crate) struct Sources {
    message: Text,
    inside: Text,
    outside: Text,
}

impl Sources {
    pub(crate) fn new(message: &str) -> Self {
        Self { message: Text::of(message), inside: Text::default(), outside: Text::default() }
    }

    /// Takes what a call brought back. What has one of the call's untrusted arguments in it stays what that was.
    pub(crate) fn take(&mut self, untrusted: &[String], returned: &Returned) {
        returned.outside.iter().for_each(|value| self.outside.add(value));
        for value in &returned.inside {
            let text = Text::of(value);
            let is_outside = untrusted.iter().any(|words| text.has_words(words));
            if is_outside { self.outside.add(value) } else { self.inside.add(value) }
        }
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
