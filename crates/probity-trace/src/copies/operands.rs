//! The values that a value may have been computed from.

use std::ops::Range;

use super::CopyIndex;
use crate::atoms::{CalendarDate, ClockTime, Decimal, Decoded, TokenKind, Tokens, Unit, unit_at};

/// The most numbers that are tried as operands: the newest three quarters of them, and the oldest of the rest.
pub(super) const OPERANDS_MAX: usize = 160;

/// The most bytes of sources that are read for operands, newest first.
const OPERAND_BYTES_MAX: usize = 1 << 18;

/// The longest name of a member that is looked at.
const MEMBER_BYTES_MAX: usize = 64;

/// A value that stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand<K> {
    /// The source.
    pub source: K,
    /// The place in the text of the source, in bytes.
    pub range: Range<usize>,
    /// What stands there.
    pub text: String,
    /// What it counts, where the text says so.
    pub unit: Option<Unit>,
    /// The name of the member of a JSON document whose value it is, else empty.
    pub member: String,
    pub(super) position: usize,
}

/// The values of the sources, gathered once for all atoms that have no copy.
#[derive(Debug)]
pub struct Operands<K> {
    /// Distinct by value, unit and name of the member within a source; oldest first.
    pub(super) numbers: Vec<(Decimal, Operand<K>)>,
    pub(super) dates: Vec<(CalendarDate, Operand<K>)>,
    pub(super) times: Vec<(ClockTime, Operand<K>)>,
    /// The numbers under one name in one source, repetitions included; oldest first.
    pub(super) columns: Vec<Vec<(Decimal, Operand<K>)>>,
    /// Whether some values were left out.
    pub(super) is_cut: bool,
}

impl<K: Clone> CopyIndex<'_, K> {
    /// The values in the first sources of the list that others may have been computed from.
    #[must_use]
    pub fn operands(&self, sources: usize) -> Operands<K> {
        let mut gathered =
            Operands { numbers: vec![], dates: vec![], times: vec![], columns: vec![], is_cut: false };
        let mut bytes = 0;
        let considered = self.sources.iter().enumerate().take(sources);
        let newest_first: Vec<_> = considered.collect();
        let mut kept = Vec::new();
        for (position, source) in newest_first.into_iter().rev() {
            bytes += source.decoded.text.len();
            if bytes > OPERAND_BYTES_MAX {
                gathered.is_cut = true;
                break;
            }
            kept.push((position, source));
        }
        for (position, source) in kept.into_iter().rev() {
            gathered.read(&source.key, position, &source.decoded);
        }
        gathered.limit();
        gathered
    }
}

impl<K: Clone> Operands<K> {
    fn read(&mut self, key: &K, position: usize, decoded: &Decoded<'_>) {
        let text = decoded.text.as_ref();
        let first_column = self.columns.len();
        let first_number = self.numbers.len();
        let mut seen = std::collections::BTreeSet::new();
        for token in Tokens::new(text) {
            let range = token.start..token.end;
            let operand = |unit| Operand {
                source: key.clone(),
                range: decoded.original(range.clone()),
                text: text.get(range.clone()).unwrap_or_default().to_owned(),
                unit,
                member: member_before(text, range.start).unwrap_or_default().to_owned(),
                position,
            };
            match token.kind {
                TokenKind::Number { value, .. } => {
                    let operand = operand(unit_at(text, range.start, range.end));
                    if !operand.member.is_empty() {
                        self.add_to_column(first_column, (value, operand.clone()));
                    }
                    if seen.insert((value, operand.unit.map(Unit::name), operand.member.clone())) {
                        self.numbers.push((value, operand));
                    }
                }
                TokenKind::Date { value, .. } => {
                    if !self.dates.iter().any(|(date, _)| *date == value) && self.dates.len() < OPERANDS_MAX {
                        self.dates.push((value, operand(None)));
                    }
                }
                TokenKind::Time(time) => {
                    if !self.times.iter().any(|(other, _)| *other == time) && self.times.len() < OPERANDS_MAX
                    {
                        self.times.push((time, operand(None)));
                    }
                }
                TokenKind::Word { .. } => {}
            }
            if self.numbers.len() - first_number > OPERANDS_MAX {
                self.is_cut = true;
                break;
            }
        }
    }

    fn add_to_column(&mut self, first: usize, value: (Decimal, Operand<K>)) {
        let columns = self.columns.get_mut(first..).unwrap_or_default();
        let count = columns.len();
        let same = columns
            .iter_mut()
            .find(|column| column.first().is_some_and(|(_, one)| one.member == value.1.member));
        match same {
            Some(column) if column.len() < COLUMN_VALUES_MAX => column.push(value),
            None if count < COLUMNS_MAX => self.columns.push(vec![value]),
            Some(_) | None => self.is_cut = true,
        }
    }

    fn limit(&mut self) {
        let over = self.numbers.len().saturating_sub(OPERANDS_MAX);
        if over > 0 {
            let oldest = OPERANDS_MAX / 4;
            self.numbers.drain(oldest..oldest + over);
            self.is_cut = true;
        }
        self.columns.retain(|column| column.len() > 1);
        let over = self.columns.len().saturating_sub(COLUMNS_MAX);
        self.is_cut |= over > 0;
        self.columns.drain(..over);
    }
}

/// The most numbers under one name in one source, and the most such names; of all sources, the newest.
const COLUMN_VALUES_MAX: usize = 64;
const COLUMNS_MAX: usize = 32;

/// `price` where `"price": ` stands before an offset.
fn member_before(text: &str, start: usize) -> Option<&str> {
    let window = text.get(text.ceil_char_boundary(start.saturating_sub(MEMBER_BYTES_MAX))..start)?;
    let before = window.trim_end_matches(['"', ' ', '[']).strip_suffix(':')?.trim_end().strip_suffix('"')?;
    before.rsplit_once('"').map(|(_, name)| name)
}
