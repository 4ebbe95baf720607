//! The interceptors of a task file: programs and servers that see what passes, and may change or stop it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use probity_contract::{
    Composition, Enforcement, Interceptor, InterceptorName, Knob, OnApproval, Points, Profile, Window,
};
use probity_core::BoundarySettings;
use probity_tools::{HookSetupError, HttpHook, HttpInterceptor, ProcessHook, ProcessInterceptor};
use serde::Deserialize;

use crate::exit::{Code, Fatal};
use crate::policies::files::is_out_of_reach;
use crate::task_file::{RootEntry, TaskFile};

/// One interceptor: a child process or a server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InterceptorEntry {
    name: String,
    /// Where it is heard.
    points: Points,
    /// A program and its arguments; it works in the folder of the task file.
    command: Option<Vec<String>>,
    /// The environment variables that the program gets; no other one.
    #[serde(default)]
    env: Vec<String>,
    /// The address of a server.
    url: Option<String>,
    /// Headers for the server, and the environment variables that hold their values.
    #[serde(default)]
    header_env: BTreeMap<String, String>,
    /// What it can judge of an answer that is still being written.
    window: Option<WindowEntry>,
}

/// A window as a task file states it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "`delta`, `sentence`, or a number of bytes")]
enum WindowEntry {
    Word(WindowWord),
    Bytes(NonZeroU32),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WindowWord {
    Delta,
    Sentence,
}

/// How what several interceptors say becomes one verdict, and whether it is acted upon.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BoundaryTable {
    mode: Enforcement,
    profile: Option<Profile>,
    on_approval: OnApproval,
    on_disagreement: Knob,
    on_transform_conflict: Knob,
    /// Paths in the target that the person who may lift a deny is not shown.
    redact_for_approval: Vec<String>,
}

impl BoundaryTable {
    pub(crate) fn settings(&self) -> BoundarySettings {
        let Self { mode, profile, on_approval, on_disagreement, on_transform_conflict, redact_for_approval } =
            self.clone();
        let profile = profile.unwrap_or(Composition::default().profile);
        let composition = Composition { profile, on_approval, on_disagreement, on_transform_conflict };
        BoundarySettings { mode, composition, redact_for_approval, ..BoundarySettings::default() }
    }
}

/// Builds the interceptors of a task, in the order of its file. Nothing is started or asked yet.
pub(crate) fn interceptors(file: &TaskFile) -> Result<Vec<Arc<dyn Interceptor>>, Fatal> {
    let here = PathBuf::from(".");
    let folder = file.policy.folder.as_ref().unwrap_or(&here);
    file.interceptors.iter().map(|entry| entry.build(folder, &file.tools.roots)).collect()
}

impl InterceptorEntry {
    fn build(&self, folder: &Path, roots: &[RootEntry]) -> Result<Arc<dyn Interceptor>, Fatal> {
        let name = InterceptorName::new(&self.name).map_err(|error| Fatal::of(Code::Usage, &error))?;
        let wrong = |what: &str| {
            let words = format!("set up the interceptor `{name}`: {what}");
            Err(Fatal::new(Code::Usage, &words)
                .hint("the keys of an interceptor stand in docs/interceptors.md"))
        };
        if self.points == Points::NONE {
            return wrong("its `points` are empty, so it would never be heard");
        }
        match (&self.command, &self.url) {
            (Some(_), None) if !self.header_env.is_empty() => wrong("`header_env` belongs to a `url`"),
            (None, Some(_)) if !self.env.is_empty() => wrong("`env` belongs to a `command`"),
            (Some(command), None) => self.process(name, command, folder, roots),
            (None, Some(url)) => self.http(name, url),
            (Some(_), Some(_)) | (None, None) => wrong("it takes either `command` or `url`"),
        }
    }

    fn process(
        &self,
        name: InterceptorName,
        command: &[String],
        folder: &Path,
        roots: &[RootEntry],
    ) -> Result<Arc<dyn Interceptor>, Fatal> {
        for path in command.iter().map(|word| folder.join(word)).filter(|path| path.is_file()) {
            // What a tool could write would look at the next message.
            is_out_of_reach(&format!("the files of the interceptor `{name}`"), &path, roots)?;
        }
        let hook = ProcessHook {
            directory: Some(folder.to_owned()),
            env_names: self.env.clone(),
            ..ProcessHook::new(command.to_vec())
        };
        let built = ProcessInterceptor::new(name, self.points, hook).map_err(|error| set_up(&error))?;
        Ok(match self.window {
            Some(window) => Arc::new(built.with_window(window.into())),
            None => Arc::new(built),
        })
    }

    fn http(&self, name: InterceptorName, url: &str) -> Result<Arc<dyn Interceptor>, Fatal> {
        let mut hook = HttpHook::new(url);
        for (header, variable) in &self.header_env {
            let value = std::env::var(variable).map_err(|_| {
                let words =
                    format!("set up the interceptor `{name}`: there is no `{variable}` in the environment");
                Fatal::new(Code::Setup, &words)
                    .hint(&format!("set {variable} to the value of the header `{header}`"))
            })?;
            hook = hook.with_secret_header(header, value);
        }
        let built = HttpInterceptor::new(name, self.points, hook).map_err(|error| set_up(&error))?;
        Ok(match self.window {
            Some(window) => Arc::new(built.with_window(window.into())),
            None => Arc::new(built),
        })
    }
}

fn set_up(error: &HookSetupError) -> Fatal {
    Fatal::of(Code::Setup, error).hint("what an interceptor needs stands in docs/interceptors.md")
}

impl From<WindowEntry> for Window {
    fn from(entry: WindowEntry) -> Self {
        match entry {
            WindowEntry::Word(WindowWord::Delta) => Self::Delta,
            WindowEntry::Word(WindowWord::Sentence) => Self::Sentence,
            WindowEntry::Bytes(bytes) => Self::Bytes(bytes.get()),
        }
    }
}
