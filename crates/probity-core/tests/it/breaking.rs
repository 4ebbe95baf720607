//! Parts that break where nobody looks for it: in a name, in the words of an error, in a destructor. The run goes on.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use probity_contract::{
    BoxFuture, Cancel, DenialCode, Effect, FrozenCall, Policy, PolicyError, PolicyName, Seat, Verdict,
};
use probity_testkit::{Acts, ScriptedTool, Turn, policy_name};

use crate::scene::{Played, scene};

async fn judged_by(policy: impl Policy + 'static) -> (Played, ScriptedTool) {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let turns = [Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
    let scene = scene(turns).tool(&tool).task(|task| task.policy(Arc::new(policy)));
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), scene.run_whole()).await;
    (ended.expect("the run hangs"), tool)
}

/// A policy that can say its name once.
struct Nameless {
    name: PolicyName,
    asked: AtomicUsize,
}

impl Policy for Nameless {
    fn name(&self) -> &PolicyName {
        if self.asked.fetch_add(1, Ordering::SeqCst) > 0 {
            std::panic::panic_any("no name any more");
        }
        &self.name
    }

    fn judge<'a>(
        &'a self,
        _call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(async { Ok(Verdict::Allow { reason: "yes".to_owned() }) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_is_asked_for_its_name_once() {
    let policy = Nameless { name: policy_name("nameless"), asked: AtomicUsize::new(0) };
    let (played, tool) = judged_by(policy).await;
    assert_eq!((played.answer(), tool.start_count()), (Some("done"), 1));
}

/// A policy whose error breaks: when it is put into words, or when it is dropped.
struct Wordless {
    name: PolicyName,
    in_words: bool,
}

#[derive(Debug)]
struct Breaks {
    in_words: bool,
}

impl fmt::Display for Breaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.in_words {
            std::panic::panic_any("no words");
        }
        f.write_str("some words")
    }
}

impl std::error::Error for Breaks {}

impl Drop for Breaks {
    fn drop(&mut self) {
        if !self.in_words {
            std::panic::panic_any("no end");
        }
    }
}

impl Policy for Wordless {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn judge<'a>(
        &'a self,
        _call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        let error: Box<dyn std::error::Error + Send + Sync> = Box::new(Breaks { in_words: self.in_words });
        Box::pin(async move { Err(PolicyError::from(error)) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_whose_error_breaks_has_denied() {
    for in_words in [true, false] {
        let (played, tool) = judged_by(Wordless { name: policy_name("wordless"), in_words }).await;
        assert_eq!((played.answer(), tool.start_count()), (Some("done"), 0));
        assert_eq!(played.denials(), [DenialCode::PolicyFailed]);
        assert_eq!(
            played.watcher.failures().iter().map(|failure| failure.class).collect::<Vec<_>>(),
            ["panic"]
        );
    }
}

/// Breaks when it is dropped: the payload of a panic that nobody inspects while it is dropped.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        std::panic::panic_any("the payload broke");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_whose_panic_breaks_once_more_has_come_back() {
    struct Broken(ScriptedTool);
    impl probity_contract::Tool for Broken {
        fn spec(&self) -> &probity_contract::ToolSpec {
            self.0.spec()
        }
        fn targets<'a>(
            &'a self,
            arguments: &'a probity_contract::Arguments,
        ) -> BoxFuture<'a, Result<Vec<probity_contract::Target>, probity_contract::ToolError>> {
            self.0.targets(arguments)
        }
        fn run<'a>(
            &'a self,
            _permit: probity_contract::Permit,
            _cx: probity_contract::ToolContext,
        ) -> BoxFuture<'a, Result<probity_contract::ToolOutput, probity_contract::ToolError>> {
            Box::pin(async { std::panic::panic_any(Payload) })
        }
    }
    let tool = Broken(ScriptedTool::new("act", Effect::Once, Acts::Echoes));
    let turns = [Turn::calls(&[("act", "{}")]), Turn::text("done")];
    let scene = scene(turns).allowing().task(|task| task.tool(Arc::new(tool)));
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), scene.run_whole()).await;
    let played = ended.expect("the run hangs");
    assert_eq!(played.answer(), Some("done"));
    assert!(played.result().0.contains("the tool broke"), "{:?}", played.result());
}
