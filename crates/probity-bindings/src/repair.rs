//! Repairs that are put on a way.

/// What stands between review and effect, beside the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// The approval's number must be a known one.
    ApprovalIdOnly,
    /// All fields are compared once, after the first edge.
    FirstAcceptingProjection,
    /// The first edge reads what was frozen at review.
    FreezeFirstInput,
    /// All fields are compared at the effect, on the value that is used.
    FinalProjectionAtomic,
    /// All fields are compared at the effect, and then read again.
    FinalProjectionRacy,
    /// Every edge reads what was frozen at review.
    FreezeAllInputs,
    /// Both comparisons, the last on the value that is used.
    FirstPlusFinal,
}

impl Repair {
    /// All repairs.
    pub const ALL: [Self; 7] = [
        Self::ApprovalIdOnly,
        Self::FirstAcceptingProjection,
        Self::FreezeFirstInput,
        Self::FinalProjectionAtomic,
        Self::FinalProjectionRacy,
        Self::FreezeAllInputs,
        Self::FirstPlusFinal,
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApprovalIdOnly => "approval_id_only",
            Self::FirstAcceptingProjection => "first_accepting_projection",
            Self::FreezeFirstInput => "freeze_first_input",
            Self::FinalProjectionAtomic => "final_projection_atomic",
            Self::FinalProjectionRacy => "final_projection_racy",
            Self::FreezeAllInputs => "freeze_all_inputs",
            Self::FirstPlusFinal => "first_plus_final",
        }
    }

    /// The repair of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|repair| repair.name() == name)
    }

    /// Whether an edge reads what was frozen at review, and not what is there now.
    pub(crate) const fn freezes(self, edge: usize) -> bool {
        match self {
            Self::FreezeFirstInput => edge == 0,
            Self::FreezeAllInputs => true,
            Self::ApprovalIdOnly
            | Self::FirstAcceptingProjection
            | Self::FinalProjectionAtomic
            | Self::FinalProjectionRacy
            | Self::FirstPlusFinal => false,
        }
    }

    pub(crate) const fn compares_after_first(self) -> bool {
        matches!(self, Self::FirstAcceptingProjection | Self::FirstPlusFinal)
    }

    pub(crate) const fn compares_at_last(self) -> bool {
        matches!(self, Self::FinalProjectionAtomic | Self::FinalProjectionRacy | Self::FirstPlusFinal)
    }

    /// Whether what is used is read once more after it was compared.
    pub(crate) const fn reads_again(self) -> bool {
        matches!(self, Self::FinalProjectionRacy)
    }
}
