//! One way to run the rest of a run again.

/// What is changed in a fork, and from where on.
///
/// Sets are sorted and hold each suspect once, so equal arms are equal values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arm {
    /// The first model call that is made again, counted from 0; everything before is served from the record.
    pub from_call: u32,
    /// Suspects that are replaced by neutral stand-ins from that call on, also where an earlier call saw them.
    pub without: Vec<usize>,
    /// Absent items that are put back from that call on.
    pub with: Vec<usize>,
}

impl Arm {
    /// Nothing is changed: how often does the answer come out the same by itself?
    #[must_use]
    pub fn baseline(from_call: u32) -> Self {
        Self { from_call, without: Vec::new(), with: Vec::new() }
    }

    /// Whether nothing is changed.
    #[must_use]
    pub fn is_baseline(&self) -> bool {
        self.without.is_empty() && self.with.is_empty()
    }
}

/// How one run of an arm came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The part asked about came out the same.
    Kept,
    /// It came out otherwise.
    Flipped,
    /// An effect would have differed, so the fork was stopped. No evidence either way.
    Diverged,
    /// It could not be run. No evidence either way.
    Failed,
}

/// One run of an arm, as the driver reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shot {
    /// How it came out.
    pub outcome: Outcome,
    /// What it cost, also where it failed.
    pub cost: Cost,
}

/// What was spent, or may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Model calls after the fork point.
    pub model_calls: u32,
    /// Millionths of a US dollar.
    pub microdollars: u64,
}

impl Cost {
    /// Both together; sums stop at the largest number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_add(other.model_calls),
            microdollars: self.microdollars.saturating_add(other.microdollars),
        }
    }
}
