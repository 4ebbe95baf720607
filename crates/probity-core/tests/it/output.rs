//! Answers that must follow a schema.

use probity_contract::{Ending, Event, Fact, ModelParams};
use probity_testkit::{Turn, fake_token};
use serde_json::json;

use crate::scene::{Played, scene};

async fn answers(texts: &[&str], retries: u32) -> Played {
    let schema =
        json!({"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"}}});
    let params = ModelParams { output_schema: Some(schema), ..ModelParams::default() };
    let scene = scene(texts.iter().map(|text| Turn::text(text)));
    scene
        .task(|task| task.params(params))
        .limits(|limits| limits.output_retries_max = retries)
        .run_whole()
        .await
}

fn rejections(played: &Played) -> usize {
    let facts = played.facts().iter().filter(|fact| matches!(fact, Fact::OutputRejected { .. })).count();
    let events = played.watcher.events();
    assert_eq!(events.iter().filter(|event| matches!(event, Event::OutputRejected { .. })).count(), facts);
    facts
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_follows_the_schema_comes_as_a_value() {
    let played = answers(&[r#" {"total": 3} "#], 2).await;
    assert_eq!(played.finished.ending, Ending::Answered);
    let output = serde_json::to_value(played.finished.output.as_ref().unwrap()).unwrap();
    assert_eq!((output, rejections(&played)), (json!({"total": 3}), 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_misses_it_is_asked_for_again_with_what_is_wrong() {
    let played = answers(&["three", r#"{"total":"3"}"#, r#"{"total":3}"#], 2).await;
    assert_eq!((&played.finished.ending, rejections(&played)), (&Ending::Answered, 2));
    let asked = played.model.asked();
    assert!(asked[1].text().contains("the answer is not JSON"), "{}", asked[1].text());
    assert!(asked[2].text().contains("/total"), "{}", asked[2].text());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_keeps_missing_it_is_a_typed_failure() {
    for retries in [0, 1, 2] {
        let played = answers(&["no"; 5], retries).await;
        assert_eq!(played.finished.ending, Ending::OutputInvalid);
        assert_eq!(played.model.asked().len(), retries as usize + 1);
        assert!(played.answer().is_none() && played.finished.output.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_secret_in_a_rejected_answer_is_not_quoted() {
    let secret = fake_token(12);
    let text = format!(r#"{{"total":"{secret}"}}"#);
    let played = answers(&[&text, r#"{"total":3}"#], 2).await;
    let events = serde_json::to_string(&played.watcher.events()).unwrap();
    assert!(!events.contains(&secret), "{events}");
    let notice = played.model.asked()[1].window.last().unwrap().1.clone();
    assert!(notice.contains("required JSON schema") && !notice.contains(&secret), "{notice}");
}
