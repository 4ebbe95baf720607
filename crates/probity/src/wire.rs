//! The composition root: turns a task file and flags into a task with its ports.

use std::path::PathBuf;
use std::sync::Arc;

use probity_contract::{
    Content, Integrity, Label, Model, Origin, PrincipalId, Readers, Tool, ToolChoice, ToolSpec,
};
use probity_core::{FirstItem, Task};
use probity_models::{ApiKey, HttpModel, HttpModelConfig, ModelRef, RulesModel};
use probity_tools::{AllowedHost, HttpConfig, HttpGetTool, Root, ShellConfig, ShellTool, fs_tools};

use crate::exit::{Code, Fatal};
use crate::interceptors::interceptors;
use crate::policies::{Policies, shadow_notes};
use crate::settings;
use crate::task_file::{ContextEntry, HostEntry, TaskFile, ToolsTable};

const FS_TOOLS: [&str; 5] = ["fs_list", "fs_read", "fs_search", "fs_write", "fs_edit"];

/// Builds the model that is called `name`.
pub(crate) fn model(
    name: &str,
    base_url: Option<String>,
    key_file: Option<PathBuf>,
) -> Result<Arc<dyn Model>, Fatal> {
    let reference: ModelRef = name.parse().map_err(|error: probity_models::ModelRefError| {
        Fatal::of(Code::Usage, &error)
            .hint("write --model provider/name, for example openai/gpt-4.1-mini or rules/FILE")
    })?;
    match reference {
        ModelRef::Rules(path) => {
            let model = RulesModel::load(&path).map_err(|error| Fatal::of(Code::Usage, &error))?;
            Ok(Arc::new(model))
        }
        ModelRef::Http { provider, model } => {
            let key = match &key_file {
                Some(path) => Some(ApiKey::read_file(path)),
                None => ApiKey::read_environment(provider).transpose(),
            };
            let key = key.transpose().map_err(|error| Fatal::of(Code::Setup, &error))?;
            let mut config = HttpModelConfig::new(provider, model);
            config.base_url = base_url;
            config.key = key;
            let model =
                HttpModel::new(config).map_err(|error| Fatal::of(Code::Setup, &error).hint(&error.hint()))?;
            Ok(Arc::new(model))
        }
    }
}

/// Builds the tools that the table names.
pub(crate) fn tools(table: &ToolsTable) -> Result<Vec<Arc<dyn Tool>>, Fatal> {
    let roots: Vec<Root> = table
        .roots
        .iter()
        .map(|root| Root { name: root.name.clone(), path: root.path.clone(), write: root.write })
        .collect();
    roots.iter().try_for_each(can_be_opened)?;
    let wants = |name: &str| table.names.iter().any(|wanted| wanted == name);
    let setup = |error: probity_tools::ToolSetupError| Fatal::of(Code::Setup, &error);
    let mut known: Vec<Arc<dyn Tool>> = Vec::new();
    if FS_TOOLS.iter().any(|name| wants(name)) {
        if roots.is_empty() {
            let words = "set up the file tools: no root is declared";
            return Err(Fatal::new(Code::Usage, words)
                .hint("declare a directory with --root DIR or `roots` in the task file"));
        }
        known.extend(fs_tools(&roots).map_err(setup)?);
    }
    if wants("shell") {
        let mut config = ShellConfig::new(roots);
        config.network = table.shell.network;
        config.env_names.clone_from(&table.shell.env);
        config.readable.clone_from(&table.shell.readable);
        known.push(Arc::new(ShellTool::new(config).map_err(setup)?));
    }
    if wants("http_get") {
        let hosts = table.hosts.iter().map(host).collect::<Result<_, _>>()?;
        known.push(Arc::new(HttpGetTool::new(HttpConfig::new(hosts)).map_err(setup)?));
    }
    let find = |name: &String| {
        let tool = known.iter().find(|tool| tool.spec().name.as_str() == name);
        tool.cloned().ok_or_else(|| {
            let write_only = matches!(name.as_str(), "fs_write" | "fs_edit");
            let words = format!("set up the tool `{name}`");
            if write_only {
                return Fatal::new(Code::Usage, &format!("{words}: no root may be written"))
                    .hint("declare a root that may be written with --write-root DIR or `write = true`");
            }
            Fatal::new(Code::Usage, &format!("{words}: there is no such tool")).hint(
                "the built-in tools are fs_list, fs_read, fs_search, fs_write, fs_edit, shell, http_get",
            )
        })
    };
    table.names.iter().map(find).collect()
}

/// A root's name alone would not tell which directory is meant.
fn can_be_opened(root: &Root) -> Result<(), Fatal> {
    let opened = std::fs::read_dir(&root.path).map(|_| ());
    opened.map_err(|error| {
        let words = format!("open the root `{}` at `{}`: {error}", root.name, root.path.display());
        Fatal::new(Code::Setup, &words).hint("make the directory, or declare another one")
    })
}

fn host(entry: &HostEntry) -> Result<AllowedHost, Fatal> {
    let (text, private) = match entry {
        HostEntry::Public(text) => (text, false),
        HostEntry::Declared(declared) => (&declared.host, declared.private),
    };
    let host: AllowedHost =
        text.parse().map_err(|error: probity_tools::AllowedHostError| Fatal::of(Code::Usage, &error))?;
    Ok(if private { host.private() } else { host })
}

/// For whom the task acts: whom its file names, or who started the program.
pub(crate) fn principal(file: &TaskFile) -> Result<PrincipalId, Fatal> {
    match &file.principal {
        Some(name) => PrincipalId::new(name).map_err(|error| Fatal::of(Code::Usage, &error)),
        None => settings::principal(),
    }
}

/// What a task file itself contains is its author's word, and for everyone, unless the author says otherwise.
fn label(entry: &ContextEntry) -> Label {
    let integrity = if entry.trusted.unwrap_or(true) { Integrity::System } else { Integrity::Untrusted };
    Label { integrity, readers: entry.readers.clone().map_or(Readers::Everyone, Readers::Only) }
}

/// What the model of a task reads before anything else, in the order of [`task`].
pub(crate) fn first_items(file: &TaskFile) -> Vec<FirstItem> {
    let instructions = file.instructions.as_deref().map(|text| FirstItem {
        origin: Origin::Task,
        label: Label::system(),
        content: Content::Instructions(text.into()),
    });
    let context = file.context.iter().map(|entry| {
        let text = entry.text.as_deref().unwrap_or_default().into();
        let content = Content::Context { name: entry.name.clone(), text };
        FirstItem { origin: Origin::Task, label: label(entry), content }
    });
    let content = Content::Person(file.prompt.as_str().into());
    let prompt = FirstItem { origin: Origin::Principal, label: Label::person(), content };
    instructions.into_iter().chain(context).chain([prompt]).collect()
}

/// Puts the task together. Where `asks` is true a person is asked about calls that no rule covers.
pub(crate) fn task(
    file: TaskFile,
    model: Arc<dyn Model>,
    tools: Vec<Arc<dyn Tool>>,
    asks: bool,
) -> Result<(Task, PrincipalId), Fatal> {
    let principal = principal(&file)?;
    let mut task = Task::new(model, principal.clone(), file.prompt.clone());
    if let Some(title) = &file.title {
        task = task.title(title);
    }
    if let Some(instructions) = &file.instructions {
        task = task.instructions(instructions);
    }
    for entry in &file.context {
        task = task.context(entry.name.clone(), entry.text.as_deref().unwrap_or_default(), label(entry));
    }
    let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec().clone()).collect();
    for tool in tools {
        task = task.tool(tool);
    }
    let policies = Policies::of(&file, &specs, asks)?;
    for notice in &policies.notices {
        tracing::warn!("{notice}");
    }
    for interceptor in interceptors(&file)? {
        task = task.interceptor(interceptor);
    }
    task = task.boundary(file.boundary.settings());
    let notes = shadow_notes();
    for policy in policies.into_list(&notes) {
        task = task.policy(policy);
    }
    task = task.shadow_notes(notes);
    if file.tools.required {
        task = task.first_tool_choice(ToolChoice::Required);
    }
    if let Some(prices) = file.prices {
        task = task.prices(prices);
    }
    let task = task.limits(file.limits).params(file.params).content(file.record.content);
    let task = task.denial_detail(file.policy.denials);
    Ok((task, principal))
}
