//! What a call can change, by what its tool declares and by all that it touches.

use std::collections::BTreeMap;
use std::sync::Arc;

use probity_contract::{Access, Digest, Effect, FrozenCall, Target, ToolName, ToolSpec};

use super::shell::is_unaccounted;

/// The effects that the tools of a task declare. A tool is known by its whole definition.
#[derive(Debug, Clone)]
pub(super) struct KnownTools(Arc<BTreeMap<ToolName, (Digest, Effect)>>);

impl KnownTools {
    pub(super) fn of(tools: &[ToolSpec]) -> Self {
        Self(Arc::new(tools.iter().map(|tool| (tool.name.clone(), (tool.digest(), tool.effect))).collect()))
    }

    /// Whether the call's tool declares that it only reads.
    pub(super) fn is_pure(&self, call: &FrozenCall) -> bool {
        let known = self.0.get(call.tool());
        known.is_some_and(|(digest, effect)| *digest == call.facts().tool_digest && *effect == Effect::Pure)
    }

    /// Whether the call can change nothing.
    pub(super) fn only_reads(&self, call: &FrozenCall) -> bool {
        self.is_pure(call) && call.targets().iter().all(is_read)
    }
}

fn is_read(target: &Target) -> bool {
    match target {
        Target::Path { access, .. } => *access == Access::Read,
        Target::Url { method, .. } => matches!(method.as_str(), "GET" | "HEAD"),
        // What a program does, its words do not tell.
        Target::Command { .. } => false,
        Target::Other { .. } => !is_unaccounted(target),
    }
}
