//! The pass, and what it is compared with. Each gives a number, so that none is done away with.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use probity_egress::{Human, Redactor, SamePrincipal, egress_text};

/// Prefixes of common credentials.
const LITERALS: [&str; 32] = [
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "rk_live_",
    "pk_live_",
    "SG.",
    "npm_",
    "pypi-",
    "dckr_pat_",
    "hvs.",
    "eyJ",
    "-----BEGIN",
    "glsa_",
    "ATATT3",
    "shpat_",
    "dop_v1_",
    "lin_api_",
    "hf_",
    "AGE-SECRET-KEY-",
    "://",
];

pub(crate) fn pass_text(text: &str) -> usize {
    egress_text::<SamePrincipal>(text).len()
}

pub(crate) fn pass_human(text: &str) -> usize {
    egress_text::<Human>(text).len()
}

/// In chunks as a file is read.
pub(crate) fn pass_streamed(text: &str) -> usize {
    const CHUNK_BYTES: usize = 64 * 1024;
    let (mut redactor, mut out) = (Redactor::<SamePrincipal>::new(), String::with_capacity(text.len()));
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES));
        out.push_str(redactor.push(chunk).as_str());
        rest = after;
    }
    out.push_str(redactor.finish().as_str());
    out.len()
}

pub(crate) struct Scan {
    literals: AhoCorasick,
}

impl Scan {
    pub(crate) fn new() -> Self {
        let mut builder = AhoCorasick::builder();
        Self { literals: builder.kind(Some(AhoCorasickKind::DFA)).build(LITERALS).unwrap() }
    }

    /// Looks for one byte.
    #[expect(clippy::unused_self, reason = "called like the others")]
    pub(crate) fn equals(&self, text: &str) -> usize {
        memchr::memchr_iter(b'=', text.as_bytes()).fold(0, |sum, at| sum ^ at)
    }

    /// Looks for the literals.
    pub(crate) fn literals(&self, text: &str) -> usize {
        self.literals.find_iter(text).fold(0, |sum, found| sum ^ found.start())
    }

    /// Copies, which everybody has to who writes output.
    #[expect(clippy::unused_self, reason = "called like the others")]
    pub(crate) fn copy(&self, text: &str) -> usize {
        std::hint::black_box(text.to_owned()).len()
    }
}
