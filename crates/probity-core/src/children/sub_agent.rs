use probity_contract::{
    Allowance, Arguments, BoxFuture, Permit, Target, Tool, ToolContext, ToolError, ToolErrorClass, ToolName,
    ToolOutput, ToolSpec,
};
use serde_json::json;

use super::ceiling::Ceiling;
use super::profile::ChildProfile;

/// A tool that has a task of a profile do what the model asks, and brings its report.
///
/// It takes `{"task": "…"}`. The report comes bounded and in a fence; it is untrusted, and no more people may read it than all
/// that the task has read. Where the task ends without an answer, the call has failed and says why. The effect is `pure` where
/// every tool of the profile only reads, and `once` otherwise: a call that was cut off is then not repeated.
pub struct SubAgent {
    spec: ToolSpec,
    profile: ChildProfile,
}

impl SubAgent {
    /// The tool `name`, which starts tasks of this profile. The profile is part of its definition.
    #[must_use]
    pub fn new(name: ToolName, description: impl Into<String>, profile: ChildProfile) -> Self {
        let spec = ToolSpec {
            name,
            description: description.into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "task": {
                        "type": "string",
                        "minLength": 1,
                        "description": "What shall be done, with all that must be known for it."
                    }
                },
                "required": ["task"],
                "additionalProperties": false
            }),
            effect: profile.effect(),
            server: None,
            sandbox: Some(profile.digest()),
            endorses: Vec::new(),
        };
        Self { spec, profile }
    }
}

impl Tool for SubAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// None of its own: what the task touches is judged call by call.
    fn targets<'a>(&'a self, _arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn delegates(&self) -> Option<Allowance> {
        Some(self.profile.wants())
    }

    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let arguments = permit.call().arguments().to_value();
            let task = arguments.get("task").and_then(serde_json::Value::as_str).ok_or_else(|| {
                ToolError::new(ToolErrorClass::InvalidArguments, "`task` must say what shall be done")
            })?;
            let ceiling = Ceiling::of(&cx).ok_or_else(|| {
                ToolError::new(ToolErrorClass::Unavailable, "no task can be started from here")
            })?;
            let report = ceiling.start(&self.profile, task).await?;
            report.into_output(cx.output_bytes_max)
        })
    }
}
