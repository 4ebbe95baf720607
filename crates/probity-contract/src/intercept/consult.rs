use serde::{Deserialize, Serialize};

use super::{HookVerdict, Occasion};
use crate::future::BoxFuture;
use crate::policy::PolicyError;

/// Who decides where an interceptor has denied and a person may lift the deny.
///
/// One that errors, panics or takes too long has not lifted it. It is never asked where a plain deny stands beside.
pub trait Consultant: Send + Sync {
    /// Puts the question. Dropping the future withdraws it.
    ///
    /// # Errors
    /// When it cannot be put; the deny then stands.
    fn consult<'a>(
        &'a self,
        consultation: &'a Consultation,
    ) -> BoxFuture<'a, Result<Resolution, PolicyError>>;
}

/// A deny that may be lifted, and what it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consultation {
    /// What names the context as it is shown here. The answer repeats it; `None` where contexts have no names.
    pub identity: Option<String>,
    /// The deny.
    pub verdict: HookVerdict,
    /// What it is about, with what may not be shown to approvers taken out.
    pub occasion: Occasion,
}

/// An answer to a consultation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// The identity of the consultation, byte for byte. An answer with another one is an answer to something else, and denies.
    pub identity: Option<String>,
    /// What was decided.
    pub decision: Resolve,
}

/// What was decided. Whatever does not fit (an approval that denies, a refusal that allows) denies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolve {
    /// This allow or transform stands in place of the deny.
    Approve(HookVerdict),
    /// This deny stands in its place.
    Reject(HookVerdict),
    /// Nobody has decided.
    Unresolved,
}
