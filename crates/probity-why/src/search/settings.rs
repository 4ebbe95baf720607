//! What a search may spend and how sure it must be.

use super::arm::Cost;

/// Suspects in one search; more are refused, so that planning stays quick.
pub const SUSPECTS_MAX: usize = 4096;
/// Model calls that a search may make unless told otherwise.
pub const BUDGET_MODEL_CALLS: u32 = 64;
/// Millionths of a dollar that a search may spend unless told otherwise.
pub const BUDGET_MICRODOLLARS: u64 = 1_000_000;

/// Where forks begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// At the call that was asked about, and nowhere else. Where the suspects are all that stood in its window, the replies
    /// of earlier calls among them, this misses nothing: whatever acted earlier acts through one of them. Who then asks
    /// about the call of a convicted reply goes the chain back, at one model call a shot.
    Near,
    /// At the call that was asked about; where that finds nothing, as [`Whole`](Self::Whole).
    #[default]
    NearFirst,
    /// At the first call that saw a suspect of the arm, so that what it did to earlier replies counts.
    Whole,
}

/// How to search.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The probability that any suspect which makes no difference is convicted. Between 0 and 1, both excluded.
    pub alpha: f64,
    /// How often the answer may come out otherwise with nothing changed: the error holds up to this. Above 0, at most 1;
    /// 1 assumes nothing.
    pub noise_max: f64,
    /// Where forks begin.
    pub reach: Reach,
    /// No shot begins once either part is used up; the last one may go beyond.
    pub budget: Cost,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            noise_max: 0.3,
            reach: Reach::default(),
            budget: Cost { model_calls: BUDGET_MODEL_CALLS, microdollars: BUDGET_MICRODOLLARS },
        }
    }
}

/// Why a search cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// `alpha` is no probability that can be kept.
    #[error("search with an error of `{0}`: it must lie between 0 and 1")]
    Alpha(String),
    /// `noise_max` is no share.
    #[error("search with a noise of up to `{0}`: it must lie above 0 and be at most 1")]
    NoiseMax(String),
    /// More suspects than [`SUSPECTS_MAX`].
    #[error("search among {0} suspects: at most {SUSPECTS_MAX}")]
    TooManySuspects(usize),
    /// A suspect that the call asked about never saw.
    #[error("suspect number {0}: it was first seen after the call that was asked about")]
    SeenTooLate(usize),
}
