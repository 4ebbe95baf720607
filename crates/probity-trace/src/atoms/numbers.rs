//! Numbers in digits: with groups of thousands, decimals and signs of several places of the world.

use super::Decimal;
use super::chars::{char_before, is_digit};
use super::decimal::NUMBER_DIGITS_MAX;
use super::units::{currency_before, unit_behind};

/// The most groups of thousands that are looked at, so that a long list is read in linear time.
const GROUPS_MAX: usize = 12;

/// A number that stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberRead {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) value: Decimal,
    pub(crate) other: Option<Decimal>,
}

/// Where a run of digits ends.
pub(crate) fn digits_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The number whose first digit stands at `start`; `None` where the digits are too many, or are parts of a version or an
/// address (`1.2.3`).
pub(crate) fn number_at(text: &str, start: usize) -> Option<NumberRead> {
    let bytes = text.as_bytes();
    let first_end = digits_end(bytes, start);
    if first_end - start > NUMBER_DIGITS_MAX {
        return None;
    }
    let grouped = GROUP_SIGNS.iter().find_map(|sign| grouped(text, start, first_end, sign));
    let (end, value, other) = match grouped {
        Some(found) => found,
        None => plain(text, start, first_end)?,
    };
    let sign_start = sign_start(text, start);
    let signed = |value: Decimal| if sign_start < start { value.negated() } else { value };
    Some(NumberRead { start: sign_start, end, value: signed(value), other: other.map(signed) })
}

/// The signs between thousands: comma, point, apostrophes and the spaces of typesetters.
const GROUP_SIGNS: [&str; 8] = [",", ".", "'", "\u{2019}", " ", "\u{a0}", "\u{202f}", "\u{2009}"];

type Reading = (usize, Decimal, Option<Decimal>);

fn grouped(text: &str, start: usize, first_end: usize, sign: &str) -> Option<Reading> {
    let bytes = text.as_bytes();
    let first = first_end - start;
    let leads_with_zero = bytes.get(start) == Some(&b'0');
    if first > 3 || !bytes.get(first_end..)?.starts_with(sign.as_bytes()) {
        return None;
    }
    let (end, groups) = groups_end(bytes, first_end, sign)?;
    let point = if sign == "." { b',' } else { b'.' };
    let comma_too = sign != "," && sign != "." && bytes.get(end) == Some(&b',');
    let decimals_start = (bytes.get(end) == Some(&point) || comma_too).then_some(end + 1);
    let decimals_end = decimals_start.map(|from| digits_end(bytes, from)).filter(|&to| to > end + 1);
    let is_list = decimals_end.is_some_and(|to| is_more(bytes, to, bytes.get(end)));
    let with_decimals = decimals_end.filter(|_| !is_list);
    let is_certain = groups >= 2 || with_decimals.is_some();
    if leads_with_zero {
        return None;
    }
    if sign == " "
        && !is_certain
        && unit_behind(text, end).is_none()
        && currency_before(text, start).is_none()
    {
        return None;
    }
    let whole = number_of(bytes, start, end, 0)?;
    if let Some(to) = with_decimals {
        let places = u8::try_from(to - end - 1).ok()?;
        return Some((to, number_of(bytes, start, to, places)?, None));
    }
    let as_decimal = || number_of(bytes, start, end, 3);
    match sign {
        "," if !is_certain => Some((end, whole, as_decimal())),
        "." if !is_certain => Some((end, as_decimal()?, Some(whole))),
        _ => Some((end, whole, None)),
    }
}

/// Where the groups end and how many there are: of three digits, or of two before the last (`12,34,567`).
fn groups_end(bytes: &[u8], first_end: usize, sign: &str) -> Option<(usize, usize)> {
    let (mut end, mut groups, mut last) = (first_end, 0, 3);
    while bytes.get(end..)?.starts_with(sign.as_bytes()) && is_digit(bytes.get(end + sign.len())) {
        let from = end + sign.len();
        let window = bytes.get(from..from + 4).or(bytes.get(from..))?;
        let length = window.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let may_be_group = length == 3 || (length == 2 && sign == ",");
        if groups == GROUPS_MAX || !may_be_group {
            // `1.234,5` never comes here; `1,234,5` is a list.
            return None;
        }
        (end, groups, last) = (from + length, groups + 1, length);
    }
    (groups > 0 && last == 3).then_some((end, groups))
}

/// Whether a sign and a digit follow, as in lists, versions and addresses.
fn is_more(bytes: &[u8], end: usize, sign: Option<&u8>) -> bool {
    sign.is_some() && bytes.get(end) == sign && is_digit(bytes.get(end + 1))
}

fn plain(text: &str, start: usize, first_end: usize) -> Option<Reading> {
    let bytes = text.as_bytes();
    let decimals = digits_end(bytes, first_end + 1);
    let has_decimals = decimals > first_end + 1 && decimals - start <= NUMBER_DIGITS_MAX;
    match bytes.get(first_end) {
        Some(b'.') if decimals > first_end + 1 => {
            if !has_decimals || is_more(bytes, decimals, Some(&b'.')) {
                return None;
            }
            let places = u8::try_from(decimals - first_end - 1).ok()?;
            Some((decimals, number_of(bytes, start, decimals, places)?, None))
        }
        // A comma between digits is decimal only where the number is said to be of something; else it is a list.
        Some(b',') if has_decimals && !is_more(bytes, decimals, Some(&b',')) => {
            let of_something =
                unit_behind(text, decimals).is_some() || currency_before(text, start).is_some();
            let places = u8::try_from(decimals - first_end - 1).ok()?;
            let decimal = || Some((decimals, number_of(bytes, start, decimals, places)?, None));
            if of_something { decimal() } else { whole(bytes, start, first_end) }
        }
        _ => whole(bytes, start, first_end),
    }
}

fn whole(bytes: &[u8], start: usize, end: usize) -> Option<Reading> {
    Some((end, number_of(bytes, start, end, 0)?, None))
}

/// The digits between two offsets as a number; what stands between the digits is passed over.
fn number_of(bytes: &[u8], start: usize, end: usize, places: u8) -> Option<Decimal> {
    let digits = bytes.get(start..end)?.iter().filter(|byte| byte.is_ascii_digit());
    let mantissa = digits
        .clone()
        .try_fold(0_i128, |sum, digit| sum.checked_mul(10)?.checked_add(i128::from(digit - b'0')));
    Decimal::new(mantissa?, places)
}

/// Where the number begins with its minus sign: a sign counts where nothing that could be the start of a range is before it.
fn sign_start(text: &str, start: usize) -> usize {
    let minus = char_before(text, start).filter(|sign| matches!(sign, '-' | '\u{2212}'));
    let Some(minus) = minus else { return start };
    let sign_at = start - minus.len_utf8();
    let before = char_before(text, sign_at);
    let is_range = before.is_some_and(|before| {
        before.is_alphanumeric() || matches!(before, ')' | '_' | '-' | '/' | '.' | '%')
    });
    if is_range { start } else { sign_at }
}
