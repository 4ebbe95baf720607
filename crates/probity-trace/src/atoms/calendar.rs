//! Days and times of day as far as a text says them.

use std::fmt;

/// A day as far as a text says it: `May 20` has no year, `May 2024` has no day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CalendarDate {
    /// The year, where it is said.
    pub year: Option<u16>,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, where it is said.
    pub day: Option<u8>,
}

impl CalendarDate {
    /// Whether there is such a day; a 29 February without a year is one.
    #[must_use]
    pub fn is_valid(self) -> bool {
        let days = days_in_month(self.year.unwrap_or(2024), self.month);
        (1..=12).contains(&self.month) && self.day.is_none_or(|day| (1..=days).contains(&day))
    }

    /// Whether another text says this date: whatever this says of month and day is said there, and no year differs.
    ///
    /// `2024-05-20` stands in `May 20`, and `May 2024` in `2024-05-20`; `2024-05-20` does not stand in `May 2024`.
    #[must_use]
    pub fn is_said_by(self, other: Self) -> bool {
        let same_year = self.year.zip(other.year).is_none_or(|(one, two)| one == two);
        let shares = self.day.is_some() || (self.year.is_some() && other.year.is_some());
        shares && same_year && self.month == other.month && self.day.is_none_or(|day| other.day == Some(day))
    }

    /// Days since 1970-01-01 in the Gregorian calendar; `None` where the day or the year is not said.
    #[must_use]
    pub fn day_number(self) -> Option<i64> {
        let (year, day) = (i64::from(self.year?), i64::from(self.day?));
        // Years that begin in March have their leap day at the end.
        let month = i64::from(self.month);
        let year = if month <= 2 { year - 1 } else { year };
        let era_day = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Some(
            year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + era_day - 719_468,
        )
    }
}

fn days_in_month(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for CalendarDate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.year {
            Some(year) => write!(formatter, "{year:04}-{:02}", self.month)?,
            None => write!(formatter, "--{:02}", self.month)?,
        }
        self.day.map_or(Ok(()), |day| write!(formatter, "-{day:02}"))
    }
}

/// A time of day as far as a text says it, on 24 hours.
///
/// A text that does not say `am` or `pm` is read as the 24 hour clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockTime {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59, where it is said.
    pub second: Option<u8>,
}

impl ClockTime {
    /// Whether both say the same, as far as both say it.
    #[must_use]
    pub fn agrees(self, other: Self) -> bool {
        let differs = self.second.zip(other.second).is_some_and(|(one, two)| one != two);
        (self.hour, self.minute) == (other.hour, other.minute) && !differs
    }

    /// Seconds since midnight.
    #[must_use]
    pub fn seconds(self) -> i64 {
        i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second.unwrap_or(0))
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}:{:02}", self.hour, self.minute)?;
        self.second.map_or(Ok(()), |second| write!(formatter, ":{second:02}"))
    }
}
