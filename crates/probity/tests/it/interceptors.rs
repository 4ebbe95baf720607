//! Interceptors of a task file: children and servers, what a refusal looks like, and who may lift it.

use serde_json::json;

use crate::cli::{Cli, Done, Running};
use crate::server::{Script, Server};

/// A child that answers every question with the verdict that it is given, in order, and the last one again and again.
const GUARD: &str = r#"
for verdict in "$@"; do
    IFS= read -r line || exit 0
    id=${line#'{"id":'}; id=${id%%,*}
    printf '{"id":%s,"verdict":%s}\n' "$id" "$verdict"
done
while IFS= read -r line; do
    id=${line#'{"id":'}; id=${id%%,*}
    printf '{"id":%s,"verdict":%s}\n' "$id" "$verdict"
done
"#;

const ALLOW: &str = r#"{"decision":"allow"}"#;

/// A task whose model answers "the secret-words" to "the poison-words", with these lines in its file.
fn place(lines: &str) -> Cli {
    let cli = Cli::new();
    // Others share the machine; only a test of the deadline has a short one.
    let limits = if lines.contains("[limits]") { "" } else { "[limits]\njudge_timeout_ms = 30000\n" };
    cli.file("guard.sh", GUARD);
    cli.file("m.toml", "[[rule]]\nname = 'x'\ntext = 'the secret-words'\n");
    let head = "model = 'rules/m.toml'\nprompt = 'the poison-words'\nprincipal = 'ada'\n";
    cli.file("task.toml", format!("{head}{limits}{lines}\n"));
    cli
}

/// An interceptor that is a child which says this.
fn guard(points: &str, verdicts: &[&str]) -> String {
    let verdicts: Vec<String> = verdicts.iter().map(|verdict| format!(", '{verdict}'")).collect();
    format!(
        "[[interceptors]]\nname = 'guard'\npoints = {points}\ncommand = ['sh', 'guard.sh'{}]",
        verdicts.concat()
    )
}

/// The record's rows of what was said at the points, and whatever else a person reads of the run.
fn shown(cli: &Cli) -> String {
    let run = cli.record().summary().unwrap().run;
    let done = cli.run(&["runs", "show", run.as_str()]);
    assert_eq!(done.code, Some(0), "{done:?}");
    done.out
}

fn assert_no_words(done: &Done) {
    for words in ["poison-words", "secret-words"] {
        assert!(!done.all().contains(words), "`{words}` came out: {done:?}");
    }
}

#[test]
fn a_run_whose_messages_are_let_through_ends_as_it_would_and_says_who_was_heard() {
    let cli = place(&guard("['input', 'output']", &[ALLOW]));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("the secret-words"), "{done:?}");
    let shown = shown(&cli);
    assert!(
        shown.contains("intercepted") && shown.contains("input: allow") && shown.contains("output: allow"),
        "{shown}"
    );
}

#[test]
fn a_refused_answer_has_a_code_of_its_own_and_is_nowhere() {
    let deny = r#"{"decision":"deny","reason":"it has words in it"}"#;
    let cli = place(&guard("['input', 'output']", &[ALLOW, deny]));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(11), "{done:?}");
    assert!(done.err.contains("stopped: guard refused this output: it has words in it"), "{done:?}");
    assert_no_words(&done);
    let shown = shown(&cli);
    assert!(shown.contains("output: deny by guard: it has words in it"), "{shown}");

    let cli = place(&guard("['output']", &[deny]));
    let done = cli.run(&["run", "task.toml", "--json"]);
    assert_eq!(done.code, Some(11), "{done:?}");
    assert_no_words(&done);
    let error = &done.json()["error"];
    let expected = json!({
        "code": "ERR_MESSAGE_DENIED",
        "exit_code": 11,
        "phase": "output",
        "interceptor": "guard",
        "reason": "it has words in it",
    });
    assert_eq!(error, &expected, "{done:?}");
    assert_eq!(done.json()["ending"], "message_denied");
}

#[test]
fn a_refused_prompt_is_asked_of_no_model_and_is_no_title() {
    let cli = place(&guard("['input']", &[r#"{"decision":"deny","reason":"no"}"#]));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(11), "{done:?}");
    assert_no_words(&done);
    let summary = cli.record().summary().unwrap();
    assert_eq!((summary.model_calls, summary.title.as_str()), (0, "untitled"));
    assert_no_words(&cli.run(&["runs", "list"]));
}

#[test]
fn v10_an_interceptor_that_breaks_refuses_and_is_reported_in_one_line() {
    let token = probity_testkit::fake_token(4);
    let cli = place("[[interceptors]]\nname = 'guard'\npoints = ['input']\ncommand = ['sh', 'broken.sh']");
    cli.file(
        "broken.sh",
        format!("read -r line\nprintf 'Traceback:\\n  here\\nError: no {token}\\n' >&2\nexit 3\n"),
    );
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(11), "{done:?}");
    let line =
        "  guard failed (error): its process ended without an answer (exit status: 3): Error: no [REDACTED";
    assert!(done.err.contains(line), "{done:?}");
    assert!(done.err.contains("guard refused this input: host_error:interceptor_failed"), "{done:?}");
    assert!(!done.all().contains(&token) && !done.all().contains("Traceback"), "{done:?}");
    assert_no_words(&done);
}

#[test]
fn v7_a_server_that_hangs_refuses_at_the_deadline() {
    let server = Server::start(Script::silence());
    let url = server.url.clone();
    let cli = place(&format!(
        "[limits]\njudge_timeout_ms = 300\n[[interceptors]]\nname = 'guard'\npoints = ['input']\nurl = '{url}'"
    ));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(11), "{done:?}");
    assert_eq!(done.err.matches("guard failed (timeout)").count(), 1, "{done:?}");
    assert_no_words(&done);
}

#[test]
fn what_is_only_tried_out_changes_nothing_and_is_told_so() {
    let lines = guard("['output']", &[r#"{"decision":"deny","reason":"too blue"}"#]);
    let cli = place(&format!("[boundary]\nmode = 'evaluate_only'\n{lines}"));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("the secret-words"), "{done:?}");
    assert!(shown(&cli).contains("output, tried out: deny by guard: too blue"));
}

#[test]
fn without_a_person_a_deny_that_could_be_lifted_stands() {
    let cli = place(&guard("['output']", &[r#"{"decision":"deny","reason":"ask somebody","approval":{}}"#]));
    for args in [["run", "task.toml", "--no-input"], ["run", "task.toml", "--json"]] {
        let done = cli.run(&args);
        assert_eq!(done.code, Some(11), "{done:?}");
        assert_no_words(&done);
    }
}

/// A task file that is refused before anything is started.
fn check_refused(lines: &str, code: i32, says: &str) {
    let cli = place(lines);
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(code), "{lines}\n{done:?}");
    assert!(done.err.contains(says), "{lines}\n{done:?}");
    assert!(cli.records().is_empty());
}

#[test]
fn what_is_wrong_with_an_interceptor_stops_the_start() {
    let with = |line: &str| format!("[[interceptors]]\nname = 'guard'\npoints = ['input']\n{line}");
    let command = "command = ['sh', 'guard.sh']";
    check_refused(&with(""), 2, "it takes either `command` or `url`");
    check_refused(
        &with(&format!("{command}\nurl = 'http://127.0.0.1:1'")),
        2,
        "it takes either `command` or `url`",
    );
    check_refused(&with(&format!("{command}\nshell = true")), 2, "unknown field `shell`");
    check_refused(
        &with(&format!("{command}\nwindow = 'word'")),
        2,
        "`delta`, `sentence`, or a number of bytes",
    );
    check_refused(&with(&format!("{command}\nwindow = 0")), 2, "`delta`, `sentence`, or a number of bytes");
    check_refused(
        &with(&format!("{command}\nheader_env = {{ a = 'B' }}")),
        2,
        "`header_env` belongs to a `url`",
    );
    check_refused(
        "[[interceptors]]\nname = 'guard'\npoints = []\ncommand = ['sh']",
        2,
        "its `points` are empty",
    );
    check_refused(
        "[[interceptors]]\nname = 'guard'\npoints = ['inputs']\ncommand = ['sh']",
        2,
        "unknown variant `inputs`",
    );
    check_refused(&with("command = ['probity-no-such-program']"), 3, "find its program");
    check_refused(&with("url = 'http://hooks.example.org/'"), 3, "neither https nor on this machine");
    check_refused(
        &with("url = 'http://127.0.0.1:1/'\nheader_env = { a = 'NOT_THERE' }"),
        3,
        "there is no `NOT_THERE`",
    );
    check_refused("[boundary]\nprofile = 'parallel/lenient'", 2, "unknown variant");
    check_refused("[boundary]\nmodus = 'enforce'", 2, "unknown field `modus`");
    let twice = format!("{}\n{}", with(command), with(command));
    check_refused(&twice, 2, "two interceptors are called `guard`");
    let writable = "[tools]\nroots = [{ name = 'here', path = '.', write = true }]\n";
    check_refused(&format!("{writable}{}", with(command)), 2, "which tools may write");
}

#[test]
fn the_value_of_a_header_comes_from_the_environment_and_is_shown_nowhere() {
    let server = Server::start(Script::answer(500, &[], "no lantern-orchid-9 here"));
    let url = server.url.clone();
    let cli = place(&format!(
        "[[interceptors]]\nname = 'guard'\npoints = ['input']\nurl = '{url}'\nheader_env = {{ authorization = 'GUARD_AUTH' }}"
    ));
    let mut command = cli.command(&["run", "task.toml"]);
    command.env("GUARD_AUTH", "Bearer lantern-orchid-9");
    let done = Running::start(command).finish();
    assert_eq!(done.code, Some(11), "{done:?}");
    assert!(done.err.contains("it answered with HTTP status 500"), "{done:?}");
    assert!(!done.all().contains("lantern"), "{done:?}");
    assert_eq!(server.asked(), 1);
}

#[test]
fn the_example_takes_an_account_out_of_an_answer_and_refuses_invoices() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3 for the example");
        return;
    }
    let cli = Cli::new();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name: &str| std::fs::read_to_string(examples.join(name)).unwrap();
    for name in ["hooks/no_invoices.py", "models/guarded-answer.toml"] {
        cli.file(name, read(name));
    }
    let task = format!("{}\n[limits]\njudge_timeout_ms = 30000\n", read("guarded-answer.toml"));
    cli.file("task.toml", &task);
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("The rent goes to [account], on the first of the month."), "{done:?}");
    cli.file("task.toml", task.replace("the rent", "this Invoice"));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(11), "{done:?}");
    assert!(done.err.contains("no-invoices refused this input: invoices stay inside"), "{done:?}");
}
