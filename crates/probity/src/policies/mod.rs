//! The policies of a task: its rules, and its Cedar policies.

mod places;

use std::path::Path;
use std::sync::Arc;

use probity_cedar::{CedarError, CedarPolicy, CedarSource};
use probity_contract::{Policy, PolicyName, ToolSpec};
use probity_core::{Otherwise, RulePolicy};

use crate::exit::{Code, Fatal};
use crate::task_file::{CedarFile, RootEntry, TaskFile};

/// The name under which the rules of a task file judge.
const RULES_POLICY: &str = "rules";
/// The name under which its Cedar policies do.
const CEDAR_POLICY: &str = "cedar";

/// Who judges the calls of a task. Where it is nobody, no tool runs.
pub(crate) struct Policies {
    pub(crate) rules: Option<RulePolicy>,
    pub(crate) cedar: Option<CedarPolicy>,
}

impl Policies {
    /// The policies that a task file states, for a task with these tools. Where `asks` is true a person is asked about calls
    /// that no rule covers.
    pub(crate) fn of(file: &TaskFile, tools: &[ToolSpec], asks: bool) -> Result<Self, Fatal> {
        let lists = file.policy.rules();
        // Without rules and without a person the rules have nothing to say; they would only seem to be there.
        let rules = if lists.is_some() || asks {
            let otherwise = if asks { Otherwise::Ask } else { Otherwise::Abstain };
            let policy = RulePolicy::new(name(RULES_POLICY)?, &lists.unwrap_or_default(), tools, otherwise);
            let hint = "a rule is `tool` or `tool(pattern)`, for example fs_read(work/docs/**)";
            Some(policy.map_err(|error| Fatal::of(Code::Usage, &error).hint(hint))?)
        } else {
            None
        };
        let cedar = match file.policy.cedar_files.as_slice() {
            [] => None,
            files => Some(cedar(files, &file.tools.roots, tools)?),
        };
        Ok(Self { rules, cedar })
    }

    pub(crate) fn into_list(self) -> Vec<Arc<dyn Policy>> {
        let rules = self.rules.map(|policy| Arc::new(policy) as Arc<dyn Policy>);
        let cedar = self.cedar.map(|policy| Arc::new(policy) as Arc<dyn Policy>);
        rules.into_iter().chain(cedar).collect()
    }
}

/// The Cedar schema of these tools.
pub(crate) fn schema_text(tools: &[ToolSpec]) -> Result<String, Fatal> {
    let policy = CedarPolicy::new(name(CEDAR_POLICY)?, &[], tools).map_err(|error| refused(&error))?;
    Ok(policy.schema_text().to_owned())
}

fn cedar(files: &[CedarFile], roots: &[RootEntry], tools: &[ToolSpec]) -> Result<CedarPolicy, Fatal> {
    files.iter().try_for_each(|file| is_out_of_reach(file, roots))?;
    let sources: Vec<CedarSource> = files.iter().map(|file| file.source.clone()).collect();
    CedarPolicy::new(name(CEDAR_POLICY)?, &sources, tools).map_err(|error| refused(&error))
}

fn refused(error: &CedarError) -> Fatal {
    let hint =
        format!("{}; `probity policy check TASK.toml --schema` shows what a policy can read", error.hint());
    Fatal::of(Code::Usage, error).hint(&hint)
}

/// Refuses a file that a tool could change: the next run would be judged by what this one wrote.
fn is_out_of_reach(file: &CedarFile, roots: &[RootEntry]) -> Result<(), Fatal> {
    let said = &file.source.name;
    let failed = |path: &Path, error: std::io::Error| {
        let words = format!("find out where the Cedar policies `{said}` lie: `{}`: {error}", path.display());
        Fatal::new(Code::Usage, &words)
    };
    let places = places::on_the_way_to(&file.path).map_err(|error| failed(&file.path, error))?;
    for root in roots.iter().filter(|root| root.write) {
        let top = root.path.canonicalize().map_err(|error| failed(&root.path, error))?;
        if places.iter().any(|place| place.starts_with(&top) && *place != top) {
            let words = format!(
                "use the Cedar policies `{said}`: they lie in the root `{}`, which tools may write",
                root.name
            );
            return Err(Fatal::new(Code::Usage, &words)
                .hint("move the file, and every link to it, out of all roots that tools may write"));
        }
    }
    Ok(())
}

fn name(name: &str) -> Result<PolicyName, Fatal> {
    PolicyName::new(name).map_err(|error| Fatal::of(Code::Usage, &error))
}
