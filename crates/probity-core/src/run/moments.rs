//! Dates and times as people write them, against the form in which tools take them.
//!
//! A person says `May 19th` and `12:00`, a tool takes `2024-05-19 12:00`: nobody but the person has named that moment. Only what
//! leaves nothing to choose counts: the day and the month, the year where one is named, the time to the minute; an end is its
//! beginning and a length of time that is named beside it. `Tomorrow`, `noon` and `5/6` are not read.

use std::collections::BTreeSet;

use super::standing::folded;

/// The moments and lengths of time that a text names.
pub(super) struct Moments {
    folded: String,
}

impl Moments {
    pub(super) fn of(text: &str) -> Self {
        Self { folded: folded(text) }
    }

    /// Whether the text names this moment. `beside` are the other texts of the same call.
    pub(super) fn name(&self, text: &str, beside: &[&str]) -> bool {
        let Some(moment) = Moment::parse(text) else { return false };
        let is_day = self.days().iter().any(|day| day.is(&moment));
        match moment.minute {
            _ if !is_day => false,
            None => true,
            Some(minute) if self.minutes().contains(&minute) => true,
            Some(minute) => beside.iter().any(|other| {
                let start =
                    Moment::parse(other).filter(|start| start.date == moment.date && self.name(other, &[]));
                let after = start.and_then(|start| minute.checked_sub(start.minute?));
                after.is_some_and(|after| after > 0 && self.durations().contains(&after))
            }),
        }
    }

    /// The days that are named, those without a year among them.
    fn days(&self) -> Vec<Day> {
        let words: Vec<&str> =
            self.folded.split([' ', ',', '\'', '"', '(', ')']).filter(|w| !w.is_empty()).collect();
        let iso = words.iter().filter_map(|word| iso_day(word)).map(|moment| Day {
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

/// A date as tools take them, with or without a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    date: (u32, u32, u32),
    minute: Option<u32>,
}

impl Moment {
    pub(super) fn parse(text: &str) -> Option<Self> {
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

/// The day at the beginning of a word, with a time behind it or not.
fn iso_day(word: &str) -> Option<Moment> {
    let (day, rest) = word.split_at_checked(10)?;
    let ends = rest.chars().next().is_none_or(|c| c == 'T' || !(c.is_alphanumeric() || c == '-'));
    Moment::parse(day).filter(|_| ends)
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
#[path = "moments_tests.rs"]
mod tests;
