//! The task file: a whole task in TOML. Unknown keys are refused, relative paths start at the file.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use probity_cedar::CedarSource;
use probity_cedar::limits::SOURCES_BYTES_MAX;
use probity_contract::{ContentSetting, DenialDetail, Limits, ModelParams, Prices};
use probity_core::{Mode, RuleLists};
use serde::Deserialize;
use serde_json::Value;

use crate::exit::{Code, Fatal};
use crate::interceptors::{BoundaryTable, InterceptorEntry};

/// Bytes of a task file.
const TASK_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of one file that a task file refers to.
pub(crate) const CONTEXT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What the file tools are called that a root brings by itself.
const TOOLS_OF_A_ROOT: [&str; 3] = ["fs_list", "fs_read", "fs_search"];

/// A task as its file states it, with the texts of the files it refers to.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TaskFile {
    pub(crate) title: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) instructions: Option<String>,
    pub(crate) prompt: String,
    pub(crate) principal: Option<String>,
    pub(crate) context: Vec<ContextEntry>,
    pub(crate) tools: ToolsTable,
    pub(crate) policy: PolicyTable,
    pub(crate) interceptors: Vec<InterceptorEntry>,
    pub(crate) boundary: BoundaryTable,
    pub(crate) limits: Limits,
    pub(crate) params: ModelParams,
    pub(crate) output: OutputTable,
    pub(crate) record: RecordTable,
    pub(crate) prices: Option<Prices>,
}

/// Material for the model under a name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ContextEntry {
    pub(crate) name: String,
    pub(crate) text: Option<String>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) trusted: Option<bool>,
    /// Who may read it; nobody else may receive anything that was made after it was read.
    pub(crate) readers: Option<BTreeSet<String>>,
}

/// The tools and what they may touch.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolsTable {
    #[serde(rename = "use")]
    pub(crate) names: Vec<String>,
    pub(crate) roots: Vec<RootEntry>,
    pub(crate) hosts: Vec<HostEntry>,
    pub(crate) shell: ShellTable,
    /// Whether the first model call must call a tool.
    pub(crate) required: bool,
}

/// A directory for the file tools and the shell.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RootEntry {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    #[serde(default)]
    pub(crate) write: bool,
}

/// A host for `http_get`: its name, or a table that says that it is on this machine or network on purpose.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a host's name, or a table with `host` and `private`")]
pub(crate) enum HostEntry {
    Public(String),
    Declared(DeclaredHost),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeclaredHost {
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) private: bool,
}

/// What programs that `shell` runs may do beside reading and writing the roots.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ShellTable {
    pub(crate) network: bool,
    pub(crate) env: Vec<String>,
    pub(crate) readable: Vec<PathBuf>,
}

/// Who judges the calls.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PolicyTable {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
    /// What follows where no rule covers a call, and whether only reads may run.
    pub(crate) mode: Mode,
    /// How much the model reads of a denial.
    pub(crate) denials: DenialDetail,
    /// Files of rules.
    pub(crate) rules: Vec<String>,
    /// Files of rules that are tried out: they are told of, and nothing follows.
    pub(crate) shadow: Vec<String>,
    /// Files of Cedar policies.
    cedar: Vec<String>,
    /// The folder of the task: the files above are named from there, and it may have rules of its own. A task without one is
    /// judged by its own lists alone.
    #[serde(skip)]
    pub(crate) folder: Option<PathBuf>,
    #[serde(skip)]
    pub(crate) cedar_files: Vec<CedarFile>,
}

/// A file of Cedar policies that was read.
#[derive(Debug, Clone)]
pub(crate) struct CedarFile {
    pub(crate) path: PathBuf,
    /// Its text, under the name that the task file gives it.
    pub(crate) source: CedarSource,
}

impl PolicyTable {
    /// No rules but those that are there for every task in this folder.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..Self::default() }
    }

    /// The rules of its own lists, where there are any.
    pub(crate) fn rules(&self) -> Option<RuleLists> {
        let Self { allow, ask, deny, .. } = self.clone();
        let lists = RuleLists { allow, ask, deny };
        (lists != RuleLists::default()).then_some(lists)
    }

    /// Reads the files of Cedar policies, which lie at `dir`. All together are bounded.
    fn read_cedar(&mut self, dir: &Path) -> Result<(), Fatal> {
        let mut bytes_left = SOURCES_BYTES_MAX;
        for name in std::mem::take(&mut self.cedar) {
            let path = dir.join(&name);
            let text = read_text(&path, u64::try_from(bytes_left).unwrap_or(u64::MAX))?;
            bytes_left = bytes_left.saturating_sub(text.len());
            self.cedar_files.push(CedarFile { path, source: CedarSource { name, text } });
        }
        Ok(())
    }
}

/// The form of the answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutputTable {
    pub(crate) schema: Option<Value>,
    pub(crate) schema_file: Option<PathBuf>,
}

/// What the record keeps.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RecordTable {
    pub(crate) content: ContentSetting,
}

impl TaskFile {
    /// Reads the file at `path` and the files it refers to.
    pub(crate) fn load(path: &Path) -> Result<Self, Fatal> {
        let mut task = Self::load_without_cedar(path)?;
        task.policy.read_cedar(dir_of(path))?;
        Ok(task)
    }

    /// The same without its Cedar policies, for what must work before they are written.
    pub(crate) fn load_without_cedar(path: &Path) -> Result<Self, Fatal> {
        let text = read_text(path, TASK_BYTES_MAX)?;
        let mut task = Self::parse(&text, dir_of(path), &path.display().to_string())?;
        let dir = dir_of(path);
        let is_here = dir.as_os_str().is_empty();
        task.policy.folder = Some(if is_here { PathBuf::from(".") } else { dir.to_owned() });
        Ok(task)
    }

    /// Gives a task with a root and without tools the ones that look at it.
    pub(crate) fn default_tools(&mut self) {
        if self.tools.names.is_empty() && !self.tools.roots.is_empty() {
            self.tools.names = TOOLS_OF_A_ROOT.map(str::to_owned).to_vec();
        }
    }

    /// Parses the text of a task file that lies in `dir` and is called `name`. Its Cedar policies are not read.
    pub(crate) fn parse(text: &str, dir: &Path, name: &str) -> Result<Self, Fatal> {
        let mut task: Self = toml::from_str(text).map_err(|error| {
            Fatal::new(Code::Usage, &format!("read the task file `{name}`: {error}"))
                .hint("the keys of a task file stand in the README, with an example")
        })?;
        let wrong = |what: &str| Fatal::new(Code::Usage, &format!("read the task file `{name}`: {what}"));
        if task.prompt.trim().is_empty() {
            return Err(wrong("it has no `prompt`"));
        }
        for entry in &mut task.context {
            entry.text = Some(match (entry.text.take(), entry.file.take()) {
                (Some(text), None) => text,
                (None, Some(file)) => read_text(&dir.join(file), CONTEXT_BYTES_MAX)?,
                _ => return Err(wrong("each `context` needs either `text` or `file`")),
            });
        }
        task.params.output_schema = match (task.output.schema.take(), task.output.schema_file.take()) {
            (None, None) => task.params.output_schema.take(),
            (Some(schema), None) => Some(schema),
            (None, Some(file)) => {
                let text = read_text(&dir.join(&file), TASK_BYTES_MAX)?;
                let parsed = serde_json::from_str(&text);
                Some(parsed.map_err(|error| wrong(&format!("`{}` is not JSON: {error}", file.display())))?)
            }
            (Some(_), Some(_)) => return Err(wrong("`output` takes either `schema` or `schema_file`")),
        };
        for root in &mut task.tools.roots {
            root.path = dir.join(&root.path);
        }
        for path in task.tools.shell.readable.iter_mut().chain(&mut task.key_file) {
            *path = dir.join(&*path);
        }
        if let Some(rules) = task.model.as_deref().and_then(|model| model.strip_prefix("rules/")) {
            task.model = Some(format!("rules/{}", dir.join(rules).display()));
        }
        Ok(task)
    }
}

fn dir_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Reads a text file, bounded.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> Result<String, Fatal> {
    read_text_said(path, &path.display().to_string(), bytes_max)
}

/// The same; what fails names the file as it was `said`.
pub(crate) fn read_text_said(path: &Path, said: &str, bytes_max: u64) -> Result<String, Fatal> {
    let fail = |why: String| Fatal::new(Code::Usage, &format!("read `{said}`: {why}"));
    let file = std::fs::File::open(path).map_err(|error| fail(error.to_string()))?;
    if file.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(fail("it is not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bytes_max {
        return Err(fail(format!("it is longer than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| fail("it is not UTF-8 text".to_owned()))
}

#[cfg(test)]
#[path = "task_file_tests.rs"]
mod tests;
