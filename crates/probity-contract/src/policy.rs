//! The port to policies.

use probity_egress::{SamePrincipal, egress_error};
use serde::{Deserialize, Serialize};

use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::future::BoxFuture;
use crate::gate::{FrozenCall, Seat};
use crate::ids::PolicyName;

/// Something that judges tool calls.
///
/// A policy sees a frozen call and says allow, ask or deny; it has no way to change the call or to answer in the tool's
/// place. One that errors, panics or takes longer than `judge_timeout_ms` has denied.
pub trait Policy: Send + Sync {
    /// The name under which its verdicts are recorded. Stable, and unique in one task.
    fn name(&self) -> &PolicyName;

    /// What it judges by now: differs whenever its rules do, and is the same for the same rules in every process.
    ///
    /// It is read before and after each judgement; where the two differ, the judgement is void and asked for again. A
    /// person's approval is bound to it, beside the policy's name. The default never changes, for rules that are code.
    fn epoch(&self) -> Digest {
        Digest::of("probity.policy-epoch.v1", &[b"code"])
    }

    /// Judges one call at one seat. `cancel` is the task's signal.
    ///
    /// # Errors
    /// When it cannot judge; the call is then denied and the failure reported once.
    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        seat: Seat,
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>>;
}

/// What a policy says of a call.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// It has nothing to say of this call. Where every policy abstains the call is denied.
    Abstain,
    /// It may run.
    Allow {
        /// The rule that spoke.
        reason: String,
    },
    /// A person must decide.
    Ask {
        /// Why.
        reason: String,
    },
    /// It must not run.
    Deny {
        /// Why, and where possible what would have to change.
        reason: String,
    },
}

/// Why a policy could not judge. The words are redacted and cut to one line before the model reads them;
/// `Display` and `Debug` have passed as well.
#[derive(thiserror::Error)]
#[error("{}", egress_error::<SamePrincipal>(&**.0))]
pub struct PolicyError(#[from] Box<dyn std::error::Error + Send + Sync>);

impl PolicyError {
    /// An error with these words.
    #[must_use]
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into().into())
    }
}
