//! Exact decimal numbers, as they stand in receipts and notes.
//!
//! Floating point lost: an answer must show `0.30` for `0.10 + 0.20`. A big-number crate lost, too: a hundred and
//! twenty-eight bits hold what a demo or a test adds up, and what does not fit is refused, never rounded.

use std::cmp::Ordering;

/// Digits after the decimal point that a number may have.
const SCALE_MAX: u32 = 18;

/// An exact decimal number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number {
    /// The number times ten to the power of `scale`.
    digits: i128,
    // INVARIANT: at most SCALE_MAX.
    scale: u32,
}

impl Number {
    /// Reads `2450`, `-0.19` or `2,450.00`: a comma only between groups of three digits, a point only before decimals.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, text) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let (whole, decimals) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some((whole, decimals)) => (whole, decimals),
            None => (text, ""),
        };
        let scale = u32::try_from(decimals.len()).ok().filter(|&scale| scale <= SCALE_MAX)?;
        let all: String = ungrouped(whole)?.chars().chain(decimals.chars()).collect();
        if !all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits: i128 = all.parse().ok()?;
        Some(Self { digits: if negative { -digits } else { digits }, scale })
    }

    /// A count.
    pub(crate) fn of_count(count: usize) -> Self {
        Self { digits: i128::try_from(count).unwrap_or(i128::MAX), scale: 0 }
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Self { digits: a.checked_add(b)?, scale })
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated()?)
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let product =
            Self { digits: self.digits.checked_mul(other.digits)?, scale: self.scale + other.scale };
        (product.scale <= SCALE_MAX).then_some(product)
    }

    pub(crate) fn negated(self) -> Option<Self> {
        Some(Self { digits: self.digits.checked_neg()?, scale: self.scale })
    }

    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        let (a, b, _) = self.aligned(other)?;
        Some(a.cmp(&b))
    }

    /// `2450.00`: all its decimals, no separators.
    pub(crate) fn plain(self) -> String {
        let (sign, whole, decimals) = self.pieces();
        if decimals.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{decimals}") }
    }

    /// `2,450.00`: all its decimals, a comma between groups of three digits.
    pub(crate) fn grouped(self) -> String {
        let (sign, whole, decimals) = self.pieces();
        let mut grouped = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        if decimals.is_empty() { format!("{sign}{grouped}") } else { format!("{sign}{grouped}.{decimals}") }
    }

    /// The JSON number with exactly this value, or `None` where JSON's readers would not keep every digit.
    pub(crate) fn to_json(self) -> Option<serde_json::Number> {
        let mut short = self;
        while short.scale > 0 && short.digits % 10 == 0 {
            short = Self { digits: short.digits / 10, scale: short.scale - 1 };
        }
        if short.scale == 0 {
            return i64::try_from(short.digits).ok().map(serde_json::Number::from);
        }
        let float: f64 = short.plain().parse().ok()?;
        if float.to_string() == short.plain() { serde_json::Number::from_f64(float) } else { None }
    }

    fn pieces(self) -> (&'static str, String, String) {
        let width = usize::try_from(self.scale).unwrap_or(0) + 1;
        let mut whole = format!("{:0width$}", self.digits.unsigned_abs());
        let decimals = whole.split_off(whole.len().saturating_sub(width - 1));
        (if self.digits < 0 { "-" } else { "" }, whole, decimals)
    }

    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let at = |number: Self| number.digits.checked_mul(10_i128.checked_pow(scale - number.scale)?);
        Some((at(self)?, at(other)?, scale))
    }
}

fn ungrouped(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next().filter(|first| !first.is_empty())?;
    let rest: Vec<_> = groups.collect();
    let grouped_well = rest.is_empty() || first.len() <= 3 && rest.iter().all(|group| group.len() == 3);
    grouped_well.then(|| rest.iter().fold(first.to_owned(), |all, group| all + group))
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
