//! How much content the record keeps.

use probity_contract::{
    Access, ContentSetting, Effect, Emission, Kept, Label, ModelErrorClass, ReplyPart, Stop, Target,
    ToolError, ToolErrorClass, ToolOutput,
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

/// What content is, in every place where a word of it can stand in a fact: none of these words may be kept.
#[tokio::test(start_paused = true)]
async fn a_record_of_digests_holds_no_word_of_the_content_in_clear() {
    let target = |at: usize| match at {
        0 => Target::Path {
            root: "home".to_owned(),
            path: "marker-path".to_owned(),
            resolved: "marker-link".to_owned(),
            access: Access::Read,
            recursive: false,
        },
        1 => Target::Url {
            url: "https://marker-host.example/marker-url".to_owned(),
            host: "marker-host.example".to_owned(),
            port: 443,
            method: "GET".to_owned(),
        },
        2 => Target::Command { argv: vec!["marker-program".to_owned(), "marker-argument".to_owned()] },
        _ => Target::Other { what: "recipient".to_owned(), value: "marker-recipient".to_owned() },
    };
    let tool = ScriptedTool::echo().touching((0..4).map(target).collect());
    let policy = ScriptedPolicy::by("rules", |call, _| match call.id().0 {
        1 => Judges::asks("marker-question"),
        2 => Judges::Fails("marker-failure".to_owned()),
        _ => Judges::allows(),
    });
    let rejected = r#"{"text":["marker-rejected"]}"#;
    let calls = [("echo", r#"{"text":"marker-a"}"#), ("echo", r#"{"text":"b"}"#), ("echo", rejected)];
    let odd =
        Turn::parts(vec![ReplyPart::call("p 4", "marker name", "{}")], Stop::Other("marker stop".to_owned()));
    let turns = [Turn::calls(&calls), odd, Turn::fails(ModelErrorClass::ServerError, "marker-model")];
    let person = ScriptedApprover::refusing("eve", "marker-refusal");
    let scene = scene(turns).tool(&tool).policy(&policy).approver(&person);
    let played = scene
        .task(|task| {
            let task = task.context("marker-context", "marker-text", Label::untrusted());
            task.title("marker-title").content(ContentSetting::Digests)
        })
        .run_whole()
        .await;
    let facts = serde_json::to_string(&played.facts()).unwrap();
    for kind in ["call_rejected", "denied", "answered", "failure_reported", "model_failed"] {
        assert!(facts.contains(kind), "{kind} did not happen");
    }
    let found: Vec<&str> = facts.split('"').filter(|word| word.contains("marker")).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(facts.contains("[digest "));
}

/// A provider's word is no name of ours: it may be long, of many lines, and hold anything.
#[tokio::test(start_paused = true)]
async fn a_word_for_stopping_that_is_not_ours_is_recorded_as_one_passed_line() {
    let secret = fake_token(18);
    let stop = Stop::Other(format!("odd\n{secret} {}", "x".repeat(5_000)));
    let played = scene([Turn::parts(vec![ReplyPart::text("done")], stop)]).run_whole().await;
    let facts = serde_json::to_string(&played.facts()).unwrap();
    assert!(
        facts.contains("odd ") && !facts.contains(&secret) && !facts.contains(&"x".repeat(300)),
        "{facts}"
    );
}

/// The first half of a credential is none that the credential pass knows, so nothing may be cut before it.
#[tokio::test(start_paused = true)]
async fn nothing_is_cut_before_it_is_redacted() {
    let secret = fake_token(19);
    for before in 20..90 {
        let prompt = format!("{} {secret} and more", "x".repeat(before));
        let scene = scene([Turn::text("done")]);
        let task = probity_core::Task::new(
            std::sync::Arc::new(scene.model.clone()),
            probity_testkit::principal("ada"),
            prompt,
        );
        let played = scene.task(|_| task.content(ContentSetting::Redacted)).run_whole().await;
        let lines = serde_json::to_string(&played.journal.lines()).unwrap();
        assert!(!lines.contains(&secret[..8]), "{before}: {lines}");
    }
    let schema = serde_json::json!({"type": "object", "properties": {"text": {"type": "number"}}});
    let tool = ScriptedTool::echo().schema(schema);
    for before in (220..300).step_by(3) {
        let arguments = serde_json::json!({"text": format!("{} {secret}", "x".repeat(before))}).to_string();
        let turns = [Turn::calls(&[("echo", &arguments)]), Turn::text("done")];
        let played = scene(turns).tool(&tool).allowing().run_whole().await;
        let (result, _) = played.result();
        assert!(result.contains("xxx") && !result.contains(&secret[..8]), "{before}: {result}");
    }
}
