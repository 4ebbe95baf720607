//! Tokens without any fixed text, known by the lengths and the letters of their pieces: `id.secret` of a fixed length each.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::super::Found;
use super::super::behind::Behind;
use super::super::cursor::{Cursor, Starved};
use super::super::drawn::{Drawn, is_drawn};
use super::{Run, is_value_char};
use crate::report::{Confidence, Source};

/// A token of pieces that one sign joins.
struct Bare {
    rule: &'static str,
    kind: &'static str,
    sign: char,
    pieces: &'static [fn(&str) -> bool],
}

/// Formats as the vendors show them.
const BARE: &[Bare] = &[
    // Discord: the bot's number, the time, a signature (https://discord.com/developers/docs/reference#authentication).
    Bare {
        rule: "discord-bot-token",
        kind: "discord-token",
        sign: '.',
        pieces: &[
            |text| (23..=28).contains(&text.len()) && is_mixed(text),
            |text| (6..=7).contains(&text.len()),
            |text| (27..=40).contains(&text.len()) && is_mixed(text),
        ],
    },
    // Zhipu (https://docs.bigmodel.cn/cn/guide/develop/http/introduction): an id and the secret that signs.
    Bare {
        rule: "zhipu-key",
        kind: "zhipu-key",
        sign: '.',
        pieces: &[|text| is_hex(text, 32), |text| text.len() == 16 && has_each(text) && is_plain(text)],
    },
    // Mailchimp (https://mailchimp.com/developer/marketing/docs/fundamentals): the key, and its data centre.
    Bare {
        rule: "mailchimp-key",
        kind: "mailchimp-key",
        sign: '-',
        pieces: &[|text| is_hex(text, 32), is_centre],
    },
    // TrueNAS (https://www.truenas.com/docs/scale/scaletutorials/toptoolbar/managingapikeys): a number, and the key.
    Bare {
        rule: "truenas-key",
        kind: "truenas-key",
        sign: '-',
        pieces: &[
            |text| text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit()),
            |text| text.len() == 64 && is_mixed(text) && is_plain(text),
        ],
    },
    // dfuse (https://docs.dfuse.io/platform/dfuse-cloud/authentication): where the key is used, and the key.
    Bare {
        rule: "dfuse-key",
        kind: "dfuse-key",
        sign: '_',
        pieces: &[|text| matches!(text, "web" | "server" | "mobile"), |text| is_hex(text, 32)],
    },
    // Jira and Confluence (https://confluence.atlassian.com/enterprise/using-personal-access-tokens-1026032365.html): in
    // base64, a number, a colon and 20 bytes.
    Bare { rule: "atlassian-server-pat", kind: "atlassian-token", sign: '|', pieces: &[is_numbered] },
];

/// How many signs may stand between an access key's id and its secret.
const BETWEEN_CHARS_MAX: usize = 8;
/// The least length of what stands behind a prefix. Identifiers of the same form have up to 29.
const PREFIXED_CHARS_MIN: usize = 32;
const PREFIX_WORD_CHARS_MAX: usize = 10;
const PREFIX_CHARS_MAX: usize = 24;
/// The length of the secret of an S3 access key, which those compatible with it keep.
const S3_SECRET_CHARS: usize = 40;
/// The length of a numbered token in base64.
const NUMBERED_CHARS: usize = 44;
/// The lengths of a VAPID key pair in base64 (RFC 8292): 32 bytes, and a point of 65.
const VAPID_CHARS: [usize; 2] = [43, 87];

/// Finds a token that is all of `run`, or the first half of a pair that begins with it.
pub(super) fn find(run: &Run, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let text = run.value();
    // Most runs are of one piece, and of no length that counts.
    let pieces = || text.bytes().any(|b| matches!(b, b'.' | b'-' | b'_'));
    let known_length =
        matches!(text.len(), 20 | 24 | 61 | NUMBERED_CHARS) || VAPID_CHARS.contains(&text.len());
    if text.len() < 16 || !(known_length || pieces()) || behind.peek().is_some_and(is_value_char) {
        return Ok(None);
    }
    if let Some(bare) = BARE.iter().find(|bare| bare.is(text)) {
        return Ok(Some(found(bare.rule, bare.kind, run.end - cursor.offset())));
    }
    if is_prefixed(text) {
        return Ok(Some(found("prefixed-token", "api-key", run.end - cursor.offset())));
    }
    let mut after = cursor.after(run.end - cursor.offset());
    if VAPID_CHARS.contains(&text.len()) && is_mixed(text) && after.eat(':')? {
        let [short, long] = VAPID_CHARS;
        let other = exactly(&mut after, short + long - text.len(), is_url64)?;
        return Ok(other
            .filter(|other| is_mixed(other))
            .map(|_| found("vapid-key-pair", "vapid-key", after.offset() - cursor.offset())));
    }
    if is_access_id(text) {
        let between = |c: char| c.is_whitespace() || matches!(c, ':' | ',' | ';' | '|' | '"' | '\'');
        if after.run(BETWEEN_CHARS_MAX, between)? > 0
            && let Some(secret) = exactly(&mut after, S3_SECRET_CHARS, is_base64)?
            && is_mixed(&secret)
        {
            return Ok(Some(found("access-key-pair", "access-key", after.offset() - cursor.offset())));
        }
    }
    Ok(None)
}

fn found(rule: &'static str, kind: &'static str, cut: usize) -> Found {
    let (source, confidence) = (Source::Format, Confidence::Medium);
    Found { rule, kind, source, confidence, keep: 0, cut, then: None }
}

impl Bare {
    fn is(&self, text: &str) -> bool {
        let mut pieces = text.split(self.sign);
        self.pieces.iter().all(|is| pieces.next().is_some_and(is)) && pieces.next().is_none()
    }
}

/// Reads a run of exactly `len` characters.
fn exactly(ahead: &mut Cursor<'_>, len: usize, is: fn(char) -> bool) -> Result<Option<String>, Starved> {
    let mut text = String::new();
    while text.len() < len
        && let Some(c) = ahead.peek()?
        && is(c)
    {
        text.push(c);
        ahead.next()?;
    }
    let ends = !ahead.peek()?.is_some_and(|c| is_value_char(c) || c == '=') && !ahead.is_before_marker()?;
    Ok((text.len() == len && ends).then_some(text))
}

/// The form that GitHub gave its tokens and many took over: a few letters for the vendor and the sort, a sign, and far
/// more drawn letters and digits than identifiers have.
fn is_prefixed(text: &str) -> bool {
    let Some((prefix, body)) = text.rsplit_once(['_', '-']) else { return false };
    let is_word = |word: &str| (1..=PREFIX_WORD_CHARS_MAX).contains(&word.len()) && is_small(word);
    let mut words = prefix.split(['_', '-']);
    let first = words.next().unwrap_or_default();
    body.len() >= PREFIXED_CHARS_MIN
        && is_plain(body)
        && has_many_of_each(body)
        && is_drawn(body) == Drawn::Surely
        && first.len() >= 2
        && is_word(first)
        && prefix.len() <= PREFIX_CHARS_MAX
        && words.all(is_word)
}

/// Not a hash with a line number, or words in humps with a version.
fn has_many_of_each(text: &str) -> bool {
    let count = |class: fn(&u8) -> bool| text.bytes().filter(class).count();
    let turns = text.bytes().zip(text.bytes().skip(1)).filter(|(a, b)| {
        let hump = a.is_ascii_uppercase() && b.is_ascii_lowercase();
        !hump
            && (a.is_ascii_digit() != b.is_ascii_digit() || a.is_ascii_uppercase() != b.is_ascii_uppercase())
    });
    count(u8::is_ascii_lowercase) >= 3
        && count(u8::is_ascii_uppercase) >= 3
        && count(u8::is_ascii_digit) >= 2
        && turns.count() * 3 >= text.len()
}

fn is_small(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_lowercase())
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/')
}

fn is_url64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Drawn of small letters, capitals and digits.
fn is_mixed(text: &str) -> bool {
    has_each(text) && is_drawn(text) >= Drawn::Maybe
}

fn has_each(text: &str) -> bool {
    let has = |class: fn(&u8) -> bool| text.bytes().any(|b| class(&b));
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
}

fn is_hex(text: &str, len: usize) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() == len
        && (4..=len - 4).contains(&digits)
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}

/// `us12`; but not `rc1`.
fn is_centre(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_lowercase());
    text.len() - digits.len() == 2
        && (1..=2).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && !text.starts_with("rc")
}

/// The id of an S3 access key: 20 capitals and digits, of some services 24 or 61.
pub(in super::super) fn is_access_id(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    matches!(text.len(), 20 | 24 | 61)
        && digits >= 2
        && text.len() - digits >= 4
        && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

fn is_numbered(text: &str) -> bool {
    const HEAD_CHARS: usize = 20;
    let head = text.get(..HEAD_CHARS).filter(|_| text.len() == NUMBERED_CHARS && text.chars().all(is_base64));
    let Some(bytes) = head.and_then(|head| STANDARD_NO_PAD.decode(head).ok()) else { return false };
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    (9..=13).contains(&digits) && bytes.get(digits) == Some(&b':')
}

#[cfg(test)]
#[path = "bare_tests.rs"]
mod tests;
