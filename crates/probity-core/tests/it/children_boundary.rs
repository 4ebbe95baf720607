//! What passes between tasks: refusals below surface as themselves, and whoever looks above looks below as well.

use std::sync::Arc;

use probity_contract::{Effect, Ending, Fact, HookVerdict, Interceptor, MessageDenied, Point, Points};
use probity_core::ChildProfile;
use probity_testkit::{Acts, ScriptedTool, Turn};

use crate::boundary::channels::Channels;
use crate::boundary::{hook, name, refusing, rows};
use crate::children::{ASKS_SCOUT, agent, delegating, profile};
use crate::scene::Played;

/// What nobody may read. No piece of it is a piece of anything else.
const REFUSED: &str = "Wq7#Zk2!Xv9@Jp4$Gh6%Rt1";

fn channels(played: &Played) -> Channels {
    let machine = played.finished.machine();
    let own = Channels::of(&played.model, &played.watcher, &played.journal)
        .and("memory", serde_json::to_string(machine.items()).unwrap())
        .and("state", serde_json::to_string(machine).unwrap())
        .and("finished", format!("{:?}", played.finished));
    let nothing = (probity_testkit::ScriptedModel::new([]), probity_testkit::Watcher::new());
    played.children.begun().iter().fold(own, |channels, (_, _, journal)| {
        let below = Channels::of(&nothing.0, &nothing.1, journal);
        channels.and("records below", below.all())
    })
}

fn above(interceptor: Arc<dyn Interceptor>, child: ChildProfile) -> crate::scene::Scene {
    delegating(child).allowing().task(|task| task.interceptor(interceptor))
}

/// Whoever refuses it, the task's own interceptor or one above, and however deep: the run at the top ends as refused, its model is
/// not asked what to make of it, and nobody reads what was refused.
#[tokio::test(start_paused = true)]
async fn b9_a_refused_answer_of_a_child_surfaces_as_itself() {
    let refused = || profile([Turn::text(REFUSED)]);
    let own = |profile: ChildProfile| profile.interceptor(refusing(Point::Output, "not today"));
    let nested =
        || profile([Turn::calls(&[ASKS_SCOUT]), Turn::text("it could not")]).tool(agent(own(refused())));
    let guard = || {
        hook("guard", Points::one(Point::Output), |occasion| {
            let holds = occasion.target().to_string().contains(REFUSED);
            Ok(if holds { HookVerdict::deny("not today")? } else { HookVerdict::allow() })
        })
    };
    let scenes =
        [delegating(own(refused())).allowing(), above(guard(), refused()), delegating(nested()).allowing()];
    for scene in scenes {
        let played = scene.run_whole().await;
        let denied = MessageDenied {
            phase: Point::Output,
            interceptor: Some(name("guard")),
            reason: "not today".to_owned(),
        };
        assert_eq!((played.finished.denied(), played.answer()), (Some(&denied), None));
        let ended = played.facts().into_iter().find_map(|fact| match fact {
            Fact::ChildEnded { ending, .. } => ending,
            _ => None,
        });
        assert_eq!(ended, Some(Ending::MessageDenied(denied)));
        channels(&played).hold_nothing_of(REFUSED);
    }
}

/// A refused question: the child's model is never asked.
#[tokio::test(start_paused = true)]
async fn b9_a_refused_question_to_a_child_surfaces_as_itself() {
    let model = probity_testkit::ScriptedModel::new([Turn::text("found")]);
    let child = ChildProfile::new(probity_testkit::principal("scout"), Arc::new(model.clone())).as_above();
    let played =
        delegating(child.interceptor(refusing(Point::Input, "not today"))).allowing().run_whole().await;
    let denied = played.finished.denied().unwrap();
    assert_eq!((denied.phase, denied.reason.as_str()), (Point::Input, "not today"));
    assert!(model.asked().is_empty());
}

/// An interceptor above looks at what is called below as at its own calls.
#[tokio::test(start_paused = true)]
async fn i31_i33_an_interceptor_above_denies_calls_below_at_any_depth() {
    for depth in 1..=3 {
        let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
        let turns = [Turn::calls(&[("act", r#"{"text":"forbidden"}"#)]), Turn::text("found")];
        let innermost = profile(turns).tool(Arc::new(tool.clone()));
        let child = (1..depth).fold(innermost, |inner, _| {
            profile([Turn::calls(&[ASKS_SCOUT]), Turn::text("found")]).tool(agent(inner))
        });
        let guard = hook("guard", Points::one(Point::PreToolCall), |occasion| {
            let holds = occasion.target().to_string().contains("forbidden");
            Ok(if holds { HookVerdict::deny("not this")? } else { HookVerdict::allow() })
        });
        let played = above(guard, child).run_whole().await;
        assert_eq!((tool.start_count(), played.answer()), (0, Some("done")));
        let (_, _, innermost) = played.children.begun().remove(depth - 1);
        assert_eq!(rows(&innermost).len(), 1, "it looked at the call below");
    }
}
