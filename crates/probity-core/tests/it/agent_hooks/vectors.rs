//! Where the vectors are.

use std::path::{Path, PathBuf};

use serde_json::Value;
use serde_json::value::RawValue;

/// The folder of vectors; `cargo xtask test` installs them and sets it.
const VARIABLE: &str = "PROBITY_TEST_AGENT_HOOKS";

/// One vector.
pub(super) struct Vector {
    pub(super) value: Value,
    // The model's arguments as they stand in the file, turn by turn: a reader loses digits of numbers over 64 bits.
    arguments: Vec<Vec<String>>,
}

impl Vector {
    /// All vectors. Where there are none, that is said, and in CI it is a failure.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(super) fn all(test: &str) -> Option<Vec<Self>> {
        let Some(folder) = folder() else {
            assert!(std::env::var_os("CI").is_none(), "{VARIABLE} is not set; `cargo xtask test` sets it");
            eprintln!(
                "skipped {test}: {VARIABLE} is not set; `cargo xtask agent-hooks` installs the vectors, and `cargo xtask test` \
                 sets it"
            );
            return None;
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("read `{}`: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("AH-CTK-")))
            .collect();
        files.sort();
        Some(files.iter().map(|file| Self::read(file)).collect())
    }

    fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        Self { arguments: raw_arguments(&text), value }
    }

    /// The text of a call's arguments.
    pub(super) fn arguments(&self, turn: usize, call: usize) -> &str {
        &self.arguments[turn][call]
    }

    /// Whether the vector is for hosts that can do this only.
    pub(super) fn needs(&self, capability: &str) -> bool {
        self.value["capabilities"]
            .as_array()
            .is_some_and(|needed| needed.iter().any(|needed| needed == capability))
    }

    pub(super) fn scenario(&self) -> &Value {
        &self.value["scenario"]
    }

    pub(super) fn expect(&self) -> &Value {
        &self.value["expect"]
    }
}

/// The folder that is set, or where `cargo xtask agent-hooks` puts it.
fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        return Some(PathBuf::from(folder));
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let versions = std::fs::read_dir(cache.join("probity/agent-hooks/lib")).ok()?;
    let folders = versions.flatten().map(|entry| entry.path().join("site-packages/agent_hooks/ctk/vectors"));
    folders.into_iter().find(|folder| folder.is_dir())
}

fn raw_arguments(text: &str) -> Vec<Vec<String>> {
    let member = |text: &str, name: &str| -> Option<Box<RawValue>> {
        let mut members: std::collections::BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(text).ok()?;
        members.remove(name)
    };
    let list =
        |text: &RawValue| -> Vec<Box<RawValue>> { serde_json::from_str(text.get()).unwrap_or_default() };
    let turns = member(text, "scenario").and_then(|scenario| member(scenario.get(), "model_script"));
    let calls = |turn: &RawValue| {
        let calls = member(turn.get(), "respond").and_then(|respond| member(respond.get(), "tool_calls"));
        let calls = calls.map(|calls| list(&calls)).unwrap_or_default();
        calls.iter().map(|call| member(call.get(), "args").unwrap().get().to_owned()).collect()
    };
    turns.map(|turns| list(&turns)).unwrap_or_default().iter().map(|turn| calls(turn)).collect()
}
