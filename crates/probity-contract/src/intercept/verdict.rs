use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::HookReasons;
use crate::json::canonical_bytes;

/// Bytes of the canonical form of a verdict's evidence, the figure of AGENT-HOOKS-0.1.
const EVIDENCE_BYTES_MAX: usize = 10_240;

/// Reasons that only the engine gives start with this.
const ENGINE_PREFIX: &str = "host_error:";

/// What an interceptor says of an occasion.
///
/// A deny and a transform say why: the constructors refuse an empty reason. `Debug` and the stored form of a row name no
/// content.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct HookVerdict {
    pub(super) decision: HookDecision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<HookWarning>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) result_labels: Vec<String>,
}

/// The three decisions.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum HookDecision {
    /// It goes on.
    Allow,
    /// It goes on with something else in place.
    Transform {
        /// Where in the target: `$target` and members or indices behind it.
        path: String,
        /// What.
        value: Value,
    },
    /// It does not go on.
    Deny {
        /// Whether a person may lift the deny, and what the person is told beside.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<Map<String, Value>>,
    },
}

/// A concern that changes nothing.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookWarning {
    /// For programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Something that is no verdict. The words tell its shape and nothing of what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it answered with {0} where a verdict was needed")]
pub struct NotAVerdict(pub(super) &'static str);

impl NotAVerdict {
    /// For whoever reads verdicts out of something: what that was, as a phrase that fits after "it answered with". A constant
    /// text, so that it can quote nothing.
    #[must_use]
    pub const fn of_shape(shape: &'static str) -> Self {
        Self(shape)
    }
}

impl HookVerdict {
    /// It goes on.
    #[must_use]
    pub const fn allow() -> Self {
        Self::of(HookDecision::Allow)
    }

    const fn of(decision: HookDecision) -> Self {
        Self {
            decision,
            reason: None,
            message: None,
            warnings: Vec::new(),
            evidence: None,
            result_labels: Vec::new(),
        }
    }

    /// It goes on with `value` in place of the whole target.
    ///
    /// # Errors
    /// When the reason says nothing.
    pub fn replace(reason: impl Into<String>, value: Value) -> Result<Self, NotAVerdict> {
        Self::transform(reason, "$target", value)
    }

    /// It goes on with `value` in place at `path` of the target.
    ///
    /// # Errors
    /// When the reason says nothing or is one of the engine's.
    pub fn transform(
        reason: impl Into<String>,
        path: impl Into<String>,
        value: Value,
    ) -> Result<Self, NotAVerdict> {
        Self::of(HookDecision::Transform { path: path.into(), value }).because(reason)
    }

    /// It does not go on.
    ///
    /// # Errors
    /// When the reason says nothing or is one of the engine's.
    pub fn deny(reason: impl Into<String>) -> Result<Self, NotAVerdict> {
        Self::of(HookDecision::Deny { approval: None }).because(reason)
    }

    /// It does not go on unless a person says so.
    ///
    /// # Errors
    /// When the reason says nothing or is one of the engine's.
    pub fn ask(reason: impl Into<String>) -> Result<Self, NotAVerdict> {
        Self::of(HookDecision::Deny { approval: Some(Map::new()) }).because(reason)
    }

    /// The engine's own deny. Only the engine makes one: its reason is refused from anybody else.
    #[must_use]
    pub fn host_error(error: super::HostError) -> Self {
        let deny = Self::of(HookDecision::Deny { approval: None });
        Self { reason: Some(error.to_string()), ..deny }
    }

    /// The engine's own deny that a person may lift.
    #[must_use]
    pub fn host_error_approvable(error: super::HostError) -> Self {
        let deny = Self::of(HookDecision::Deny { approval: Some(Map::new()) });
        Self { reason: Some(error.to_string()), ..deny }
    }

    fn because(self, reason: impl Into<String>) -> Result<Self, NotAVerdict> {
        let reason = reason.into();
        check_reason(&reason)?;
        if reason.trim().is_empty() {
            return Err(NotAVerdict("a verdict without a reason"));
        }
        Ok(Self { reason: Some(reason), ..self })
    }

    /// Adds words for people.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }

    /// Adds a concern that changes nothing.
    #[must_use]
    pub fn with_warning(mut self, warning: HookWarning) -> Self {
        self.warnings.push(warning);
        self
    }

    /// The verdict, if it is one.
    ///
    /// # Errors
    /// When it is none: a reason of the engine's, too much evidence, or no reason where one is needed.
    pub fn checked(self, reasons: HookReasons) -> Result<Self, NotAVerdict> {
        let warned = self.warnings.iter().filter_map(|warning| warning.reason.as_deref());
        self.reason.as_deref().into_iter().chain(warned).try_for_each(check_reason)?;
        if let Some(evidence) = &self.evidence {
            check_evidence(evidence)?;
        }
        let needs_reason = reasons == HookReasons::Required && self.decision != HookDecision::Allow;
        if needs_reason && self.reason.as_ref().is_none_or(|reason| reason.trim().is_empty()) {
            return Err(NotAVerdict("a verdict without a reason"));
        }
        Ok(self)
    }

    /// What it decides.
    #[must_use]
    pub const fn decision(&self) -> &HookDecision {
        &self.decision
    }

    /// Why, for programs.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Words for people.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Concerns that change nothing.
    #[must_use]
    pub fn warnings(&self) -> &[HookWarning] {
        &self.warnings
    }

    /// Labels that shall stay with what passes here.
    #[must_use]
    pub fn result_labels(&self) -> &[String] {
        &self.result_labels
    }

    /// Where evidence can be had.
    #[must_use]
    pub const fn evidence(&self) -> Option<&Value> {
        self.evidence.as_ref()
    }

    /// Whether what was asked about goes on.
    #[must_use]
    pub const fn permits(&self) -> bool {
        !matches!(self.decision, HookDecision::Deny { .. })
    }

    /// Whether it is a deny that a person may lift.
    #[must_use]
    pub const fn is_approvable(&self) -> bool {
        matches!(self.decision, HookDecision::Deny { approval: Some(_) })
    }

    /// How strict it is: 0 for an allow to 3 for a deny that nobody can lift.
    #[must_use]
    pub const fn severity(&self) -> u8 {
        match self.decision {
            HookDecision::Allow => 0,
            HookDecision::Transform { .. } => 1,
            HookDecision::Deny { approval: Some(_) } => 2,
            HookDecision::Deny { approval: None } => 3,
        }
    }

    /// The verdict with the concerns of all and, where it lets something through, the labels of all who did, each once and in
    /// the order of `all`; its own come last where it is none of them. A deny has no labels: nothing comes in that could
    /// carry them.
    #[must_use]
    pub fn with_all_of<'a>(&'a self, all: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut warnings, mut result_labels) = (Vec::new(), Vec::new());
        for other in all.into_iter().chain([self]) {
            for warning in &other.warnings {
                if !warnings.contains(warning) {
                    warnings.push(warning.clone());
                }
            }
            for label in other.result_labels.iter().filter(|_| self.permits() && other.permits()) {
                if !result_labels.contains(label) {
                    result_labels.push(label.clone());
                }
            }
        }
        Self { warnings, result_labels, ..self.clone() }
    }

    /// The verdict with its reasons treated, its own and those of its concerns.
    #[must_use]
    pub fn map_reasons(&self, mut treat: impl FnMut(&mut String)) -> Self {
        let mut mapped = self.clone();
        mapped.reason.iter_mut().for_each(&mut treat);
        for warning in &mut mapped.warnings {
            warning.reason.iter_mut().for_each(&mut treat);
        }
        mapped
    }

    /// The verdict with its words treated: its own and those of its concerns and evidence, for programs and for people. What it
    /// puts in place, tells approvers and labels is left as it is.
    #[must_use]
    pub fn map_words(&self, mut treat: impl FnMut(&mut String)) -> Self {
        let mut mapped = self.clone();
        let own = mapped.reason.iter_mut().chain(&mut mapped.message);
        let warned =
            mapped.warnings.iter_mut().flat_map(|warning| [&mut warning.reason, &mut warning.message]);
        own.chain(warned.flatten()).for_each(&mut treat);
        if let Some(Value::Object(evidence)) = &mut mapped.evidence {
            treat_members(evidence, &mut treat);
        }
        mapped
    }

    /// The verdict as a record keeps it: nothing that it puts in place, says to people or shows to approvers.
    #[must_use]
    pub fn without_content(&self) -> Self {
        let decision = match &self.decision {
            HookDecision::Allow => HookDecision::Allow,
            HookDecision::Transform { path, .. } => {
                HookDecision::Transform { path: path.clone(), value: Value::Null }
            }
            HookDecision::Deny { approval } => {
                HookDecision::Deny { approval: approval.as_ref().map(|_| Map::new()) }
            }
        };
        let warnings = self.warnings.iter();
        let warnings = warnings.map(|warning| HookWarning { message: None, ..warning.clone() }).collect();
        Self { decision, message: None, warnings, ..self.clone() }
    }
}

/// The decision and its reason, and nothing of what it puts in place.
impl fmt::Debug for HookVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookVerdict").field("decision", &self.decision).finish_non_exhaustive()
    }
}

impl HookDecision {
    /// `allow`, `transform` or `deny`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Transform { .. } => "transform",
            Self::Deny { .. } => "deny",
        }
    }
}

impl fmt::Debug for HookDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for HookWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookWarning")
    }
}

/// Treats the names and texts of evidence, which is an object of texts and of objects of texts.
fn treat_members(members: &mut Map<String, Value>, treat: &mut impl FnMut(&mut String)) {
    for (mut name, mut value) in std::mem::take(members) {
        treat(&mut name);
        match &mut value {
            Value::String(text) => treat(text),
            Value::Object(inner) => treat_members(inner, treat),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
        members.insert(name, value);
    }
}

fn check_reason(reason: &str) -> Result<(), NotAVerdict> {
    if reason.starts_with(ENGINE_PREFIX) {
        return Err(NotAVerdict("a reason that only the engine gives"));
    }
    Ok(())
}

fn check_evidence(evidence: &Value) -> Result<(), NotAVerdict> {
    let Value::Object(members) = evidence else { return Err(NotAVerdict("evidence that is no object")) };
    let is_known = |(name, value): (&String, &Value)| match name.as_str() {
        "artefact" => value.is_string() || value.is_null(),
        "verification_pointers" => {
            value.as_object().is_some_and(|pointers| pointers.values().all(Value::is_string))
        }
        _ => false,
    };
    if !members.iter().all(is_known) {
        return Err(NotAVerdict("evidence with an unknown member"));
    }
    let bytes = canonical_bytes(evidence).map_or(usize::MAX, |bytes| bytes.len());
    if bytes > EVIDENCE_BYTES_MAX {
        return Err(NotAVerdict("too much evidence"));
    }
    Ok(())
}
