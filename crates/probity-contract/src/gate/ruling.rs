use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::seat::Seat;
use crate::digest::Digest;
use crate::ids::PolicyName;
use crate::limits::SUBAGENT_DEPTH_MAX;
use crate::policy::Verdict;

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

/// Whose policies: those of the task itself, or of a task above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Level(pub u8);

impl Level {
    /// The task itself.
    pub const OWN: Self = Self(0);

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    const fn is_own(&self) -> bool {
        self.0 == 0
    }
}

/// Everybody who must be heard of a task's calls: its own policies, and those of every task above it, the nearest first.
///
/// Each level is ruled on for itself, and the strictest of all holds. So a task can never do what one above it could not,
/// whatever its own policies say. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Roster>", into = "Vec<Roster>")]
pub struct Bench {
    // INVARIANT: the task's own roster first, then at most `SUBAGENT_DEPTH_MAX` others.
    levels: Arc<[Roster]>,
}

/// A task that is started too deep, or a bench without a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("build the bench: it has {0} levels, and between 1 and {max} are allowed", max = SUBAGENT_DEPTH_MAX + 1)]
pub struct BenchError(usize);

impl Bench {
    /// The bench of a task that no other has started.
    #[must_use]
    pub fn of(own: Roster) -> Self {
        Self { levels: Arc::from([own]) }
    }

    /// The bench of a task that a task with this bench starts: whoever is heard here is heard there.
    ///
    /// # Errors
    /// When it would be deeper than `SUBAGENT_DEPTH_MAX`.
    pub fn for_child(&self, own: Roster) -> Result<Self, BenchError> {
        std::iter::once(own).chain(self.levels.iter().cloned()).collect::<Vec<_>>().try_into()
    }

    /// All levels, the task's own first.
    #[must_use]
    pub fn levels(&self) -> &[Roster] {
        &self.levels
    }

    /// Whether there is a task above.
    #[must_use]
    pub fn has_ancestors(&self) -> bool {
        self.levels.len() > 1
    }

    /// The levels that are heard at a seat.
    fn heard_at(&self, seat: Seat) -> std::ops::Range<usize> {
        match seat {
            Seat::Targets => 0..0,
            Seat::Adjudicate => 0..1,
            Seat::Inherited => 1..self.levels.len(),
            Seat::EditRecheck | Seat::ExecuteRecheck => 0..self.levels.len(),
        }
    }

    /// Who is to be heard at a seat, by level.
    pub fn to_hear(&self, seat: Seat) -> impl Iterator<Item = (Level, &PolicyName)> {
        let levels = self.heard_at(seat);
        self.levels.iter().enumerate().filter(move |(at, _)| levels.contains(at)).flat_map(|(at, roster)| {
            let level = Level(u8::try_from(at).unwrap_or(u8::MAX));
            roster.names().iter().map(move |name| (level, name))
        })
    }

    /// What the levels that are heard at `seat` conclude together: the strictest. Whoever speaks for another level denies,
    /// and so does anybody who speaks at [`Seat::Targets`], where no policy judges.
    #[must_use]
    pub fn rule(&self, seat: Seat, opinions: &[Opinion]) -> Ruling {
        let levels = self.heard_at(seat);
        let foreign = opinions.iter().find(|opinion| !levels.contains(&usize::from(opinion.level.0)));
        if let Some(foreign) = foreign {
            let reason = "a policy spoke that is not heard at this seat".to_owned();
            let (code, level) = (DenialCode::Incomplete, foreign.level);
            return Ruling::Deny(Denial { code, seat, by: None, level, reason });
        }
        let of_level = |(at, roster): (usize, &Roster)| {
            let level = Level(u8::try_from(at).unwrap_or(u8::MAX));
            let opinions: Vec<&Opinion> = opinions.iter().filter(|opinion| opinion.level == level).collect();
            rule_level(seat, level, roster, &opinions)
        };
        let heard = self.levels.iter().enumerate().filter(|(at, _)| levels.contains(at));
        heard.map(of_level).fold(Ruling::Allow, Ruling::and)
    }
}

impl TryFrom<Vec<Roster>> for Bench {
    type Error = BenchError;
    fn try_from(levels: Vec<Roster>) -> Result<Self, BenchError> {
        match levels.len() {
            1..=MAX_LEVELS => Ok(Self { levels: levels.into() }),
            other => Err(BenchError(other)),
        }
    }
}

const MAX_LEVELS: usize = SUBAGENT_DEPTH_MAX + 1;

impl From<Bench> for Vec<Roster> {
    fn from(bench: Bench) -> Self {
        bench.levels.to_vec()
    }
}

/// By what a policy judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// Whose policy.
    #[serde(default, skip_serializing_if = "Level::is_own")]
    pub level: Level,
    /// Which policy.
    pub policy: PolicyName,
    /// Its rules.
    pub epoch: Digest,
}

/// What one policy said at one seat, or that it could not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    /// Whose policy. Left out in the record where it is the task's own.
    #[serde(default, skip_serializing_if = "Level::is_own")]
    pub level: Level,
    /// Who.
    pub policy: PolicyName,
    /// By which rules; `None` where it could not tell, and in records from before this was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Digest>,
    /// What; a failure counts as a denial.
    pub said: Said,
}

impl Opinion {
    /// What a policy of the task itself said, by rules that it did not tell.
    #[must_use]
    pub const fn own(policy: PolicyName, said: Said) -> Self {
        Self { level: Level::OWN, policy, epoch: None, said }
    }
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
    /// Whose policy that is.
    #[serde(default, skip_serializing_if = "Level::is_own")]
    pub level: Level,
    /// One line for the model and for people.
    pub reason: String,
}

/// How much a model reads of a denial. People, observers and the record are always told all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialDetail {
    /// Who denied and why, in one redacted line: the model can do better.
    #[default]
    Reason,
    /// The code alone. What policies say, or what they throw, reaches no model.
    Code,
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
    /// An interceptor stopped it before it was frozen, or the engine could not have it looked at.
    Intercepted,
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
    /// The approval was used before.
    Redeemed,
    /// What the call touches is not any more what was judged.
    TargetsChanged,
    /// The tool is not any more the one that the call was made for.
    ToolChanged,
    /// A person changed the arguments to ones that the tool does not take, or too often.
    EditRefused,
    /// The task was cancelled.
    Cancelled,
    /// No tool call or no time is left.
    Limit,
}

impl DenialCode {
    /// Its name, as it stands in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoPolicy => "no_policy",
            Self::NotCovered => "not_covered",
            Self::Policy => "policy",
            Self::Intercepted => "intercepted",
            Self::PolicyFailed => "policy_failed",
            Self::TargetsFailed => "targets_failed",
            Self::Incomplete => "incomplete",
            Self::NobodyToAsk => "nobody_to_ask",
            Self::PersonRefused => "person_refused",
            Self::Expired => "expired",
            Self::Redeemed => "redeemed",
            Self::TargetsChanged => "targets_changed",
            Self::ToolChanged => "tool_changed",
            Self::EditRefused => "edit_refused",
            Self::Cancelled => "cancelled",
            Self::Limit => "limit",
        }
    }

    /// What would have to change for such a call to run, in words for people.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::NoPolicy => "give the task a policy that allows the call",
            Self::NotCovered => "add a rule that allows or asks about the call",
            Self::Policy => {
                "change the call so that the named policy does not deny it, or change that policy"
            }
            Self::Intercepted => {
                "change the call so that the named interceptor lets it through, or change that interceptor"
            }
            Self::PolicyFailed => "mend the named policy; its failure was reported on the failure lane",
            Self::TargetsFailed => "change the arguments so that the tool can tell what they touch",
            Self::Incomplete => "mend the driver: every policy of the bench must be heard exactly once",
            Self::NobodyToAsk => {
                "run the task where a person can be asked, or add a rule that allows the call"
            }
            Self::PersonRefused => "make another call, or ask the person what they would approve",
            Self::Expired => "propose the call again and answer before the question expires",
            Self::Redeemed => "propose the call again: an approval is for one execution",
            Self::TargetsChanged => "propose the call again, so that it is judged by what it touches now",
            Self::ToolChanged => "propose the call again, for the tool as it is now",
            Self::EditRefused => "change the arguments to ones that the tool's schema allows",
            Self::Cancelled => "start the task again",
            Self::Limit => "raise the limit",
        }
    }
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
    pub(super) fn and(self, other: Self) -> Self {
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
    /// Whose policy.
    #[serde(default, skip_serializing_if = "Level::is_own")]
    pub level: Level,
    /// Who.
    pub policy: PolicyName,
    /// Why.
    pub reason: String,
}

/// What a task's own `roster` concludes at `seat` from `opinions`: deny over ask over allow, whatever the order.
///
/// Every policy of the roster must have spoken exactly once and nobody else may have; anything missing, doubled or
/// foreign denies. An empty roster denies. Where all abstain the call is denied.
#[must_use]
pub fn rule(seat: Seat, roster: &Roster, opinions: &[Opinion]) -> Ruling {
    rule_level(seat, Level::OWN, roster, &opinions.iter().collect::<Vec<_>>())
}

fn rule_level(seat: Seat, level: Level, roster: &Roster, opinions: &[&Opinion]) -> Ruling {
    let deny = |code, by: Option<&PolicyName>, reason: String| {
        Ruling::Deny(Denial { code, seat, by: by.cloned(), level, reason })
    };
    if roster.names().is_empty() {
        return deny(DenialCode::NoPolicy, None, "no policy is set, so no tool may run".to_owned());
    }
    let is_own = opinions.iter().all(|opinion| opinion.level == level);
    let heard = |name: &PolicyName| opinions.iter().filter(|opinion| &opinion.policy == name).count() == 1;
    if !is_own || opinions.len() != roster.names().len() || !roster.names().iter().all(heard) {
        return deny(DenialCode::Incomplete, None, "not every policy could be heard".to_owned());
    }
    let (mut denied, mut askers, mut allowed) = (None, Vec::new(), false);
    for Opinion { policy, said, .. } in opinions {
        match said {
            Said::Cancelled => {
                return deny(DenialCode::Cancelled, None, "the task was cancelled".to_owned());
            }
            Said::Failed(line) => denied = denied.or(Some((DenialCode::PolicyFailed, policy, line))),
            Said::Verdict(Verdict::Deny { reason }) => {
                denied = denied.or(Some((DenialCode::Policy, policy, reason)));
            }
            Said::Verdict(Verdict::Ask { reason }) => {
                askers.push(Asker { level, policy: policy.clone(), reason: reason.clone() });
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
