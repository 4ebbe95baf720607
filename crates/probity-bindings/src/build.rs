//! What this build puts at the sink.

use crate::repair::Repair;

/// What stands at the sink, and which repairs the suite has to try with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Build {
    /// What stands at the sink.
    pub door: Door,
    /// What stands before it.
    pub repairs: &'static [Repair],
}

/// What stands at the sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The gate: a permit for the very call, or nothing runs.
    Gate,
    /// Nothing: what the repair lets through runs.
    Open,
}

impl Build {
    /// This build: the gate behind every repair; in a broken build one repair and no gate.
    pub const THIS: Self = if cfg!(feature = "broken-approval-id-only") {
        Self { door: Door::Open, repairs: &[Repair::ApprovalIdOnly] }
    } else if cfg!(feature = "broken-first-accepting-projection") {
        Self { door: Door::Open, repairs: &[Repair::FirstAcceptingProjection] }
    } else if cfg!(feature = "broken-freeze-first-input") {
        Self { door: Door::Open, repairs: &[Repair::FreezeFirstInput] }
    } else if cfg!(feature = "broken-final-projection-racy") {
        Self { door: Door::Open, repairs: &[Repair::FinalProjectionRacy] }
    } else {
        Self { door: Door::Gate, repairs: &Repair::ALL }
    };
}
