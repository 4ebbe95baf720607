//! Rule files, layer upon layer.

use probity_contract::{
    Arguments, CallFacts, CallId, Digest, FrozenCall, Label, PrincipalId, RunId, Target, ToolName,
};
use serde_json::Value;

/// A call that touches these things.
pub(crate) fn frozen(tool: &str, arguments: &Value, targets: Vec<Target>) -> FrozenCall {
    FrozenCall::freeze(CallFacts {
        run: RunId::new("r").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: ToolName::new(tool).unwrap(),
        tool_digest: Digest::of("test", &[]),
        arguments: Arguments::from_value(arguments).unwrap(),
        targets,
        label: Label::untrusted(),
    })
    .unwrap()
}
