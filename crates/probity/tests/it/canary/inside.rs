//! The same for a program that embeds the engine: whole tasks with parts that leak where they can, and everything that a host
//! is handed of them.

use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex};

use probity_contract::{
    Access, Answer, Approver, Durability, Effect, Emission, Journal, JournalError, Label, ModelError,
    ModelErrorClass, ModelParams, Policy, ReplyPart, ReplyPartKind, Stop, Target, Tool, ToolError,
    ToolErrorClass, ToolOutput,
};
use probity_core::{Host, SystemClock, Task, run_task};
use probity_egress::{Egress, SamePrincipal};
use probity_egress_io::RedactedLayer;
use probity_testkit::{
    Acts, Judges, MemoryJournal, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn,
    Watcher, principal, run_id,
};
use serde_json::json;
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt;

use super::plant::{Canary, canaries, told};

/// One task and what is around it.
struct Scene {
    turns: Vec<Turn>,
    tool: ScriptedTool,
    policy: ScriptedPolicy,
    approver: ScriptedApprover,
    journal: Box<dyn Journal>,
    prompt: String,
    schema: Option<serde_json::Value>,
}

fn scene(turns: Vec<Turn>) -> Scene {
    Scene {
        turns,
        tool: ScriptedTool::echo(),
        policy: ScriptedPolicy::allowing(),
        approver: ScriptedApprover::approving("eve"),
        journal: Box::new(MemoryJournal::new()),
        prompt: "do it".to_owned(),
        schema: None,
    }
}

/// One call of `echo`, and an answer.
fn calling() -> Scene {
    scene(vec![Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done")])
}

impl Scene {
    fn tool(mut self, acts: Acts) -> Self {
        self.tool = ScriptedTool::new("echo", Effect::Once, acts);
        self
    }

    fn policy(mut self, judges: Judges) -> Self {
        self.policy = ScriptedPolicy::new("rules", judges);
        self
    }

    fn approver(mut self, approver: ScriptedApprover) -> Self {
        self.approver = approver;
        self
    }
}

/// Everything that came out of one task: what the watchers were told, what the caller was given, printed in every way, and
/// all of it logged.
async fn came_out(scene: Scene) -> String {
    let watcher = Watcher::new();
    let tool: Arc<dyn Tool> = Arc::new(scene.tool);
    let policy: Arc<dyn Policy> = Arc::new(scene.policy);
    let approver: Arc<dyn Approver> = Arc::new(scene.approver);
    let model = ScriptedModel::new(scene.turns);
    let params = ModelParams { output_schema: scene.schema, ..ModelParams::default() };
    let task = Task::new(Arc::new(model), principal("ada"), &scene.prompt).title(&scene.prompt);
    let task = task.context("note", &scene.prompt, Label::untrusted());
    let host = Host {
        journal: scene.journal,
        clock: Arc::new(SystemClock::new()),
        observer: Some(Arc::new(watcher.clone())),
        failures: Some(Arc::new(watcher.clone())),
        approver: Some(approver),
        consultant: None,
        redeemer: None,
        children: None,
        keeper: None,
        cancel: probity_contract::Cancel::new(),
    };
    let finished =
        run_task(task.tool(tool).policy(policy).params(params), run_id("run"), host).await.unwrap();
    let (events, failures) = (watcher.events(), watcher.failures());
    let mut all = serde_json::to_string(&json!({
        "events": events,
        "failures": failures,
        "ending": finished.ending,
        "answer": finished.answer,
        "output": finished.output,
        "hint": finished.hint,
    }))
    .unwrap();
    all.push_str(&format!("\n{events:?}\n{failures:?}\n{finished:?}\n"));
    all.push_str(&logged(|| {
        tracing::error!(?finished, ?events, ?failures, "ended as {:?}", finished.ending);
        let _span = tracing::info_span!("run", machine = ?finished.machine()).entered();
        finished.machine().items().iter().for_each(|item| tracing::trace!(?item));
    }));
    all
}

/// What a redacted log says of it.
fn logged(act: impl FnOnce()) -> String {
    let lines = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&lines);
    let layer = RedactedLayer::new(move |line: &Egress<SamePrincipal>| {
        sink.lock().unwrap().push_str(&format!("{line}\n"));
    });
    with_default(tracing_subscriber::registry().with(layer), act);
    lines.lock().unwrap().clone()
}

/// Nothing of any canary comes out of the task, and this does.
async fn check(canaries: &[Canary], scene: Scene, shows: &str) {
    let all = came_out(scene).await;
    assert!(all.contains(shows), "`{shows}` is missing: {all}");
    canaries.iter().for_each(|canary| canary.is_silent_in(&all));
}

#[tokio::test]
async fn corpus_redaction_in_what_tools_bring_err_and_break_with() {
    let canaries = canaries();
    let words = told(&canaries);
    let error = |class| ToolError::new(class, words.clone());
    check(&canaries, calling().tool(Acts::Returns(ToolOutput::text(words.clone()))), "tool_finished").await;
    for class in [ToolErrorClass::Failed, ToolErrorClass::InvalidArguments, ToolErrorClass::Unavailable] {
        check(&canaries, calling().tool(Acts::Fails(error(class))), "somebody left [REDACTED").await;
    }
    check(&canaries, calling().tool(Acts::Panics(words.clone())), "somebody left [REDACTED").await;
    for breaks in [Acts::Fails(error(ToolErrorClass::Refused)), Acts::Panics(words.clone())] {
        let mut scene = calling();
        scene.tool = ScriptedTool::echo().resolving(breaks);
        check(&canaries, scene, "somebody left [REDACTED").await;
    }
    let target = |canary: &Canary| {
        let (root, path, resolved) = ("work".to_owned(), canary.text.clone(), canary.text.clone());
        Target::Path { root, path, resolved, access: Access::Read, recursive: false }
    };
    let mut scene = calling();
    scene.tool = ScriptedTool::echo().touching(canaries.iter().map(target).collect());
    check(&canaries, scene, "tool_finished").await;
}

#[tokio::test]
async fn corpus_redaction_in_what_policies_and_people_say_and_break_with() {
    let canaries = canaries();
    let words = told(&canaries);
    let allow = probity_contract::Verdict::Allow { reason: words.clone() };
    check(&canaries, calling().policy(Judges::Says(allow)), "call_allowed").await;
    check(&canaries, calling().policy(Judges::denies(&words)), "somebody left [REDACTED").await;
    check(&canaries, calling().policy(Judges::asks(&words)), "asking").await;
    check(&canaries, calling().policy(Judges::Fails(words.clone())), "somebody left [REDACTED").await;
    check(&canaries, calling().policy(Judges::Panics(words.clone())), "somebody left [REDACTED").await;
    let asking = || calling().policy(Judges::asks("a person must see it"));
    check(&canaries, asking().approver(ScriptedApprover::refusing("eve", &words)), "somebody left [REDACTED")
        .await;
    let panicking = words.clone();
    let approver =
        ScriptedApprover::new(move |_| -> Option<Answer> { std::panic::panic_any(panicking.clone()) });
    check(&canaries, asking().approver(approver), "somebody left [REDACTED").await;
}

#[tokio::test]
async fn corpus_redaction_in_what_the_model_says_calls_and_breaks_with() {
    let canaries = canaries();
    let words = told(&canaries);
    let one_line = words.replace('\n', " ");
    let reasoning = ReplyPart { kind: ReplyPartKind::Reasoning(words.clone()), native: None };
    let reply = || Turn::parts(vec![reasoning.clone(), ReplyPart::text(words.clone())], Stop::EndTurn);
    for chars in [3, 1_000] {
        check(&canaries, scene(vec![reply().streamed_by(chars)]), "somebody left [REDACTED").await;
    }
    let refused = Turn::fails(ModelErrorClass::BadRequest, &words).with_hint(&words);
    check(&canaries, scene(vec![refused]), "somebody left [REDACTED").await;
    check(&canaries, scene(vec![Turn::panics(&words)]), "somebody left [REDACTED").await;
    let other = Turn::parts(vec![ReplyPart::text("x")], Stop::Other(one_line.clone()));
    check(&canaries, scene(vec![other]), "model_finished").await;
    for (tool, arguments) in [
        (one_line.as_str(), "{}".to_owned()),
        ("echo", json!({ "text": words }).to_string()),
        ("echo", json!({ "other": words }).to_string()),
        ("echo", json!({ &one_line: 1 }).to_string()),
        ("echo", format!("{{\"text\": {words}")),
    ] {
        let turns = vec![Turn::calls(&[(tool, &arguments)]), Turn::text("done")];
        check(&canaries, scene(turns), "somebody left [REDACTED").await;
    }
    let mut scene = scene(vec![Turn::text(&json!({ "paid": words }).to_string()); 4]);
    scene.schema = Some(json!({ "type": "object", "properties": { "paid": { "type": "integer" } } }));
    check(&canaries, scene, "somebody left [REDACTED").await;
}

struct BrokenJournal(String, bool);

impl Journal for BrokenJournal {
    fn append(&mut self, _lines: &[Emission], _durability: Durability) -> Result<(), JournalError> {
        if self.1 {
            std::panic::panic_any(self.0.clone());
        }
        let source: Box<dyn Error + Send + Sync> = self.0.clone().into();
        Err(JournalError { message: self.0.clone(), source: Some(source) })
    }
}

#[tokio::test]
async fn corpus_redaction_in_the_prompt_and_in_a_record_that_cannot_be_written() {
    let canaries = canaries();
    let words = told(&canaries);
    let mut scene = calling();
    scene.prompt.clone_from(&words);
    check(&canaries, scene, "done").await;
    for panics in [false, true] {
        let mut scene = calling();
        scene.journal = Box::new(BrokenJournal(words.clone(), panics));
        check(&canaries, scene, "somebody left [REDACTED").await;
    }
}

#[test]
fn corpus_redaction_in_records_of_a_log() {
    let canaries = canaries();
    let words = told(&canaries);
    let tool = ToolError::new(ToolErrorClass::Failed, words.clone());
    let model = ModelError::new(ModelErrorClass::Auth, words.clone()).with_hint(words.clone());
    let io = std::io::Error::other(words.clone());
    let all = logged(|| {
        let _span =
            tracing::info_span!("span", words = words.as_str(), later = tracing::field::Empty).entered();
        tracing::Span::current().record("later", words.as_str());
        tracing::info!("{words}");
        tracing::warn!(%words, other = ?words);
        tracing::error!(error = &io as &(dyn Error + 'static), ?tool, %tool, ?model, %model, ?io);
    });
    assert!(all.contains("somebody left [REDACTED"), "{all}");
    canaries.iter().for_each(|canary| canary.is_silent_in(&all));
    let printed = format!("{tool} {tool:?} {model} {model:?}");
    canaries.iter().for_each(|canary| canary.is_silent_in(&printed));
}

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The same looks find everything in what is not passed: a plain log, and the window that the model reads.
#[tokio::test]
async fn corpus_redaction_lanes_that_are_not_redacted_give_them_away() {
    let canaries = canaries();
    let words = told(&canaries);
    let bytes = Bytes::default();
    let maker = bytes.clone();
    let plain = tracing_subscriber::fmt().with_writer(move || maker.clone()).finish();
    with_default(plain, || tracing::error!("{words}"));
    let plain = String::from_utf8(bytes.0.lock().unwrap().clone()).unwrap();

    let tool = ScriptedTool::new("echo", Effect::Pure, Acts::Returns(ToolOutput::text(words.clone())));
    let model = ScriptedModel::new([Turn::calls(&[("echo", "{}")]), Turn::text("done")]);
    let task = Task::new(Arc::new(model.clone()), principal("ada"), "do it");
    let task = task.tool(Arc::new(tool)).policy(Arc::new(ScriptedPolicy::allowing()));
    let host = Host {
        journal: Box::new(MemoryJournal::new()),
        clock: Arc::new(SystemClock::new()),
        observer: None,
        failures: None,
        approver: None,
        consultant: None,
        redeemer: None,
        children: None,
        keeper: None,
        cancel: probity_contract::Cancel::new(),
    };
    run_task(task, run_id("run"), host).await.unwrap();
    let window = model.asked().last().unwrap().text();
    for canary in &canaries {
        for lane in [&plain, &window] {
            assert!(canary.found_in(lane).is_some(), "`{}` is not found in {lane}", canary.text);
        }
    }
}
