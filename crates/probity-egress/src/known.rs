use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::engine::Pairs;
use crate::limits::KNOWN_SECRET_BYTES_MIN;

/// The forms of every registered secret.
#[derive(Debug, Default, Clone)]
pub(crate) struct KnownForms {
    // INVARIANT: longest first, so that a form is found before one it contains; none is empty.
    forms: Vec<Arc<str>>,
    /// The first characters of the forms: most positions of a text are settled by one look.
    firsts: BTreeSet<char>,
    /// One bit for each pair of bytes that a form begins with; empty when nothing is registered.
    pairs: Vec<u64>,
    /// The table of what the pass looks for, with these among it, for both tiers.
    merged: [OnceLock<Box<Pairs>>; 2],
}

impl KnownForms {
    /// Whether a form begins with the two bytes.
    pub(crate) fn has_pair(&self, pair: [u8; 2]) -> bool {
        let pair = u16::from_le_bytes(pair);
        self.pairs.get(usize::from(pair >> 6)).is_some_and(|word| word >> (pair & 63) & 1 != 0)
    }

    /// Whether `text` has a form in it.
    pub(crate) fn is_within(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(&**form))
    }

    /// Whether anything is registered.
    pub(crate) fn is_any(&self) -> bool {
        !self.forms.is_empty()
    }

    /// The table of pairs for a tier, made when it is first asked for.
    pub(crate) fn merged(&self, locations: bool, make: impl FnOnce() -> Box<Pairs>) -> &Pairs {
        let [credentials, all] = &self.merged;
        if locations { all } else { credentials }.get_or_init(make)
    }

    /// The first and the second pair of bytes of each form.
    pub(crate) fn leading_pairs(&self) -> impl Iterator<Item = [u8; 2]> {
        self.forms.iter().flat_map(|form| {
            let pairs = form.as_bytes().windows(2).take(2);
            pairs.filter_map(|pair| pair.first_chunk().copied())
        })
    }

    pub(crate) fn starting_with(&self, first: char) -> impl Iterator<Item = &Arc<str>> {
        let forms = if self.firsts.contains(&first) { self.forms.as_slice() } else { &[] };
        forms.iter().filter(move |form| form.starts_with(first))
    }
}

static KNOWN: RwLock<Option<Arc<KnownForms>>> = RwLock::new(None);

/// What is registered now.
pub(crate) fn current() -> Arc<KnownForms> {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// Tells every later pass of this process that `secret` is one (an API key read from the environment, say), and returns
/// whether it was taken.
///
/// It is found raw, percent-encoded, JSON-escaped, in base64 at each alignment and in hexadecimal; of a text of several
/// lines each line counts. A value or line of fewer than [`KNOWN_SECRET_BYTES_MIN`] bytes is not taken: it would redact
/// ordinary words. A stream that is under way keeps what it knew when it began. There is no way to forget one.
pub fn register_secret(secret: &str) -> bool {
    let lines: Vec<&str> =
        secret.lines().map(str::trim).filter(|line| line.len() >= KNOWN_SECRET_BYTES_MIN).collect();
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let mut forms = known.as_deref().cloned().unwrap_or_default().forms;
    for line in &lines {
        forms.extend(forms_of(line).into_iter().map(Arc::from));
    }
    forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    forms.dedup();
    let firsts = forms.iter().filter_map(|form| form.chars().next()).collect();
    let mut pairs = if forms.is_empty() { Vec::new() } else { vec![0; (1 << 16) / 64] };
    for form in &forms {
        if let Some(pair) = form.as_bytes().first_chunk() {
            let pair = usize::from(u16::from_le_bytes(*pair));
            if let Some(word) = pairs.get_mut(pair >> 6) {
                *word |= 1_u64 << (pair & 63);
            }
        }
    }
    *known = Some(Arc::new(KnownForms { forms, firsts, pairs, merged: Default::default() }));
    !lines.is_empty()
}

fn forms_of(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let mut forms = vec![secret.to_owned(), percent(secret, false), percent(secret, true)];
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    forms.extend(quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(str::to_owned));
    forms.push(bytes.iter().map(|b| format!("{b:02x}")).collect());
    forms.push(bytes.iter().map(|b| format!("{b:02X}")).collect());
    for lead in 0..3 {
        // Only the characters that depend on the secret alone: the first after `lead` foreign bytes and the last of an
        // incomplete group depend on the neighbours.
        let mut shifted = vec![0_u8; lead];
        shifted.extend_from_slice(bytes);
        let from = [0, 2, 3].get(lead).copied().unwrap_or_default();
        let to = shifted.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            forms.extend(
                encoded.get(from..to).filter(|f| f.len() >= KNOWN_SECRET_BYTES_MIN).map(str::to_owned),
            );
        }
    }
    forms
}

fn percent(secret: &str, lower: bool) -> String {
    let mut out = String::new();
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else if lower {
            out.push_str(&format!("%{byte:02x}"));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
