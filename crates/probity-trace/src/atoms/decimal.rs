//! Exact decimal numbers, as they stand in texts.
//!
//! Binary floats lost: `0.1 + 0.2` is not `0.3`, and a sum that does not come out exactly says nothing about where a
//! figure came from. A crate for decimals lost as well: five operations are needed, all of them short.

use std::cmp::Ordering;
use std::fmt;

/// The most digits behind the point that a number keeps.
pub(crate) const DECIMAL_PLACES_MAX: u8 = 18;

/// The most digits that are read as a number; longer ones are ids.
pub(crate) const NUMBER_DIGITS_MAX: usize = 27;

/// An exact decimal number: `12`, `-3.50`.
///
/// Equal numbers are equal whatever they were written with: `1.50` is `1.5`. Arithmetic is exact or gives `None`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    mantissa: i128,
    // INVARIANT: at most `DECIMAL_PLACES_MAX`, and no trailing zero of the mantissa stands behind the point.
    places: u8,
}

impl Decimal {
    /// A whole number.
    #[must_use]
    pub fn whole(number: i64) -> Self {
        Self { mantissa: number.into(), places: 0 }
    }

    /// `mantissa / 10^places`; `None` with more than 18 places after trailing zeros went.
    #[must_use]
    pub fn new(mantissa: i128, places: u8) -> Option<Self> {
        let (mut mantissa, mut places) = (mantissa, places);
        while places > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            places -= 1;
        }
        (places <= DECIMAL_PLACES_MAX).then_some(Self { mantissa, places })
    }

    /// How many digits stand behind the point at least.
    #[must_use]
    pub fn places(self) -> u8 {
        self.places
    }

    /// Whether it is smaller than zero.
    #[must_use]
    pub fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The whole number that it is, where it is one.
    #[must_use]
    pub fn as_whole(self) -> Option<i64> {
        (self.places == 0).then(|| i64::try_from(self.mantissa).ok()).flatten()
    }

    /// The nearest float; for statements of chance, never for values.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn to_f64(self) -> f64 {
        self.mantissa as f64 / 10_f64.powi(self.places.into())
    }

    /// The significant digits as a whole number: 25 for `2500` and for `0.25`.
    pub(crate) fn significand(self) -> u128 {
        let mut digits = self.mantissa.unsigned_abs();
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
        }
        digits
    }

    /// The number and the place of its point, for keys.
    pub(crate) fn parts(self) -> (i128, u8) {
        (self.mantissa, self.places)
    }

    /// The sum; `None` where it does not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        let places = self.places.max(other.places);
        Self::new(self.scaled(places)?.checked_add(other.scaled(places)?)?, places)
    }

    /// The number with the other sign.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { mantissa: self.mantissa.wrapping_neg(), places: self.places }
    }

    /// The difference; `None` where it does not fit.
    #[must_use]
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }

    /// The product; `None` where it does not fit.
    #[must_use]
    pub fn times(self, other: Self) -> Option<Self> {
        Self::new(self.mantissa.checked_mul(other.mantissa)?, self.places.checked_add(other.places)?)
    }

    /// The quotient, rounded half away from zero to so many places; `None` for a division by zero, or where it does not fit.
    #[must_use]
    pub fn over(self, other: Self, places: u8) -> Option<Self> {
        let up = u32::from(places.min(DECIMAL_PLACES_MAX)) + u32::from(other.places);
        let numerator = self.mantissa.checked_mul(10_i128.checked_pow(up)?)?;
        let denominator = other.mantissa.checked_mul(10_i128.checked_pow(self.places.into())?)?;
        Self::new(divided(numerator, denominator)?, places.min(DECIMAL_PLACES_MAX))
    }

    /// Rounded half away from zero to so many places.
    #[must_use]
    pub fn rounded(self, places: u8) -> Self {
        let down = self.places.saturating_sub(places);
        let Some(unit) = 10_i128.checked_pow(down.into()) else { return self };
        divided(self.mantissa, unit)
            .and_then(|mantissa| Self::new(mantissa, self.places - down))
            .unwrap_or(self)
    }

    fn scaled(self, places: u8) -> Option<i128> {
        self.mantissa.checked_mul(10_i128.checked_pow(u32::from(places.saturating_sub(self.places)))?)
    }
}

fn divided(numerator: i128, denominator: i128) -> Option<i128> {
    let quotient = numerator.checked_div(denominator)?;
    let rest = numerator.checked_rem(denominator)?.unsigned_abs();
    if rest < denominator.unsigned_abs().div_ceil(2) {
        return Some(quotient);
    }
    let away = if (numerator < 0) == (denominator < 0) { 1 } else { -1 };
    quotient.checked_add(away)
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let places = self.places.max(other.places);
        match (self.scaled(places), other.scaled(places)) {
            (Some(left), Some(right)) => left.cmp(&right),
            // Only what is too large is not scaled.
            (None, _) => self.mantissa.cmp(&0),
            (_, None) => 0.cmp(&other.mantissa),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.unsigned_abs().to_string();
        let places = usize::from(self.places);
        let padded = format!("{digits:0>width$}", width = places + 1);
        let (whole, behind) = padded.split_at_checked(padded.len() - places).unwrap_or((&padded, ""));
        let sign = if self.is_negative() { "-" } else { "" };
        let point = if behind.is_empty() { "" } else { "." };
        write!(formatter, "{sign}{whole}{point}{behind}")
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
