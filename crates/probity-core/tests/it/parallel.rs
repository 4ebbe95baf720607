//! S1: the calls of one reply run at once, and their results stand in the order of the calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use probity_contract::{
    Arguments, BoxFuture, Cancel, Effect, Permit, Target, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
};
use probity_testkit::{Acts, Judges, Meeting, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn};

use crate::scene::scene;

const THREE: &[(&str, &str)] =
    &[("act", r#"{"text":"1"}"#), ("act", r#"{"text":"2"}"#), ("act", r#"{"text":"3"}"#)];

fn texts(results: Vec<(String, bool)>) -> Vec<String> {
    results.into_iter().map(|(text, _)| text).collect()
}

/// Each call waits for the two others: one after the other, none would ever come back.
#[tokio::test(start_paused = true)]
async fn s1_calls_of_one_reply_run_at_once() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Meets(Meeting::of(3)));
    let played = scene([Turn::calls(THREE), Turn::text("done")]).tool(&tool).allowing().run_whole().await;
    assert_eq!(texts(played.results()), ["1", "2", "3"]);
    assert_eq!(played.answer(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn s1_results_stand_in_the_order_of_the_calls_whoever_is_first() {
    let third_is_done = Cancel::new();
    let signal = third_is_done.clone();
    let tool = ScriptedTool::by("act", Effect::Once, move |call| {
        if call.id().0 == 3 {
            signal.fire();
            return Acts::Echoes;
        }
        Acts::Waits(signal.clone())
    });
    let played = scene([Turn::calls(THREE), Turn::text("done")]).tool(&tool).allowing().run_whole().await;
    assert_eq!(texts(played.results()), ["1", "2", "3"]);
    assert!(third_is_done.is_fired());
}

/// Counts how many of its calls run at the same time.
struct Crowd {
    inner: ScriptedTool,
    now: AtomicUsize,
    most: Arc<AtomicUsize>,
}

impl Tool for Crowd {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn targets<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        self.inner.targets(arguments)
    }

    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(10)).await;
            self.now.fetch_sub(1, Ordering::SeqCst);
            self.inner.run(permit, cx).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_run_at_once_than_the_limit_says() {
    for limit in [1, 2, 3] {
        let most = Arc::new(AtomicUsize::new(0));
        let inner = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
        let crowd = Crowd { inner, now: AtomicUsize::new(0), most: Arc::clone(&most) };
        let scene = scene([Turn::calls(&[THREE, THREE].concat()), Turn::text("done")])
            .task(|task| task.tool(Arc::new(crowd)))
            .allowing()
            .limits(|limits| limits.tool_calls_parallel_max = limit);
        let played = scene.run_whole().await;
        assert_eq!(most.load(Ordering::SeqCst), limit as usize);
        assert_eq!(texts(played.results()), ["1", "2", "3", "1", "2", "3"]);
    }
}

/// S2: while a person thinks about one call its siblings run.
#[tokio::test(start_paused = true)]
async fn s2_siblings_of_a_question_go_on() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = ScriptedPolicy::by("careful", |call, _| match call.id().0 {
        2 => Judges::asks("sure?"),
        _ => Judges::allows(),
    });
    let person = ScriptedApprover::hanging();
    let scene = scene([Turn::calls(THREE), Turn::text("done")]).tool(&tool).policy(&policy).approver(&person);
    let cancel = scene.cancel.clone();
    let running = tokio::spawn(scene.run_whole());
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!((tool.start_count(), tool.running().alive(), person.asked().len()), (2, 0, 1));
    cancel.fire();
    let results = texts(running.await.unwrap().results());
    assert_eq!((results[0].as_str(), results[2].as_str()), ("1", "3"));
}
