//! Whatever is not a verdict is a deny, is told once, and says nothing of what was thrown but a redacted line.

use std::sync::Arc;

use probity_contract::{
    Cancel, HookDecision, HookVerdict, Interceptor, InterceptorName, Occasion, Point, Points, PolicyError,
};
use probity_testkit::{ScriptedTool, Turn, fake_token};

use super::{hook, rows};
use crate::scene::scene;

struct Broken {
    name: InterceptorName,
    points: Points,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    Fails,
    Panics,
    Hangs,
}

impl Interceptor for Broken {
    fn name(&self) -> &InterceptorName {
        &self.name
    }

    fn points(&self) -> Points {
        self.points
    }

    fn intercept<'a>(
        &'a self,
        _occasion: Occasion,
        _cancel: &'a Cancel,
    ) -> probity_contract::BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        Box::pin(async {
            match self.how {
                How::Fails => Err(PolicyError::new(format!("it broke\nwith {}", fake_token(7)))),
                How::Panics => panic!("it broke with {}", fake_token(7)),
                How::Hangs => std::future::pending().await,
            }
        })
    }
}

const WAYS: [(How, &str, &str); 3] = [
    (How::Fails, "host_error:interceptor_failed", "error"),
    (How::Panics, "host_error:interceptor_failed", "panic"),
    (How::Hangs, "host_error:interceptor_timeout", "timeout"),
];

#[tokio::test]
async fn v7_v9_v10_an_interceptor_that_breaks_has_denied_at_every_point_and_is_reported_once() {
    for point in Point::ALL {
        for (how, reason, class) in WAYS {
            let broken = Broken { name: super::name("broken"), points: Points::one(point), how };
            let tool = ScriptedTool::echo();
            let turns = [Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done")];
            let played = scene(turns)
                .allowing()
                .tool(&tool)
                .limits(|limits| limits.judge_timeout_ms = 20)
                .task(|task| task.interceptor(Arc::new(broken)))
                .run_whole()
                .await;
            let row = rows(&played.journal).remove(0);
            assert_eq!((row.point, row.verdict.reason(), row.decided_by), (point, Some(reason), Some(0)));
            let failures = played.watcher.failures();
            let told = failures.iter().filter(|failure| failure.who.as_str() == "broken");
            // At a point that is passed again, each passage breaks anew.
            assert_eq!(told.clone().count(), rows(&played.journal).len(), "{point}");
            for failure in told {
                assert_eq!(failure.class, class);
                assert!(
                    !failure.text.as_str().contains(&fake_token(7)) && !failure.text.as_str().contains('\n')
                );
            }
            assert!(!played.everything_that_left().contains(&fake_token(7)));
            let goes_on = matches!(point, Point::PreToolCall | Point::PostToolCall | Point::AgentShutdown);
            assert_eq!(played.finished.denied().is_none(), goes_on, "{point}");
            assert_eq!(
                tool.start_count() == 0,
                matches!(
                    point,
                    Point::AgentStartup
                        | Point::Input
                        | Point::PreModelCall
                        | Point::PostModelCall
                        | Point::PreToolCall
                )
            );
        }
    }
}

#[tokio::test]
async fn v1_v2_a_verdict_that_was_read_and_is_none_denies_and_is_told_by_its_shape() {
    for text in ["{}", "null", "\"allow\"", r#"{"decision":"alow"}"#, r#"{"decision":"deny"}"#] {
        let reads = hook("reads", Points::one(Point::Input), |_| {
            Ok(HookVerdict::from_json(text, probity_contract::HookReasons::Required)?)
        });
        let played = scene([Turn::text("x")]).task(|task| task.interceptor(reads)).run_whole().await;
        assert_eq!(played.finished.denied().unwrap().reason, "host_error:verdict_invalid", "{text}");
        let failure = played.watcher.failures().remove(0);
        assert_eq!(failure.class, "malformed");
        assert!(!failure.text.as_str().contains("alow"));
    }
}

#[tokio::test]
async fn v5_what_an_interceptor_does_with_its_copy_is_its_own() {
    let mutates = hook("mutates", Points::one(Point::PreToolCall), |occasion| {
        let mut own = occasion.target().clone();
        own["text"] = serde_json::json!("forged");
        Ok(HookVerdict::allow())
    });
    let tool = ScriptedTool::echo();
    let turns = [Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done")];
    let played = scene(turns).allowing().tool(&tool).task(|task| task.interceptor(mutates)).run_whole().await;
    assert_eq!(tool.starts()[0].call.arguments().to_value(), serde_json::json!({"text": "x"}));
    let row = rows(&played.journal).remove(0);
    assert!(matches!(row.verdict.decision(), HookDecision::Allow) && row.before == row.after);
}

#[tokio::test]
async fn two_interceptors_of_one_name_do_not_start() {
    let one = || hook("same", Points::ALL, |_| Ok(HookVerdict::allow()));
    let scene = scene([Turn::text("x")]).task(|task| task.interceptor(one()).interceptor(one()));
    let host = probity_core::Host::new(Box::new(scene.journal.clone()));
    let refused = probity_core::run_task(scene.task, probity_testkit::run_id("run"), host).await;
    assert!(matches!(refused, Err(probity_core::StartError::InterceptorTwice(_))));
}
