//! Values that were computed from others: a bounded search, and how likely it finds something by accident.
//!
//! Among enough numbers any number is the sum of two. So a computation comes with the accidents that were to be expected: of all
//! results that were tried, those of about the same size are counted, and spread evenly over the values of that size that
//! could be written with as many decimals. If a hundred results lie among a thousand such values, a hit by accident is to
//! be expected in one of ten searches, and is said to be.

use super::chance::at_least_one;
use super::operands::{Operand, Operands};
use crate::atoms::{Atom, AtomValue, CalendarDate, ClockTime, Decimal, Unit};

/// The most computations that are listed.
const COMPUTATIONS_MAX: usize = 8;

/// The most values under one name that are added up.
const RUN_VALUES_MIN: usize = 3;

/// What a value can be computed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// One number, rounded to as many decimals as the atom has.
    Rounded,
    /// How many numbers stand under one name.
    Count,
    /// The first and the second; or all values in a row under one name.
    Sum,
    /// The first without the second.
    Difference,
    /// The first times the second.
    Product,
    /// The first as a share of the second, in percent.
    Percentage,
    /// So many percent (the first) of the second.
    PercentOf,
    /// The change from the first to the second, in percent.
    Change,
    /// The first over the second.
    Ratio,
    /// Days, or weeks, from one date to another.
    DaysBetween,
    /// A date so many days after a date.
    DaysAfter,
    /// A date so many days before a date.
    DaysBefore,
    /// Hours or minutes from one time to another.
    TimeBetween,
}

/// A way in which a value comes out of others.
#[derive(Debug, Clone)]
pub struct Computation<K> {
    /// What was done.
    pub operation: Operation,
    /// With what, in order.
    pub operands: Vec<Operand<K>>,
    /// How likely the search finds one at least as close by accident: see the module.
    pub chance: f64,
    closeness: u8,
}

/// What a search for computations found.
#[derive(Debug, Clone)]
pub struct Computed<K> {
    /// The closest first: few operands, then the same source and unit, then the same source. At most eight.
    pub computations: Vec<Computation<K>>,
    /// Combinations of values and operations that were tried.
    pub tried: usize,
    /// How many of them come out as the atom.
    pub hits: usize,
    /// Whether every value of the sources was tried.
    pub is_complete: bool,
}

impl<K> Computed<K> {
    /// The closest computation, if the chance of finding one like it by accident is at most this.
    #[must_use]
    pub fn within(&self, chance_max: f64) -> Option<&Computation<K>> {
        self.computations.iter().find(|computation| computation.chance <= chance_max)
    }
}

/// How close operands are to each other and to the atom; smaller is closer.
const CLOSENESSES: usize = 4;
const ALONE: u8 = 0;
const SAME_SOURCE_AND_UNIT: u8 = 1;
const SAME_SOURCE: u8 = 2;
const ANYWHERE: u8 = 3;

impl<K: Clone> Operands<K> {
    /// How an atom comes out of these values.
    #[must_use]
    pub fn computed(&self, atom: &Atom) -> Computed<K> {
        match &atom.value {
            AtomValue::Number(number) => self.number(*number, atom.unit),
            AtomValue::Date(date) => self.date(*date),
            AtomValue::Time(_) | AtomValue::Words(_) | AtomValue::Literal(_) => {
                Search::new(Decimal::whole(0), true).end()
            }
        }
    }

    fn number(&self, number: Decimal, unit: Option<Unit>) -> Computed<K> {
        let mut search = Search::new(number, !self.is_cut);
        let is_percent = unit.is_some_and(|unit| unit.name() == "%");
        for (value, operand) in &self.numbers {
            if value.places() > number.places() {
                search.result(Operation::Rounded, value.rounded(number.places()), ALONE, || {
                    vec![operand.clone()]
                });
            }
        }
        for column in &self.columns {
            self.column(&mut search, column);
        }
        for (position, (first, one)) in self.numbers.iter().enumerate() {
            for (second, other) in self.numbers.iter().skip(position + 1) {
                let closeness = closeness(one, other, unit);
                let pair = || vec![one.clone(), other.clone()];
                let swapped = || vec![other.clone(), one.clone()];
                search.maybe(Operation::Sum, first.plus(*second), closeness, pair);
                search.maybe(Operation::Difference, first.minus(*second), closeness, pair);
                search.maybe(Operation::Difference, second.minus(*first), closeness, swapped);
                if is_one(*first) || is_one(*second) {
                    continue;
                }
                search.maybe(Operation::Product, first.times(*second), closeness, pair);
                self.shares(&mut search, (*first, *second), is_percent, closeness, pair);
                self.shares(&mut search, (*second, *first), is_percent, closeness, swapped);
                self.percent_of(&mut search, (*first, one), (*second, other), closeness);
                self.percent_of(&mut search, (*second, other), (*first, one), closeness);
            }
        }
        self.days_between(&mut search, number, unit);
        search.end()
    }

    fn column(&self, search: &mut Search<K>, column: &[(Decimal, Operand<K>)]) {
        let operands = |from: usize, to: usize| {
            column.get(from..to).unwrap_or_default().iter().map(|(_, operand)| operand.clone()).collect()
        };
        let count = i64::try_from(column.len()).unwrap_or(i64::MAX);
        search.result(Operation::Count, Decimal::whole(count), SAME_SOURCE_AND_UNIT, || {
            operands(0, column.len())
        });
        for from in 0..column.len() {
            let mut sum = Some(Decimal::whole(0));
            for (to, (value, _)) in column.iter().enumerate().skip(from) {
                sum = sum.and_then(|sum| sum.plus(*value));
                if to + 1 >= from + RUN_VALUES_MIN {
                    search.maybe(Operation::Sum, sum, SAME_SOURCE_AND_UNIT, || operands(from, to + 1));
                }
            }
        }
    }

    fn shares(
        &self,
        search: &mut Search<K>,
        (first, second): (Decimal, Decimal),
        is_percent: bool,
        closeness: u8,
        operands: impl Fn() -> Vec<Operand<K>> + Copy,
    ) {
        let hundred = Decimal::whole(100);
        let places = search.number.places();
        if is_percent {
            let share = first.times(hundred).and_then(|first| first.over(second, places));
            search.maybe(Operation::Percentage, share, closeness, operands);
            let change = second.minus(first).and_then(|change| change.times(hundred)?.over(first, places));
            search.maybe(Operation::Change, change, closeness, operands);
            return;
        }
        let quotient = first.over(second, places);
        // Without decimals only a division that comes out counts: else every number is some quotient.
        let comes_out = places > 0 || quotient.and_then(|quotient| quotient.times(second)) == Some(first);
        search.maybe(Operation::Ratio, quotient.filter(|_| comes_out), closeness, operands);
    }

    fn percent_of(
        &self,
        search: &mut Search<K>,
        (percent, share): (Decimal, &Operand<K>),
        (whole, of): (Decimal, &Operand<K>),
        closeness: u8,
    ) {
        if share.unit.is_some_and(|unit| unit.name() == "%") {
            let places = search.number.places();
            let part = percent.times(whole).and_then(|part| part.over(Decimal::whole(100), places));
            search.maybe(Operation::PercentOf, part, closeness, || vec![share.clone(), of.clone()]);
        }
    }

    fn days_between(&self, search: &mut Search<K>, number: Decimal, unit: Option<Unit>) {
        let unit = unit.map(Unit::name);
        let per_week = if unit == Some("week") { 7 } else { 1 };
        if number.places() == 0 && matches!(unit, None | Some("d" | "week")) {
            for (position, (first, one)) in self.dates.iter().enumerate() {
                for (second, other) in self.dates.iter().skip(position + 1) {
                    let days =
                        first.day_number().zip(second.day_number()).map(|(from, to)| (to - from).abs());
                    let whole =
                        days.filter(|days| days % per_week == 0).map(|days| Decimal::whole(days / per_week));
                    search.maybe(Operation::DaysBetween, whole, closeness(one, other, None), || {
                        vec![one.clone(), other.clone()]
                    });
                }
            }
        }
        let seconds = match unit {
            Some("h") => 3600,
            Some("min") => 60,
            _ => return,
        };
        for (position, (first, one)) in self.times.iter().enumerate() {
            for (second, other) in self.times.iter().skip(position + 1) {
                let between = time_between(*first, *second);
                let time = Decimal::whole(between).over(Decimal::whole(seconds), number.places());
                search.maybe(Operation::TimeBetween, time, closeness(one, other, None), || {
                    vec![one.clone(), other.clone()]
                });
            }
        }
    }

    fn date(&self, date: CalendarDate) -> Computed<K> {
        let wanted = date.day_number();
        let mut search = Search::new(Decimal::whole(wanted.unwrap_or(0)), !self.is_cut);
        for (from, one) in &self.dates {
            let Some(day) = from.day_number() else { continue };
            for (number, other) in &self.numbers {
                let unit = other.unit.map(Unit::name);
                let Some(count) = number.as_whole().filter(|count| (1..=DAYS_MAX).contains(count)) else {
                    continue;
                };
                let days = match unit {
                    None | Some("d") => count,
                    Some("week") => count * 7,
                    Some("h") if count % 24 == 0 => count / 24,
                    _ => continue,
                };
                let closeness = if unit.is_some() { SAME_SOURCE } else { ANYWHERE };
                let operands = || vec![one.clone(), other.clone()];
                if wanted.is_some() {
                    search.day(Operation::DaysAfter, day + days, closeness, operands);
                    search.day(Operation::DaysBefore, day - days, closeness, operands);
                }
            }
        }
        search.end()
    }
}

/// The most days that are added to a date.
const DAYS_MAX: i64 = 1000;

fn time_between(first: ClockTime, second: ClockTime) -> i64 {
    (second.seconds() - first.seconds()).abs()
}

fn is_one(number: Decimal) -> bool {
    number.as_whole().is_some_and(|whole| whole.abs() <= 1)
}

fn closeness<K>(one: &Operand<K>, other: &Operand<K>, unit: Option<Unit>) -> u8 {
    let differs = one.unit.zip(other.unit).is_some_and(|(one, other)| one != other)
        || unit.zip(one.unit).is_some_and(|(wanted, one)| wanted != one);
    let is_alike = (one.unit.is_some() && one.unit == other.unit)
        || (!one.member.is_empty() && one.member == other.member);
    match one.position == other.position {
        true if is_alike && !differs => SAME_SOURCE_AND_UNIT,
        true if !differs => SAME_SOURCE,
        _ => ANYWHERE,
    }
}

struct Search<K> {
    number: Decimal,
    size: f64,
    tried: usize,
    hits: usize,
    is_complete: bool,
    /// Results of about the size of the number, by closeness.
    near: [usize; CLOSENESSES],
    found: Vec<Computation<K>>,
}

impl<K> Search<K> {
    fn new(number: Decimal, is_complete: bool) -> Self {
        let size = number.to_f64().abs();
        Self { number, size, tried: 0, hits: 0, is_complete, near: [0; CLOSENESSES], found: Vec::new() }
    }

    fn maybe(
        &mut self,
        operation: Operation,
        result: Option<Decimal>,
        closeness: u8,
        operands: impl Fn() -> Vec<Operand<K>>,
    ) {
        if let Some(result) = result {
            self.result(operation, result, closeness, operands);
        }
    }

    fn result(
        &mut self,
        operation: Operation,
        result: Decimal,
        closeness: u8,
        operands: impl Fn() -> Vec<Operand<K>>,
    ) {
        let size = result.to_f64().abs();
        let is_near =
            size >= self.size / 2.0 && size <= self.size * 2.0 && result.places() <= self.number.places();
        self.count(operation, result == self.number, is_near, closeness, operands);
    }

    fn day(&mut self, operation: Operation, day: i64, closeness: u8, operands: impl Fn() -> Vec<Operand<K>>) {
        let distance = (Decimal::whole(day).to_f64() - self.number.to_f64()).abs();
        self.count(operation, Decimal::whole(day) == self.number, distance <= DAYS_NEAR, closeness, operands);
    }

    fn count(
        &mut self,
        operation: Operation,
        is_hit: bool,
        is_near: bool,
        closeness: u8,
        operands: impl Fn() -> Vec<Operand<K>>,
    ) {
        self.tried += 1;
        if is_near && let Some(near) = self.near.get_mut(usize::from(closeness)) {
            *near += 1;
        }
        if is_hit {
            self.hits += 1;
            let as_close = self.found.iter().filter(|found| found.closeness == closeness).count();
            if as_close < COMPUTATIONS_MAX {
                self.found.push(Computation { operation, operands: operands(), chance: 1.0, closeness });
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn end(mut self) -> Computed<K> {
        let grid = 10_f64.powi(self.number.places().into());
        let values = (self.size * 1.5 * grid).max(1.0);
        self.found.sort_by_key(|found| (found.closeness, found.operands.len(), found.operation));
        self.found.truncate(COMPUTATIONS_MAX);
        for found in &mut self.found {
            let near: usize = self.near.iter().take(usize::from(found.closeness) + 1).sum();
            let is_date = matches!(found.operation, Operation::DaysAfter | Operation::DaysBefore);
            let values = if is_date { DAYS_NEAR * 2.0 + 1.0 } else { values };
            found.chance = at_least_one((1.0 / values).min(1.0), near as f64);
        }
        Computed {
            computations: self.found,
            tried: self.tried,
            hits: self.hits,
            is_complete: self.is_complete,
        }
    }
}

/// Days within so many of a date are of about its size.
const DAYS_NEAR: f64 = 30.0;
