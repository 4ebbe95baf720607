//! Streams that are held until somebody has looked.

use std::sync::{Arc, Mutex};

use probity_contract::{
    Cancel, Ending, Event, HookVerdict, ModelErrorClass, ModelEvent, Point, Points, Window,
};
use probity_core::{BoundarySettings, Releases};
use probity_testkit::Turn;

use super::channels::Channels;
use super::{content, hook, refusing, rows, windowed};
use crate::scene::{Scene, scene};

/// Three sentences, each longer than what the redactor holds back by itself.
const SENTENCES: [&str; 3] = [
    "The first of the sentences goes on for a while, over hills and through valleys, past the mill and the old bridge and the inn, until it comes to its end at last. ",
    "Then comes another one that tells of much the same, the rain and the road and the people who walk there in the evening and come home late when all is dark! ",
    "And the third one closes what the others began, with a few words more than it needs, so that it is no shorter than they are and nobody has to wonder why.",
];

fn letting_through(points: Points) -> Arc<dyn probity_contract::Interceptor> {
    hook("lets through", points, |_| Ok(HookVerdict::allow()))
}

fn with(scene: Scene, interceptor: Arc<dyn probity_contract::Interceptor>) -> Scene {
    scene.task(|task| task.interceptor(interceptor))
}

fn deltas(played: &crate::scene::Played) -> Vec<String> {
    let events = played.watcher.events();
    let deltas = events.iter().filter_map(|event| match event {
        Event::Text { delta, .. } => Some(delta.as_str().to_owned()),
        _ => None,
    });
    deltas.collect()
}

#[tokio::test]
async fn a_stream_is_held_until_the_answer_is_permitted_and_comes_out_whole() {
    let turn = Turn::text("one two three").streamed_by(2);
    let played = with(scene([turn]), letting_through(Points::one(Point::Output))).run_whole().await;
    assert_eq!(played.watcher.text(), "one two three");
    assert_eq!(deltas(&played).len(), 1, "at once, when it was permitted");
    let held = played.watcher.events().into_iter().find_map(|event| match event {
        Event::StreamHeld { held_bytes_max, .. } => Some(held_bytes_max),
        _ => None,
    });
    assert_eq!(held, Some(13), "what was held is told");
}

#[tokio::test]
async fn without_anybody_at_either_point_it_streams_as_before() {
    let turn = Turn::text(&SENTENCES.concat()).streamed_by(9);
    let points = Points::one(Point::Input).and(Point::PreToolCall);
    let played = with(scene([turn]), letting_through(points)).run_whole().await;
    assert!(deltas(&played).len() > 1);
    assert!(!played.watcher.events().iter().any(|event| matches!(event, Event::StreamHeld { .. })));
}

#[tokio::test]
async fn nothing_is_out_while_an_interceptor_still_looks() {
    let (signal, started) = (Cancel::new(), Cancel::new());
    let (go, begun) = (signal.clone(), started.clone());
    let waits = Waits { go, begun };
    let turn = Turn::text("one two three").streamed_by(2);
    let scene = with(scene([turn]), Arc::new(waits));
    let watcher = scene.watcher.clone();
    let running = tokio::spawn(scene.run_whole());
    started.fired().await;
    assert_eq!(watcher.text(), "");
    signal.fire();
    assert_eq!(running.await.unwrap().watcher.text(), "one two three");
}

struct Waits {
    go: Cancel,
    begun: Cancel,
}

impl probity_contract::Interceptor for Waits {
    fn name(&self) -> &probity_contract::InterceptorName {
        static NAME: std::sync::OnceLock<probity_contract::InterceptorName> = std::sync::OnceLock::new();
        NAME.get_or_init(|| super::name("waits"))
    }

    fn points(&self) -> Points {
        Points::one(Point::Output)
    }

    fn intercept<'a>(
        &'a self,
        _occasion: probity_contract::Occasion,
        _cancel: &'a Cancel,
    ) -> probity_contract::BoxFuture<'a, Result<HookVerdict, probity_contract::PolicyError>> {
        Box::pin(async {
            self.begun.fire();
            self.go.fired().await;
            Ok(HookVerdict::allow())
        })
    }
}

/// Remembers each text it was shown, and refuses one that holds `bad`.
fn watching(
    points: Points,
    window: Window,
    seen: &Arc<Mutex<Vec<(Point, String)>>>,
) -> Arc<dyn probity_contract::Interceptor> {
    let seen = Arc::clone(seen);
    windowed("reader", points, window, move |occasion| {
        let text = content(occasion.target()).to_owned();
        seen.lock().unwrap().push((occasion.point(), text.clone()));
        Ok(if text.contains("bad") { HookVerdict::deny("a bad word")? } else { HookVerdict::allow() })
    })
}

#[tokio::test]
async fn sentences_come_out_as_they_are_permitted() {
    let seen: Arc<Mutex<Vec<(Point, String)>>> = Arc::default();
    let turn = Turn::text(&SENTENCES.concat()).streamed_by(7);
    let reader = watching(Points::one(Point::Output), Window::Sentence, &seen);
    let played = with(scene([turn]), reader).run_whole().await;
    assert_eq!(played.watcher.text(), SENTENCES.concat());
    let [one, two, three] = SENTENCES;
    let texts: Vec<String> = seen.lock().unwrap().iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts, [one.to_owned(), format!("{one}{two}"), format!("{one}{two}{three}")]);
    assert!(deltas(&played).len() > 1, "not all at once");
}

#[tokio::test]
async fn what_is_refused_in_a_piece_and_all_behind_it_never_comes_out() {
    let seen = Arc::default();
    let turn = Turn::text("Fine so far. Then bad Wq7#Zk2! words. And harmless ones.").streamed_by(5);
    let played =
        with(scene([turn]), watching(Points::one(Point::Output), Window::Sentence, &seen)).run_whole().await;
    assert_eq!(played.watcher.text(), "Fine so far. ");
    assert_eq!(played.finished.denied().unwrap().reason, "a bad word");
    let machine = played.finished.machine();
    let channels = Channels::of(&played.model, &played.watcher, &played.journal)
        .and("memory", serde_json::to_string(machine).unwrap());
    channels.hold_nothing_of("Then bad Wq7#Zk2! words.");
    channels.hold_nothing_of("And harmless ones.");
}

#[tokio::test]
async fn a_piece_must_be_permitted_by_all_who_are_heard_and_one_who_must_see_the_whole_holds_it() {
    let played = |settings: BoundarySettings| async move {
        let seen: Arc<Mutex<Vec<(Point, String)>>> = Arc::default();
        let turn = Turn::text(&SENTENCES.concat()).streamed_by(9);
        let reader = watching(Points::one(Point::PostModelCall), Window::Delta, &seen);
        let both = with(with(scene([turn]), reader), letting_through(Points::one(Point::Output)));
        let played = both.task(|task| task.boundary(settings)).run_whole().await;
        assert_eq!(played.watcher.text(), SENTENCES.concat());
        seen.lock().unwrap().len()
    };
    assert_eq!(played(BoundarySettings::default()).await, 1, "the whole, and no piece");
    let specified = BoundarySettings { releases: Releases::AfterModelCall, ..BoundarySettings::default() };
    assert!(played(specified).await > 2, "as the specification has it");
}

#[tokio::test]
async fn so_many_bytes_are_a_window_too() {
    let seen = Arc::default();
    let turn = Turn::text(&"abcde".repeat(20)).streamed_by(5);
    let played =
        with(scene([turn]), watching(Points::one(Point::Output), Window::Bytes(40), &seen)).run_whole().await;
    let lengths: Vec<usize> = seen.lock().unwrap().iter().map(|(_, text)| text.len()).collect();
    assert_eq!(lengths, [40, 80, 100]);
    assert_eq!(played.watcher.text().len(), 100);
}

#[tokio::test]
async fn the_rest_of_a_stream_that_breaks_off_is_released_by_nobody() {
    let deltas = ["clean segment, ", "partial tail Wq7#Zk2!"];
    let turn = Turn::breaks_off().after_deltas(&deltas);
    let seen = Arc::default();
    let played = with(scene([turn]), watching(Points::one(Point::PostModelCall), Window::Delta, &seen))
        .run_whole()
        .await;
    assert_eq!(played.watcher.text(), "clean segment, ");
    let last = rows(&played.journal).pop().unwrap();
    assert_eq!(last.verdict.reason(), Some("host_error:streaming_unsupported"));
    assert!(matches!(played.finished.ending, Ending::ModelFailed { class: ModelErrorClass::Truncated, .. }));
    let record = serde_json::to_string(&played.journal.lines()).unwrap();
    assert!(!record.contains("partial tail"));
}

#[tokio::test]
async fn a_cancelled_run_releases_nothing_unjudged() {
    let mut scene = scene([Turn::hangs().after_deltas(&["half an ", "answer"])]);
    scene = with(scene, letting_through(Points::one(Point::Output)));
    let (watcher, cancel) = (scene.watcher.clone(), scene.cancel.clone());
    let model = scene.model.clone();
    let running = tokio::spawn(scene.run_whole());
    while model.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    cancel.fire();
    assert_eq!(running.await.unwrap().finished.ending, Ending::Cancelled);
    assert_eq!(watcher.text(), "");
}

#[tokio::test]
async fn reasoning_that_nobody_judges_is_never_out_where_answers_are_looked_at() {
    let events = vec![
        ModelEvent::Reasoning { part: 0, delta: "Wq7#Zk2!Xv9@".to_owned() },
        ModelEvent::Text { part: 1, delta: "fine".to_owned() },
    ];
    let turn = || Turn::text("fine").after_events(events.clone());
    let played = with(scene([turn()]), letting_through(Points::one(Point::Output))).run_whole().await;
    Channels::of(&played.model, &played.watcher, &played.journal).hold_nothing_of("Wq7#Zk2!Xv9@");
    assert_eq!(played.watcher.text(), "fine");
}

#[tokio::test]
async fn a_changed_answer_comes_out_as_changed_and_as_nothing_else() {
    let turn = Turn::text("the number is Wq7#Zk2!Xv9@").streamed_by(3);
    let scrub = super::scrubbing(Points::one(Point::Output), "Wq7#Zk2!Xv9@", "[number]");
    let played = with(scene([turn]), scrub).run_whole().await;
    assert_eq!(
        (played.watcher.text().as_str(), played.answer()),
        ("the number is [number]", Some("the number is [number]"))
    );
    Channels::of(&played.model, &played.watcher, &played.journal).hold_nothing_of("Wq7#Zk2!Xv9@");
}

#[tokio::test]
async fn texts_beside_calls_are_no_answers_and_stay_in() {
    let parts = vec![
        probity_contract::ReplyPart::text("thinking aloud Wq7#Zk2!"),
        probity_contract::ReplyPart::call("p1", "act", r#"{"text":"x"}"#),
    ];
    let turns = [Turn::parts(parts, probity_contract::Stop::ToolCalls).streamed_by(3), Turn::text("done")];
    let scene = scene(turns).allowing().tool(&probity_testkit::ScriptedTool::echo());
    let played = with(scene, refusing(Point::Output, "no")).run_whole().await;
    assert_eq!(played.watcher.text(), "");
}
