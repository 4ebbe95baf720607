//! One scenario on the real driver: a model that proposes the row's call, its tool, its policies, and what was seen.

use std::sync::Arc;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{
    Access, Approver, Cancel, Clock, Content, ContentSetting, DenialCode, Effect, Emission, Ending, Fact,
    FailureLane, Interceptor, Label, Policy, Target, Tool,
};
use probity_core::{Finished, Host, SystemClock, Task, command_targets, run_task};
use probity_testkit::{
    Acts, MemoryJournal, ScenarioRow, ScriptedModel, ScriptedTool, Turn, Watcher, fake_token, principal,
    run_id,
};
use serde_json::Value;

/// The one root of all paths.
pub(super) const ROOT: &str = "fs";

/// A path or a pattern of a row in the one root: `/a`, `./a` and `a` are `fs/a`, `~/a` is `fs/home/a`. Anything else stays.
pub(super) fn in_root(text: &str) -> String {
    if text.contains(' ') || text.contains("://") || !text.contains(['/', '.']) {
        return text.to_owned();
    }
    format!("{ROOT}/{}", below_root(text))
}

/// The same, relative to the root.
pub(super) fn below_root(text: &str) -> String {
    let path = match text.strip_prefix("~/") {
        Some(rest) => return format!("home/{rest}"),
        None => text.strip_prefix("./").unwrap_or(text),
    };
    path.trim_start_matches('/').to_owned()
}

/// The tool's name in letters that a tool may have.
pub(super) fn tool_name(row: &ScenarioRow) -> String {
    row.tool()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect()
}

/// A tool of the row's name that touches what the arguments name.
pub(super) fn scripted_tool(row: &ScenarioRow) -> ScriptedTool {
    let reads = ["read", "fetch", "list", "get"].iter().any(|word| row.tool().contains(word));
    let effect = if reads { Effect::Pure } else { Effect::Once };
    let access = if reads { Access::Read } else { Access::Write };
    ScriptedTool::new(&tool_name(row), effect, Acts::Echoes).touching(targets(&row.arguments(), access))
}

fn targets(arguments: &Value, access: Access) -> Vec<Target> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let mut targets = Vec::new();
    if let Some(path) = text("path") {
        let path = below_root(path);
        let (root, resolved) = (ROOT.to_owned(), path.clone());
        targets.push(Target::Path { root, path, resolved, access, recursive: false });
    }
    if let Some(command) = text("command") {
        targets.extend(command_targets(command));
    }
    targets
}

pub(super) struct Stage {
    pub turns: Vec<Turn>,
    pub tools: Vec<Arc<dyn Tool>>,
    pub policies: Vec<Arc<dyn Policy>>,
    pub above: Vec<Arc<dyn Policy>>,
    pub approver: Option<Arc<dyn Approver>>,
    pub watcher: Watcher,
    pub lane: Option<Arc<dyn FailureLane>>,
    pub journal: MemoryJournal,
    pub clock: Arc<dyn Clock>,
    pub cancel: Cancel,
    pub content: ContentSetting,
    pub prompt: String,
    pub context: Vec<(String, String, Label)>,
    /// In place of one that takes the turns.
    interceptors: Vec<Arc<dyn Interceptor>>,
    pub model: Option<ScriptedModel>,
}

/// A stage on which the model proposes the row's call to a tool of this name, and is then done.
pub(super) fn stage(row: &ScenarioRow, tool: &str, arguments: &Value) -> Stage {
    assert!(!row.tool().is_empty(), "a call has a tool");
    Stage {
        turns: vec![Turn::calls(&[(tool, &arguments.to_string())]), Turn::text("done")],
        tools: Vec::new(),
        policies: Vec::new(),
        above: Vec::new(),
        approver: None,
        watcher: Watcher::new(),
        lane: None,
        journal: MemoryJournal::new(),
        clock: Arc::new(SystemClock::new()),
        cancel: Cancel::new(),
        content: ContentSetting::Full,
        prompt: "do it".to_owned(),
        context: Vec::new(),
        interceptors: Vec::new(),
        model: None,
    }
}

impl Stage {
    pub(super) fn tool(mut self, tool: &ScriptedTool) -> Self {
        self.tools.push(Arc::new(tool.clone()));
        self
    }

    pub(super) fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policies.push(Arc::new(policy));
        self
    }

    pub(super) fn interceptor(mut self, interceptor: Arc<dyn Interceptor>) -> Self {
        self.interceptors.push(interceptor);
        self
    }

    pub(super) async fn play(self) -> Seen {
        let model = self.model.unwrap_or_else(|| ScriptedModel::new(self.turns));
        let mut task = Task::new(Arc::new(model), principal("ada"), self.prompt).content(self.content);
        for (name, text, label) in self.context {
            task = task.context(name, text, label);
        }
        for tool in self.tools {
            task = task.tool(tool);
        }
        for interceptor in self.interceptors {
            task = task.interceptor(interceptor);
        }
        for policy in self.policies {
            task = task.policy(policy);
        }
        if !self.above.is_empty() {
            task = task.started_by(principal("boss"), self.above);
        }
        let limits = probity_contract::Limits { judge_timeout_ms: 200, ..Default::default() };
        let host = Host {
            clock: self.clock,
            observer: Some(Arc::new(self.watcher.clone())),
            failures: Some(self.lane.unwrap_or_else(|| Arc::new(self.watcher.clone()))),
            approver: self.approver,
            cancel: self.cancel,
            ..Host::new(Box::new(self.journal.clone()))
        };
        let running = run_task(task.limits(limits), run_id("run"), host);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(30), running).await;
        let finished = ended.expect("the run hangs").expect("the run starts");
        Seen { finished, watcher: self.watcher, journal: self.journal }
    }
}

/// What a scenario came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Allow,
    Ask,
    Deny,
    Cancelled,
}

pub(super) struct Seen {
    pub finished: Finished,
    pub watcher: Watcher,
    pub journal: MemoryJournal,
}

impl Seen {
    pub(super) fn facts(&self) -> Vec<Fact> {
        self.journal.facts()
    }

    pub(super) fn starts(&self) -> usize {
        self.facts().iter().filter(|fact| matches!(fact, Fact::ToolStarted { .. })).count()
    }

    pub(super) fn asked(&self) -> bool {
        self.facts().iter().any(|fact| matches!(fact, Fact::Asked { .. }))
    }

    pub(super) fn denials(&self) -> Vec<DenialCode> {
        let facts = self.facts();
        let codes = facts.iter().filter_map(|fact| match fact {
            Fact::Denied { denial, .. } => Some(denial.code),
            _ => None,
        });
        codes.collect()
    }

    pub(super) fn decision(&self) -> Decision {
        match (&self.finished.ending, self.starts(), self.denials().first()) {
            (Ending::Cancelled, 0, _) => Decision::Cancelled,
            (_, 1.., _) => Decision::Allow,
            (_, 0, Some(DenialCode::NobodyToAsk)) if self.asked() => Decision::Ask,
            // A call that was not even understood does not run either.
            (_, 0, _) => Decision::Deny,
        }
    }

    /// What the model reads of its calls, in order.
    pub(super) fn results(&self) -> Vec<String> {
        let items = self.finished.machine().items().iter();
        let results = items.filter_map(|item| match &item.content {
            Content::ToolResult { text, .. } => Some(text.as_ref().to_owned()),
            _ => None,
        });
        results.collect()
    }

    /// Everything that left but what the model itself was sent.
    pub(super) fn left(&self) -> String {
        let lines: Vec<Emission> = self.journal.lines();
        format!(
            "{}\n{}\n{}\n{:?}",
            serde_json::to_string(&lines).unwrap(),
            serde_json::to_string(&self.watcher.events()).unwrap(),
            serde_json::to_string(&self.watcher.failures()).unwrap(),
            self.finished.ending,
        )
    }

    /// Compares with all that a row expects of a run.
    pub(super) fn expect(&self, row: &ScenarioRow) {
        let expected = row.expected("decision").expect("a row expects a decision");
        let wanted = wanted(expected);
        let decision = self.decision();
        assert!(
            wanted.contains(&decision),
            "{decision:?} where `{expected}` is expected: {:?}",
            self.facts()
        );
        if let Some(runs) = row.expects_run() {
            assert_eq!(self.starts() > 0, runs, "whether the tool runs");
        }
        if let Some(words) = row.expected("hook_lane") {
            self.expect_reports(row, words);
        }
        if let Some(words) = row.expected("model_sees") {
            self.expect_model_sees(words);
        }
    }

    fn expect_reports(&self, row: &ScenarioRow, words: &str) {
        let failures = self.watcher.failures();
        if words.contains("no report") {
            assert!(failures.is_empty(), "{failures:?}");
            return;
        }
        assert!(words.contains("one report"), "nobody reads the failure lane `{words}`");
        assert_eq!(failures.len(), 1, "{failures:?}");
        let failure = &failures[0];
        assert_eq!((failure.phase, failure.call.is_some()), ("hook", true));
        let after = |label: &str| {
            let rest = words.split_once(label).map(|(_, rest)| rest.trim_start_matches([':', ' ']));
            rest.and_then(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next())
        };
        if let Some(seat) = after("seat") {
            let known = [
                ("gate-target", "targets"),
                ("targets", "targets"),
                ("adjudicate", "adjudicate"),
                ("inherited-constraint", "inherited"),
                ("inherited", "inherited"),
                ("edit-recheck", "edit-recheck"),
                ("execute-recheck", "execute-recheck"),
                ("use", "execute-recheck"),
            ];
            let known = known.iter().find(|(name, _)| *name == seat);
            let (_, seat) = known.unwrap_or_else(|| panic!("nobody reads the seat `{seat}`"));
            assert_eq!(failure.seat.unwrap().to_string(), *seat);
        }
        if let Some(class) = after("class") {
            let known = [
                ("Error", "error"),
                ("Timeout", "timeout"),
                ("VerdictInvalid", "malformed"),
                ("Panic", "panic"),
            ];
            let known = known.iter().find(|(name, _)| *name == class);
            let (_, class) = known.unwrap_or_else(|| panic!("nobody reads the class `{class}`"));
            assert_eq!(failure.class, *class);
        }
        let report = serde_json::to_string(failure).unwrap();
        for secret in secrets(row) {
            assert!(!report.contains(&secret), "`{secret}` is in {report}");
        }
        // No arguments of the call: their values, where they are long enough to be nothing else.
        for value in row.arguments().as_object().into_iter().flat_map(|members| members.values()) {
            let value = value.as_str().unwrap_or_default();
            assert!(value.len() < 4 || !report.contains(value), "`{value}` is in {report}");
        }
        for word in ["cause", "stack", "source"] {
            assert!(!report.contains(&format!("\"{word}\"")), "{report}");
        }
    }

    fn expect_model_sees(&self, words: &str) {
        let results = self.results();
        let [result] = &results[..] else { panic!("one result: {results:?}") };
        if words.contains("edited") {
            assert!(result.starts_with("A person changed the arguments"), "{result}");
            return;
        }
        assert!(words.contains("one line"), "nobody reads what the model sees: `{words}`");
        let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        assert!(!result.contains(breaks), "{result:?}");
        // The engine's own sentence and the line of what was thrown.
        let reason = self.facts().into_iter().find_map(|fact| match fact {
            Fact::Denied { denial, .. } => Some(denial.reason),
            _ => None,
        });
        let reason = reason.expect("a denied call");
        assert!(reason.chars().count() <= THROWN_LINE_CHARS_MAX && result.contains(&reason), "{reason:?}");
        assert!(result.chars().count() <= 2 * THROWN_LINE_CHARS_MAX, "{result:?}");
        let plain: String = result.to_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
        assert!(!plain.contains("<system-reminder") && !plain.contains("</system-reminder"), "{result:?}");
        let hidden = |c: char| {
            c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        };
        assert!(!result.chars().any(hidden), "{result:?}");
        let left = self.left();
        for piece in [fake_token(14), "hunter2".to_owned()] {
            assert!(!result.contains(&piece) && !left.contains(&piece), "a secret is told");
        }
        // No part of the key either: not its first letters, which every such key has, but eight of its own.
        let key = fake_token(14);
        for at in 4..key.len() - 8 {
            let piece = key.get(at..at + 8).unwrap();
            assert!(!left.contains(piece) && !result.contains(piece), "a part of the key is told");
        }
    }
}

/// What a row's policies say that must not get out.
fn secrets(row: &ScenarioRow) -> Vec<String> {
    let words = row.policies().join(" ");
    let mut secrets = vec![fake_token(14)];
    for label in ["pw=", "password=", "token=", "key="] {
        let rest = words.split_once(label).map(|(_, rest)| rest);
        let secret = rest.and_then(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next());
        secrets.extend(secret.filter(|secret| secret.len() > 3).map(str::to_owned));
    }
    secrets
}

/// For kinds whose outcome is a property and not one decision: the row must expect that property, in one of these words.
pub(super) fn expects(row: &ScenarioRow, any: &[&str]) {
    let decision = row.expected("decision").expect("a row expects a decision").to_lowercase();
    assert!(any.iter().any(|one| decision.contains(one)), "nobody reads the decision `{decision}`");
}

/// The decisions that an expectation allows.
pub(super) fn wanted(words: &str) -> Vec<Decision> {
    let lower = words.to_lowercase();
    let tokens: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect();
    let has = |any: &[&str]| tokens.iter().any(|token| any.contains(token));
    let mut wanted = Vec::new();
    if has(&["cancelled", "canceled"]) {
        wanted.push(Decision::Cancelled);
    }
    if tokens.first() == Some(&"allow") || tokens.first() == Some(&"allowed") {
        wanted.push(Decision::Allow);
    }
    if has(&["ask", "asked"]) {
        wanted.push(Decision::Ask);
    }
    let refusals = ["deny", "denied", "reject", "rejected", "refuse", "refused", "ignored", "neutralised"];
    if has(&refusals) || lower.contains("not allowed") {
        wanted.push(Decision::Deny);
    }
    assert!(!wanted.is_empty(), "nobody reads the decision `{words}`");
    wanted
}
