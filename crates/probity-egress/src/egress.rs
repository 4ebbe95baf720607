use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::clean::cut;
use crate::tier::Tier;

/// A text that came out of tier `T`'s pass.
///
/// Every exit takes this type, so a path that forgot the pass does not compile. It is minted in this crate alone: by a
/// pass, by a cut of what a pass returned, or from text of ours that was fixed when the program was compiled. There is
/// no `From`, no `Deserialize` and no way to change one in place; tiers do not convert into each other.
///
/// Cheap to clone. It does not promise that the text is true, harmless or one line: see [`one_line_untrusted`] and
/// [`fenced_for_human`] for text of foreign origin.
///
/// [`one_line_untrusted`]: crate::one_line_untrusted
/// [`fenced_for_human`]: crate::fenced_for_human
pub struct Egress<T: Tier> {
    // INVARIANT: went through `T`'s pass, is made of such parts, or is text fixed at compile time.
    // Not `Arc<str>`: that would copy what the pass wrote.
    text: Arc<String>,
    tier: PhantomData<T>,
}

impl<T: Tier> Egress<T> {
    /// Mints from text that a pass of tier `T` returned. Crate-private: this is the door.
    pub(crate) fn passed(text: impl Into<String>) -> Self {
        Self { text: Arc::new(text.into()), tier: PhantomData }
    }

    /// Text of ours, fixed at compile time, which therefore carries nobody's secret.
    ///
    /// It is not passed; do not leak a run-time string to satisfy the lifetime.
    pub fn fixed(text: &'static str) -> Self {
        Self::passed(text)
    }

    /// The empty text.
    pub fn empty() -> Self {
        Self::fixed("")
    }

    /// The parts in order with `sep` between them.
    pub fn join(parts: impl IntoIterator<Item = Self>, sep: &'static str) -> Self {
        let mut text = String::new();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                text.push_str(sep);
            }
            text.push_str(part.as_str());
        }
        Self::passed(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether the text has no bytes.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl<T: Tier> Clone for Egress<T> {
    fn clone(&self) -> Self {
        Self { text: Arc::clone(&self.text), tier: PhantomData }
    }
}

/// A width pads; a precision is a most of code points, and cuts as a summary does.
impl<T: Tier> fmt::Display for Egress<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.precision() {
            Some(max) => f.pad(&cut(&self.text, max)),
            None => f.pad(&self.text),
        }
    }
}

impl<T: Tier> fmt::Debug for Egress<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl<T: Tier> PartialEq for Egress<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<T: Tier> Eq for Egress<T> {}

impl<T: Tier> PartialOrd for Egress<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Tier> Ord for Egress<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl<T: Tier> Hash for Egress<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl<T: Tier> AsRef<str> for Egress<T> {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl<T: Tier> Serialize for Egress<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
