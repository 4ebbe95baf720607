//! Faults that were reported in public against other redactors and scanners, each as a test of its kind.
//!
//! The numbers are those of our own list of reports; the comment of a test names where to read the report and what went
//! wrong there. Inputs are made up, and every secret is drawn here from a seed.

mod cost;
mod encodings;
mod filters;
mod over_redaction;
mod redact_after_cut;
mod streams;
mod structure;
mod twice;
mod wrong_span;

use probity_egress::{Human, Redactor, SamePrincipal, Tier, egress_text};

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

/// Draws made-up secrets, the same in every run.
struct Draw(u64);

impl Draw {
    fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn of(&mut self, alphabet: &str, len: usize) -> String {
        let count = alphabet.chars().count();
        (0..len).filter_map(|_| alphabet.chars().nth(self.below(count))).collect()
    }

    /// Letters and digits, some of each kind.
    fn word(&mut self, len: usize) -> String {
        format!("x7K{}q2R", self.of(ALNUM, len - 6))
    }

    fn github(&mut self) -> String {
        format!("{}_{}", "ghp", self.word(36))
    }

    fn anthropic(&mut self) -> String {
        format!("{}-ant-api03-{}AA", "sk", self.word(93))
    }

    fn jwt(&mut self) -> String {
        let header = base64(br#"{"alg":"HS256","typ":"JWT"}"#);
        let payload = base64(format!(r#"{{"sub":"{}"}}"#, self.word(30)).as_bytes());
        format!("{header}.{payload}.{}", self.word(43))
    }

    /// The lines of a key's body, as they stand between its first and last line.
    fn key_lines(&mut self, count: usize) -> Vec<String> {
        (0..count)
            .map(|at| if at == 0 { format!("MIIE{}", self.of(BASE64, 60)) } else { self.of(BASE64, 64) })
            .collect()
    }
}

/// Base64 without padding.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(bytes)
}

fn key_block(label: &str, lines: &[String], line_break: &str) -> String {
    let (first, last) = (format!("-----BEGIN {label}"), format!("-----END {label}"));
    [&format!("{first}-----"), &lines.join(line_break), &format!("{last}-----")]
        .map(String::as_str)
        .join(line_break)
}

/// The pass over the whole, after checking that odd chunks give the same and that a second pass changes nothing.
fn pass<T: Tier>(text: &str) -> String {
    let whole = egress_text::<T>(text);
    for sizes in [&[1_usize][..], &[7], &[3, 1, 64, 2], &[997, 1]] {
        let mut redactor = Redactor::<T>::new();
        let mut out = String::new();
        let mut rest: Vec<char> = text.chars().collect();
        for size in sizes.iter().cycle() {
            let chunk: String = rest.drain(..rest.len().min(*size)).collect();
            if chunk.is_empty() {
                break;
            }
            out.push_str(redactor.push(&chunk).as_str());
        }
        out.push_str(redactor.finish().as_str());
        assert_eq!(out, whole.as_str(), "chunks of {sizes:?} changed {text:?}");
    }
    assert_eq!(egress_text::<T>(whole.as_str()), whole, "a second pass changed {text:?}");
    whole.to_string()
}

/// Nothing of `secret` is left, not even a piece of it that would help to guess the rest.
fn gone(text: &str, secret: &str) -> String {
    for out in [pass::<Human>(text), pass::<SamePrincipal>(text)] {
        let chars: Vec<char> = secret.chars().collect();
        for piece in chars.windows(chars.len().min(6)) {
            let piece: String = piece.iter().collect();
            assert!(!out.contains(&piece), "`{piece}` of {secret:?} is left in {out:?}, from {text:?}");
        }
        assert!(out.contains("[REDACTED:"), "{out:?}");
    }
    pass::<SamePrincipal>(text)
}

/// Exactly this comes out for the principal.
fn becomes(text: &str, expected: &str) {
    assert_eq!(pass::<SamePrincipal>(text), expected, "for {text:?}");
}

fn stays(text: &str) {
    becomes(text, text);
}
