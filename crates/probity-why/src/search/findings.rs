//! What a search ends with.

use super::arm::{Arm, Cost};
use super::tally::{Interval, Tally};

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Run this arm once and report the shot.
    Run(Arm),
    /// There is nothing left to run.
    Done(Findings),
}

/// What was found, with what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// One for each suspect, those to blame first: by verdict, then by evidence, then by lead.
    pub verdicts: Vec<Verdict>,
    /// The suspects that together hold the answer with every other one neutral; empty where that was not seen.
    pub sufficient: Vec<usize>,
    /// Whether an arm without all suspects kept the answer: none of them is needed for it.
    pub none_needed: bool,
    /// Why the search ended.
    pub ended: Ended,
    /// Baselines by fork point.
    pub baselines: Vec<(u32, Tally)>,
    /// What was spent.
    pub spent: Cost,
    /// Shots that were made.
    pub shots: u32,
    /// The error that holds for all convictions together.
    pub alpha: f64,
    /// What tries that convicted nobody leave of it, above 0. A later search with this as its error keeps the error of both
    /// together within `alpha`.
    pub alpha_left: f64,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything that was asked has a verdict.
    Complete,
    /// The budget was used up.
    Budget,
    /// With nothing changed, the answer comes out otherwise too often for a test.
    Unsteady,
    /// Readings contradict each other, or too many shots had no outcome.
    Undecided,
}

/// What is said of one suspect.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Its number.
    pub suspect: usize,
    /// What was seen.
    pub kind: VerdictKind,
    /// Whether, with nothing but it of the suspects, the answer stayed.
    pub is_sufficient: bool,
    /// The arm that the verdict hangs on; `None` where none was run for it.
    pub arm: Option<Arm>,
    /// Shots of that arm.
    pub changed: Tally,
    /// Where that arm's rate of kept answers lies, at the error `alpha`, whenever one stops.
    pub changed_kept: Interval,
    /// What it was compared with: the baseline at the same fork point, or for a redundant suspect the arm without the
    /// others of its group.
    pub base: Tally,
    /// Where the base's rate of kept answers lies.
    pub base_kept: Interval,
    /// How many times more likely the shots are if the suspect matters than under the likeliest way in which it does not
    /// (0 where no trial was made). It convicts at `1/alpha` times the share of its trial.
    pub evidence: f64,
}

/// What was seen of a suspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerdictKind {
    /// Without it the answer changes.
    Necessary,
    /// Necessary, and so are these: only together they hold the answer.
    JointWith(Vec<usize>),
    /// Each alone holds the answer: it changes when all of them are gone.
    RedundantWith(Vec<usize>),
    /// Putting it back (with these, if any) changes the answer.
    Absent(Vec<usize>),
    /// Without it, alone or among others, the answer stays as in the baseline.
    Rejected,
    /// The test did not come to an end for it.
    Inconclusive,
}

impl VerdictKind {
    /// Whether the suspect is convicted: a trial held.
    #[must_use]
    pub fn is_conviction(&self) -> bool {
        !matches!(self, Self::Rejected | Self::Inconclusive)
    }
}
