//! What a task says of its interceptors.

use probity_contract::{
    Composition, EmptyPoint, Enforcement, HookReasons, InterceptorName, Point, Points, Window,
};
use serde::{Deserialize, Serialize};

/// Who is heard where, and what follows: plain data, the part of a task's spec that interceptors need.
///
/// By default nobody is heard anywhere, and nothing is built, asked or recorded for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BoundarySettings {
    /// Whether verdicts are acted upon.
    pub mode: Enforcement,
    /// How several verdicts become one.
    pub composition: Composition,
    /// What a point is at which nobody is heard.
    pub empty_point: EmptyPoint,
    /// Whether a deny and a transform must say why.
    pub reasons: HookReasons,
    /// What names the contexts of rows and approvals.
    pub identity: IdentityProvider,
    /// Paths in the target that approvers are not shown.
    pub redact_for_approval: Vec<String>,
    /// When text of a reply that is still being written may go out.
    pub releases: Releases,
    /// Whether a call whose arguments were changed is looked at again.
    pub changed_calls: ChangedCalls,
    /// The interceptors, in the order in which they were given.
    pub seats: Vec<Seated>,
}

/// When text of a reply that is still being written may go out, where somebody is heard at `post_model_call` or `output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Releases {
    /// When everybody who is heard at either point can judge pieces and has permitted this one. So nothing of an answer that
    /// is refused at `output` is ever out, but for pieces that were permitted there.
    #[default]
    AllAgreed,
    /// When everybody who is heard at `post_model_call` can judge pieces and has permitted this one, as the specification has
    /// it. What is refused at `output` may be out by then.
    AfterModelCall,
}

/// Whether a call whose arguments were changed at `pre_tool_call` is looked at again. Policies judge it as changed in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedCalls {
    /// By everybody who is heard there, until nobody changes it any more: whoever looked before a change has not seen what would
    /// run. A call that is still being changed after `TRANSFORM_ROUNDS_MAX` rounds is denied.
    #[default]
    LookedAtAgain,
    /// By nobody, as the specification has it.
    LookedAtOnce,
}

/// What names a context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentityProvider {
    /// `jcs-sha256`: SHA-256 over the canonical form of what the specification lists for the point.
    #[default]
    Jcs,
    /// Nothing does.
    None,
    /// A function of the deployment, under this name.
    Named(String),
}

/// One interceptor as the machine knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seated {
    /// Its name.
    pub name: InterceptorName,
    /// Where it is heard.
    pub points: Points,
    /// What it can judge of an answer that is still being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}

impl BoundarySettings {
    /// Whether something happens at this point.
    #[must_use]
    pub fn is_heard_at(&self, point: Point) -> bool {
        self.empty_point == EmptyPoint::Denies || self.seats.iter().any(|seat| seat.points.contains(point))
    }

    /// The places in `seats` of those who are heard at this point, in the order in which they are: as given, and the other way
    /// round on the way back from a tool.
    #[must_use]
    pub fn seats_at(&self, point: Point) -> Vec<u32> {
        let heard = (0_u32..).zip(&self.seats).filter(|(_, seat)| seat.points.contains(point));
        let mut places: Vec<u32> = heard.map(|(place, _)| place).collect();
        if point == Point::PostToolCall {
            places.reverse();
        }
        places
    }
}

impl BoundarySettings {
    /// Who is heard here at a point at which `other` does not hear it.
    pub(crate) fn lost_in<'a>(&'a self, other: &Self) -> Option<&'a InterceptorName> {
        let is_kept = |seat: &&Seated| {
            let now = other.seats.iter().find(|now| now.name == seat.name);
            now.is_some_and(|now| seat.points.iter().all(|point| now.points.contains(point)))
        };
        self.seats.iter().find(|seat| !is_kept(seat)).map(|seat| &seat.name)
    }
}

impl IdentityProvider {
    /// The name under which it stands in records.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Jcs => Some("jcs-sha256"),
            Self::None => None,
            Self::Named(name) => Some(name),
        }
    }
}
