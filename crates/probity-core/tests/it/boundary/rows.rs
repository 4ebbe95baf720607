//! Several interceptors at one point are asked in a row: each once, each in its own time, nobody after the one who ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use probity_contract::{
    BoxFuture, Cancel, Composition, HookVerdict, HookWarning, Interceptor, InterceptorName, Occasion, Point,
    Points, PolicyError, Profile,
};
use probity_core::BoundarySettings;
use probity_testkit::{ScriptedTool, Turn};
use serde_json::json;

use super::{name, rows};
use crate::scene::{Played, scene};

const MANY: usize = 6;

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    Passes,
    Warns,
    Changes,
    Denies,
    Fails,
    Panics,
    Hangs,
    Takes(u64),
    Blocks(u64),
}

/// One of a row, which counts how often it is asked.
struct Nth {
    name: InterceptorName,
    how: How,
    asked: Arc<AtomicUsize>,
}

impl Interceptor for Nth {
    fn name(&self) -> &InterceptorName {
        &self.name
    }

    fn points(&self) -> Points {
        Points::one(Point::PreToolCall)
    }

    fn intercept<'a>(
        &'a self,
        occasion: Occasion,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match self.how {
                How::Passes => Ok(HookVerdict::allow()),
                How::Warns => Ok(HookVerdict::allow()
                    .with_warning(HookWarning { reason: Some("look".into()), message: None })),
                How::Changes if occasion.target()["text"] == "changed" => Ok(HookVerdict::allow()),
                How::Changes => {
                    Ok(HookVerdict::replace("changed", json!({"text": "changed"})).map_err(no_verdict)?)
                }
                How::Denies => Ok(HookVerdict::deny("no").map_err(no_verdict)?),
                How::Fails => Err(PolicyError::new("it broke")),
                How::Panics => panic!("it broke"),
                How::Hangs => std::future::pending().await,
                How::Takes(ms) => {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    Ok(HookVerdict::allow())
                }
                How::Blocks(ms) => {
                    #[expect(clippy::disallowed_methods, reason = "to block the thread is what it is for")]
                    std::thread::sleep(Duration::from_millis(ms));
                    Ok(HookVerdict::allow())
                }
            }
        })
    }
}

fn no_verdict(error: probity_contract::NotAVerdict) -> PolicyError {
    PolicyError::new(error.to_string())
}

/// One call before a row that is `hows`; how often each was asked.
async fn played(profile: Profile, timeout_ms: u64, hows: &[How]) -> (Played, Vec<usize>, ScriptedTool) {
    let counts: Vec<Arc<AtomicUsize>> = hows.iter().map(|_| Arc::default()).collect();
    let tool = ScriptedTool::echo();
    let settings = BoundarySettings {
        composition: Composition { profile, ..Composition::default() },
        ..BoundarySettings::default()
    };
    let turns = [Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done")];
    let row = hows.iter().zip(&counts).enumerate();
    let row: Vec<Arc<dyn Interceptor>> = row
        .map(|(number, (how, asked))| {
            let name = name(&format!("number {number}"));
            Arc::new(Nth { name, how: *how, asked: Arc::clone(asked) }) as Arc<dyn Interceptor>
        })
        .collect();
    let played = scene(turns)
        .allowing()
        .tool(&tool)
        .limits(|limits| limits.judge_timeout_ms = timeout_ms)
        .task(|task| row.into_iter().fold(task.boundary(settings), |task, one| task.interceptor(one)))
        .run_whole()
        .await;
    let counts = counts.iter().map(|count| count.load(Ordering::SeqCst)).collect();
    (played, counts, tool)
}

#[tokio::test]
async fn each_of_a_row_is_asked_once_and_nobody_after_a_deny_where_the_first_deny_counts() {
    for how in [How::Passes, How::Warns, How::Denies, How::Fails, How::Panics, How::Hangs] {
        for at in 0..MANY {
            for profile in [Profile::FirstDeny, Profile::RunAll] {
                let mut hows = [How::Passes; MANY];
                hows[at] = how;
                let (played, counts, tool) = played(profile, 15, &hows).await;
                let permits = matches!(how, How::Passes | How::Warns);
                let heard = if permits || profile == Profile::RunAll { MANY } else { at + 1 };
                let wanted: Vec<usize> = (0..MANY).map(|number| usize::from(number < heard)).collect();
                assert_eq!(counts, wanted, "{how:?} at {at}, {profile:?}");
                assert_eq!(tool.start_count(), usize::from(permits), "{how:?} at {at}, {profile:?}");
                let row = rows(&played.journal).remove(0);
                assert_eq!(row.verdicts.len(), heard, "{how:?} at {at}, {profile:?}: {row:?}");
                assert_eq!(row.verdict.permits(), permits);
            }
        }
    }
}

#[tokio::test]
async fn who_comes_after_a_change_is_asked_about_what_was_changed_and_everybody_again_after() {
    for at in 0..MANY {
        let mut hows = [How::Passes; MANY];
        hows[at] = How::Changes;
        let (_played, counts, tool) = played(Profile::FirstDeny, 1_000, &hows).await;
        // A changed call comes before everybody again.
        assert_eq!(counts, [2; MANY], "{at}");
        assert_eq!(tool.starts()[0].call.arguments().to_value(), json!({"text": "changed"}));
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_a_row_has_the_whole_time_of_its_own() {
    let (played, counts, tool) = played(Profile::FirstDeny, 100, &[How::Takes(80); MANY]).await;
    assert_eq!((counts.as_slice(), tool.start_count()), ([1; MANY].as_slice(), 1));
    assert!(rows(&played.journal)[0].verdict.permits());
}

#[tokio::test(start_paused = true)]
async fn who_takes_too_long_has_denied_and_those_before_it_have_not() {
    let hows = [How::Takes(80), How::Takes(80), How::Takes(101), How::Passes];
    let (played, counts, tool) = played(Profile::FirstDeny, 100, &hows).await;
    assert_eq!((counts.as_slice(), tool.start_count()), ([1, 1, 1, 0].as_slice(), 0));
    let row = rows(&played.journal).remove(0);
    assert_eq!((row.decided_by, row.verdict.reason()), (Some(2), Some("host_error:interceptor_timeout")));
    assert_eq!(
        played.watcher.failures().iter().map(|failure| failure.who.as_str()).collect::<Vec<_>>(),
        ["number 2"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_blocks_its_thread_past_its_time_has_nobody_asked_behind_its_back() {
    let hows = [How::Passes, How::Blocks(150), How::Passes, How::Passes];
    let (played, counts, tool) = played(Profile::RunAll, 40, &hows).await;
    // Long enough for the blocked one to come back.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!((counts.as_slice(), tool.start_count()), ([1; 4].as_slice(), 0));
    let row = rows(&played.journal).remove(0);
    assert_eq!((row.verdicts.len(), row.decided_by), (4, Some(1)));
}
