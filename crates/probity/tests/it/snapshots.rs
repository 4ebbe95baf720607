//! What a person or a script sees, word for word.

use std::path::Path;

use serde_json::Value;

use crate::cli::{Cli, Done, Running};

/// Compares all that came out of the command with the snapshot of this name.
pub(crate) fn check(name: &str, cli: &Cli, args: &[&str]) {
    check_done(name, args, &cli.run(args));
}

fn check_done(name: &str, args: &[&str], done: &Done) {
    let line =
        args.iter().map(|arg| if arg.contains(' ') { format!("\"{arg}\"") } else { (*arg).to_owned() });
    let line = line.collect::<Vec<_>>().join(" ");
    let (code, out, err) = (done.code.unwrap(), in_call_order(&done.out), in_call_order(&done.err));
    let text = format!(
        "$ probity {line}\nexit code {code}\n\n-- standard output --\n{out}\n-- standard error --\n{err}"
    );
    check_text(name, &text);
}

fn check_text(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    for (pattern, stand_in) in [
        (r"\b01[0-9a-hjkmnp-z]{16}\b", "[run]"),
        (r"\b[0-9a-f]{64}\b", "[digest]"),
        (r"\b[0-9a-f]{16}\b", "[question]"),
        (r"\(epoch [0-9a-f]{12}\)", "(epoch [digest])"),
        (r"(frozen +c\d+ +)[0-9a-f]{12}", "$1[digest]"),
        (r#"(words": ")[0-9a-f]{12}""#, "$1[digest]\""),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "[time]"),
        (r"(?m)^ +\d+\.\d{3}  ", "  [time]  "),
        (r"\b\d+ ms\b", "[n] ms"),
        (r"(?m) \d+\.\d s$", " [n] s"),
        (
            r#"("(?:at_ms|ran_ms|took_ms|started_at_ms|started_at_unix_ms|expires_at_ms|expires_at_unix_ms|seq)": )\d+"#,
            "$1[n]",
        ),
        (r#"("bytes": )\d+"#, "$1[n]"),
        (r"/[^\s`]*/\.tmp\w+", "[dir]"),
    ] {
        settings.add_filter(pattern, stand_in);
    }
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Parallel calls report in any order. Here each call's lines stand together, in the order in which they came.
fn in_call_order(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.chunk_by_mut(|a, b| call_of(a).is_some() && call_of(b).is_some()).for_each(|lines| {
        lines.sort_by_key(|line| call_of(line));
    });
    lines.join("\n")
}

/// The call that a line of a run or of a timeline is about.
fn call_of(line: &str) -> Option<u32> {
    let about = line.strip_prefix("  ").filter(|line| line.starts_with('c')).or_else(|| line.get(28..))?;
    let word = about.split(' ').take(2).find(|word| word.starts_with('c'))?;
    word.strip_prefix('c')?.parse().ok()
}

#[test]
fn help_is_complete() {
    let cli = Cli::new();
    check("help", &cli, &["--help"]);
    for command in [
        "run", "resume", "approve", "ask", "key", "demo", "doctor", "policy", "redact", "replay", "runs",
        "why", "diff", "export", "import",
    ] {
        check(&format!("help_{command}"), &cli, &[command, "--help"]);
    }
    for command in ["list", "show"] {
        check(&format!("help_runs_{command}"), &cli, &["runs", command, "--help"]);
    }
    for command in ["check", "explain", "test", "trust"] {
        check(&format!("help_policy_{command}"), &cli, &["policy", command, "--help"]);
    }
    for command in ["list", "rotate"] {
        check(&format!("help_key_{command}"), &cli, &["key", command, "--help"]);
    }
    let version = cli.run(&["--version"]);
    assert_eq!(version.out, format!("probity {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_demo_and_its_record() {
    let cli = Cli::new();
    check("runs_list_of_nothing", &cli, &["runs", "list"]);
    check("demo", &cli, &["demo"]);
    check("runs_list", &cli, &["runs", "list"]);
    check("runs_list_json", &cli, &["runs", "list", "--json"]);
    let run = cli.record().summary().unwrap().run;
    check("runs_show", &cli, &["runs", "show", run.as_str()]);
    let mut shown = cli.run(&["runs", "show", run.as_str(), "--json"]).json();
    let timeline = shown["timeline"].as_array_mut().unwrap();
    timeline.chunk_by_mut(|a, b| a["call"].is_u64() && b["call"].is_u64()).for_each(|moments| {
        moments.sort_by_key(|moment| moment["call"].as_u64());
    });
    check_text("runs_show_json", &serde_json::to_string_pretty(&shown).unwrap());
}

#[test]
fn a_run_that_pauses_and_its_question() {
    let cli = Cli::new();
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'act'\nunless = [{ kind = 'tool_result' }]\n\
         call = [{ tool = 'fs_write', arguments = { path = 'there.txt', content = 'words' } }]\n\
         [[rule]]\nname = 'say'\ntext = 'done'\n",
    );
    cli.file("room/there.txt", "there\n");
    cli.file(
        "task.toml",
        "model = 'rules/m.toml'\nprompt = 'x'\n[tools]\nuse = ['fs_write']\n\
         roots = [{ name = 'room', path = 'room', write = true }]\n[policy]\nask = ['fs_write']\n",
    );
    check("paused", &cli, &["run", "task.toml"]);
    let run = cli.record().start().unwrap().run.as_str().to_owned();
    let shown = cli.run(&["approve", &run, "--json"]);
    check_done("approve_json", &["approve", &run, "--json"], &shown);
    let question = shown.json()["questions"][0]["question"].as_str().unwrap().to_owned();
    check("approve_yes", &cli, &["approve", &run, &question, "--yes"]);
    check("resume", &cli, &["resume", &run]);
    check("resume_ended", &cli, &["resume", &run]);
}

#[test]
fn the_demo_for_a_script() {
    let cli = Cli::new();
    let done = cli.run(&["demo", "--json"]);
    assert_eq!(done.json()["run"], cli.record().summary().unwrap().run.as_str());
    check_done("demo_json", &["demo", "--json"], &done);
}

#[test]
fn the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    for name in ["summarise-folder", "extract-invoice", "denied-by-default"] {
        let cli = Cli::new();
        let task = format!("examples/{name}.toml");
        let args = ["run", &task];
        let mut command = cli.command(&args);
        command.current_dir(&root);
        check_done(&format!("example_{name}"), &args, &Running::start(command).finish());
    }
    let cli = Cli::new();
    let mut command = cli.command(&["run", "examples/extract-invoice.toml", "--json"]);
    command.current_dir(&root);
    let output: Value = Running::start(command).finish().json()["output"].clone();
    assert_eq!(output["currency"], "EUR", "the answer of a task with a schema is a value: {output}");
}

#[test]
fn what_is_wrong_and_what_to_do() {
    let cli = Cli::new();
    cli.file("m.toml", "[[rule]]\nname = 'x'\ntext = 'x'\n");
    cli.file("typo.toml", "model = 'rules/m.toml'\nprompt = 'x'\n\n[limits]\nturn_max = 3\n");
    check("wrong_task_file", &cli, &["run", "typo.toml"]);
    check("wrong_task_file_json", &cli, &["run", "typo.toml", "--json"]);
    check("wrong_command_line", &cli, &["run", "x", "--modle", "rules/m.toml"]);
    check("unknown_model", &cli, &["run", "What is new?", "--model", "opnai/gpt-4.1-mini"]);
    check("missing_key", &cli, &["run", "What is new?", "--model", "openai/gpt-4.1-mini"]);
    check(
        "unknown_tool_in_a_rule",
        &cli,
        &["run", "x", "--model", "rules/m.toml", "--root", ".", "--allow", "shell(ls)"],
    );
    check("unknown_run", &cli, &["runs", "show", "01m8"]);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let done =
        cli.run(&["run", "x", "--model", "compatible/m", "--base-url", &format!("http://{closed}/v1")]);
    let port = closed.port().to_string();
    let hidden = |text: &str| text.replace(&port, "[port]");
    let done = Done { code: done.code, out: hidden(&done.out), err: hidden(&done.err) };
    let args = ["run", "x", "--model", "compatible/m", "--base-url", "http://127.0.0.1:[port]/v1"];
    check_done("unreachable_endpoint", &args, &done);
}

#[test]
fn the_doctor_says_what_is_configured_and_shows_no_key() {
    let cli = Cli::new();
    let key = probity_testkit::fake_token(5);
    let mut command = cli.command(&["doctor", "--offline"]);
    command.env("OPENAI_API_KEY", &key).env("GOOGLE_API_KEY", "not a key");
    let done = Running::start(command).finish();
    assert!(!done.all().contains(&key), "{done:?}");
    // Whether the sandbox can be set up is this machine's business.
    let about_the_sandbox = |line: &str| line.contains("shell sandbox") || line.contains("`shell`");
    let out: Vec<&str> = done.out.lines().filter(|line| !about_the_sandbox(line)).collect();
    check_text("doctor_offline", &out.join("\n"));
}
