use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use probity_contract::{
    Arguments, BoxFuture, Cancel, Effect, FrozenCall, Operand, Permit, Reconciled, Target, Tool, ToolContext,
    ToolError, ToolErrorClass, ToolOutput, ToolSpec,
};
use serde_json::{Value, json};

use crate::blocker::Blocker;
use crate::gauge::Gauge;
use crate::meeting::Meeting;
use crate::names::tool_name;
use crate::{break_down, lock};

/// What a scripted tool does.
#[derive(Debug, Clone)]
pub enum Acts {
    /// Returns the member `text` of its arguments, or else the arguments.
    Echoes,
    /// Returns this.
    Returns(ToolOutput),
    /// Fails with this.
    Fails(ToolError),
    /// Never comes back.
    Hangs,
    /// Panics with these words.
    Panics(String),
    /// Returns this many bytes.
    ReturnsBytes(usize),
    /// Waits for the others of the meeting, and then echoes.
    Meets(Meeting),
    /// Waits for the signal, and then echoes.
    Waits(Cancel),
    /// Blocks its thread, and echoes once it is released.
    Blocks(Blocker),
}

/// One start of a scripted tool.
#[derive(Debug, Clone)]
pub struct Start {
    /// The call that the permit was for.
    pub call: Arc<FrozenCall>,
    /// What else the run handed over.
    pub context: ToolContext,
}

/// A tool that does what the test says and remembers each start. A clone is the same tool.
#[derive(Clone)]
pub struct ScriptedTool {
    spec: ToolSpec,
    resolves: Acts,
    targets: Arc<Mutex<VecDeque<Vec<Target>>>>,
    acts: Arc<dyn Fn(&FrozenCall) -> Acts + Send + Sync>,
    starts: Arc<Mutex<Vec<Start>>>,
    running: Gauge,
    operands: Arc<Mutex<VecDeque<Vec<Operand>>>>,
    reconciles: Arc<Mutex<VecDeque<Result<Reconciled, ToolError>>>>,
    reconciled: Arc<Mutex<Vec<String>>>,
}

impl ScriptedTool {
    /// A tool that takes any object.
    #[must_use]
    pub fn new(name: &str, effect: Effect, acts: Acts) -> Self {
        Self::by(name, effect, move |_| acts.clone())
    }

    /// A tool that takes any object and looks at the call.
    #[must_use]
    pub fn by(
        name: &str,
        effect: Effect,
        acts: impl Fn(&FrozenCall) -> Acts + Send + Sync + 'static,
    ) -> Self {
        let spec = ToolSpec {
            name: tool_name(name),
            description: format!("The test tool {name}."),
            input_schema: json!({"type": "object"}),
            effect,
            server: None,
            sandbox: None,
            endorses: Vec::new(),
        };
        Self {
            spec,
            resolves: Acts::Echoes,
            targets: Arc::default(),
            acts: Arc::new(acts),
            starts: Arc::default(),
            running: Gauge::default(),
            operands: Arc::default(),
            reconciles: Arc::default(),
            reconciled: Arc::default(),
        }
    }

    /// The pure tool `echo`, which takes exactly a `text` and gives it back.
    #[must_use]
    pub fn echo() -> Self {
        Self::new("echo", Effect::Pure, Acts::Echoes).schema(json!({
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": false
        }))
    }

    /// Sets the schema of the arguments.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.spec.input_schema = schema;
        self
    }

    /// Sets what every call touches.
    #[must_use]
    pub fn touching(self, targets: Vec<Target>) -> Self {
        self.touching_in_turn([targets])
    }

    /// Sets what the tool tells each time that it is asked; the last stays.
    #[must_use]
    pub fn touching_in_turn(mut self, targets: impl IntoIterator<Item = Vec<Target>>) -> Self {
        self.targets = Arc::new(Mutex::new(targets.into_iter().collect()));
        self
    }

    /// Sets the files that every call names, each time that they are asked for; the last stays.
    #[must_use]
    pub fn naming_in_turn(mut self, operands: impl IntoIterator<Item = Vec<Operand>>) -> Self {
        self.operands = Arc::new(Mutex::new(operands.into_iter().collect()));
        self
    }

    /// Sets what the tool says of calls of which nothing was heard, one after the other.
    #[must_use]
    pub fn reconciling(mut self, says: impl IntoIterator<Item = Result<Reconciled, ToolError>>) -> Self {
        self.reconciles = Arc::new(Mutex::new(says.into_iter().collect()));
        self
    }

    /// Sets the server that the tool comes from.
    #[must_use]
    pub fn from_server(mut self, server: &str) -> Self {
        self.spec.server = Some(server.to_owned());
        self
    }

    /// Sets the arguments whose values the tool takes for good.
    #[must_use]
    pub fn endorsing<'a>(mut self, pointers: impl IntoIterator<Item = &'a str>) -> Self {
        self.spec.endorses = pointers.into_iter().map(str::to_owned).collect();
        self
    }

    /// The keys under which the tool was asked what became of a call.
    #[must_use]
    pub fn reconciled(&self) -> Vec<String> {
        lock(&self.reconciled).clone()
    }

    /// Sets what the tool does when it shall tell its targets; what it would return there is without meaning.
    #[must_use]
    pub fn resolving(mut self, resolves: Acts) -> Self {
        self.resolves = resolves;
        self
    }

    /// All starts, in order.
    #[must_use]
    pub fn starts(&self) -> Vec<Start> {
        lock(&self.starts).clone()
    }

    /// How often the tool was started.
    #[must_use]
    pub fn start_count(&self) -> usize {
        lock(&self.starts).len()
    }

    /// Calls that are running.
    #[must_use]
    pub const fn running(&self) -> &Gauge {
        &self.running
    }
}

async fn act(acts: Acts, arguments: &Arguments) -> Result<ToolOutput, ToolError> {
    match acts {
        Acts::Returns(output) => return Ok(output),
        Acts::Fails(error) => return Err(error),
        Acts::Hangs => std::future::pending().await,
        Acts::Panics(words) => break_down(words),
        Acts::ReturnsBytes(bytes) => return Ok(ToolOutput::text("x".repeat(bytes))),
        Acts::Meets(meeting) => meeting.arrive().await,
        Acts::Waits(signal) => signal.fired().await,
        Acts::Blocks(blocker) => blocker.block(),
        Acts::Echoes => {}
    }
    let text = arguments.to_value().get("text").and_then(Value::as_str).map(str::to_owned);
    Ok(ToolOutput::text(text.unwrap_or_else(|| arguments.as_str().to_owned())))
}

impl Tool for ScriptedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(async move {
            act(self.resolves.clone(), arguments).await?;
            let mut targets = lock(&self.targets);
            let next = if targets.len() > 1 { targets.pop_front() } else { targets.front().cloned() };
            Ok(next.unwrap_or_default())
        })
    }

    fn operands<'a>(&'a self, _arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Operand>, ToolError>> {
        let mut operands = lock(&self.operands);
        let next = if operands.len() > 1 { operands.pop_front() } else { operands.front().cloned() };
        Box::pin(std::future::ready(Ok(next.unwrap_or_default())))
    }

    fn reconcile<'a>(
        &'a self,
        _call: &'a FrozenCall,
        idempotency_key: &'a str,
    ) -> BoxFuture<'a, Result<Reconciled, ToolError>> {
        lock(&self.reconciled).push(idempotency_key.to_owned());
        let says = lock(&self.reconciles).pop_front();
        let nothing = || Err(ToolError::new(ToolErrorClass::Unavailable, "it cannot tell"));
        Box::pin(std::future::ready(says.unwrap_or_else(nothing)))
    }

    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let guard = self.running.enter();
        Box::pin(async move {
            let _running = guard;
            let call = Arc::clone(permit.call());
            lock(&self.starts).push(Start { call: Arc::clone(&call), context: cx });
            act((self.acts)(&call), call.arguments()).await
        })
    }
}
