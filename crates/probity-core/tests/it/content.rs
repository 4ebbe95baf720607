//! How much content the record keeps.

use probity_contract::{
    ContentSetting, Effect, Emission, Kept, Label, ModelErrorClass, ToolError, ToolErrorClass, ToolOutput,
};
use probity_testkit::{Acts, Judges, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn, fake_token};

use crate::scene::{Played, scene};

/// A run with the secret in every text that can come in.
async fn full_of(secret: &str, content: ContentSetting) -> Played {
    let arguments = serde_json::json!({ "text": secret }).to_string();
    let calls = [("act", arguments.as_str()), ("fail", arguments.as_str()), (secret, "{}"), ("act", secret)];
    let turns = [
        Turn::calls(&calls).streamed_by(5),
        Turn::calls(&[("act", arguments.as_str())]),
        Turn::fails(ModelErrorClass::ServerError, secret),
    ];
    let act =
        ScriptedTool::new("act", Effect::Once, Acts::Returns(ToolOutput::text(format!("found {secret}"))));
    let error = ToolError::new(ToolErrorClass::Failed, format!("no {secret}"));
    let fail = ScriptedTool::new("fail", Effect::Once, Acts::Fails(error));
    let text = secret.to_owned();
    let policy = ScriptedPolicy::by("rules", move |call, _| match call.id().0 {
        1 => Judges::Says(probity_contract::Verdict::Allow { reason: text.clone() }),
        2 => Judges::asks(&text),
        _ => Judges::denies(&text),
    });
    let person = ScriptedApprover::approving("eve");
    let scene = scene(turns).tool(&act).tool(&fail).policy(&policy).approver(&person);
    let prompt = format!("use {secret}");
    let task = |task: probity_core::Task| {
        task.instructions(secret).context("note", prompt, Label::untrusted()).title(secret).content(content)
    };
    let played = scene.task(task).run_whole().await;
    assert_eq!((act.start_count(), fail.start_count()), (1, 1));
    played
}

#[tokio::test(start_paused = true)]
async fn a_redacted_record_holds_no_credential_in_any_field() {
    let secret = fake_token(14);
    let played = full_of(&secret, ContentSetting::Redacted).await;
    for line in played.journal.lines() {
        let text = serde_json::to_string(&line).unwrap();
        assert!(!text.contains(&secret), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_of_digests_holds_no_text_and_no_credential_in_any_field() {
    let secret = fake_token(15);
    let played = full_of(&secret, ContentSetting::Digests).await;
    for line in played.journal.lines() {
        if let Emission::Part(part) = &line {
            assert!(matches!(part.kept, Kept::Length(_)), "{part:?}");
        }
        let text = serde_json::to_string(&line).unwrap();
        assert!(!text.contains(&secret), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_record_holds_what_the_model_saw() {
    let secret = fake_token(16);
    let played = full_of(&secret, ContentSetting::Full).await;
    let kept: Vec<String> =
        played.recorded_results().into_iter().filter_map(|id| played.journal.text(id)).collect();
    assert_eq!(kept, played.results().into_iter().map(|(text, _)| text).collect::<Vec<_>>());
    assert_eq!(kept[0], format!("found {secret}"));
}

#[tokio::test(start_paused = true)]
async fn nothing_of_it_reaches_an_observer() {
    let secret = fake_token(17);
    let played = full_of(&secret, ContentSetting::Full).await;
    let events = serde_json::to_string(&played.watcher.events()).unwrap();
    assert!(!events.contains(&secret), "{events}");
    assert!(!format!("{:?}", played.finished.ending).contains(&secret));
}
