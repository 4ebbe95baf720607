//! Credentials inside base64 or hexadecimal: the run is decoded once, and goes whole when the pass finds something in it.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::behind::Behind;
use super::class::RUN;
use super::cursor::{Cursor, Starved};
use super::swallow::Swallow;
use super::{Engine, Found};
use crate::report::{Confidence, Report, Source};

/// The shortest run that is decoded.
const RUN_CHARS_MIN: usize = 24;
/// How much of a run is decoded; of a longer one this beginning decides.
const RUN_CHARS_MAX: usize = 3_600;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Finds an encoded text that starts at the cursor with `first`, in which `engine` finds something.
pub(super) fn find(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    engine: &Engine,
) -> Result<Option<Found>, Starved> {
    // Behind a removal stands the rest of something, and not the beginning of a run.
    if behind.is_at_removal()
        || !is_encoded(first)
        || first == '='
        || behind.peek().is_some_and(|c| is_encoded(c) && c != '=')
    {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    let beginning = ahead.take_plain(RUN_CHARS_MIN, |b| is_encoded(char::from(b)));
    if beginning.len() == RUN_CHARS_MIN && !begins_text(beginning) {
        return Ok(None);
    }
    let mut run = beginning.to_owned();
    while run.len() < RUN_CHARS_MIN {
        match ahead.next()? {
            Some(c) if is_encoded(c) => run.push(c),
            Some(_) | None => return Ok(None),
        }
    }
    // Most runs are settled by their beginning: it is text, or nothing that was encoded is.
    if decoded(&run).is_none() || !cursor.has_digit_or_hidden_near(RUN)? {
        return Ok(None);
    }
    run.push_str(ahead.take_plain(RUN_CHARS_MAX - run.len(), |b| is_encoded(char::from(b))));
    while run.len() < RUN_CHARS_MAX
        && let Some(c) = ahead.peek()?.filter(|c| is_encoded(*c))
    {
        run.push(c);
        ahead.next()?;
    }
    if ahead.is_at_marker()? {
        return Ok(None);
    }
    let long = run.len() >= RUN_CHARS_MAX;
    let Some(text) = decoded(&run) else { return Ok(None) };
    let mut report = Report::new();
    let mut inner = engine.within();
    inner.pass(&text, &mut String::new(), &mut report);
    let Some(found) = report.findings().iter().max_by_key(|finding| finding.confidence) else {
        return Ok(None);
    };
    Ok(Some(Found {
        rule: found.rule,
        kind: found.kind,
        source: Source::Decoded,
        confidence: found.confidence.min(Confidence::High),
        keep: 0,
        cut: ahead.offset() - cursor.offset(),
        then: long.then_some(Swallow::While(is_encoded)),
    }))
}

fn is_encoded(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=')
}

/// The text that a run encodes, if it encodes one.
fn decoded(run: &str) -> Option<String> {
    let hex = run.bytes().all(|b| b.is_ascii_hexdigit());
    let bytes = if hex { from_hex(run)? } else { from_base64(run.trim_end_matches('='))? };
    // The cut of a longer run may fall into a character.
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).ok()?
        }
        Err(_) => return None,
    };
    let control = text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{1b}'));
    (!control && !text.is_empty()).then_some(text)
}

/// Whether the beginning of a run may encode text: most numbers have a byte soon that no text has.
fn begins_text(run: &str) -> bool {
    let is_text = |byte: &u8| *byte >= b' ' && *byte != 0x7f || matches!(byte, b'\n' | b'\r' | b'\t' | 0x1b);
    if run.bytes().all(|b| b.is_ascii_hexdigit()) {
        let digit = |b: u8| char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, _) = run.as_bytes().as_chunks::<2>();
        return pairs.iter().all(|[high, low]| {
            digit(*high).zip(digit(*low)).is_some_and(|(high, low)| is_text(&(high << 4 | low)))
        });
    }
    let mut bytes = [0; RUN_CHARS_MIN];
    let engine = if run.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    match engine.decode_slice(run.trim_end_matches('='), &mut bytes) {
        Ok(len) => bytes.get(..len).is_some_and(|bytes| bytes.iter().all(is_text)),
        Err(_) => false,
    }
}

fn from_base64(run: &str) -> Option<Vec<u8>> {
    // A last character alone encodes nothing.
    let whole = if run.len() % 4 == 1 { run.get(..run.len() - 1)? } else { run };
    if whole.contains(['-', '_']) { URL_SAFE.decode(whole).ok() } else { STANDARD.decode(whole).ok() }
}

fn from_hex(run: &str) -> Option<Vec<u8>> {
    run.as_bytes()
        .as_chunks::<2>()
        .0
        .iter()
        .map(|[high, low]| {
            let digit = |b: u8| char::from(b).to_digit(16);
            u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
        })
        .collect()
}
