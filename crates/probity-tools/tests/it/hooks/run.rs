//! Both boundaries in a run on the real driver.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use probity_contract::{
    BoxFuture, Cancel, Ending, Fact, Failure, FailureLane, HookVerdict, Interceptor, InterceptorName, Limits,
    MessageDenied, Occasion, Point, Points, PolicyError,
};
use probity_core::{Host, Task, run_task};
use probity_testkit::{MemoryJournal, ScriptedModel, Turn, fake_token, principal, run_id};
use probity_tools::{HttpHook, HttpInterceptor, ProcessHook, ProcessInterceptor};

use super::server::{Server, answer};
use super::{child, hook, in_time, name, until};

/// Keeps what is reported.
#[derive(Clone, Default)]
struct Lane(Arc<Mutex<Vec<Failure>>>);

impl FailureLane for Lane {
    fn on_failure(&self, failure: &Failure) {
        self.0.lock().unwrap().push(failure.clone());
    }
}

/// How a run went whose messages one interceptor looks at.
struct Went {
    ending: Ending,
    /// Class and words of each report.
    reports: Vec<(String, String)>,
    asked_model: bool,
    facts: Vec<Fact>,
}

/// A model would say "fine" to "hello".
async fn run(guard: Arc<dyn Interceptor>, judge_timeout_ms: u64) -> Went {
    let model = Arc::new(ScriptedModel::new([Turn::text("fine")]));
    let (journal, lane) = (MemoryJournal::new(), Lane::default());
    let mut host = Host::new(Box::new(journal.clone()));
    host.failures = Some(Arc::new(lane.clone()));
    let task = Task::new(model.clone(), principal("ada"), "hello")
        .interceptor(guard)
        .limits(Limits { judge_timeout_ms, ..Limits::default() });
    let finished = in_time(run_task(task, run_id("run"), host)).await.unwrap();
    let heard = lane.0.lock().unwrap().clone();
    assert!(heard.iter().all(|failure| failure.who.as_str() == "guard"), "{heard:?}");
    let reports = heard.iter().map(|failure| (failure.class.to_owned(), failure.text.as_str().to_owned()));
    Went {
        ending: finished.ending,
        reports: reports.collect(),
        asked_model: !model.asked().is_empty(),
        facts: journal.facts(),
    }
}

fn denied(reason: &str) -> Ending {
    Ending::MessageDenied(MessageDenied {
        phase: Point::Input,
        interceptor: Some(name()),
        reason: reason.to_owned(),
    })
}

fn server(answers: &[&str]) -> (Server, Arc<dyn Interceptor>) {
    let server = Server::start(answers.iter().map(|body| answer("200 OK", body)).collect());
    let guard = HttpInterceptor::new(name(), Points::MESSAGES, HttpHook::new(server.url())).unwrap();
    (server, Arc::new(guard))
}

#[tokio::test]
async fn both_boundaries_let_a_run_through_and_see_its_messages() {
    let both = r#"ask; say '{"decision":"allow"}'; ask; say '{"decision":"allow"}'; ask"#;
    let went = run(Arc::new(child(both)), 30_000).await;
    assert_eq!((&went.ending, went.reports.len()), (&Ending::Answered, 0), "{:?}", went.reports);
    let (server, guard) = server(&[r#"{"decision":"allow"}"#, r#"{"decision":"allow"}"#]);
    let went = run(guard, 30_000).await;
    assert_eq!((&went.ending, went.reports.len()), (&Ending::Answered, 0), "{:?}", went.reports);
    let bodies: Vec<String> = server.asked().into_iter().map(|asked| asked.body).collect();
    let [input, output] = bodies.as_slice() else { panic!("two questions: {bodies:?}") };
    assert!(input.contains(r#""interception_point":"input""#) && input.contains("hello"), "{input}");
    assert!(output.contains(r#""interception_point":"output""#) && output.contains("fine"), "{output}");
}

#[tokio::test]
async fn v1_over_both_boundaries_a_malformed_verdict_stops_the_message_before_the_model() {
    let (_server, http) = server(&[r#"{"decision":"alow"}"#]);
    for guard in [Arc::new(child(r#"ask; say '{"decision":"alow"}'; ask"#)) as Arc<dyn Interceptor>, http] {
        let went = run(guard, 30_000).await;
        assert_eq!(went.ending, denied("host_error:verdict_invalid"));
        let words = "it answered with an object with an unknown decision where a verdict was needed";
        assert_eq!(went.reports, [("malformed".to_owned(), words.to_owned())]);
        assert!(!went.asked_model);
    }
}

#[tokio::test]
async fn v7_a_hung_hook_is_denied_at_its_deadline_and_reported_once() {
    // One that reads and says nothing, one that never reads, half a line, and a server that keeps the connection.
    let half = r#"ask; printf '{"id":%s,"verdict":' "$id"; sleep 1000"#;
    let (_server, http) = server(&[]);
    let children =
        ["ask; sleep 1000", "sleep 1000", half].map(|script| Arc::new(child(script)) as Arc<dyn Interceptor>);
    for guard in children.into_iter().chain([http]) {
        let started = std::time::Instant::now();
        let went = run(guard, 300).await;
        assert_eq!(went.ending, denied("host_error:interceptor_timeout"));
        assert_eq!(went.reports, [("timeout".to_owned(), "the interceptor took too long".to_owned())]);
        assert!(!went.asked_model && started.elapsed() >= Duration::from_millis(300));
        let recorded = went.facts.iter().filter(|fact| matches!(fact, Fact::FailureReported { .. })).count();
        assert_eq!(recorded, 1);
    }
}

#[tokio::test]
async fn v10_what_a_hook_throws_is_one_redacted_line_on_every_lane() {
    let token = fake_token(8);
    let script =
        format!("ask; printf 'Traceback:\\n  secret-words\\nValueError: with {token}\\n' >&2; exit 1");
    let (_server, http) = server(&[&format!("Traceback:\n secret-words {token}")]);
    for guard in [Arc::new(child(&script)) as Arc<dyn Interceptor>, http] {
        let went = run(guard, 30_000).await;
        let [(_, words)] = went.reports.as_slice() else { panic!("one report: {:?}", went.reports) };
        let everything = format!("{words} {:?} {:?}", went.ending, went.facts);
        assert!(!everything.contains(&token) && !everything.contains("secret-words"), "{everything}");
        assert!(!words.contains('\n') && words.chars().count() <= 200, "{words}");
        assert!(!went.asked_model);
    }
}

/// Whether the process is not there any more, whose number a child has written here.
fn is_gone(file: &Path) -> bool {
    let pid = std::fs::read_to_string(file).unwrap();
    !Path::new("/proc").join(pid.trim()).exists()
}

/// A child that writes its number to `pid` here, and then reads one question and says nothing.
fn silent(dir: &Path) -> Arc<dyn Interceptor> {
    let hook = ProcessHook {
        directory: Some(dir.to_owned()),
        ..hook("ask; echo $$ > new; mv new pid; sleep 1000", &[])
    };
    Arc::new(ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap())
}

#[tokio::test]
async fn a_child_dies_with_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let went = run(silent(dir.path()), 2_000).await;
    assert!(matches!(went.ending, Ending::MessageDenied(_)), "{:?}", went.ending);
    assert!(is_gone(&dir.path().join("pid")));
}

#[tokio::test]
async fn a_child_dies_with_a_run_that_is_cancelled_while_it_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let cancel = Cancel::new();
    let mut host = Host::new(Box::new(MemoryJournal::new()));
    host.cancel = cancel.clone();
    let task = Task::new(Arc::new(ScriptedModel::new([Turn::text("fine")])), principal("ada"), "hello")
        .interceptor(silent(dir.path()))
        .limits(Limits { judge_timeout_ms: 60_000, ..Limits::default() });
    let asked = async {
        until(|| file.exists(), "the child is asked").await;
        cancel.fire();
    };
    let (finished, ()) = in_time(async { tokio::join!(run_task(task, run_id("run"), host), asked) }).await;
    assert_eq!(finished.unwrap().ending, Ending::Cancelled);
    assert!(is_gone(&file));
}

/// One whose question, when it is taken back, takes its time to be gone, as the end of a child may.
struct SlowToGo {
    name: InterceptorName,
    asked: Cancel,
    goes: Arc<Mutex<Option<Going>>>,
}

/// Goes when the run has returned, which it must not wait for, or after a while.
struct Going {
    returned: Receiver<()>,
    gone_first: Sender<bool>,
}

impl Drop for Going {
    fn drop(&mut self) {
        let went = self.returned.recv_timeout(Duration::from_millis(20));
        self.gone_first.send(went.is_err()).unwrap();
    }
}

impl Interceptor for SlowToGo {
    fn name(&self) -> &InterceptorName {
        &self.name
    }

    fn points(&self) -> Points {
        Points::one(Point::Input)
    }

    fn intercept<'a>(
        &'a self,
        _occasion: Occasion,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        Box::pin(async move {
            let _going = self.goes.lock().unwrap().take();
            self.asked.fire();
            std::future::pending().await
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_returns_after_the_questions_of_its_interceptors_are_gone() {
    let (has_returned, returned) = channel();
    let (gone_first, order) = channel();
    let host = Host::new(Box::new(MemoryJournal::new()));
    let goes = Arc::new(Mutex::new(Some(Going { returned, gone_first })));
    let guard = SlowToGo { name: name(), asked: host.cancel.clone(), goes };
    let task = Task::new(Arc::new(ScriptedModel::new([Turn::text("fine")])), principal("ada"), "hello")
        .interceptor(Arc::new(guard));
    let finished = in_time(run_task(task, run_id("run"), host)).await.unwrap();
    // Nobody listens any more where all is as it should be.
    let _gone = has_returned.send(());
    assert_eq!(finished.ending, Ending::Cancelled);
    assert!(order.recv_timeout(Duration::from_secs(60)).unwrap(), "the run returned first");
}
