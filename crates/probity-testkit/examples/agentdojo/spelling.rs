//! Whether words stand in a text.

/// A text in which words are looked for. White space counts once, since results are folded into lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    folded: String,
}

impl Text {
    pub(crate) fn of(text: &str) -> Self {
        let mut whole = Self::default();
        whole.add(text);
        whole
    }

    /// Adds a text that nothing in the former ones runs on into.
    pub(crate) fn add(&mut self, text: &str) {
        self.folded.push_str(" \u{0} ");
        self.folded.push_str(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        self.folded.push(' ');
    }

    /// Whether the text stands there, and no piece of a longer word, number, address or date.
    pub(crate) fn has_words(&self, text: &str) -> bool {
        let wanted = text.split_whitespace().collect::<Vec<_>>().join(" ");
        !wanted.is_empty()
            && self.folded.match_indices(&wanted).any(|(at, found)| {
                let before = self.folded.get(..at).unwrap_or_default().chars().rev();
                let after = self.folded.get(at + found.len()..).unwrap_or_default().chars();
                ends(before) && ends(after)
            })
    }
}

/// Whether a word ends here: before or behind comes nothing that would make it a longer one.
fn ends(mut rest: impl Iterator<Item = char>) -> bool {
    match rest.next() {
        None => true,
        Some(c) if c.is_alphanumeric() || c == '_' => false,
        // Inside of an address, a number or a date these do not end it; behind a sentence they do.
        Some('-' | '.' | '/' | ':' | '@' | '+' | '=' | '&' | '?' | '%' | '#') => {
            rest.next().is_none_or(|c| !c.is_alphanumeric())
        }
        Some(_) => true,
    }
}

#[cfg(test)]
#[path = "spelling_tests.rs"]
mod tests;
