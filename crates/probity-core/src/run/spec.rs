//! All that a run is given before its first step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use probity_contract::{
    Allowance, Arguments, Bench, Content, ContentSetting, DenialDetail, Label, Limits, ModelName,
    ModelParams, Origin, ParentCall, Prices, PrincipalId, RunId, ToolName, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::declared::wrongly_endorsed;
use crate::boundary::BoundarySettings;
use crate::schema::{Schema, SchemaError};

/// The plain data of a task. Two runs with equal specs and equal outcomes have equal records.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The run's id.
    pub run: RunId,
    /// A few words for people; redacted and cut to one line when the run starts.
    pub title: String,
    /// For whom the run acts.
    pub principal: PrincipalId,
    /// The model's name.
    pub model: ModelName,
    /// What its tokens cost.
    pub prices: Option<Prices>,
    /// Parameters of every model call.
    pub params: Arc<ModelParams>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// Whether the first model call must call a tool; later ones are free.
    pub first_tool_choice: probity_contract::ToolChoice,
    /// On whose behalf the tasks above act, the nearest first.
    pub principals_above: Vec<PrincipalId>,
    /// The call that has started the task, where one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// The tools that start tasks, and what those of one call may spend at most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub delegates: BTreeMap<ToolName, Allowance>,
    /// The policies that must be heard: the task's own (where there is none, no tool runs), and those of the tasks above.
    pub bench: Bench,
    /// Who looks at what passes, and where.
    #[serde(default)]
    pub boundary: BoundarySettings,
    /// What may be spent.
    pub limits: Limits,
    /// How much the model reads of a denial.
    #[serde(default)]
    pub denial_detail: DenialDetail,
    /// How much content the record keeps.
    pub content: ContentSetting,
    /// Instructions, material and the prompt, in the order in which the model reads them.
    pub items: Vec<FirstItem>,
    /// Milliseconds since 1970 UTC.
    pub started_at_unix_ms: u64,
}

/// Which run of which model it is, and nothing of what it shall read.
impl fmt::Debug for RunSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunSpec").field("run", &self.run).field("model", &self.model).finish_non_exhaustive()
    }
}

/// An item that stands in the window from the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstItem {
    /// Who brought it.
    pub origin: Origin,
    /// Its label.
    pub label: Label,
    /// What it says.
    pub content: Content,
}

/// Why a spec cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Two tools with one name.
    #[error("two tools are called `{0}`")]
    ToolTwice(ToolName),
    /// A schema of a tool or of the answer is unusable.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A cost limit without prices could never be kept.
    #[error("a limit of cost needs the model's prices")]
    CostWithoutPrices,
    /// A limit or a price that nothing can be measured by.
    #[error("`{0}` must be a number that is not negative")]
    BadNumber(&'static str),
    /// A tool takes any value of an argument for good whose type has more than a few.
    #[error(
        "the tool `{tool}` endorses `{pointer}`, which is not true or false and not one of listed values"
    )]
    Endorses {
        /// The tool.
        tool: ToolName,
        /// The argument.
        pointer: String,
    },
    /// Nothing to answer.
    #[error("the task has no prompt")]
    NoPrompt,
}

/// The compiled schemas of a spec; computed, never stored.
#[derive(Debug)]
pub(crate) struct Schemas {
    tools: Vec<(ToolName, Schema)>,
    output: Option<Schema>,
}

impl RunSpec {
    /// Checks the spec and compiles its schemas.
    pub(crate) fn check(&self) -> Result<Schemas, SpecError> {
        if self.limits.cost_usd_max.is_some() && self.prices.is_none() {
            return Err(SpecError::CostWithoutPrices);
        }
        self.check_numbers()?;
        Schemas::compile(&self.tools, self.params.output_schema.as_ref())
    }

    fn check_numbers(&self) -> Result<(), SpecError> {
        let numbers = [
            ("cost_usd_max", self.limits.cost_usd_max),
            ("input_usd", self.prices.map(|prices| prices.input_usd)),
            ("cached_input_usd", self.prices.and_then(|prices| prices.cached_input_usd)),
            ("output_usd", self.prices.map(|prices| prices.output_usd)),
        ];
        let is_bad = |number: f64| !number.is_finite() || number < 0.0;
        let bad = numbers.into_iter().find(|(_, number)| number.is_some_and(is_bad));
        bad.map_or(Ok(()), |(name, _)| Err(SpecError::BadNumber(name)))
    }

    /// Whether something is asked. The items move into the window when the run starts, so this holds before only.
    pub(crate) fn has_prompt(&self) -> bool {
        self.items.iter().any(|item| matches!(item.content, Content::Person(_)))
    }

    /// The tool of this name.
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().find(|tool| tool.name.as_str() == name)
    }
}

impl Schemas {
    /// Compiles the schemas of these tools, no two of which have one name, and of the answer.
    pub(crate) fn compile(tools: &[ToolSpec], output: Option<&Value>) -> Result<Self, SpecError> {
        let mut names = BTreeSet::new();
        if let Some(twice) = tools.iter().find(|tool| !names.insert(&tool.name)) {
            return Err(SpecError::ToolTwice(twice.name.clone()));
        }
        for tool in tools {
            if let Some(pointer) = wrongly_endorsed(tool) {
                let (tool, pointer) = (tool.name.clone(), pointer.to_owned());
                return Err(SpecError::Endorses { tool, pointer });
            }
        }
        let compile = |tool: &ToolSpec| {
            let what = format!("the arguments of `{}`", tool.name);
            Schema::compile(&what, &tool.input_schema).map(|schema| (tool.name.clone(), schema))
        };
        let tools = tools.iter().map(compile).collect::<Result<_, _>>()?;
        let output = output.map(|schema| Schema::compile("the answer", schema)).transpose()?;
        Ok(Self { tools, output })
    }

    /// The tool that is meant and its arguments, or why the call cannot be understood.
    pub(crate) fn understand(&self, name: &str, arguments: &str) -> Result<(ToolName, Arguments), String> {
        let Some((tool, _)) = self.tools.iter().find(|(tool, _)| tool.as_str() == name) else {
            let known: Vec<&str> = self.tools.iter().map(|(tool, _)| tool.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("there is no tool of this name; the tools are: {known}"));
        };
        self.check_arguments(tool, arguments).map(|arguments| (tool.clone(), arguments))
    }

    /// Reads arguments, a model's or a person's, and checks them against the tool's schema.
    pub(crate) fn check_arguments(&self, tool: &ToolName, arguments: &str) -> Result<Arguments, String> {
        let arguments = Arguments::parse(arguments).map_err(|error| error.to_string())?;
        let problems = self.argument_problems(tool, &arguments.to_value());
        if !problems.is_empty() {
            return Err(format!("the arguments do not fit the tool's schema: {}", problems.join("; ")));
        }
        Ok(arguments)
    }

    /// What is wrong with a tool's arguments.
    fn argument_problems(&self, tool: &ToolName, arguments: &Value) -> Vec<String> {
        match self.tools.iter().find(|(name, _)| name == tool) {
            Some((_, schema)) => schema.problems(arguments),
            // A tool without a compiled schema does not exist in a checked spec; refusing is the safe reading.
            None => vec!["the tool has no schema".to_owned()],
        }
    }

    /// Whether answers are checked.
    pub(crate) const fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// What is wrong with an answer; `None` where no schema is set.
    pub(crate) fn answer_problems(&self, answer: &str) -> Option<Vec<String>> {
        let schema = self.output.as_ref()?;
        Some(match serde_json::from_str::<Value>(answer.trim()) {
            Ok(value) => schema.problems(&value),
            Err(error) => vec![format!("the answer is not JSON: {error}")],
        })
    }
}
