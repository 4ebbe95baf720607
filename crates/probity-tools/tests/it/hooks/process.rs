use std::path::Path;
use std::task::{Context, Waker};

use probity_contract::{Cancel, HookDecision, HookVerdict, Interceptor as _, Points, PolicyError};
use probity_tools::{ProcessHook, ProcessInterceptor};
use serde_json::json;

use super::{FORGED, MALFORMED, ask, assert_malformed, child, hook, in_time, name, occasion, until};

fn reason(went: Result<HookVerdict, PolicyError>) -> String {
    went.unwrap().reason().unwrap_or_default().to_owned()
}

fn words(went: Result<HookVerdict, PolicyError>) -> String {
    let error = went.unwrap_err();
    assert!(!error.is_malformed(), "{error}");
    error.to_string()
}

#[tokio::test]
async fn one_child_answers_one_question_after_the_other() {
    let guard = child(
        r#"
        ask; say '{"decision":"allow"}'
        ask; say '{"decision":"deny","reason":"no invoices"}'
        ask; say '{"decision":"transform","reason":"scrubbed","transform":{"path":"$target.content","value":"x"}}'
        ask; printf '{"extensions":{"took":1},"verdict":{"decision":"allow"},"id":%s}\r\n' "$id"
        ask"#,
    );
    assert!(ask(&guard, "a").await.unwrap().permits());
    assert_eq!(reason(ask(&guard, "b").await), "no invoices");
    let transform = ask(&guard, "c").await.unwrap();
    let expected = HookDecision::Transform { path: "$target.content".to_owned(), value: json!("x") };
    assert_eq!(transform.decision(), &expected);
    assert!(ask(&guard, "d").await.unwrap().permits());
}

#[tokio::test]
async fn several_questions_at_once_are_told_apart_by_their_ids() {
    let guard = child(
        r#"
        text() { text=${line##*'"content":"'}; text=${text%%'"'*}; }
        ask; text; id1=$id; text1=$text
        ask; text; id2=$id; text2=$text
        ask; text; say "{\"decision\":\"deny\",\"reason\":\"$text\"}"
        id=$id1; say "{\"decision\":\"deny\",\"reason\":\"$text1\"}"
        id=$id2; say "{\"decision\":\"deny\",\"reason\":\"$text2\"}"
        ask"#,
    );
    let asked = tokio::join!(ask(&guard, "first"), ask(&guard, "second"), ask(&guard, "third"));
    assert_eq!([reason(asked.0), reason(asked.1), reason(asked.2)], ["first", "second", "third"]);
}

#[tokio::test]
async fn v1_what_a_child_says_that_is_no_verdict_denies_and_is_told_by_its_shape() {
    let answers: Vec<&str> = MALFORMED.into_iter().chain([r#"{"decision":"allow"}"#]).collect();
    let script = r#"for answer in "$@"; do ask; say "$answer"; done; ask"#;
    let hook = ProcessHook { starts_max: 1, ..hook(script, &answers) };
    let guard = ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap();
    for malformed in MALFORMED {
        assert_malformed(ask(&guard, "x").await, malformed);
    }
    // Each was the fault of its own question; the child is still there.
    assert!(ask(&guard, "x").await.unwrap().permits());
}

#[tokio::test]
async fn v1_a_child_that_is_out_of_step_is_ended_and_has_allowed_nothing() {
    let allow = r#"say '{"decision":"allow"}'"#;
    let out_of_step = [
        ("another id", format!("ask; id=1; {allow}")),
        ("an id that is no number", format!("ask; id='\"'$id'\"'; {allow}")),
        ("no id", r#"ask; echo '{"verdict":{"decision":"allow"}}'"#.to_owned()),
        ("a bare verdict", r#"ask; echo '{"decision":"allow"}'"#.to_owned()),
        ("words before", format!("ask; echo secret-words; {allow}")),
        ("words behind", r#"ask; printf '{"id":%s,"verdict":{"decision":"allow"}} secret-words\n' "$id"; ask"#.to_owned()),
        ("words before any question", format!("echo secret-words; ask; {allow}")),
        ("an answer before the question", format!("id=1; {allow}; ask; {allow}")),
        ("an empty line", format!("ask; echo; {allow}")),
        ("a byte order mark", format!(r"ask; printf '\357\273\277'; {allow}")),
        ("no UTF-8", r#"ask; printf '{"id":%s,"verdict":{"decision":"allow","message":"\377"}}\n' "$id""#.to_owned()),
        ("a NUL", r#"ask; printf '{"id":%s,"verdict":{"decision":"allow"}}\000\n' "$id""#.to_owned()),
        ("a list", r#"ask; printf '[{"id":%s,"verdict":{"decision":"allow"}}]\n' "$id""#.to_owned()),
        ("two ids", r#"ask; printf '{"id":%s,"id":%s,"verdict":{"decision":"allow"}}\n' "$id" "$id""#.to_owned()),
        ("two verdicts", r#"ask; printf '{"id":%s,"verdict":{"decision":"allow"},"verdict":{"decision":"allow"}}\n' "$id""#.to_owned()),
        ("two answers", r#"ask; a='{"id":'$id',"verdict":{"decision":"allow"}}'; printf '%s\n%s\n' "$a" "$a""#.to_owned()),
        ("a line that is too long", r#"ask; printf '{"id":%s,"verdict":{"decision":"allow","message":"' "$id"; yes secret-words | head -c 1200000 | tr -d '\n'; printf '"}}\n'"#.to_owned()),
        ("a line without an end", "ask; yes secret-words | tr -d '\\n'".to_owned()),
    ];
    for (what, script) in out_of_step {
        let guard = child(&format!("{script}; while :; do ask; done"));
        assert_malformed(ask(&guard, "x").await, what);
        let after = words(ask(&guard, "x").await);
        assert!(after.contains("was started 1 times"), "{what}: {after}");
    }
}

#[tokio::test]
async fn v1_an_answer_that_comes_a_second_time_fails_whatever_is_asked_then() {
    let allow = r#"say '{"decision":"allow"}'"#;
    let guard = child(&format!(
        "ask; first=$id; {allow}; ask; second=$id; id=$first; {allow}; id=$second; {allow}; ask"
    ));
    assert!(ask(&guard, "x").await.unwrap().permits());
    assert_malformed(ask(&guard, "y").await, "the first answer again");
}

#[tokio::test]
async fn v4_a_forged_result_of_a_child_is_malformed() {
    let script = r#"
        for answer in "$@"; do ask; say "$answer"; done
        ask; printf '{"id":%s,"result":"secret-words"}\n' "$id"
        ask; printf '{"id":%s,"result":"secret-words","verdict":{"decision":"allow"}}\n' "$id"
        ask"#;
    let hook = ProcessHook { starts_max: 1, ..hook(script, &FORGED) };
    let guard = ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap();
    for forged in FORGED.into_iter().chain(["a result beside the id", "a result beside the verdict"]) {
        assert_malformed(ask(&guard, "x").await, forged);
    }
}

#[tokio::test]
async fn a_child_that_ends_has_denied_and_is_started_again_only_so_often() {
    let hook = ProcessHook { starts_max: 3, ..hook("ask; exit 3", &[]) };
    let guard = ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap();
    for _ in 0..3 {
        assert_eq!(words(ask(&guard, "x").await), "its process ended without an answer (exit status: 3)");
    }
    assert_eq!(words(ask(&guard, "x").await), "its process was started 3 times, and is not started again");
}

#[tokio::test]
async fn a_child_that_ended_is_there_again_at_the_next_question() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"[ -e been ] || { : > been; ask; exit 1; }; ask; say '{"decision":"allow"}'; ask"#;
    let hook = ProcessHook { directory: Some(dir.path().to_owned()), ..hook(script, &[]) };
    let guard = ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap();
    words(ask(&guard, "x").await);
    assert!(ask(&guard, "x").await.unwrap().permits());
}

#[tokio::test]
async fn half_an_answer_is_none() {
    let half = child(r#"ask; printf '{"id":%s,"verdict":{"decision":"all' "$id"; exit 0"#);
    assert!(words(ask(&half, "x").await).starts_with("its process ended without an answer"));
    let whole_but_for_the_line =
        child(r#"ask; printf '{"id":%s,"verdict":{"decision":"allow"}}' "$id"; exit 0"#);
    assert!(
        words(ask(&whole_but_for_the_line, "x").await).starts_with("its process ended without an answer")
    );
}

#[tokio::test]
async fn a_child_that_stops_listening_has_ended() {
    let deaf = child("exec 0<&-; sleep 1000");
    assert!(
        words(ask(&deaf, &"x".repeat(1_000_000)).await).starts_with("its process ended without an answer")
    );
    let mute = child("exec 1>&-; sleep 1000");
    assert!(words(ask(&mute, "x").await).starts_with("its process ended without an answer"));
}

#[tokio::test]
async fn v10_what_a_child_throws_is_one_line_without_its_credentials() {
    let token = probity_testkit::fake_token(5);
    let script = format!(
        r#"ask
        printf 'Traceback (most recent call last):\n  File "guard.py", line 3\n' >&2
        printf 'ValueError: no access with {token}\033[2J at the server\n\n' >&2
        exit 1"#
    );
    let told = words(ask(&child(&script), "x").await);
    let start = "its process ended without an answer (exit status: 1): ValueError: no access with [REDACTED";
    assert!(told.starts_with(start) && told.ends_with("at the server"), "{told}");
    assert!(!told.contains(&token) && !told.contains(['\n', '\u{1b}']), "{told}");
}

#[tokio::test]
async fn v10_of_much_that_a_child_throws_little_is_kept_and_no_half_line() {
    let token = probity_testkit::fake_token(6);
    // One line, cut in front of which only the end of the credential would be left.
    let script = format!(
        "ask; printf '{token} ' >&2; yes x | head -c 4090 | tr -d '\\n' >&2; yes y | head -c 8192 | tr -d '\\n' >&2; exit 1"
    );
    let told = words(ask(&child(&script), "x").await);
    assert_eq!(told, "its process ended without an answer (exit status: 1)");
    let many = child("ask; yes 'a line' | head -n 40000 >&2; echo 'the last one' >&2; exit 1");
    assert!(words(ask(&many, "x").await).ends_with(": the last one"));
}

#[tokio::test]
async fn a_question_that_nobody_waits_for_any_more_is_left_and_its_late_answer_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let allow = r#"say '{"decision":"allow"}'"#;
    let deny = r#"say '{"decision":"deny","reason":"late"}'"#;
    let script = format!(
        "ask; first=$id; : > read; ask; second=$id; id=$first; {deny}; id=$second; {allow}; ask; {allow}; ask"
    );
    let hook = ProcessHook { directory: Some(dir.path().to_owned()), starts_max: 1, ..hook(&script, &[]) };
    let guard = ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap();
    {
        let cancel = Cancel::new();
        let mut dropped = guard.intercept(occasion("first"), &cancel);
        assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        until(|| dir.path().join("read").exists(), "the child reads the question").await;
    }
    assert!(ask(&guard, "second").await.unwrap().permits());
    assert!(ask(&guard, "third").await.unwrap().permits());
}

#[tokio::test]
async fn a_question_that_is_dropped_before_it_is_written_is_never_put() {
    let guard = child(
        r#"ask; text=${line##*'"content":"'}; say "{\"decision\":\"deny\",\"reason\":\"${text%%'"'*}\"}"; ask"#,
    );
    {
        let cancel = Cancel::new();
        let mut dropped = guard.intercept(occasion("first"), &cancel);
        assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(reason(ask(&guard, "second").await), "second");
}

/// Whether a process is there and is no corpse.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or_default().starts_with(['Z', 'X']))
}

#[tokio::test]
async fn a_child_and_what_it_has_started_are_dead_when_the_interceptor_is_dropped() {
    let guard =
        child(r#"sleep 1000 & ask; say "{\"decision\":\"deny\",\"reason\":\"$$ $!\"}"; ask; sleep 1000"#);
    let pids = reason(ask(&guard, "x").await);
    let pids: Vec<&str> = pids.split(' ').collect();
    assert!(pids.len() == 2 && pids.iter().all(|pid| is_alive(pid)), "{pids:?}");
    drop(guard);
    // The child is dead by now; what it has started was killed by now and is gone as soon as the system comes to it.
    until(|| !pids.iter().any(|pid| is_alive(pid)), "both are gone").await;
}

#[tokio::test]
async fn a_child_gets_the_environment_that_is_named_and_its_own_directory() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"ask; say "{\"decision\":\"deny\",\"reason\":\"$(tr '\0' ' ' < /proc/$$/environ)in $(pwd -P)\"}"; ask"#;
    let hook = ProcessHook {
        directory: Some(dir.path().to_owned()),
        env_names: vec!["CARGO_PKG_NAME".to_owned(), "PROBITY_THIS_IS_NOT_SET".to_owned()],
        ..hook(script, &[])
    };
    let guard = ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap();
    let here = dir.path().canonicalize().unwrap();
    assert_eq!(reason(ask(&guard, "x").await), format!("CARGO_PKG_NAME=probity-tools in {}", here.display()));
}

#[test]
fn what_cannot_be_started_is_refused_before_a_run() {
    let check = |hook: ProcessHook, says: &str| {
        let error = ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap_err().to_string();
        assert!(error.starts_with("set up the interceptor `guard`: ") && error.contains(says), "{error}");
    };
    let of = |program: &str| ProcessHook::new(vec![program.to_owned()]);
    check(ProcessHook::new(Vec::new()), "its command is empty");
    check(of(""), "its command is empty");
    check(of("probity-there-is-no-such-program"), "find its program");
    check(of("./there-is-no-such-program"), "find its program");
    check(of("/etc/passwd"), "find its program");
    let hook = ProcessHook { env_names: vec!["A=B".to_owned()], ..of("sh") };
    check(hook, "cannot be the name of an environment variable");
}

#[test]
fn outside_of_a_runtime_it_denies() {
    let guard = child("ask");
    let cancel = Cancel::new();
    let mut asked = guard.intercept(occasion("x"), &cancel);
    let polled = asked.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, std::task::Poll::Ready(Err(_))));
}

#[tokio::test]
async fn a_question_that_is_too_long_is_not_asked() {
    let guard = child(r#"ask; say '{"decision":"allow"}'; ask"#);
    let long = "x".repeat(17 * 1024 * 1024);
    assert!(words(ask(&guard, &long).await).starts_with("the question is longer than "));
    assert!(in_time(ask(&guard, "x")).await.unwrap().permits());
}
