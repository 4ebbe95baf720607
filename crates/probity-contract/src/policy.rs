//! The port to policies.

use std::error::Error;
use std::fmt;

use probity_egress::{Egress, SamePrincipal, egress_error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::future::BoxFuture;
use crate::gate::{FrozenCall, Seat};
use crate::ids::PolicyName;
use crate::intercept::NotAVerdict;
use crate::json::Arguments;

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
    /// person's approval is bound to it, beside the policy's name. A policy whose rules change while it lives changes the
    /// rules first and this after, so that no verdict by older rules stands under the name of newer ones. The default never changes, for rules that are code.
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

impl Verdict {
    /// Reads a verdict that comes from outside: an object with the members `verdict` (`abstain`, `allow`, `ask` or `deny`)
    /// and, but for the first, `reason`, which must say something. Nothing else may stand in it.
    ///
    /// A program that is asked over a pipe or a network can answer anything; what is not exactly a verdict is none.
    ///
    /// # Errors
    /// When it is no verdict. The words tell its shape and nothing of what it says.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        read(text).map_err(|shape| PolicyError(Box::new(Malformed(shape))))
    }
}

fn read(text: &str) -> Result<Verdict, &'static str> {
    let members = match serde_json::from_str(text) {
        // A member that stands twice means one thing to one reader and another to the next.
        Ok(Value::Object(members)) if Arguments::parse(text).is_ok() => members,
        Ok(Value::Object(_)) => return Err("an object that readers could understand differently"),
        Ok(Value::Null) => return Err("null"),
        Ok(Value::Bool(_)) => return Err("true or false"),
        Ok(Value::Number(_)) => return Err("a number"),
        Ok(Value::String(_)) => return Err("a text"),
        Ok(Value::Array(_)) => return Err("a list"),
        Err(_) => return Err("no JSON"),
    };
    let text_of = |name| match members.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err("an object with a member that is no text"),
    };
    let (verdict, reason) = (text_of("verdict")?, text_of("reason")?);
    if members.len() != usize::from(verdict.is_some()) + usize::from(reason.is_some()) {
        return Err("an object with an unknown member");
    }
    let verdict = verdict.ok_or("an object without the member `verdict`")?;
    if verdict == "abstain" {
        return reason.map_or(Ok(Verdict::Abstain), |_| Err("an abstention with a reason"));
    }
    let reason = reason.filter(|reason| !reason.trim().is_empty()).ok_or("a verdict without a reason");
    match verdict.as_str() {
        "allow" => Ok(Verdict::Allow { reason: reason? }),
        "ask" => Ok(Verdict::Ask { reason: reason? }),
        "deny" => Ok(Verdict::Deny { reason: reason? }),
        _ => Err("an object with an unknown verdict"),
    }
}

/// Something came from outside that is no verdict.
#[derive(Debug, thiserror::Error)]
#[error("it answered with {0} where a verdict was needed")]
struct Malformed(&'static str);

/// Why a policy could not judge. The words are redacted and cut to one line before the model reads them;
/// `Display` and `Debug` have passed as well.
#[derive(thiserror::Error)]
#[error("{}", egress_error::<SamePrincipal>(&**.0))]
pub struct PolicyError(#[from] Box<dyn Error + Send + Sync>);

impl PolicyError {
    /// An error with these words.
    #[must_use]
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into().into())
    }

    /// What the error says itself, without what has caused it: for whoever is told of a denial and must not read what lies
    /// behind it.
    #[must_use]
    pub fn own_words(&self) -> Egress<SamePrincipal> {
        egress_error(&Own(&*self.0))
    }

    /// Whether what was answered is no verdict.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        self.0.is::<Malformed>() || self.0.is::<NotAVerdict>()
    }
}

/// An error without its causes.
#[derive(Debug)]
struct Own<'a>(&'a (dyn Error + Send + Sync));

impl fmt::Display for Own<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)
    }
}

impl Error for Own<'_> {}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
