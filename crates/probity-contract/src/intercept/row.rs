use serde::{Deserialize, Serialize};

use super::{Composition, Enforcement, HookVerdict, HookWarning, Point};
use crate::ids::{CallId, InterceptorName, ItemId, ModelCallId};
use crate::record::PartId;

/// What was said at one point, and what followed: one row for every occasion, pass-throughs included.
///
/// It names content by digest only: taking content out of a record leaves the row as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intercepted {
    /// Where.
    pub point: Point,
    /// Counted from 0 over the run.
    pub sequence: u64,
    /// The tool call in question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The model call in question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_call: Option<ModelCallId>,
    /// The item that came in under this verdict, or in place of which none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// Whether verdicts are acted upon.
    pub mode: Enforcement,
    /// How the verdicts became one.
    pub composition: Composition,
    /// The verdict, without what it puts in place, what it says to people, and what it shows as evidence but pointers.
    pub verdict: HookVerdict,
    /// Whose verdict it is, by the order of registration; `None` where all allowed or the engine spoke.
    pub decided_by: Option<u32>,
    /// What each said, in the order in which they were heard.
    pub verdicts: Vec<VerdictRow>,
    /// In a sequential profile: whether somebody was not heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Whether a person was asked, and what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<Resolved>,
    /// How many are heard at this point.
    pub registered: u32,
    /// What was there before: the digest of its JSON. The text stands in the record where it was changed or stopped.
    pub before: PartId,
    /// What was there after; the same where nothing was changed.
    pub after: PartId,
    /// What the context was before anybody was heard, as the identity provider names it.
    pub input_identity: Option<String>,
    /// What it was after.
    pub enforced_identity: Option<String>,
    /// Who names contexts.
    pub identity_provider: Option<String>,
}

/// What one interceptor said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictRow {
    /// Its place in the order of registration at this point.
    pub index: u32,
    /// Who.
    pub interceptor: InterceptorName,
    /// What: `allow`, `transform` or `deny`.
    pub decision: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What came of asking a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolved {
    /// The deny was lifted.
    Approval,
    /// It was not.
    Rejection,
}

impl Intercepted {
    /// The concerns that were told.
    #[must_use]
    pub fn warnings(&self) -> &[HookWarning] {
        self.verdict.warnings()
    }
}
