use serde::{Deserialize, Serialize};

/// How what several interceptors say at one point becomes one verdict: a profile of AGENT-HOOKS-0.1 with its knobs.
///
/// It is a setting of the deployment and never part of a verdict. In all profiles a deny beats an approvable deny beats a
/// transform beats an allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composition {
    /// The profile.
    pub profile: Profile,
    /// In `sequential/first_deny`: what follows when a person lifts a deny.
    #[serde(default)]
    pub on_approval: OnApproval,
    /// In `parallel/unanimous`: what a disagreement is.
    #[serde(default)]
    pub on_disagreement: Knob,
    /// In `parallel/strictest`: what two transforms of one snapshot are.
    #[serde(default)]
    pub on_transform_conflict: Knob,
}

impl Composition {
    /// The profile with the knobs of the specification.
    #[must_use]
    pub const fn of(profile: Profile) -> Self {
        Self {
            profile,
            on_approval: OnApproval::Stop,
            on_disagreement: Knob::Deny,
            on_transform_conflict: Knob::Deny,
        }
    }
}

impl Default for Composition {
    fn default() -> Self {
        Self::of(Profile::FirstDeny)
    }
}

/// Who sees what, and how many are heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Profile {
    /// One after the other, each sees what the ones before have changed; the first deny ends it.
    #[serde(rename = "sequential/first_deny")]
    FirstDeny,
    /// One after the other, and all are heard.
    #[serde(rename = "sequential/run_all")]
    RunAll,
    /// All see the same; the strictest verdict counts.
    #[serde(rename = "parallel/strictest")]
    Strictest,
    /// All see the same; all must allow.
    #[serde(rename = "parallel/unanimous")]
    Unanimous,
}

impl Profile {
    /// Its name in the specification.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstDeny => "sequential/first_deny",
            Self::RunAll => "sequential/run_all",
            Self::Strictest => "parallel/strictest",
            Self::Unanimous => "parallel/unanimous",
        }
    }

    /// Whether an interceptor sees what the ones before have changed.
    #[must_use]
    pub const fn is_sequential(self) -> bool {
        matches!(self, Self::FirstDeny | Self::RunAll)
    }
}

/// What follows when a person lifts a deny of `sequential/first_deny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnApproval {
    /// The person's word is the verdict; the interceptors behind are not heard.
    #[default]
    Stop,
    /// It stands in place of the deny, and the interceptors behind are heard.
    Resume,
}

/// Whether a person may lift what the engine itself denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    /// No.
    #[default]
    Deny,
    /// Yes.
    Approval,
}

/// Whether verdicts are acted upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// They are.
    #[default]
    Enforce,
    /// They are recorded and nothing follows: for trying interceptors out.
    EvaluateOnly,
}

/// What a point is at which nobody is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyPoint {
    /// Not there: nothing is built, asked or recorded. Interceptors are an addition to the gate, which judges every call.
    #[default]
    Absent,
    /// A deny, as the specification has it for a host whose only judges are interceptors.
    Denies,
}

/// Whether a deny and a transform must say why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookReasons {
    /// One that does not is malformed.
    #[default]
    Required,
    /// As the specification has it.
    Optional,
}
