use std::fmt;

use serde::{Deserialize, Serialize};

use super::sources::ArgumentSource;
use crate::digest::Digest;
use crate::ids::{CallId, PrincipalId, RunId, ToolName};
use crate::json::{Arguments, canonical_bytes};
use crate::label::Label;
use crate::tool::{Operand, Target};

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
    /// The files that it names, as they were when it was frozen. Left out of the canonical form where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<Operand>,
    /// The values of the arguments that may be believed further than the call. Left out of the canonical form where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments_from: Vec<ArgumentSource>,
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
    #[serde(default)]
    operands: Vec<Operand>,
    #[serde(default)]
    arguments_from: Vec<ArgumentSource>,
    label: Label,
}

impl TryFrom<StoredCall> for FrozenCall {
    type Error = &'static str;
    fn try_from(stored: StoredCall) -> Result<Self, &'static str> {
        let StoredFacts {
            run,
            call,
            principal,
            tool,
            tool_digest,
            arguments,
            targets,
            operands,
            arguments_from,
            label,
        } = stored.facts;
        let facts = CallFacts {
            run,
            call,
            principal,
            tool,
            tool_digest,
            arguments,
            targets,
            operands,
            arguments_from,
            label,
        };
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

    /// The files that the call names, as they were when it was frozen.
    #[must_use]
    pub fn operands(&self) -> &[Operand] {
        &self.facts.operands
    }

    /// The SHA-256 digest that stands for the call.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// What calls share that ask the same of the same tool, whatever they touch and whatever was read before them.
    ///
    /// Good for what narrows; what widens goes by [`FrozenCall::alike`].
    #[must_use]
    pub fn request(&self) -> Digest {
        let CallFacts { tool, arguments, .. } = &self.facts;
        Digest::of("probity.request.v1", &[tool.as_str().as_bytes(), arguments.as_str().as_bytes()])
    }

    /// What calls share that differ in nothing but their number in the run.
    ///
    /// A pure function of the facts; calls that share it would do the same, and have been shown in the same words.
    #[must_use]
    pub fn alike(&self) -> Digest {
        let CallFacts {
            run,
            call: _,
            principal,
            tool,
            tool_digest,
            arguments,
            targets,
            operands,
            arguments_from,
            label,
        } = &self.facts;
        let alike = (run, principal, tool, tool_digest, arguments, targets, operands, label);
        // Approvals for more that were stored before there were sources stay what they were.
        let bytes = match arguments_from.is_empty() {
            true => canonical_bytes(&alike),
            false => canonical_bytes(&(alike, arguments_from)),
        };
        // Facts that were frozen have a canonical form; should these not, no other call shares the error's text and digest.
        let bytes = bytes.unwrap_or_else(|_| self.digest.as_bytes().to_vec());
        Digest::of("probity.alike.v1", &[&bytes])
    }
}

impl fmt::Debug for FrozenCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrozenCall({} {} {})", self.facts.call, self.facts.tool, self.digest.short())
    }
}
