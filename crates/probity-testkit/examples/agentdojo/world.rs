//! One task in its suite: the tools that reach it, and what is known of who wrote what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use probity_contract::{
    Arguments, BoxFuture, Effect, FrozenCall, Integrity, Permit, Target, Tool, ToolContext, ToolError,
    ToolErrorClass, ToolName, ToolOutput, ToolSpec,
};
use serde_json::Value;

use super::adapter::{Adapter, Opened, Returned, Suite, SuiteTool};
use super::sources::Sources;

/// The tool that hands something to a task below.
pub(crate) const DELEGATE: &str = "delegate";

/// A world that was opened for one run.
pub(crate) struct World {
    pub(crate) adapter: Arc<Adapter>,
    pub(crate) opened: Opened,
    /// Whether an outsider wants something in this world.
    pub(crate) is_attacked: bool,
    pub(crate) tools: BTreeMap<String, SuiteTool>,
    // Whether its tools tell of each value of a result who wrote it, or only of the whole.
    vouches: bool,
    sources: Mutex<Sources>,
}

impl World {
    pub(crate) fn open(
        adapter: &Arc<Adapter>,
        suite: &Suite,
        user_task: &str,
        injection: Option<&str>,
        vouches: bool,
    ) -> Result<Self> {
        let opened = adapter.open(&suite.name, user_task, injection)?;
        let sources = Mutex::new(Sources::new(&opened.message));
        let tools = suite.tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect();
        let is_attacked = injection.is_some();
        Ok(Self { adapter: Arc::clone(adapter), opened, is_attacked, tools, vouches, sources })
    }

    /// Looks at what is known of who wrote what.
    pub(crate) fn sources<T>(&self, look: impl FnOnce(&Sources) -> T) -> T {
        look(&self.sources.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a tool of this name only reads.
    pub(crate) fn is_pure(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.pure)
    }

    fn act(&self, call: &FrozenCall) -> Result<Returned> {
        let arguments = call.arguments().to_value();
        let returned = self.adapter.call(self.opened.world, call.tool().as_str(), &arguments)?;
        let untrusted =
            call.argument_labels().into_iter().filter(|one| one.label.integrity == Integrity::Untrusted);
        let untrusted: Vec<String> = untrusted
            .filter_map(|one| arguments.pointer(&one.at).and_then(Value::as_str).map(str::to_owned))
            .collect();
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).take(&untrusted, &returned);
        Ok(returned)
    }
}

/// A tool of the suite.
pub(crate) struct DojoTool {
    spec: ToolSpec,
    world: Arc<World>,
}

impl DojoTool {
    pub(crate) fn new(tool: &SuiteTool, world: &Arc<World>) -> Result<Self> {
        let spec = spec_of(tool)?;
        Ok(Self { spec, world: Arc::clone(world) })
    }
}

/// A tool's definition. What only reads may run again; nothing else may.
pub(crate) fn spec_of(tool: &SuiteTool) -> Result<ToolSpec> {
    Ok(ToolSpec {
        name: ToolName::new(&tool.name).context("name a tool")?,
        description: tool.description.clone(),
        input_schema: tool.schema.clone(),
        effect: if tool.pure { Effect::Pure } else { Effect::Once },
        server: None,
        sandbox: None,
        endorses: listed(&tool.schema),
    })
}

/// The arguments of which the schema lists all values, as JSON pointers: it does not matter who chose one.
pub(crate) fn listed(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten().filter(|(_, property)| is_listed(schema, property));
    properties.map(|(name, _)| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

fn is_listed(schema: &Value, property: &Value) -> bool {
    if let Some(named) = property.get("$ref").and_then(Value::as_str) {
        let meant = named.strip_prefix('#').and_then(|path| schema.pointer(path));
        return meant.is_some_and(|meant| meant.get("$ref").is_none() && is_listed(schema, meant));
    }
    if let Some(all) = property.get("anyOf").and_then(Value::as_array) {
        return all.iter().all(|one| is_listed(schema, one));
    }
    let of = property.get("type").and_then(Value::as_str);
    property.get("enum").is_some() || matches!(of, Some("boolean" | "null"))
}

impl Tool for DojoTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, _arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn run<'a>(&'a self, permit: Permit, _cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let world = Arc::clone(&self.world);
        Box::pin(async move {
            // The adapter answers on a pipe.
            let vouches = world.vouches;
            let acted = tokio::task::spawn_blocking(move || world.act(permit.call()));
            let failed = |words: String| ToolError::new(ToolErrorClass::Failed, words);
            let returned = match acted.await {
                Ok(Ok(returned)) => returned,
                Ok(Err(error)) => return Err(failed(format!("{error:#}"))),
                Err(broken) => return Err(failed(broken.to_string())),
            };
            if returned.failed {
                return Err(failed(returned.text));
            }
            let mut output = ToolOutput::text(returned.text);
            output.trusted = !returned.foreign;
            output.vouched = if vouches { returned.inside } else { Vec::new() };
            Ok(output)
        })
    }
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;
