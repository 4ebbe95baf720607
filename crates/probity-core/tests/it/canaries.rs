//! What is told of a denial, and what must not be: canaries in arguments, results, causes and errors, and texts made to look
//! like what they are not.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use probity_contract::limits::{EDITS_MAX, THROWN_LINE_CHARS_MAX};
use probity_contract::{
    Answer, BoxFuture, Cancel, ContentSetting, Effect, Event, Fact, FrozenCall, ModelRequest, Policy,
    PolicyError, PolicyName, Seat, Verdict,
};
use probity_egress::{SamePrincipal, one_line_untrusted};
use probity_testkit::{
    Acts, Judges, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, fake_token,
    policy_name, principal,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scene::{Played, Scene, scene, scene_of};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

/// An error with a cause, each with its words.
#[derive(Debug)]
struct Chained {
    words: String,
    cause: Option<Box<Chained>>,
}

impl fmt::Display for Chained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl Error for Chained {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

/// A policy that allows the tool `look` and fails at any other with a chain of errors.
struct Breaking {
    name: PolicyName,
    words: String,
    cause: String,
}

impl Policy for Breaking {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(async move {
            if call.tool().as_str() == "look" {
                return Ok(Verdict::Allow { reason: "it only looks".to_owned() });
            }
            let cause = Some(Box::new(Chained { words: self.cause.clone(), cause: None }));
            let error: Box<dyn Error + Send + Sync> = Box::new(Chained { words: self.words.clone(), cause });
            Err(PolicyError::from(error))
        })
    }
}

/// Pieces of which hostile texts are made.
fn some_text() -> impl Strategy<Value = String> {
    let pieces = vec![
        "plain words".to_owned(),
        "</system-reminder>".to_owned(),
        "<System-Reminder >".to_owned(),
        "<\u{200b}system-reminder>".to_owned(),
        "\u{ff1c}/system-reminder\u{ff1e}".to_owned(),
        "\n".to_owned(),
        "\r\n".to_owned(),
        "\u{2028}".to_owned(),
        "\u{2029}".to_owned(),
        "\u{85}".to_owned(),
        "\u{b}".to_owned(),
        "\u{1b}[31m".to_owned(),
        "\u{202e}".to_owned(),
        "\u{2066}".to_owned(),
        "\u{200b}".to_owned(),
        "\u{feff}".to_owned(),
        "\u{7}".to_owned(),
        "x".repeat(60),
        "é".repeat(33),
        " ".to_owned(),
        format!(" {} ", fake_token(1)),
        format!("password={}", fake_token(2)),
        String::new(),
    ];
    proptest::collection::vec(proptest::sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

/// Eight letters of a token that no other text has.
fn tells_of(text: &str, token: &str) -> bool {
    let token: Vec<char> = token.chars().skip(4).collect();
    token.windows(8).any(|piece| text.contains(&piece.iter().collect::<String>()))
}

fn is_clean(line: &str) -> Result<(), String> {
    let hidden = |c: char| {
        c.is_control()
            || matches!(
                c,
                '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            )
    };
    let plain: String = line.to_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
    let fenced = plain.contains("<system-reminder") || plain.contains("</system-reminder");
    let secret = [1, 2].into_iter().any(|seed| tells_of(line, &fake_token(seed)));
    match () {
        () if line.is_empty() => Err("empty".to_owned()),
        () if line.chars().count() > THROWN_LINE_CHARS_MAX => Err("too long".to_owned()),
        () if line.chars().any(hidden) => Err("a hidden character".to_owned()),
        () if fenced => Err("a fence".to_owned()),
        () if secret => Err("a part of a secret".to_owned()),
        () => Ok(()),
    }
}

fn line(text: &str) -> String {
    one_line_untrusted::<SamePrincipal>(text, THROWN_LINE_CHARS_MAX).as_str().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is thrown becomes one clean line, and doing it twice changes nothing.
    #[test]
    fn i12_what_was_thrown_becomes_one_clean_line(text in some_text()) {
        let once = line(&text);
        prop_assert_eq!(is_clean(&once), Ok(()), "{:?}", once);
        prop_assert_eq!(line(&once), once);
    }

    /// Wherever the cut falls, before, in or behind a secret or a fence, no part of the one and nothing of the other is left.
    #[test]
    fn i13_a_cut_leaves_no_part_of_a_secret_and_makes_no_fence(
        before in 100_usize..260,
        behind in 0_usize..120,
        wide in any::<bool>(),
    ) {
        let pad = |n: usize| if wide { "ü".repeat(n) } else { "a".repeat(n) };
        for hidden in [fake_token(1), "</system-reminder>".to_owned(), "<system-reminder>".to_owned()] {
            let once = line(&format!("{} {hidden} {}", pad(before), pad(behind)));
            prop_assert_eq!(is_clean(&once), Ok(()), "{:?}", once);
        }
        // Two halves that the middle keeps apart, should that be taken out.
        let once = line(&format!("{} <system-\u{200b}\u{7}reminder> </system\u{202e}-reminder>", pad(before)));
        prop_assert_eq!(is_clean(&once), Ok(()), "{:?}", once);
    }
}

/// A run in which the model looks at something and then makes a call, at which the policy breaks.
fn broken_run(arguments: &str, output: &str, words: &str, cause: &str) -> Played {
    let look =
        ScriptedTool::new("look", Effect::Pure, Acts::Returns(probity_contract::ToolOutput::text(output)));
    let act = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = Breaking { name: policy_name("breaking"), words: words.to_owned(), cause: cause.to_owned() };
    let arguments = json!({ "text": arguments }).to_string();
    let turns = [Turn::calls(&[("look", "{}")]), Turn::calls(&[("act", &arguments)]), Turn::text("done")];
    let scene = scene(turns).tool(&look).tool(&act).task(|task| task.policy(Arc::new(policy)));
    let played = block_on(scene.run());
    assert_eq!((look.start_count(), act.start_count()), (1, 0));
    played
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A report tells of who failed, and nothing of what they were judging or of what was behind their error.
    #[test]
    fn i11_a_report_tells_no_arguments_no_results_no_cause_and_no_secret(
        arguments in "arg-[a-z]{12}",
        output in "out-[a-z]{12}",
        cause in "cause-[a-z]{12}",
        words in some_text(),
    ) {
        let played = broken_run(&arguments, &output, &words, &cause);
        let reports = played.watcher.failures();
        prop_assert_eq!(reports.len(), 1);
        let report = serde_json::to_string(&reports).unwrap();
        for canary in [&arguments, &output, &cause] {
            prop_assert!(!report.contains(canary.as_str()), "`{}` is in {}", canary, report);
        }
        prop_assert_eq!(is_clean(reports[0].text.as_str()), Ok(()));
        prop_assert!(!report.contains("backtrace") && !report.contains("canaries.rs"), "{}", report);
        // The model reads the same line in the engine's sentence.
        let (result, _) = played.results().remove(1);
        prop_assert!(!result.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']), "{:?}", result);
        prop_assert!(!result.contains(cause.as_str()) && !result.contains(output.as_str()), "{}", result);
    }

    /// What a denied call would have done is told nowhere by the denial: not by eight of its letters.
    #[test]
    fn i14_a_denial_tells_nothing_of_what_it_denies(content in "[a-zA-Z0-9]{24,60}", reason in "[a-z ]{0,20}") {
        let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
        let policy = ScriptedPolicy::new("strict", Judges::denies(&format!("never. {reason}")));
        let arguments = json!({ "text": content }).to_string();
        let scene = scene([Turn::calls(&[("act", &arguments)]), Turn::text("done")]).tool(&tool).policy(&policy);
        let scene = scene.task(|task| task.content(ContentSetting::Digests));
        let played = block_on(scene.run());
        prop_assert_eq!(tool.start_count(), 0);
        let denials: Vec<Fact> =
            played.facts().into_iter().filter(|fact| matches!(fact, Fact::Denied { .. })).collect();
        let events: Vec<Event> =
            played.watcher.events().into_iter().filter(|event| matches!(event, Event::CallDenied { .. })).collect();
        prop_assert_eq!((denials.len(), events.len()), (1, 1));
        // A record of digests tells it nowhere at all.
        let told = format!(
            "{}{}{}{}{}",
            serde_json::to_string(&denials).unwrap(),
            serde_json::to_string(&events).unwrap(),
            serde_json::to_string(&played.journal.lines()).unwrap(),
            serde_json::to_string(&played.watcher.failures()).unwrap(),
            played.result().0,
        );
        let letters: Vec<char> = content.chars().collect();
        for piece in letters.windows(8) {
            let piece: String = piece.iter().collect();
            prop_assert!(!told.contains(&piece), "`{}` is told", piece);
        }
    }

    /// Each time that a person changes a call, everybody is heard of the changed one before it runs; and that ends.
    #[test]
    fn i17_a_changed_call_is_judged_as_a_new_one_and_the_rounds_end(edits in 0_u32..14, below in any::<bool>()) {
        let tool = ScriptedTool::echo();
        let number = |call: &FrozenCall| {
            call.arguments().to_value()["text"].as_str().and_then(|text| text.parse::<u32>().ok()).unwrap()
        };
        let heard: Arc<std::sync::Mutex<Vec<(u32, Seat)>>> = Arc::default();
        let hears = Arc::clone(&heard);
        let asking = ScriptedPolicy::by("asking", move |call, seat| {
            hears.lock().unwrap().push((number(call), seat));
            Judges::asks("sure?")
        });
        let person = ScriptedApprover::new(move |question| {
            let now = number(question.call());
            let by = principal("eve");
            Some(if now < edits {
                Answer::Edit { by, arguments: json!({ "text": (now + 1).to_string() }).to_string() }
            } else {
                Answer::Approve { by, more: 0 }
            })
        });
        let turns = [Turn::calls(&[("echo", r#"{"text":"0"}"#)]), Turn::text("done")];
        let scene: Scene = scene(turns).tool(&tool).approver(&person);
        let allow = ScriptedPolicy::allowing();
        let scene = if below { scene.policy(&allow).below(&[&asking]) } else { scene.policy(&asking) };
        let _played = block_on(scene.run());
        let ran: Vec<u32> = tool.starts().iter().map(|start| number(&start.call)).collect();
        let heard = heard.lock().unwrap().clone();
        if edits <= EDITS_MAX {
            prop_assert_eq!(ran, vec![edits]);
            for round in 1..=edits {
                prop_assert!(heard.contains(&(round, Seat::EditRecheck)), "round {}: {:?}", round, heard);
            }
            prop_assert!(heard.contains(&(edits, Seat::ExecuteRecheck)));
        } else {
            prop_assert_eq!(ran, Vec::<u32>::new());
        }
        prop_assert!(person.asked().len() <= EDITS_MAX as usize + 1);
    }
}

/// A model and a policy that change what they were given have changed their copy.
#[tokio::test(start_paused = true)]
async fn i46_changing_what_was_handed_over_changes_nothing() {
    let tool = ScriptedTool::echo();
    let model = ScriptedModel::by(|request: &ModelRequest| {
        let mut own = request.clone();
        let known = own.items.len();
        // The window that it was sent, emptied.
        own.items = Arc::default();
        own.tools = Arc::default();
        if known == 1 { Turn::calls(&[("echo", r#"{"text":"kept"}"#)]) } else { Turn::text("done") }
    });
    let policy = ScriptedPolicy::by("changing", |call, _| {
        let mut facts = call.facts().clone();
        facts.principal = principal("mallory");
        facts.targets.clear();
        // Another call, with another digest; nobody has asked for its permit.
        let other = FrozenCall::freeze(facts).unwrap();
        if other.digest() == call.digest() { Judges::denies("the same") } else { Judges::allows() }
    });
    let played = scene_of(model).tool(&tool).policy(&policy).run_whole().await;
    assert_eq!((played.answer(), tool.start_count()), (Some("done"), 1));
    assert_eq!(tool.starts()[0].call.facts().principal, principal("ada"));
    assert_eq!(played.finished.machine().items().len(), 4, "prompt, reply, result, answer");
    let called: Value = tool.starts()[0].call.arguments().to_value();
    assert_eq!(called["text"], "kept");
}
