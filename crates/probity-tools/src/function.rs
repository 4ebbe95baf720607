//! Any async function as a tool.

use std::future::Future;
use std::marker::PhantomData;

use probity_contract::{
    Arguments, BoxFuture, Effect, Permit, Target, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::fs::read_arguments;
use crate::schema;
use crate::setup::ToolSetupError;

type Run<T> = dyn Fn(T, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;
type Tell<T> = dyn Fn(&T) -> Vec<Target> + Send + Sync;

/// An async function or closure as a tool; the schema comes from its argument type.
///
/// The function gets the arguments that were judged, read into `T`. Unknown members are refused by the schema; derive
/// `T` with `#[serde(deny_unknown_fields)]` so that reading refuses them too.
///
/// It says nothing of what it touches unless [`FnTool::targets`] is set: policies then judge the arguments alone. It
/// bounds neither time nor output by itself; the engine does.
///
/// ```
/// use probity_contract::{Effect, ToolOutput};
/// use probity_tools::FnTool;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Sum {
///     /// The numbers to add.
///     numbers: Vec<f64>,
/// }
///
/// let tool = FnTool::new("sum", "Adds numbers.", Effect::Pure, |args: Sum, _cx| async move {
///     Ok(ToolOutput::text(args.numbers.iter().sum::<f64>().to_string()))
/// })?;
/// # Ok::<(), probity_tools::ToolSetupError>(())
/// ```
pub struct FnTool<T> {
    spec: ToolSpec,
    run: Box<Run<T>>,
    tell: Box<Tell<T>>,
    arguments: PhantomData<fn(T)>,
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> FnTool<T> {
    /// A tool that runs `function`.
    ///
    /// # Errors
    /// When the name does not follow its rule or `T` is not a struct with named fields.
    pub fn new<F, Fut>(
        name: &str,
        description: impl Into<String>,
        effect: Effect,
        function: F,
    ) -> Result<Self, ToolSetupError>
    where
        F: Fn(T, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Ok(Self {
            spec: schema::spec::<T>(name, description, effect)?,
            run: Box::new(move |arguments, cx| Box::pin(function(arguments, cx))),
            tell: Box::new(|_| Vec::new()),
            arguments: PhantomData,
        })
    }

    /// Says what a call touches.
    #[must_use]
    pub fn with_targets(mut self, tell: impl Fn(&T) -> Vec<Target> + Send + Sync + 'static) -> Self {
        self.tell = Box::new(tell);
        self
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Tool for FnTool<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(async move { read_arguments(arguments).map(|arguments| (self.tell)(&arguments)) })
    }

    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { (self.run)(read_arguments(permit.call().arguments())?, cx).await })
    }
}
