//! The frozen call, the permit, and the one function that turns verdicts into a permit.
//!
//! They stand in one module because private constructors stop at the crate edge: here, and nowhere else, can a
//! [`Permit`] be made, and [`Judgement::permit`] makes it only from a complete set of opinions over one frozen call in
//! which nobody denied and whoever asked has a person's grant. The alternative, a permit made by the driver after it
//! has checked, lost: every new driver would be a new chance to forget.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::ids::{CallId, PolicyName, PrincipalId, RunId, ToolName};
use crate::json::{Arguments, canonical_bytes};
use crate::label::Label;
use crate::policy::Verdict;
use crate::tool::Target;

/// A tool call that can no longer change: what is judged, shown, recorded and run is this value.
///
/// All fields are bound by [`FrozenCall::digest`]. Reading one back from a store recomputes the digest and refuses a
/// value whose stated digest differs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredCall")]
pub struct FrozenCall {
    // INVARIANT: `digest` is the digest of `facts`.
    #[serde(flatten)]
    facts: CallFacts,
    digest: Digest,
}

/// Everything that a frozen call binds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFacts {
    /// The run that the call belongs to.
    pub run: RunId,
    /// The call's number in the run.
    pub call: CallId,
    /// For whom it would act.
    pub principal: PrincipalId,
    /// The tool.
    pub tool: ToolName,
    /// The digest of the tool's definition when the call was frozen.
    pub tool_digest: Digest,
    /// The arguments in canonical form.
    pub arguments: Arguments,
    /// What the tool says the call touches.
    pub targets: Vec<Target>,
    /// The join of the labels of all that the proposing model call saw.
    pub label: Label,
}

#[derive(Deserialize)]
struct StoredCall {
    #[serde(flatten)]
    facts: StoredFacts,
    digest: Digest,
}

// `flatten` and `deny_unknown_fields` do not go together, so the stored form repeats the fields without the latter;
// a stray field changes nothing because the digest covers exactly the known ones.
#[derive(Deserialize)]
struct StoredFacts {
    run: RunId,
    call: CallId,
    principal: PrincipalId,
    tool: ToolName,
    tool_digest: Digest,
    arguments: Arguments,
    targets: Vec<Target>,
    label: Label,
}

impl TryFrom<StoredCall> for FrozenCall {
    type Error = &'static str;
    fn try_from(stored: StoredCall) -> Result<Self, &'static str> {
        let StoredFacts { run, call, principal, tool, tool_digest, arguments, targets, label } = stored.facts;
        let facts = CallFacts { run, call, principal, tool, tool_digest, arguments, targets, label };
        let frozen = Self::freeze(facts).map_err(|_| "a stored call has no canonical form")?;
        if frozen.digest == stored.digest {
            Ok(frozen)
        } else {
            Err("a stored call does not match its digest")
        }
    }
}

/// A call whose facts have no canonical form.
#[derive(Debug, thiserror::Error)]
#[error("freeze the call")]
pub struct FreezeError(#[from] serde_json::Error);

impl FrozenCall {
    /// Freezes the facts.
    ///
    /// # Errors
    /// When the facts have no canonical JSON form.
    pub fn freeze(facts: CallFacts) -> Result<Self, FreezeError> {
        let digest = Digest::of("probity.call.v1", &[&canonical_bytes(&facts)?]);
        Ok(Self { facts, digest })
    }

    /// What the call is bound to.
    #[must_use]
    pub const fn facts(&self) -> &CallFacts {
        &self.facts
    }

    /// The call's number in the run.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.facts.call
    }

    /// The tool.
    #[must_use]
    pub const fn tool(&self) -> &ToolName {
        &self.facts.tool
    }

    /// The arguments in canonical form.
    #[must_use]
    pub const fn arguments(&self) -> &Arguments {
        &self.facts.arguments
    }

    /// What the call touches.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.facts.targets
    }

    /// The SHA-256 digest that stands for the call.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

impl fmt::Debug for FrozenCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrozenCall({} {} {})", self.facts.call, self.facts.tool, self.digest.short())
    }
}

/// Where in its way a call is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seat {
    /// The tool tells what the call touches.
    Targets,
    /// Every policy of the task judges.
    Adjudicate,
    /// Every policy judges again, just before the effect.
    ExecuteRecheck,
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Targets => "targets",
            Self::Adjudicate => "adjudicate",
            Self::ExecuteRecheck => "execute-recheck",
        })
    }
}

/// The names of all policies that must be heard. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<PolicyName>", into = "Vec<PolicyName>")]
pub struct Roster(Arc<[PolicyName]>);

/// Two policies with one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("build the roster: two policies are called `{0}`")]
pub struct RosterError(PolicyName);

impl Roster {
    /// A roster of these names. An empty one denies every call.
    ///
    /// # Errors
    /// When a name stands twice.
    pub fn new(names: Vec<PolicyName>) -> Result<Self, RosterError> {
        let mut seen = std::collections::BTreeSet::new();
        for name in &names {
            if !seen.insert(name) {
                return Err(RosterError(name.clone()));
            }
        }
        Ok(Self(names.into()))
    }

    /// The names in order of registration.
    #[must_use]
    pub fn names(&self) -> &[PolicyName] {
        &self.0
    }
}

impl TryFrom<Vec<PolicyName>> for Roster {
    type Error = RosterError;
    fn try_from(names: Vec<PolicyName>) -> Result<Self, RosterError> {
        Self::new(names)
    }
}

impl From<Roster> for Vec<PolicyName> {
    fn from(roster: Roster) -> Self {
        roster.0.to_vec()
    }
}

/// What one policy said at one seat, or that it could not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    /// Who.
    pub policy: PolicyName,
    /// What; a failure counts as a denial.
    pub said: Said,
}

/// A verdict, or the failure that stands in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// A verdict.
    Verdict(Verdict),
    /// The policy erred, panicked or was too late. One redacted line.
    Failed(String),
    /// The task was cancelled while the policy judged.
    Cancelled,
}

/// Why a call does not run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// For programs.
    pub code: DenialCode,
    /// Where it was decided.
    pub seat: Seat,
    /// Who spoke; nobody where the engine itself denies.
    pub by: Option<PolicyName>,
    /// One line for the model and for people.
    pub reason: String,
}

/// The kinds of denial. Stable names; they stand in records and in what programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialCode {
    /// The task has no policy.
    NoPolicy,
    /// No policy had anything to say of the call.
    NotCovered,
    /// A policy denied.
    Policy,
    /// A policy failed, and a failure denies.
    PolicyFailed,
    /// The tool could not tell what the call touches.
    TargetsFailed,
    /// Not every policy was heard.
    Incomplete,
    /// A person was needed and there is nobody to ask.
    NobodyToAsk,
    /// A person refused.
    PersonRefused,
    /// The answer came too late.
    Expired,
    /// The task was cancelled.
    Cancelled,
    /// No tool call or no time is left.
    Limit,
}

/// What one seat concludes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// Nobody objects.
    Allow,
    /// A person must decide.
    Ask(Vec<Asker>),
    /// The call does not run.
    Deny(Denial),
}

impl Ruling {
    /// Both at once: the stricter, and all who ask.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny(denial), _) | (_, Self::Deny(denial)) => Self::Deny(denial),
            (Self::Ask(mut askers), Self::Ask(more)) => {
                askers.extend(more);
                Self::Ask(askers)
            }
            (Self::Ask(askers), Self::Allow) | (Self::Allow, Self::Ask(askers)) => Self::Ask(askers),
            (Self::Allow, Self::Allow) => Self::Allow,
        }
    }
}

/// A policy that wants a person to decide, and why.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// Who.
    pub policy: PolicyName,
    /// Why.
    pub reason: String,
}

/// What `roster` concludes at `seat` from `opinions`: deny over ask over allow, whatever the order.
///
/// Every policy of the roster must have spoken exactly once and nobody else may have; anything missing, doubled or
/// foreign denies. An empty roster denies. Where all abstain the call is denied.
#[must_use]
pub fn rule(seat: Seat, roster: &Roster, opinions: &[Opinion]) -> Ruling {
    let deny = |code, by: Option<&PolicyName>, reason: String| {
        Ruling::Deny(Denial { code, seat, by: by.cloned(), reason })
    };
    if roster.names().is_empty() {
        return deny(DenialCode::NoPolicy, None, "no policy is set, so no tool may run".to_owned());
    }
    let heard = |name: &PolicyName| opinions.iter().filter(|opinion| &opinion.policy == name).count() == 1;
    if opinions.len() != roster.names().len() || !roster.names().iter().all(heard) {
        return deny(DenialCode::Incomplete, None, "not every policy could be heard".to_owned());
    }
    let (mut denied, mut askers, mut allowed) = (None, Vec::new(), false);
    for Opinion { policy, said } in opinions {
        match said {
            Said::Cancelled => {
                return deny(DenialCode::Cancelled, None, "the task was cancelled".to_owned());
            }
            Said::Failed(line) => denied = denied.or(Some((DenialCode::PolicyFailed, policy, line))),
            Said::Verdict(Verdict::Deny { reason }) => {
                denied = denied.or(Some((DenialCode::Policy, policy, reason)));
            }
            Said::Verdict(Verdict::Ask { reason }) => {
                askers.push(Asker { policy: policy.clone(), reason: reason.clone() });
            }
            Said::Verdict(Verdict::Allow { .. }) => allowed = true,
            Said::Verdict(Verdict::Abstain) => {}
        }
    }
    match (denied, askers.is_empty(), allowed) {
        (Some((code, policy, reason)), ..) => deny(code, Some(policy), reason.clone()),
        (None, false, _) => Ruling::Ask(askers),
        (None, true, true) => Ruling::Allow,
        (None, true, false) => deny(DenialCode::NotCovered, None, "no policy allows this call".to_owned()),
    }
}

/// A question to a person about one frozen call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// The call in question.
    pub call: Arc<FrozenCall>,
    /// Who wants a person to decide.
    pub askers: Vec<Asker>,
    /// Milliseconds of the run's clock after which an answer has no effect.
    pub expires_at_ms: u64,
}

/// A person's approval of one frozen call. Made from the question itself, so it covers exactly what was asked: this call,
/// for these policies. A policy that asks later has asked nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    // INVARIANT: copied from one `PendingCall`.
    digest: Digest,
    askers: Vec<PolicyName>,
    expires_at_ms: u64,
    by: PrincipalId,
}

impl PendingCall {
    /// The grant that `by` gives by approving this question.
    #[must_use]
    pub fn approve(&self, by: PrincipalId) -> Grant {
        let askers = self.askers.iter().map(|asker| asker.policy.clone()).collect();
        Grant { digest: self.call.digest(), askers, expires_at_ms: self.expires_at_ms, by }
    }
}

impl Grant {
    /// Who approved.
    #[must_use]
    pub const fn by(&self) -> &PrincipalId {
        &self.by
    }

    fn covers(&self, call: &FrozenCall, askers: &[Asker]) -> bool {
        self.digest == call.digest() && askers.iter().all(|asker| self.askers.contains(&asker.policy))
    }
}

/// The hearing of one frozen call: collects what the seats say and makes the permit when all have allowed.
///
/// It is not serializable. A call that is taken up again is heard again, from the first seat on; only a person's grant
/// outlives the pause.
#[derive(Debug)]
pub struct Judgement {
    call: Arc<FrozenCall>,
    roster: Roster,
    grant: Option<Grant>,
    adjudicated: Option<Ruling>,
    rechecked: Option<Ruling>,
}

impl Judgement {
    /// Opens the hearing of `call` before the policies of `roster`.
    #[must_use]
    pub const fn open(call: Arc<FrozenCall>, roster: Roster) -> Self {
        Self { call, roster, grant: None, adjudicated: None, rechecked: None }
    }

    /// The call that is heard.
    #[must_use]
    pub const fn call(&self) -> &Arc<FrozenCall> {
        &self.call
    }

    /// Takes a person's approval.
    pub fn grant(&mut self, grant: Grant) {
        self.grant = Some(grant);
    }

    /// Takes what was said at a seat and tells what the seat concludes, with all that it heard before: a seat that is
    /// heard twice can only become stricter. No policy judges at [`Seat::Targets`]; whoever speaks there denies the call.
    pub fn hear(&mut self, seat: Seat, opinions: &[Opinion]) -> Ruling {
        let (heard, ruling) = match seat {
            Seat::Targets => {
                let reason = "no policy judges at this seat".to_owned();
                let denial = Denial { code: DenialCode::Incomplete, seat, by: None, reason };
                (&mut self.adjudicated, Ruling::Deny(denial))
            }
            Seat::Adjudicate => (&mut self.adjudicated, rule(seat, &self.roster, opinions)),
            Seat::ExecuteRecheck => (&mut self.rechecked, rule(seat, &self.roster, opinions)),
        };
        let ruling = match heard.take() {
            Some(before) => before.and(ruling),
            None => ruling,
        };
        *heard = Some(ruling.clone());
        ruling
    }

    /// Makes the permit, or says why there is none.
    ///
    /// Both seats must have been heard; a seat that asked needs a grant for this very call and everyone who asked there,
    /// that has not expired at `now_ms`.
    ///
    /// # Errors
    /// The denial.
    pub fn permit(self, now_ms: u64) -> Result<Permit, Denial> {
        let seats = [(Seat::Adjudicate, &self.adjudicated), (Seat::ExecuteRecheck, &self.rechecked)];
        for (seat, ruling) in seats {
            let denial = |code, reason: &str| Denial { code, seat, by: None, reason: reason.to_owned() };
            match (ruling, &self.grant) {
                (None, _) => return Err(denial(DenialCode::Incomplete, "not every policy could be heard")),
                (Some(Ruling::Deny(denial)), _) => return Err(denial.clone()),
                (Some(Ruling::Allow), _) => {}
                (Some(Ruling::Ask(askers)), Some(grant)) if grant.covers(&self.call, askers) => {
                    if now_ms >= grant.expires_at_ms {
                        return Err(denial(DenialCode::Expired, "the approval has expired"));
                    }
                }
                (Some(Ruling::Ask(_)), _) => {
                    return Err(denial(DenialCode::NobodyToAsk, "a person must approve this call first"));
                }
            }
        }
        Ok(Permit { call: self.call })
    }
}

/// The right to run one frozen call once.
///
/// Not `Clone`, not serializable, with one maker: [`Judgement::permit`]. [`crate::Tool::run`] takes it by value.
#[derive(Debug)]
#[must_use = "a permit that is dropped runs nothing"]
pub struct Permit {
    // INVARIANT: every seat has allowed exactly this call.
    call: Arc<FrozenCall>,
}

impl Permit {
    /// The permitted call; its arguments are what the tool acts on.
    #[must_use]
    pub const fn call(&self) -> &Arc<FrozenCall> {
        &self.call
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
