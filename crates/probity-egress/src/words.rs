use std::fmt::Write;
use std::marker::PhantomData;

use crate::egress::Egress;
use crate::tier::Tier;

/// A sentence of ours under construction: fixed text, numbers, and parts that were passed before.
///
/// The result is not passed again, so a sentence costs what its parts cost. A run-time `&str` has no way in except
/// through a pass.
///
/// ```
/// use probity_egress::{SamePrincipal, Words, egress_text};
///
/// let tool = egress_text::<SamePrincipal>("fs_read");
/// let line = Words::<SamePrincipal>::new().text("tool ").passed(&tool).text(" failed ").number(3).text(" times").done();
/// assert_eq!(line.as_str(), "tool fs_read failed 3 times");
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Words<T: Tier> {
    // INVARIANT: only ever extended by fixed text, numbers and `Egress<T>`.
    text: String,
    tier: PhantomData<T>,
}

impl<T: Tier> Words<T> {
    /// An empty sentence.
    pub fn new() -> Self {
        Self { text: String::new(), tier: PhantomData }
    }

    /// Appends text fixed at compile time.
    pub fn text(mut self, text: &'static str) -> Self {
        self.text.push_str(text);
        self
    }

    /// Appends a part that went through this tier's pass.
    pub fn passed(mut self, part: &Egress<T>) -> Self {
        self.text.push_str(part.as_str());
        self
    }

    /// Appends a number in decimal.
    pub fn number(mut self, number: u64) -> Self {
        // Writing to a `String` cannot fail.
        let _infallible = write!(self.text, "{number}");
        self
    }

    /// The sentence.
    pub fn done(self) -> Egress<T> {
        Egress::passed(self.text)
    }
}

impl<T: Tier> Default for Words<T> {
    fn default() -> Self {
        Self::new()
    }
}
