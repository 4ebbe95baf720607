//! Whether a value stands in a text: word for word, or as a number, a date or a time in another spelling.

use std::collections::BTreeSet;

use serde_json::Value;

/// A text in which values are looked for. White space counts once, since results are folded into lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    folded: String,
}

impl Text {
    pub(crate) fn of(text: &str) -> Self {
        let mut whole = Self::default();
        whole.add(text);
        whole
    }

    /// Adds a text that nothing in the former ones runs on into.
    pub(crate) fn add(&mut self, text: &str) {
        self.folded.push_str(" \u{0} ");
        self.folded.push_str(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        self.folded.push(' ');
    }

    /// Whether the value stands there. `beside` are the values of the same call: an end that is its beginning and a duration
    /// stands where both do.
    pub(crate) fn has(&self, value: &Value, beside: &[&str]) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_some_and(|number| self.has_number(number)),
            Value::String(text) => self.has_words(text) || self.has_moment(text, beside),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// Whether the text stands there, and no piece of a longer word, number, address or date.
    pub(crate) fn has_words(&self, text: &str) -> bool {
        let wanted = text.split_whitespace().collect::<Vec<_>>().join(" ");
        !wanted.is_empty()
            && self.folded.match_indices(&wanted).any(|(at, found)| {
                let before = self.folded.get(..at).unwrap_or_default().chars().rev();
                let after = self.folded.get(at + found.len()..).unwrap_or_default().chars();
                ends(before) && ends(after)
            })
    }

    fn has_number(&self, wanted: f64) -> bool {
        let words = self.folded.split(|c: char| c.is_whitespace() || "'\"()[]{};=".contains(c));
        let numbers = words.filter_map(|word| {
            let digits = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            digits.replace(',', "").parse::<f64>().ok()
        });
        numbers.into_iter().any(|number| number == wanted)
    }

    fn has_moment(&self, text: &str, beside: &[&str]) -> bool {
        let Some(moment) = Moment::parse(text) else { return false };
        let is_day = self.days().iter().any(|day| day.is(&moment));
        match moment.minute {
            _ if !is_day => false,
            None => true,
            Some(minute) if self.minutes().contains(&minute) => true,
            Some(minute) => beside.iter().any(|other| {
                let start = Moment::parse(other)
                    .filter(|start| start.date == moment.date && self.has_moment(other, &[]));
                let after = start.and_then(|start| minute.checked_sub(start.minute?));
                after.is_some_and(|after| after > 0 && self.durations().contains(&after))
            }),
        }
    }

    /// The days that are named, those without a year among them.
    fn days(&self) -> Vec<Day> {
        let words: Vec<&str> =
            self.folded.split([' ', ',', '\'', '"', '(', ')']).filter(|w| !w.is_empty()).collect();
        let iso = words.iter().filter_map(|word| Moment::parse(word.get(..10)?)).map(|moment| Day {
            year: Some(moment.date.0),
            month: moment.date.1,
            day: moment.date.2,
        });
        let named = words.iter().enumerate().filter_map(|(at, word)| {
            let month = month(word)?;
            let next = words.get(at + 1).and_then(|word| ordinal(word));
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let before = match before {
                Some(&"of") => at.checked_sub(2).and_then(|at| words.get(at)),
                before => before,
            };
            let (day, year_at) = match (next, before.and_then(|word| ordinal(word))) {
                (Some(day), _) => (day, at + 2),
                (None, Some(day)) => (day, at + 1),
                (None, None) => return None,
            };
            let year = words.get(year_at).and_then(|word| year(word));
            Some(Day { year, month, day })
        });
        iso.chain(named).collect()
    }

    /// The times of day that are written as hours and minutes, in minutes.
    fn minutes(&self) -> BTreeSet<u32> {
        let words = self.folded.split(|c: char| !c.is_ascii_alphanumeric() && c != ':');
        words.filter_map(minute_of_day).collect()
    }

    /// The lengths of time in hours or minutes, in minutes.
    fn durations(&self) -> BTreeSet<u32> {
        let words: Vec<&str> =
            self.folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let pairs = words.windows(2).filter_map(|pair| {
            let (&count, &unit) = (pair.first()?, pair.get(1)?);
            let unit = match unit {
                "hour" | "hours" | "h" => 60,
                "minute" | "minutes" | "min" => 1,
                _ => return None,
            };
            let names = ["one", "two", "three", "four", "five", "six"];
            let named = names.iter().zip(1..).find(|(name, _)| **name == count).map(|(_, count)| count);
            count.parse::<u32>().ok().or(named)?.checked_mul(unit)
        });
        pairs.collect()
    }
}

/// Whether a word ends here: before or behind comes nothing that would make it a longer one.
fn ends(mut rest: impl Iterator<Item = char>) -> bool {
    match rest.next() {
        None => true,
        Some(c) if c.is_alphanumeric() || c == '_' => false,
        // Inside of an address, a number or a date these do not end it; behind a sentence they do.
        Some('-' | '.' | '/' | ':' | '@' | '+' | '=' | '&' | '?' | '%' | '#') => {
            rest.next().is_none_or(|c| !c.is_alphanumeric())
        }
        Some(_) => true,
    }
}

/// A date as tools take them, with or without a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    date: (u32, u32, u32),
    minute: Option<u32>,
}

impl Moment {
    fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once([' ', 'T']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let (year, month, day) = (year(parts.next()?)?, parts.next()?, parts.next()?);
        if parts.next().is_some() || month.len() != 2 || day.len() != 2 {
            return None;
        }
        let date = (year, month.parse().ok()?, day.parse().ok()?);
        match time {
            None => Some(Self { date, minute: None }),
            Some(time) => Some(Self { date, minute: Some(minute_of_day(time)?) }),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Day {
    year: Option<u32>,
    month: u32,
    day: u32,
}

impl Day {
    fn is(&self, moment: &Moment) -> bool {
        let (year, month, day) = moment.date;
        self.year.is_none_or(|named| named == year) && (self.month, self.day) == (month, day)
    }
}

/// `HH:MM`, with or without seconds.
fn minute_of_day(text: &str) -> Option<u32> {
    let mut parts = text.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let seconds_fit = parts.next().is_none_or(|seconds| seconds.len() == 2);
    let fits = (1..=2).contains(&hour.len()) && minute.len() == 2 && seconds_fit && parts.next().is_none();
    let (hour, minute) = (hour.parse::<u32>().ok()?, minute.parse::<u32>().ok()?);
    (fits && hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn year(text: &str) -> Option<u32> {
    let text = text.trim_end_matches(['.', '?', '!', ':']);
    (text.len() == 4).then(|| text.parse().ok())?
}

fn ordinal(text: &str) -> Option<u32> {
    let text = text.trim_end_matches(['.', '?', '!', ':']);
    // `19`, or `19th` and its like.
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    if ![0, 2].contains(&(text.len() - digits.len())) {
        return None;
    }
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

fn month(text: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = text.to_ascii_lowercase();
    MONTHS.iter().zip(1..).find(|(name, _)| **name == word).map(|(_, month)| month)
}

#[cfg(test)]
#[path = "spelling_tests.rs"]
mod tests;
