//! Encodings and wrappings that texts meet on their way.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::draw::Draw;

/// The text in one of them.
pub(crate) fn encoded(text: &str, draw: &mut Draw) -> String {
    match draw.below(12) {
        0 => percent(text, |byte| !byte.is_ascii_alphanumeric(), true),
        1 => percent(text, |_| true, false),
        2 => json(text),
        3 => json(&json(text)),
        4 => text.chars().map(|c| format!("&#{};", u32::from(c))).collect(),
        5 => text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;"),
        6 => STANDARD.encode(text),
        7 => URL_SAFE_NO_PAD.encode(text),
        8 => hex(text.as_bytes()),
        9 => between(text, draw, &["\u{1b}[1m", "\u{1b}[0m", "\u{1b}[38;5;196m"]),
        10 => between(text, draw, &["\u{200b}", "\u{2060}", "\u{ad}", "\u{feff}"]),
        _ => between(text, draw, &["\n", "\r\n", "\n+", "\\\n"]),
    }
}

pub(crate) fn percent(text: &str, is_encoded: impl Fn(u8) -> bool, is_upper: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii() && !is_encoded(byte) {
            out.push(char::from(byte));
        } else if is_upper {
            out.push_str(&format!("%{byte:02X}"));
        } else {
            out.push_str(&format!("%{byte:02x}"));
        }
    }
    out
}

pub(crate) fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One of the pieces here and there between the characters.
fn between(text: &str, draw: &mut Draw, pieces: &[&str]) -> String {
    let mut out = String::new();
    let every = 1 + draw.below(20);
    for (number, c) in text.chars().enumerate() {
        if number % every == 0 {
            let piece = draw.of(pieces);
            out.push_str(piece);
        }
        out.push(c);
    }
    out
}
