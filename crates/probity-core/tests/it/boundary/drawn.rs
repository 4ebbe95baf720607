//! Drawn runs: whatever is refused at whichever point, and whenever the run is written down and taken up again.

use std::sync::Arc;

use probity_contract::{
    Content, Effect, HookVerdict, Model, ModelCallId, Point, Points, ReplyPart, ToolOutput,
};
use probity_core::{BoundarySettings, Outcome, RowHeard, Run, Seated, Task};
use probity_testkit::{Acts, ScriptedTool, Turn, principal};
use proptest::prelude::*;

use super::channels::Channels;
use super::{hook, name};
use crate::desk::{Desk, Owed, answered, approve, finished, judged, not_known, replied, spec, told, tool};
use crate::peer::allows;
use crate::record_check::check_lines;
use crate::scene::scene;

/// What stands for the refused text in the script of a run.
fn refused_at(point: Point, refused: &str) -> crate::scene::Scene {
    let said =
        |at: Point, otherwise: &str| if at == point { refused.to_owned() } else { otherwise.to_owned() };
    let result = ToolOutput::text(said(Point::PostToolCall, "a result"));
    let beside = said(Point::PostModelCall, "let me see");
    let parts = vec![ReplyPart::text(beside), ReplyPart::call("p1", "act", r#"{"text":"x"}"#)];
    let turns = [
        Turn::parts(parts, probity_contract::Stop::ToolCalls).streamed_by(5),
        Turn::text(&said(Point::Output, "an answer")).streamed_by(5),
    ];
    let mut scene = scene(turns);
    let model: Arc<dyn Model> = Arc::new(scene.model.clone());
    scene.task = Task::new(model, principal("ada"), said(Point::Input, "a question"));
    scene.allowing().tool(&ScriptedTool::new("act", Effect::Once, Acts::Returns(result)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// A deny at any point where messages pass, with a reason made of pieces of what it refuses: nothing of it comes out.
    #[test]
    fn i14_nothing_of_what_is_refused_comes_out_whatever_the_reason_quotes(
        refused in "[À-ž#@!%&]{12,40}",
        from in 0_usize..40,
        length in 1_usize..40,
        words in "[a-z ]{0,12}",
        at in prop::sample::select(vec![Point::Input, Point::PostModelCall, Point::PostToolCall, Point::Output]),
        rewrites in any::<bool>(),
    ) {
        let quote: String = refused.chars().cycle().skip(from).take(length).collect();
        let (told, secret) = (format!("{words}{quote}{words}"), refused.clone());
        let guard = hook("guard", Points::one(at), move |occasion| {
            let text = occasion.target().to_string();
            match text.contains(&secret) {
                false => Ok(HookVerdict::allow()),
                true if rewrites => {
                    let clean = text.replace(&secret, "gone");
                    Ok(HookVerdict::replace(format!("because {told}"), serde_json::from_str(&clean)?)?)
                }
                true => Ok(HookVerdict::deny(format!("because {told}"))?.with_message(told.clone())),
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let scene = refused_at(at, &refused).task(|task| task.interceptor(guard));
        let played = runtime.block_on(scene.run_whole());
        let machine = played.finished.machine();
        let channels = Channels::of(&played.model, &played.watcher, &played.journal)
            .and("memory", serde_json::to_string(machine).unwrap())
            .and("ending", format!("{:?}", played.finished.ending));
        channels.hold_nothing_of(&refused);
    }

    /// Two interceptors at every point, and the run is read back from what was written down at any time: what came in stands in
    /// it once, every call has one result, no tool is started twice, and it comes to an end.
    #[test]
    fn i47_a_run_that_is_looked_at_everywhere_ends_however_often_it_is_taken_up(
        acts in prop::collection::vec((any::<u16>(), 0_u8..6), 1..80),
    ) {
        let mut desk = Desk::new(Run::new(watched()).unwrap());
        let mut acts = acts.into_iter();
        for _ in 0..2_000 {
            if desk.ending.is_some() {
                break;
            }
            let (which, what) = acts.next().unwrap_or((0, 1));
            if what == 0 {
                desk = desk.taken_up(&desk.stored()).unwrap();
                continue;
            }
            pay(&mut desk, usize::from(which));
        }
        prop_assert!(desk.ending.is_some(), "it ends");
        let items = desk.run.items();
        let messages = items.iter().filter(|item| matches!(item.content, Content::Person(_))).count();
        prop_assert_eq!(messages, 1);
        let results = items.iter().filter(|item| matches!(item.content, Content::ToolResult { .. })).count();
        prop_assert_eq!(results, 2);
        let mut started: Vec<_> = desk.started.iter().map(|call| call.id()).collect();
        started.dedup();
        prop_assert_eq!(started.len(), desk.started.len(), "`once` is once");
        check_lines(&desk.lines);
    }
}

/// A spec with two interceptors that are heard at every point.
fn watched() -> probity_core::RunSpec {
    let seat = |called: &str| Seated { name: name(called), points: Points::ALL, window: None };
    let boundary = BoundarySettings { seats: vec![seat("one"), seat("two")], ..BoundarySettings::default() };
    probity_core::RunSpec { boundary, ..spec(vec![tool("act", Effect::Once)]) }
}

/// Deals with one thing that lies on the desk.
fn pay(desk: &mut Desk, which: usize) {
    let all = desk.looks.len() + desk.open.len();
    let Some(at) = which.checked_rem(all) else { return };
    if at < desk.looks.len() {
        let (passage, mut seats, occasion) = desk.looks.remove(at);
        // A row may be answered in part: the rest of it is asked again.
        seats.truncate(1 + which % 3);
        let row = RowHeard { passed: seats.clone(), last: None };
        let taken = desk.feed(Outcome::Intercepted { passage, row });
        assert!(taken.is_ok(), "{passage} {seats:?} {occasion:?} {:?}", desk.run);
        return;
    }
    let outcome = match desk.open[at - desk.looks.len()].clone() {
        Owed::Model(call) if call == ModelCallId(1) => {
            let calls = ["1", "2"].map(|n| ReplyPart::call(n, "act", format!(r#"{{"text":"{n}"}}"#)));
            replied(call, calls.to_vec())
        }
        Owed::Model(call) => replied(call, vec![ReplyPart::text("done")]),
        Owed::Targets(call, _) => told(call, Vec::new()),
        Owed::Opinions(call, seat) => judged(&call, seat, allows()),
        Owed::Tool(call) => finished(call.id(), "a result"),
        Owed::Answer(question) => answered(&question, approve()),
        Owed::Reconcile(call) => not_known(call),
    };
    desk.feed(outcome).unwrap();
}
