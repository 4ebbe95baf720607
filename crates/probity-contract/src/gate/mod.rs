//! The frozen call, the permit, and the one function that turns verdicts into a permit.
//!
//! They stand in one crate because private constructors stop at its edge: here, and nowhere else, can a [`Permit`] be made,
//! and [`Judgement::permit`] makes it only from a complete set of opinions over one frozen call in which nobody denied and
//! whoever asked has a person's grant. The alternative, a permit made by the driver after it has checked, lost: every new
//! driver would be a new chance to forget.

mod call;
mod judgement;
mod question;
mod redemption;
mod ruling;
mod seat;
mod sources;
mod view;

pub use call::{CallFacts, FreezeError, FrozenCall};
pub use judgement::{Judgement, Permit};
pub use question::{Grant, PendingCall, QuestionFacts, Remembered};
pub use redemption::{RedeemError, Redeemer, Redemption};
pub use ruling::{
    Asker, Bench, BenchError, Denial, DenialCode, DenialDetail, Epoch, Level, Opinion, Roster, RosterError,
    Ruling, Said, rule,
};
pub use seat::Seat;
pub use sources::{ArgumentLabel, ArgumentSource, argument_values};
pub use view::CallView;

#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod question_tests;
