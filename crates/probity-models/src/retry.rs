//! Whether and when a call that failed is tried again. Values in, a decision out; the clock is the caller's.

use std::time::{Duration, SystemTime};

use crate::limits::{RETRY_PAUSE_MS_FIRST, RETRY_PAUSE_MS_MAX};

/// What is known of a try that failed before anything of a reply was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed<'a> {
    /// No connection was made, so the provider cannot have begun.
    Unconnected,
    /// The provider refused.
    Refused {
        status: u16,
        /// `Retry-After`: seconds or an HTTP date.
        retry_after: Option<&'a str>,
        /// `x-should-retry`: the provider's own word, which outranks the status.
        should_retry: Option<&'a str>,
    },
}

/// The pause before the next try, or `None` if there shall be none.
///
/// `tries` counts those already made; `chance` is between 0 and 1 and spreads the pauses of many callers. A pause that
/// the provider asks for is kept, never shortened: where it is over [`RETRY_PAUSE_MS_MAX`] there is no further try.
pub(crate) fn pause(
    failed: Failed<'_>,
    tries: u32,
    tries_max: u32,
    now: SystemTime,
    chance: f64,
) -> Option<Duration> {
    if tries >= tries_max || !may_repeat(failed) {
        return None;
    }
    let asked = match failed {
        Failed::Refused { retry_after: Some(text), .. } => asked_for(text, now),
        Failed::Refused { retry_after: None, .. } | Failed::Unconnected => None,
    };
    let longest = Duration::from_millis(RETRY_PAUSE_MS_MAX);
    match asked {
        Some(asked) => (asked <= longest).then_some(asked),
        None => {
            let doubled = RETRY_PAUSE_MS_FIRST.saturating_mul(1 << tries.saturating_sub(1).min(16));
            let full = Duration::from_millis(doubled).min(longest);
            // Between half and all of it: never at once, and rarely at the same time as others.
            Some(full.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0))
        }
    }
}

fn may_repeat(failed: Failed<'_>) -> bool {
    match failed {
        Failed::Unconnected => true,
        Failed::Refused { should_retry: Some("false"), .. } => false,
        Failed::Refused { status, .. } => matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529),
    }
}

fn asked_for(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        // What is no time at all (negative, not a number) counts as not asked; what overflows as very long.
        let is_time = seconds >= 0.0;
        return is_time.then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let then = httpdate::parse_http_date(text).ok()?;
    Some(then.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
