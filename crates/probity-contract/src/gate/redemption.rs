use std::fmt;

use crate::digest::Digest;
use crate::ids::RunId;
use crate::shown::Shown;

/// Keeps count of the approvals that were used up, for everybody who may go on with one run.
pub trait Redeemer: Send + Sync {
    /// Uses up the approval of the question that `binding` stands for. One atomic step: of any number who try, in any
    /// process that shares the count, one succeeds, and where it has, no later one ever does.
    ///
    /// # Errors
    /// When it was used up before, or when that cannot be told. Nothing runs on it then.
    fn redeem(&self, run: &RunId, binding: Digest) -> Result<(), RedeemError>;
}

/// Why an approval could not be used. `Display` and `Debug` have passed the credential pass.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedeemError {
    /// Somebody was first.
    #[error("the approval was used before")]
    Used,
    /// It could not be told or written down; the words are unredacted.
    #[error("{}", Shown(.0))]
    Failed(String),
}

impl fmt::Debug for RedeemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedeemError({self})")
    }
}

/// That one approval was used up, just now and for the first time.
///
/// It has one maker, is neither `Clone` nor stored, and [`crate::Judgement::permit`] makes no permit on an approval without
/// it. So no driver can forget to count.
#[derive(Debug)]
#[must_use = "an approval that was used up is good for nothing else"]
pub struct Redemption {
    // INVARIANT: a redeemer has said that this was the first use.
    binding: Digest,
}

impl Redemption {
    /// Uses the approval up.
    ///
    /// # Errors
    /// As [`Redeemer::redeem`].
    pub fn claim(redeemer: &dyn Redeemer, run: &RunId, binding: Digest) -> Result<Self, RedeemError> {
        redeemer.redeem(run, binding).map(|()| Self { binding })
    }

    /// The question whose approval this was.
    #[must_use]
    pub const fn binding(&self) -> Digest {
        self.binding
    }
}
