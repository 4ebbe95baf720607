//! One task in its suite: the tools that reach it, and what is known of who wrote what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use probity_contract::{
    Arguments, BoxFuture, Effect, Permit, Target, Tool, ToolContext, ToolError, ToolErrorClass, ToolName,
    ToolOutput, ToolSpec,
};
use serde_json::Value;

use super::adapter::{Adapter, Opened, Returned, Suite, SuiteTool};
use super::sources::{Grain, Sources};

/// The tool that hands something to a task below.
pub(crate) const DELEGATE: &str = "delegate";

/// A world that was opened for one run.
pub(crate) struct World {
    pub(crate) adapter: Arc<Adapter>,
    pub(crate) opened: Opened,
    /// Whether an outsider wants something in this world.
    pub(crate) is_attacked: bool,
    pub(crate) tools: BTreeMap<String, SuiteTool>,
    sources: Mutex<Sources>,
}

impl World {
    pub(crate) fn open(
        adapter: &Arc<Adapter>,
        suite: &Suite,
        user_task: &str,
        injection: Option<&str>,
        grain: Grain,
    ) -> Result<Self> {
        let opened = adapter.open(&suite.name, user_task, injection)?;
        let sources = Mutex::new(Sources::new(grain, &opened.message));
        let tools = suite.tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect();
        let is_attacked = injection.is_some();
        Ok(Self { adapter: Arc::clone(adapter), opened, is_attacked, tools, sources })
    }

    /// Looks at what is known of who wrote what.
    pub(crate) fn sources<T>(&self, look: impl FnOnce(&Sources) -> T) -> T {
        look(&self.sources.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a tool of this name only reads.
    pub(crate) fn is_pure(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.pure)
    }

    fn act(&self, tool: &str, arguments: &Value) -> Result<Returned> {
        let returned = self.adapter.call(self.opened.world, tool, arguments)?;
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).take(arguments, &returned);
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
        endorses: Vec::new(),
    })
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
            let acted = tokio::task::spawn_blocking(move || {
                world.act(permit.call().tool().as_str(), &permit.call().arguments().to_value())
            });
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
            Ok(output)
        })
    }
}
