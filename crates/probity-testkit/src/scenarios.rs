//! The scenarios of judgement and approval from the corpora.

use serde_json::Value;

use crate::corpora::corpus;

/// One scenario, in words: what the policies are, which call is proposed, what happens, and what is expected.
#[derive(Debug, Clone)]
pub struct ScenarioRow {
    /// Its name, for messages; nothing is decided by it.
    pub id: String,
    /// What sort of scenario it is.
    pub family: String,
    /// Where it happens.
    pub seat: String,
    /// What happens.
    pub event: String,
    /// In how many orders.
    pub schedule: String,
    row: Value,
}

impl ScenarioRow {
    fn read(line: &str) -> Option<Self> {
        let row: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            id: text("id")?,
            family: text("family")?,
            seat: text("seat").unwrap_or_default(),
            event: text("event").unwrap_or_default(),
            schedule: text("schedule").unwrap_or_default(),
            row,
        })
    }

    /// The words about the policies.
    #[must_use]
    pub fn policies(&self) -> Vec<&str> {
        let policies = self.row.get("given_policy").and_then(Value::as_array);
        policies.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The tool that is called, as the row spells it.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.row.pointer("/call/tool").and_then(Value::as_str).unwrap_or_default()
    }

    /// The arguments of the call.
    #[must_use]
    pub fn arguments(&self) -> Value {
        self.row.pointer("/call/args").cloned().unwrap_or_default()
    }

    /// What is expected in one respect, where the row says something in words.
    #[must_use]
    pub fn expected(&self, what: &str) -> Option<&str> {
        self.row.get("expected")?.get(what)?.as_str()
    }

    /// Whether the tool is expected to run, where the row says so.
    #[must_use]
    pub fn expects_run(&self) -> Option<bool> {
        self.row.pointer("/expected/tool_body_runs").and_then(Value::as_bool)
    }
}

/// All scenarios; `None` where the corpus is missing, as [`corpus`] says.
///
/// # Panics
/// As [`corpus`] does, and where a line is no scenario.
#[must_use]
#[expect(clippy::panic, reason = "a corpus that cannot be read must not look like an empty one")]
pub fn scenario_rows() -> Option<Vec<ScenarioRow>> {
    let path = corpus("policy/scenarios.jsonl")?;
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()));
    let rows = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        ScenarioRow::read(line)
            .unwrap_or_else(|| panic!("a line of {} is no scenario: {line}", path.display()))
    });
    Some(rows.collect())
}
