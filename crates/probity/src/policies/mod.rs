//! The policies of a task: rules of several authors, and its Cedar policies.

pub(crate) mod data;
pub(crate) mod files;
mod places;
mod shadow;
pub(crate) mod trust;

use std::sync::Arc;

use probity_cedar::{CedarError, CedarPolicy, CedarSource};
use probity_contract::{Policy, PolicyName, ToolSpec};
use probity_core::{
    LayeredRules, Mode, ReaderPolicy, RuleEntry, RuleFile, RuleLayer, RuleSource, ShadowNotes, ShadowPolicy,
};

use crate::exit::{Code, Fatal};
use crate::task_file::{CedarFile, RootEntry, TaskFile};

/// The name under which the rules of a task file judge.
const RULES_POLICY: &str = "rules";
/// The name under which its Cedar policies do.
const CEDAR_POLICY: &str = "cedar";
/// The name under which it is judged who may receive what only some may read.
const READERS_POLICY: &str = "readers";
/// The name under which rules are tried out.
const SHADOW_POLICY: &str = "shadow";
/// What the task's own lists are called in messages.
const OWN_LISTS: &str = "[policy]";

/// The tools that any task may have.
const BUILT_IN: [&str; 7] = ["fs_list", "fs_read", "fs_search", "fs_write", "fs_edit", "shell", "http_get"];

/// Who judges the calls of a task. Where it is nobody, no tool runs.
pub(crate) struct Policies {
    pub(crate) rules: Option<LayeredRules>,
    /// The layers of the rules, in the order of their authors.
    pub(crate) layers: Vec<RuleLayer>,
    pub(crate) cedar: Option<CedarPolicy>,
    /// Where some material is for some readers only.
    pub(crate) readers: Option<ReaderPolicy>,
    shadow: Option<LayeredRules>,
    /// What a person should know of them.
    pub(crate) notices: Vec<String>,
}

impl Policies {
    /// The policies that a task file states and that are there for every task, for one with these tools. Where `asks` is true a
    /// person is asked about calls that no rule covers.
    pub(crate) fn of(file: &TaskFile, tools: &[ToolSpec], asks: bool) -> Result<Self, Fatal> {
        let (mut layers, mut notices) = files::layers(file)?;
        layers.extend(file.policy.rules().map(|lists| {
            let list = |rules: Vec<String>| rules.into_iter().map(RuleEntry::from).collect();
            let (allow, ask, deny) = (list(lists.allow), list(lists.ask), list(lists.deny));
            let file = RuleFile { mode: Mode::UNSTATED, allow, ask, deny };
            RuleLayer { source: RuleSource::Task, file_name: OWN_LISTS.to_owned(), file, may_widen: true }
        }));
        let stated = file.policy.mode;
        // Without rules and without a person the rules have nothing to say; they would only seem to be there.
        let rules = if !layers.is_empty() || asks || stated != Mode::UNSTATED {
            let base = if asks { Mode::ASK } else { Mode::DENY };
            Some(layered(RULES_POLICY, &layers, tools, base.and(stated))?)
        } else {
            None
        };
        for idle in rules.iter().flat_map(LayeredRules::idle_rules) {
            // A file for many tasks speaks of tools that one of them does not have; of others it may only seem to.
            if !BUILT_IN.contains(&idle.tool.as_str()) && idle.tool != "*" {
                notices.push(format!(
                    "the rule `{}` of the {} rules names no tool of this task and none that is built in",
                    idle.rule, idle.source
                ));
            }
        }
        let shadow = match (file.policy.shadow.as_slice(), &file.policy.folder) {
            ([], _) | (_, None) => None,
            (names, Some(folder)) => {
                let tried = names.iter().map(|name| files::of_task(name, folder, &file.tools.roots));
                let tried = tried.collect::<Result<Vec<_>, _>>()?;
                Some(layered(SHADOW_POLICY, &tried, tools, Mode::UNSTATED)?)
            }
        };
        let cedar = match file.policy.cedar_files.as_slice() {
            [] => None,
            files => Some(cedar(files, &file.tools.roots, tools)?),
        };
        let readers = match file.context.iter().any(|entry| entry.readers.is_some()) {
            true => Some(ReaderPolicy::new(name(READERS_POLICY)?, tools)),
            false => None,
        };
        Ok(Self { rules, layers, cedar, readers, shadow, notices })
    }

    /// The rules of one file and nothing else, whatever tools a task has.
    pub(crate) fn alone(layer: RuleLayer, mode: Mode) -> Result<Self, Fatal> {
        let layers = vec![layer];
        let rules = Some(layered(RULES_POLICY, &layers, &[], mode)?);
        Ok(Self { rules, layers, cedar: None, readers: None, shadow: None, notices: Vec::new() })
    }

    /// All who judge. Those in shadow tell `notes` what they would have said.
    pub(crate) fn into_list(self, notes: &ShadowNotes) -> Vec<Arc<dyn Policy>> {
        let rules = self.rules.map(|policy| Arc::new(policy) as Arc<dyn Policy>);
        let cedar = self.cedar.map(|policy| Arc::new(policy) as Arc<dyn Policy>);
        let readers = self.readers.map(|policy| Arc::new(policy) as Arc<dyn Policy>);
        let shadow = self.shadow.map(|policy| {
            let policy = ShadowPolicy::new(Arc::new(policy), Arc::new(notes.clone()));
            Arc::new(policy) as Arc<dyn Policy>
        });
        rules.into_iter().chain(cedar).chain(readers).chain(shadow).collect()
    }
}

/// Notes for what policies in shadow would have said: the record keeps it, and it is told as a warning.
pub(crate) fn shadow_notes() -> ShadowNotes {
    ShadowNotes::telling(Arc::new(shadow::Teller))
}

/// The rules of these layers.
pub(crate) fn layered(
    name_said: &str,
    layers: &[RuleLayer],
    tools: &[ToolSpec],
    mode: Mode,
) -> Result<LayeredRules, Fatal> {
    let rules = LayeredRules::new(name(name_said)?, layers, tools, mode);
    let hint = "a rule is `tool` or `tool(pattern)`, for example fs_read(work/docs/**)";
    rules.map_err(|error| Fatal::of(Code::Usage, &error).hint(hint))
}

/// The Cedar schema of these tools.
pub(crate) fn schema_text(tools: &[ToolSpec]) -> Result<String, Fatal> {
    let policy = CedarPolicy::new(name(CEDAR_POLICY)?, &[], tools).map_err(|error| refused(&error))?;
    Ok(policy.schema_text().to_owned())
}

fn cedar(files: &[CedarFile], roots: &[RootEntry], tools: &[ToolSpec]) -> Result<CedarPolicy, Fatal> {
    files.iter().try_for_each(|file| {
        let what = format!("the Cedar policies `{}`", file.source.name);
        files::is_out_of_reach(&what, &file.path, roots)
    })?;
    let sources: Vec<CedarSource> = files.iter().map(|file| file.source.clone()).collect();
    CedarPolicy::new(name(CEDAR_POLICY)?, &sources, tools).map_err(|error| refused(&error))
}

fn refused(error: &CedarError) -> Fatal {
    let hint =
        format!("{}; `probity policy check TASK.toml --schema` shows what a policy can read", error.hint());
    Fatal::of(Code::Usage, error).hint(&hint)
}

fn name(name: &str) -> Result<PolicyName, Fatal> {
    PolicyName::new(name).map_err(|error| Fatal::of(Code::Usage, &error))
}
