use std::fmt::Write;
use std::marker::PhantomData;

use probity_egress::{Egress, Tier, is_hard_to_see};

use super::style::STYLE;

/// Nothing may be loaded and nothing may run; the styles stand in the page.
const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
<meta name=\"referrer\" content=\"no-referrer\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

/// A page under construction: markup of ours, numbers, and texts that were passed for its readers.
///
/// A text has no way in except escaped, so no text of a run is ever markup.
#[derive(Debug)]
pub(crate) struct Page<T: Tier> {
    // INVARIANT: only ever extended by fixed markup, numbers and escaped `Egress<T>`.
    html: String,
    tier: PhantomData<T>,
}

impl<T: Tier> Page<T> {
    /// Begins a page; `title` stands in the head.
    pub(crate) fn begin(title: &Egress<T>) -> Self {
        let mut page = Self { html: HEAD.to_owned(), tier: PhantomData };
        page.markup("<title>").text(title).markup("</title>\n<style>").markup(STYLE);
        page.markup("</style>\n</head>\n<body>\n");
        page
    }

    /// Ends it and gives the bytes of the file.
    pub(crate) fn end(mut self) -> String {
        self.markup("</body>\n</html>\n");
        self.html
    }

    pub(crate) fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.html.push_str(markup);
        self
    }

    /// A text, in an element or between the quotation marks of an attribute.
    pub(crate) fn text(&mut self, text: &Egress<T>) -> &mut Self {
        for character in text.as_str().chars() {
            match character {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '"' => self.html.push_str("&quot;"),
                '\'' => self.html.push_str("&#39;"),
                '`' => self.html.push_str("&#96;"),
                '\n' | '\t' | '\u{200c}' | '\u{200d}' => self.html.push(character),
                hidden if is_hard_to_see(hidden) => {}
                plain => self.html.push(plain),
            }
        }
        self
    }

    pub(crate) fn number(&mut self, number: usize) -> &mut Self {
        // Writing to a `String` cannot fail.
        let _infallible = write!(self.html, "{number}");
        self
    }

    /// A number with two decimals.
    pub(crate) fn decimal(&mut self, number: f64) -> &mut Self {
        let _infallible = write!(self.html, "{number:.2}");
        self
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
