//! What a task may do that another one has started, by every way to start one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use probity_contract::{
    Allowance, Arguments, BoxFuture, DenialCode, Effect, Fact, Integrity, Permit, Policy, Target, Tool,
    ToolContext, ToolError, ToolOutput, ToolSpec,
};
use probity_core::{
    Ceiling, ChildProfile, Host, LayeredRules, Mode, ReloadableRules, RuleLayer, RuleSource, SubAgent, Task,
    run_task,
};
use probity_testkit::{
    Acts, Judges, MemoryChildren, MemoryJournal, ScenarioRow, ScriptedModel, ScriptedPolicy, ScriptedTool,
    Turn, policy_name, principal, run_id, tool_name as named,
};
use serde_json::{Value, json};

use super::stage::{Decision, expects, in_root, scripted_tool, tool_name, wanted};
use super::words::says;

pub(super) async fn check(row: &ScenarioRow) {
    for way in WAYS {
        if says(row, &["report"]) {
            reported(row, way).await;
        } else if says(row, &["revoke", "remove", "withdraw"]) {
            revoked(row, way).await;
        } else {
            spawned(row, way).await;
        }
    }
}

/// How a task is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the tool that is there for it, so many levels down.
    Agent(usize),
    /// By a tool of the deployment that starts a task of its own, as a workflow or a server that asks for a completion does; it
    /// says of itself that it only reads.
    Own,
    /// By one that starts it and does not wait.
    Background,
}

const WAYS: [Way; 6] =
    [Way::Agent(1), Way::Agent(2), Way::Agent(3), Way::Agent(4), Way::Own, Way::Background];
const AGENT: &str = "agent";
const ASK: &str = r#"{"task":"do it"}"#;

/// A child of the row, and what its parent says.
struct Cast {
    tool: ScriptedTool,
    tool_name: String,
    arguments: String,
    /// Whether the child has the tool at all.
    has_tool: bool,
    /// The policies of the child, but for what those above decide.
    own: Vec<Arc<dyn Policy>>,
}

impl Cast {
    fn of(row: &ScenarioRow) -> Self {
        Self {
            tool: scripted_tool(row),
            tool_name: tool_name(row),
            arguments: row.arguments().to_string(),
            has_tool: !says(row, &["tools=[]", "no tools", "without tools"]),
            own: Vec::new(),
        }
    }

    fn profile(&self, turns: Vec<Turn>) -> ChildProfile {
        let model = ScriptedModel::new(turns);
        let profile = ChildProfile::new(principal("child"), Arc::new(model)).as_above();
        let profile = self.own.iter().cloned().fold(profile, ChildProfile::policy);
        if self.has_tool { profile.tool(Arc::new(self.tool.clone())) } else { profile }
    }

    fn call(&self) -> Turn {
        Turn::calls(&[(&self.tool_name, &self.arguments)])
    }

    fn specs(&self) -> Vec<ToolSpec> {
        vec![self.tool.spec().clone(), agent_spec(Effect::Pure)]
    }
}

/// What came of a task and of those that it has started.
struct Came {
    parent: MemoryJournal,
    children: MemoryChildren,
}

impl Came {
    fn facts_below(&self) -> Vec<Fact> {
        self.children.begun().iter().flat_map(|(_, _, journal)| journal.facts()).collect()
    }

    /// What became of the row's call: of what is below where that was started, or of the call that would have started it.
    fn decision(&self, tool: &ScriptedTool) -> Decision {
        let facts = self.facts_below().into_iter().chain(self.parent.facts());
        let nobody = |fact: Fact| match fact {
            Fact::Denied { denial, .. } => denial.code == DenialCode::NobodyToAsk,
            _ => false,
        };
        match (tool.start_count(), facts.into_iter().any(nobody)) {
            (1.., _) => Decision::Allow,
            (0, true) => Decision::Ask,
            (0, false) => Decision::Deny,
        }
    }
}

async fn play(
    cast: &Cast,
    way: Way,
    profile: ChildProfile,
    above: Vec<Arc<dyn Policy>>,
    turns: Vec<Turn>,
) -> Came {
    play_with(cast, starter(way, profile), above, turns).await
}

async fn play_with(cast: &Cast, agent: Arc<dyn Tool>, above: Vec<Arc<dyn Policy>>, turns: Vec<Turn>) -> Came {
    let task = Task::new(Arc::new(ScriptedModel::new(turns)), principal("ada"), "do it");
    let task = task.tool(agent).tool(Arc::new(cast.tool.clone()));
    let task = above.into_iter().fold(task, Task::policy);
    let (parent, children) = (MemoryJournal::new(), MemoryChildren::new());
    let host = Host { children: Some(Arc::new(children.clone())), ..Host::new(Box::new(parent.clone())) };
    let running = run_task(task, run_id("run"), host);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(30), running).await;
    let _finished = ended.expect("the run hangs").expect("the run starts");
    Came { parent, children }
}

fn starter(way: Way, profile: ChildProfile) -> Arc<dyn Tool> {
    let agent = |profile| Arc::new(SubAgent::new(named(AGENT), "Does it.", profile)) as Arc<dyn Tool>;
    match way {
        Way::Agent(depth) => {
            let innermost = agent(profile);
            (1..depth).fold(innermost, |inner, _| {
                let model = ScriptedModel::new([Turn::calls(&[(AGENT, ASK)]), Turn::text("done")]);
                agent(ChildProfile::new(principal("between"), Arc::new(model)).as_above().tool(inner))
            })
        }
        Way::Own => Arc::new(Own { spec: agent_spec(Effect::Pure), profile, waits: true }),
        Way::Background => Arc::new(Own { spec: agent_spec(Effect::Pure), profile, waits: false }),
    }
}

fn agent_spec(effect: Effect) -> ToolSpec {
    ScriptedTool::new(AGENT, effect, Acts::Echoes).spec().clone()
}

/// A tool of the deployment that starts a task.
struct Own {
    spec: ToolSpec,
    profile: ChildProfile,
    waits: bool,
}

impl Tool for Own {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, _arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn delegates(&self) -> Option<Allowance> {
        Some(self.profile.wants())
    }

    fn run<'a>(&'a self, _permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let ceiling = Ceiling::of(&cx).expect("a tool that starts tasks has a ceiling");
            let profile = self.profile.clone();
            let child = tokio::spawn(async move { ceiling.start(&profile, "do it").await });
            if !self.waits {
                // Its report is nobody's, but it comes to its end, were it let.
                let _unread = tokio::time::timeout(std::time::Duration::from_secs(10), child).await;
                return Ok(ToolOutput { text: "started".to_owned(), trusted: true, ..ToolOutput::default() });
            }
            child.await.expect("it does not break")?.into_output(cx.output_bytes_max)
        })
    }
}

/// Plays a row in which a child proposes the call, below what its clauses say of the parent.
async fn spawned(row: &ScenarioRow, way: Way) {
    let mut cast = Cast::of(row);
    let mut above: Vec<Arc<dyn Policy>> = Vec::new();
    for (at, text) in row.policies().into_iter().enumerate() {
        let is_child_s = ["child", "sub-agent", "subagent", "profile"].iter().any(|word| text.contains(word));
        let policy = policy(&cast, text, at);
        if is_child_s { cast.own.push(policy) } else { above.push(policy) }
    }
    if let Some(mode) = mode_in(&row.event) {
        // A child that would like to be in a mode of its own.
        cast.own.push(rules("of the child", &cast, mode, allowing_all(&cast)));
    }
    above.push(Arc::new(ScriptedPolicy::new("lets", Judges::allows())));
    let profile = cast.profile(vec![cast.call(), Turn::text("done")]);
    let came = play(&cast, way, profile, above, vec![Turn::calls(&[(AGENT, ASK)]), Turn::text("done")]).await;
    let decision = came.decision(&cast.tool);
    assert!(wanted(row.expected("decision").unwrap()).contains(&decision), "{way:?}: {decision:?}");
    if let Some(runs) = row.expects_run() {
        assert_eq!(cast.tool.start_count() > 0, runs, "{way:?}: whether the tool runs");
    }
}

/// What is revoked while the child runs is denied from its next call on: before its first, or between two.
async fn revoked(row: &ScenarioRow, way: Way) {
    expects(row, &["deny from the next", "denied from the next", "deny"]);
    for first_runs in [false, true] {
        let mut cast = Cast::of(row);
        let in_force = |lists: Value| layered("rules", &cast, Mode::UNSTATED, lists);
        let reloadable = Arc::new(ReloadableRules::new(in_force(allowing_all(&cast))));
        let without = in_force(json!({ "allow": [AGENT] }));
        let revoked = Arc::new(AtomicBool::new(false));
        let revoke = {
            let (rules, revoked) = (Arc::clone(&reloadable), Arc::clone(&revoked));
            move || {
                rules.replace(Ok::<_, ()>(without.clone())).unwrap();
                revoked.store(true, Ordering::SeqCst);
            }
        };
        let late_starts = Arc::new(AtomicBool::new(false));
        let act = {
            let (revoke, revoked, late) = (revoke.clone(), Arc::clone(&revoked), Arc::clone(&late_starts));
            move || {
                late.fetch_or(revoked.load(Ordering::SeqCst), Ordering::SeqCst);
                revoke();
                Acts::Echoes
            }
        };
        cast.tool = ScriptedTool::by(&cast.tool_name, cast.tool.spec().effect, move |_| act());
        let (call, mut left) = (cast.call(), 3);
        let asked = std::sync::Mutex::new(move || {
            if left == 3 && !first_runs {
                revoke();
            }
            left -= 1;
            if left >= 0 { call.clone() } else { Turn::text("done") }
        });
        let model = ScriptedModel::by(move |_| (asked.lock().unwrap())());
        let profile = ChildProfile::new(principal("child"), Arc::new(model)).as_above();
        let profile = profile.tool(Arc::new(cast.tool.clone()));
        let above: Vec<Arc<dyn Policy>> = vec![reloadable];
        let came =
            play(&cast, way, profile, above, vec![Turn::calls(&[(AGENT, ASK)]), Turn::text("done")]).await;
        assert_eq!(cast.tool.start_count(), usize::from(first_runs), "{way:?}");
        assert!(!late_starts.load(Ordering::SeqCst), "{way:?}: a start after the revocation");
        assert!(came.facts_below().iter().any(|fact| matches!(fact, Fact::Denied { .. })), "{way:?}");
    }
}

/// The parent goes on from what a child reports: what it proposes then has the child's label.
async fn reported(row: &ScenarioRow, way: Way) {
    assert!(says(row, &["untrusted"]), "nobody reads `{}`", row.event);
    let cast = Cast::of(row);
    let page = Arc::new(ScriptedTool::new("page", Effect::Pure, Acts::Echoes));
    let model = ScriptedModel::new([Turn::calls(&[("page", "{}")]), Turn::text("done")]);
    let profile = ChildProfile::new(principal("child"), Arc::new(model)).as_above().tool(page);
    let name = cast.tool_name.clone();
    let careful = ScriptedPolicy::by("careful", move |call, _| {
        let untrusted = call.facts().label.integrity == Integrity::Untrusted;
        if call.tool().as_str() == name && untrusted { Judges::denies("untrusted") } else { Judges::allows() }
    });
    let turns = vec![Turn::calls(&[(AGENT, ASK)]), cast.call(), Turn::text("done")];
    let came = play(&cast, way, profile, vec![Arc::new(careful)], turns).await;
    let decision = came.decision(&cast.tool);
    assert!(wanted(row.expected("decision").unwrap()).contains(&decision), "{way:?}: {decision:?}");
    assert!(!came.children.begun().is_empty(), "{way:?}: a child has read the page");
    assert_eq!(cast.tool.start_count() > 0, row.expects_run().unwrap_or(false));
}

/// One policy, as its clause says: a mode, or a verdict of a tool or of all, perhaps of what the call touches.
fn policy(cast: &Cast, text: &str, at: usize) -> Arc<dyn Policy> {
    let name = format!("policy {}", at + 1);
    if let Some(mode) = mode_in(text) {
        return rules(&name, cast, mode, allowing_all(cast));
    }
    let lower = text.to_lowercase();
    let verdicts =
        [("deny", "deny"), ("denies", "deny"), ("ask", "ask"), ("allow", "allow"), ("permit", "allow")];
    let found = verdicts.iter().filter_map(|(word, list)| Some((lower.find(word)?, word.len(), *list))).min();
    let (from, len, list) = found.unwrap_or_else(|| panic!("nobody reads the policy `{text}`"));
    let after: Vec<&str> = text
        .get(from + len..)
        .unwrap()
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '\'' | '`' | ','))
        .filter(|word| !word.is_empty())
        .collect();
    let at_tool = after.iter().position(|word| word.eq_ignore_ascii_case(&cast.tool_name));
    let rule = match at_tool.map(|at| after.get(at + 1).copied()) {
        // Of another tool than the row's, which no task here has: it says nothing of the call.
        None if !after.is_empty() && list == "allow" => {
            return Arc::new(ScriptedPolicy::new(&name, Judges::abstains()));
        }
        None => cast.tool_name.clone(),
        Some(None) => cast.tool_name.clone(),
        Some(Some(word)) if word.starts_with("at") && !word.contains(['/', '.', '*']) => {
            cast.tool_name.clone()
        }
        Some(Some(pattern)) => {
            let pattern = if pattern.starts_with("**") { pattern.to_owned() } else { in_root(pattern) };
            let pattern = if pattern.contains('/') || pattern.starts_with('*') {
                pattern
            } else {
                in_root(&format!("./{pattern}"))
            };
            format!("{}({pattern})", cast.tool_name)
        }
    };
    rules(&name, cast, Mode::UNSTATED, json!({ list: [rule] }))
}

/// A mode that is named, in the words of those who have such.
fn mode_in(text: &str) -> Option<Mode> {
    let lower = text.to_lowercase();
    let (_, named) = lower.split_once("mode")?;
    let has = |any: &[&str]| any.iter().any(|word| named.contains(word));
    Some(if has(&["plan", "read only", "read-only", "readonly"]) {
        Mode::READ_ONLY
    } else if has(&["bypass", "yolo", "auto", "accept", "never ask", "full"]) {
        Mode::UNSTATED
    } else if has(&["ask", "default", "manual"]) {
        Mode::ASK
    } else if has(&["dontask", "don't ask", "deny"]) {
        Mode::DENY
    } else {
        panic!("nobody reads the mode in `{text}`")
    })
}

fn allowing_all(cast: &Cast) -> Value {
    json!({ "allow": [cast.tool_name, AGENT] })
}

fn layered(name: &str, cast: &Cast, mode: Mode, lists: Value) -> LayeredRules {
    let file = serde_json::from_value(lists).unwrap();
    let layer =
        RuleLayer { source: RuleSource::Task, file_name: "rules.toml".to_owned(), file, may_widen: true };
    LayeredRules::new(policy_name(name), &[layer], &cast.specs(), mode).unwrap()
}

fn rules(name: &str, cast: &Cast, mode: Mode, lists: Value) -> Arc<dyn Policy> {
    Arc::new(layered(name, cast, mode, lists))
}
