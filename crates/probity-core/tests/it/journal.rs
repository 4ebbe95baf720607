//! A record that cannot be written stops the run: nothing is done that would not be told.

use probity_contract::{Access, Durability, Effect, Emission, Ending, Fact, Journal, JournalError, Target};
use probity_testkit::{Acts, MemoryJournal, ScriptedTool, Turn};

use crate::record_check::{check_lines, entries};
use crate::scene::{Played, scene};

fn turns() -> [Turn; 3] {
    let two = Turn::calls(&[("act", r#"{"text":"1"}"#), ("act", r#"{"text":"2"}"#)]);
    [two, Turn::calls(&[("act", r#"{"text":"3"}"#)]), Turn::text("done")]
}

async fn run(journal: &MemoryJournal) -> (Played, ScriptedTool) {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    (scene(turns()).tool(&tool).allowing().journal(journal).run().await, tool)
}

fn told_starts(journal: &MemoryJournal) -> usize {
    journal.facts().iter().filter(|fact| matches!(fact, Fact::ToolStarted { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn i42_a_record_that_fails_at_any_append_ends_the_run_and_nothing_untold_starts() {
    let whole = MemoryJournal::new();
    let (played, tool) = run(&whole).await;
    assert_eq!((played.answer(), tool.start_count()), (Some("done"), 3));
    let appends = whole.appends().len();
    assert!(appends > 10, "{appends}");
    for nth in 1..=appends {
        for journal in [MemoryJournal::failing_from(nth), MemoryJournal::failing_once_at(nth)] {
            let (played, tool) = run(&journal).await;
            let Ending::RecordFailed { error } = &played.finished.ending else {
                panic!("append {nth}: {:?}", played.finished.ending)
            };
            assert!(error.contains("no space left"), "{error}");
            assert_eq!((played.answer(), &played.finished.output), (None, &None));
            // A tool may be stopped between its start in the record and its first move, never the other way round.
            assert!(tool.start_count() <= told_starts(&journal), "append {nth}: a start that is not told");
            assert_eq!(journal.appends().len(), nth, "append {nth}: the record went on after a gap");
            check_lines(&journal.lines());
            // What was written before is the beginning of what would have been written.
            let (written, of) = (entries(&journal.lines()), entries(&whole.lines()));
            let facts = |entries: &[probity_contract::Entry]| -> Vec<String> {
                entries.iter().map(|entry| serde_json::to_string(&entry.fact).unwrap()).collect()
            };
            let beginning = &facts(&of)[..written.len()];
            assert_eq!(without_times(facts(&written)), without_times(beginning.to_vec()), "append {nth}");
        }
    }
}

/// The start of the run in unix time is the one fact that differs between two runs of the system clock.
fn without_times(facts: Vec<String>) -> Vec<String> {
    facts.into_iter().filter(|fact| !fact.contains("started_at_unix_ms")).collect()
}

#[tokio::test(start_paused = true)]
async fn i42_the_start_of_a_tool_with_an_effect_is_durable_before_it_starts() {
    let path = || Target::Path {
        root: "work".to_owned(),
        path: "a".to_owned(),
        resolved: "a".to_owned(),
        access: Access::Read,
        recursive: false,
    };
    // What is sent to somebody else has happened, whatever the tool says of its effect.
    let url = Target::Url {
        url: "https://example.org/".to_owned(),
        host: "example.org".to_owned(),
        port: 443,
        method: "GET".to_owned(),
    };
    for (effect, targets, expected) in [
        (Effect::Once, Vec::new(), true),
        (Effect::Idempotent, Vec::new(), true),
        (Effect::Pure, Vec::new(), false),
        (Effect::Pure, vec![path()], false),
        (Effect::Pure, vec![path(), url], true),
    ] {
        let journal = MemoryJournal::new();
        let tool = ScriptedTool::new("act", effect, Acts::Hangs).touching(targets);
        let scene = scene(turns()).tool(&tool).allowing().journal(&journal);
        let running = tokio::spawn(scene.run());
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!((tool.running().alive(), told_starts(&journal)), (2, 2));
        assert_eq!(journal.appends().contains(&Durability::Durable), expected, "{effect}");
        running.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_is_durable() {
    let journal = MemoryJournal::new();
    scene([Turn::text("done")]).journal(&journal).run_whole().await;
    assert_eq!(journal.appends().last(), Some(&Durability::Durable));
}

/// On several threads too, where reaching the medium moves the other work elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn durable_appends_work_on_several_threads() {
    let journal = MemoryJournal::new();
    let (played, tool) = run(&journal).await;
    assert_eq!((played.answer(), tool.start_count()), (Some("done"), 3));
}

/// Inside a `LocalSet` nothing may block in place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn durable_appends_work_inside_a_local_set() {
    let journal = MemoryJournal::new();
    let set = tokio::task::LocalSet::new();
    let (played, tool) = set.run_until(run(&journal)).await;
    assert_eq!((played.answer(), tool.start_count()), (Some("done"), 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_that_panics_ends_the_run() {
    struct Breaking(Durability);
    impl Journal for Breaking {
        fn append(&mut self, _lines: &[Emission], durability: Durability) -> Result<(), JournalError> {
            if durability == self.0 {
                std::panic::panic_any("the disk fell off");
            }
            Ok(())
        }
    }
    for breaks_at in [Durability::Handed, Durability::Durable] {
        let scene = scene([Turn::text("done")]);
        let host = probity_core::Host {
            journal: Box::new(Breaking(breaks_at)),
            clock: scene.clock,
            observer: None,
            failures: None,
            approver: None,
            consultant: None,
            redeemer: None,
            children: None,
            keeper: None,
            cancel: scene.cancel,
        };
        let finished = probity_core::run_task(scene.task, probity_testkit::run_id("r"), host).await.unwrap();
        let Ending::RecordFailed { error } = &finished.ending else { panic!("{:?}", finished.ending) };
        assert!(error.contains("the disk fell off") && finished.answer.is_none(), "{error}");
    }
}
