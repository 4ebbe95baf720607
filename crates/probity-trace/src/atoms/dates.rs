//! Dates and times in their common written forms.

use super::calendar::{CalendarDate, ClockTime};
use super::chars::{char_at, hashed_word_end, is_digit, word_end};
use super::lexicon::{Meaning, ORDINAL_ENDINGS, meaning};
use super::numbers::digits_end;

/// Months of no more bytes than this are known.
const MONTH_BYTES_MAX: usize = 12;

pub(crate) struct DateRead {
    pub(crate) end: usize,
    pub(crate) value: CalendarDate,
    pub(crate) other: Option<CalendarDate>,
}

/// The date that begins with the digits between two offsets.
pub(crate) fn date_at_digits(text: &str, start: usize, first_end: usize) -> Option<DateRead> {
    let bytes = text.as_bytes();
    let first = small_number(bytes, start, first_end)?;
    match (first_end - start, bytes.get(first_end)?) {
        (4, b'-' | b'/' | b'.') => year_first(bytes, first, first_end),
        (1 | 2, sign @ (b'-' | b'/' | b'.')) if is_digit(bytes.get(first_end + 1)) => {
            day_or_month_first(bytes, first, first_end, *sign)
        }
        (1 | 2, _) => day_before_month(text, first, first_end),
        _ => None,
    }
}

fn year_first(bytes: &[u8], year: u16, year_end: usize) -> Option<DateRead> {
    let sign = bytes.get(year_end)?;
    let month_end = digits_end(bytes, year_end + 1);
    let month = two_digits(bytes, year_end + 1, month_end)?;
    let goes_on = bytes.get(month_end) == Some(sign) && is_digit(bytes.get(month_end + 1));
    if !goes_on {
        let is_month = *sign == b'-' && month_end == year_end + 3 && (1900..2200).contains(&year);
        return read(month_end, date(Some(year), month, None).filter(|_| is_month), None);
    }
    let day_end = digits_end(bytes, month_end + 1);
    let day = two_digits(bytes, month_end + 1, day_end)?;
    read(day_end, date(Some(year), month, Some(day)), None)
}

/// `05/20/2024` in either order; `20.05.2024` and `20-05-2024` begin with the day where both could be.
fn day_or_month_first(bytes: &[u8], first: u16, first_end: usize, sign: u8) -> Option<DateRead> {
    let second_end = digits_end(bytes, first_end + 1);
    let second = two_digits(bytes, first_end + 1, second_end)?;
    if bytes.get(second_end) != Some(&sign) {
        return None;
    }
    let year_end = digits_end(bytes, second_end + 1);
    let year = small_number(bytes, second_end + 1, year_end)?;
    let year = match year_end - second_end - 1 {
        4 => year,
        2 if sign != b'-' => year + if year < 70 { 2000 } else { 1900 },
        _ => return None,
    };
    if is_digit(bytes.get(year_end + 1)) && bytes.get(year_end) == Some(&sign) {
        return None;
    }
    let first = u8::try_from(first).ok()?;
    let (day_first, month_first) =
        (date(Some(year), second, Some(first)), date(Some(year), first, Some(second)));
    match sign {
        b'.' => read(year_end, day_first, None),
        b'/' => read(year_end, month_first.or(day_first), day_first),
        _ => read(year_end, day_first.or(month_first), month_first),
    }
}

fn read(end: usize, value: Option<CalendarDate>, other: Option<CalendarDate>) -> Option<DateRead> {
    let value = value?;
    Some(DateRead { end, value, other: other.filter(|other| *other != value) })
}

/// `20 May 2024`, `20th of May`, `20. Mai`, `20-May-2024`.
fn day_before_month(text: &str, day: u16, digits_end: usize) -> Option<DateRead> {
    let day_end = ordinal_end(text, digits_end);
    let bytes = text.as_bytes();
    let mut at = if bytes.get(day_end) == Some(&b'.') { day_end + 1 } else { day_end };
    if !matches!(bytes.get(at), Some(b' ' | b'-')) {
        return None;
    }
    at += 1;
    if text.get(at..at + 3).is_some_and(|of| of.eq_ignore_ascii_case("of ") || of.eq_ignore_ascii_case("de "))
    {
        at += 3;
    }
    let (month_end, month) = month_at(text, at)?;
    let value = |year| date(year, month, Some(u8::try_from(day).ok()?));
    match year_behind(text, month_end) {
        Some((end, year)) if value(Some(year)).is_some() => read(end, value(Some(year)), None),
        _ => read(month_end, value(None), None),
    }
}

fn month_at(text: &str, at: usize) -> Option<(usize, u8)> {
    if !char_at(text, at)?.is_alphabetic() {
        return None;
    }
    let is_long = text
        .as_bytes()
        .get(at..at + MONTH_BYTES_MAX + 1)
        .is_some_and(|bytes| bytes.iter().all(u8::is_ascii_alphabetic));
    if is_long {
        return None;
    }
    let (end, hash, _) = hashed_word_end(text, at);
    match meaning(text.get(at..end)?, hash) {
        Some(Meaning::Month(month)) => Some((end, month)),
        _ => None,
    }
}

/// `May 20th, 2024`, `May 20`, `May 2024`, behind the word for the month.
pub(crate) fn date_behind_month(text: &str, month: u8, month_end: usize) -> Option<DateRead> {
    let bytes = text.as_bytes();
    if let Some((end, year)) = year_behind(text, month_end) {
        return read(end, date(Some(year), month, None), None);
    }
    let at = if bytes.get(month_end) == Some(&b'.') { month_end + 1 } else { month_end };
    let from = if matches!(bytes.get(at), Some(b' ' | b'-')) { at + 1 } else { return None };
    let to = digits_end(bytes, from);
    let day = two_digits(bytes, from, to)?;
    let day_end = ordinal_end(text, to);
    let is_other = matches!(bytes.get(day_end), Some(b':'))
        || (bytes.get(day_end) == Some(&b'.') && is_digit(bytes.get(day_end + 1)));
    if is_other || word_end(text, day_end) != day_end {
        return None;
    }
    match year_behind(text, day_end) {
        Some((end, year)) if date(Some(year), month, Some(day)).is_some() => {
            read(end, date(Some(year), month, Some(day)), None)
        }
        _ => read(day_end, date(None, month, Some(day)), None),
    }
}

/// A year of four digits behind a comma, a space, a point or a hyphen.
fn year_behind(text: &str, end: usize) -> Option<(usize, u16)> {
    let bytes = text.as_bytes();
    let signs =
        bytes.get(end..)?.iter().take(3).take_while(|byte| matches!(byte, b',' | b' ' | b'.' | b'-')).count();
    let (from, to) = (end + signs, digits_end(bytes, end + signs));
    let year = small_number(bytes, from, to).filter(|year| (1000..3000).contains(year))?;
    let is_other = bytes.get(to) == Some(&b':') || word_end(text, to) != to;
    (signs > 0 && to - from == 4 && !is_other).then_some((to, year))
}

fn ordinal_end(text: &str, end: usize) -> usize {
    let suffix = text.get(end..end + 2).map(str::to_ascii_lowercase);
    let is_ordinal = suffix.is_some_and(|suffix| ORDINAL_ENDINGS.contains(&suffix.as_str()));
    if is_ordinal && word_end(text, end) == end + 2 { end + 2 } else { end }
}

fn date(year: Option<u16>, month: u8, day: Option<u8>) -> Option<CalendarDate> {
    Some(CalendarDate { year, month, day }).filter(|date| date.is_valid())
}

/// The time that begins with the digits between two offsets: `19:00`, `7:05:30 pm`, `7 p.m.`.
pub(crate) fn time_at(text: &str, start: usize, first_end: usize) -> Option<(usize, ClockTime)> {
    let bytes = text.as_bytes();
    let hour = two_digits(bytes, start, first_end)?;
    if bytes.get(first_end) != Some(&b':') {
        let (end, is_afternoon) = meridiem(text, first_end)?;
        return Some((end, clock(hour, 0, None, Some(is_afternoon))?));
    }
    let minute_end = digits_end(bytes, first_end + 1);
    let minute = two_digits(bytes, first_end + 1, minute_end).filter(|_| minute_end == first_end + 3)?;
    let mut end = minute_end;
    let mut second = None;
    if bytes.get(end) == Some(&b':') && is_digit(bytes.get(end + 1)) {
        let second_end = digits_end(bytes, end + 1);
        second = Some(two_digits(bytes, end + 1, second_end)?);
        end = second_end;
        if bytes.get(end) == Some(&b'.') && is_digit(bytes.get(end + 1)) {
            end = digits_end(bytes, end + 1);
        }
    }
    if bytes.get(end) == Some(&b':') && is_digit(bytes.get(end + 1)) {
        return None;
    }
    match meridiem(text, end) {
        Some((end, is_afternoon)) if hour <= 12 => {
            Some((end, clock(hour, minute, second, Some(is_afternoon))?))
        }
        _ => Some((end, clock(hour, minute, second, None)?)),
    }
}

fn clock(hour: u8, minute: u8, second: Option<u8>, is_afternoon: Option<bool>) -> Option<ClockTime> {
    let hour = match is_afternoon {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(is_afternoon) => hour % 12 + if is_afternoon { 12 } else { 0 },
        None => hour,
    };
    let is_valid = hour < 24 && minute < 60 && second.is_none_or(|second| second < 60);
    is_valid.then_some(ClockTime { hour, minute, second })
}

/// `am` or `pm` behind at most one space, with or without points, and whether it is `pm`.
fn meridiem(text: &str, end: usize) -> Option<(usize, bool)> {
    let bytes = text.as_bytes();
    let at = if bytes.get(end) == Some(&b' ') { end + 1 } else { end };
    let is_afternoon = match bytes.get(at)?.to_ascii_lowercase() {
        b'a' => false,
        b'p' => true,
        _ => return None,
    };
    let lower = |offset: usize| bytes.get(at + offset).map(u8::to_ascii_lowercase);
    if lower(1) == Some(b'm') {
        return (word_end(text, at) == at + 2).then_some((at + 2, is_afternoon));
    }
    let has_points = lower(1) == Some(b'.') && lower(2) == Some(b'm') && lower(3) == Some(b'.');
    has_points.then_some((at + 4, is_afternoon))
}

fn two_digits(bytes: &[u8], start: usize, end: usize) -> Option<u8> {
    (end.checked_sub(start)? <= 2)
        .then(|| small_number(bytes, start, end))?
        .and_then(|number| u8::try_from(number).ok())
}

fn small_number(bytes: &[u8], start: usize, end: usize) -> Option<u16> {
    let digits = bytes.get(start..end).filter(|digits| (1..=4).contains(&digits.len()))?;
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
}
