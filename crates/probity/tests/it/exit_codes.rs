//! What is wrong, and what the program says to it: a table of exit codes.

use std::fs;
use std::path::Path;

use probity_testkit::fake_token;
use serde_json::json;

use crate::cli::{Cli, Done};
use crate::server::{Script, Server};

/// A command line that goes wrong, and all that it must say.
#[derive(Debug, Clone, Default)]
struct Case<'a> {
    args: &'a [&'a str],
    files: &'a [(&'a str, &'a str)],
    env: &'a [(&'a str, &'a str)],
    code: i32,
    /// What stands on standard error, the next step included.
    says: &'a [&'a str],
    /// What stands nowhere.
    never: &'a [&'a str],
    /// How the record ends; empty where no run begins.
    ending: &'a str,
}

/// Runs the case for a person and for a script, each in a fresh place.
fn check(case: &Case<'_>) -> Done {
    let for_a_script: Vec<&str> = case.args.iter().chain(&["--json"]).copied().collect();
    let script = run(case, &for_a_script);
    let value = script.json();
    match value.get("error").filter(|error| error.is_object()) {
        Some(error) => assert_eq!(error["exit_code"], case.code, "{case:?}\n{script:?}"),
        None => assert_eq!(value["ending"], case.ending, "{case:?}\n{script:?}"),
    }
    let person = run(case, case.args);
    for part in case.says {
        assert!(person.err.contains(part), "`{part}` is missing\n{case:?}\n{person:?}");
    }
    person
}

fn run(case: &Case<'_>, args: &[&str]) -> Done {
    let cli = Cli::new();
    for (name, content) in case.files {
        cli.file(name, content);
    }
    let mut command = cli.command(args);
    command.envs(case.env.iter().copied());
    let done = crate::cli::Running::start(command).finish();
    assert_eq!(done.code, Some(case.code), "{case:?}\n{done:?}");
    for part in case.never.iter().chain(&["internal error", "panicked", "RUST_BACKTRACE"]) {
        assert!(!done.all().contains(part), "`{part}` came out\n{case:?}\n{done:?}");
    }
    let endings: Vec<_> = cli.records().iter().map(|record| record.summary().unwrap().ending).collect();
    if case.ending.is_empty() {
        assert!(endings.is_empty(), "no run begins, so there is no record\n{case:?}");
    } else {
        let [Some(ending)] = endings.as_slice() else { panic!("one ended record: {endings:?}\n{case:?}") };
        assert_eq!(serde_json::to_value(ending).unwrap()["ending"], case.ending, "{case:?}\n{done:?}");
    }
    done
}

#[test]
fn a_wrong_command_line_or_task_file_is_a_usage_error() {
    const RULES: (&str, &str) = ("m.toml", "[[rule]]\nname = 'x'\ntext = 'x'\n");
    const MODEL: &str = "model = 'rules/m.toml'\n";
    let task = |text: &'static str| [("task.toml", text), RULES];
    let with = |text: &str| format!("prompt = 'x'\n{MODEL}{text}");
    let hint_of_files = " hint: the keys of a task file stand in the README";
    let run = &["run", "task.toml"] as &[&str];
    let check_file = |text: &str, says: &[&str]| {
        check(&Case { args: run, files: &[("task.toml", text), RULES], code: 2, says, ..Case::default() });
    };
    check_file("prompt = ", &["task.toml", "line 1", hint_of_files]);
    check_file("promt = 'x'", &["unknown field `promt`", "expected one of", hint_of_files]);
    check_file("prompt = 'x'\n[limits]\nturns = 3", &["unknown field `turns`", hint_of_files]);
    check_file("", &["it has no `prompt`"]);
    check_file(&with("[[context]]\nname = 'a'\nfile = 'gone.txt'"), &["gone.txt", "No such file"]);
    check_file("prompt = 'x'", &["choose a model", "hint: write --model provider/name"]);
    check_file(&with("[policy]\nallow = ['fs_read']"), &["fs_read", "hint: a rule is `tool`"]);
    check_file(
        &with(
            "[tools]\nuse = ['fs_read']\nroots = [{ name = 'w', path = '.' }]\n[policy]\nallow = ['fs_read(']",
        ),
        &["fs_read(", "hint: a rule is `tool`"],
    );
    check_file(
        &with("[tools]\nuse = ['fs_read']"),
        &["no root is declared", "hint: declare a directory with --root"],
    );
    check_file(
        &with("[tools]\nuse = ['fs_write']\nroots = [{ name = 'w', path = '.' }]"),
        &["no root may be written", "hint: declare a root that may be written with --write-root"],
    );
    check_file(
        &with("[tools]\nuse = ['fs_rad']"),
        &["`fs_rad`: there is no such tool", "hint: the built-in tools are"],
    );
    check_file(&with("[limits]\ncost_usd_max = 1.0"), &["a limit of cost needs the model's prices"]);
    check_file(&with("[output.schema]\ntype = 'nonsense'"), &["schema"]);
    check_file(&with("[output]\nschema_file = 'm.toml'"), &["`m.toml` is not JSON"]);
    check_file(&with("[[context]]\nname = 'a'\nfile = '.'"), &["it is not a file"]);

    let check_args = |args: &[&str], says: &[&str]| {
        check(&Case { args, files: &task("x"), code: 2, says, ..Case::default() });
    };
    check_args(&["run", "gone.toml"], &["read `gone.toml`", "No such file"]);
    check_args(&["run", "  ", "--model", "rules/m.toml"], &["the prompt", "empty"]);
    check_args(&["run", "x"], &["choose a model", "hint: write --model"]);
    check_args(
        &["run", "x", "--model", "opnai/gpt"],
        &["`opnai`", "the providers are openai", "hint: write --model"],
    );
    check_args(&["run", "x", "--model", "gpt"], &["read `gpt` as PROVIDER/NAME", "hint: write --model"]);
    check_args(&["run", "x", "--model", "rules/gone.toml"], &["gone.toml"]);
    check_args(&["run", "x", "--model", "rules/task.toml"], &["task.toml", "line 1"]);
    check_args(
        &["run", "x", "--model", "rules/m.toml", "--context", "a"],
        &["`--context a`: it is not NAME=FILE"],
    );
    check_args(&["run", "x", "--model", "rules/m.toml", "--allow", "shell"], &["shell", "hint: a rule is"]);
    check_args(&["run"], &["required arguments were not provided", "--help"]);
    check_args(&["run", "x", "--modle", "y"], &["unexpected argument '--modle'", "--help"]);
    check_args(&["walk"], &["unrecognized subcommand 'walk'", "--help"]);
}

#[test]
fn what_a_task_needs_and_is_not_there_is_a_setup_error() {
    let check_args = |args: &[&str], says: &[&str]| {
        check(&Case { args, code: 3, says, files: &[("empty", ""), ("m.toml", "")], ..Case::default() });
    };
    check_args(&["run", "x", "--model", "openai/gpt"], &["there is no key", "hint: set OPENAI_API_KEY"]);
    check_args(
        &["run", "x", "--model", "anthropic/claude"],
        &["there is no key", "hint: set ANTHROPIC_API_KEY"],
    );
    check_args(&["run", "x", "--model", "gemini/flash"], &["there is no key", "hint: set GEMINI_API_KEY"]);
    check_args(
        &["run", "x", "--model", "openai/gpt", "--key-file", "gone"],
        &["the key file `gone`", "No such file"],
    );
    check_args(&["run", "x", "--model", "openai/gpt", "--key-file", "."], &["the key file `.`"]);
    check_args(&["run", "x", "--model", "openai/gpt", "--key-file", "empty"], &["a key is one line"]);
    check_args(
        &["run", "x", "--model", "compatible/m"],
        &["without a base URL", "hint: name the endpoint with --base-url"],
    );
    check_args(
        &["run", "x", "--model", "compatible/m", "--base-url", "here"],
        &["use `here` as a base URL", "hint: "],
    );
}

#[test]
fn a_root_that_is_not_there_is_a_setup_error() {
    let files = &[("m.toml", "[[rule]]\nname = 'x'\ntext = 'x'\n")];
    let args = &["run", "x", "--model", "rules/m.toml", "--root", "gone"];
    check(&Case {
        args,
        files,
        code: 3,
        says: &["the root `work` at `gone`", "No such file", "hint: make the directory"],
        ..Case::default()
    });
}

#[test]
fn a_key_that_is_no_key_is_named_and_not_shown() {
    let token = fake_token(1);
    let broken = format!("{token} {token}");
    check(&Case {
        args: &["run", "x", "--model", "openai/gpt"],
        env: &[("OPENAI_API_KEY", &broken)],
        code: 3,
        says: &["`OPENAI_API_KEY`", "a key is one line"],
        never: &[&token],
        ..Case::default()
    });
}

#[test]
fn a_run_that_is_not_there_is_not_found() {
    let says = &["find run `nope`: there is none", "hint: list the runs"];
    check(&Case { args: &["runs", "show", "nope"], code: 7, says, ..Case::default() });
}

/// A provider that answers like this ends the run with code 8, the words and the hint, and no secret of its own.
fn check_provider(script: Script, says: &[&str]) {
    let server = Server::start(script);
    let token = fake_token(2);
    let args = &["run", "x", "--model", "compatible/m", "--base-url", &server.url];
    let says: Vec<&str> = says.iter().copied().chain([" hint: "]).collect();
    check(&Case { args, code: 8, says: &says, never: &[&token], ending: "model_failed", ..Case::default() });
}

#[test]
fn a_provider_that_refuses_is_quoted_without_its_secrets() {
    let token = fake_token(2);
    let header = format!("x-debug: {token}");
    let message = format!("not with the token {token}, I say");
    for (status, hint) in [
        (400, "check the parameters"),
        (401, "check the key"),
        (403, "check the key"),
        (404, "check the model's name"),
        (429, "wait and try again"),
        (500, "try again later"),
        (503, "try again later"),
    ] {
        let said = format!("the provider answered {status}: not with the token [REDACTED");
        check_provider(Script::refusal(status, &header, &message), &[&said, "I say", hint]);
    }
    let plain = Script::answer(400, &[], format!("plain words, password={token}"));
    check_provider(plain, &["the provider answered 400: plain words"]);
    check_provider(Script::answer(418, &[], ""), &["the provider answered 418: (an empty body)"]);
    let page = format!("<html><body>Bad gateway {token}</body></html>");
    check_provider(
        Script::answer(502, &["retry-after: 0"], &page),
        &["502: (an HTML or XML page instead of JSON)"],
    );
    let huge = "x".repeat(20 * 1024 * 1024);
    check_provider(Script::answer(400, &[], &huge), &["the provider answered 400: xxx"]);
}

#[test]
fn a_provider_that_answers_nonsense_ends_the_run() {
    let token = fake_token(2);
    check_provider(
        Script::answer(200, &[], format!("\u{0}\u{1}nonsense {token}")),
        &["not in the provider's format"],
    );
    let page = format!("<!doctype html><html>Log in with {token}</html>");
    check_provider(
        Script::answer(200, &["content-type: text/html"], &page),
        &["not in the provider's format"],
    );
    check_provider(Script::answer(200, &[], ""), &["failed"]);
    check_provider(Script::half_a_stream("Half"), &["the reply broke off"]);
}

#[test]
fn a_provider_that_sends_20_megabytes_or_more_is_cut_off() {
    let megabyte = "x".repeat(1024 * 1024);
    let stream = |body: String| Script::answer(200, &["content-type: text/event-stream"], body);
    check_provider(stream(format!("data: \"{}", megabyte.repeat(20))), &["not in the provider's format"]);
    let piece = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [
        { "index": 0, "id": "call", "function": { "name": "fs_read", "arguments": megabyte } }
    ] } }] });
    check_provider(
        stream(format!("data: {piece}\n\n").repeat(20)),
        &["the reply is longer than 8388608 bytes"],
    );
    check_provider(stream(": wait\n".repeat(5_000_000)), &["the reply is over the limit of 33554432 bytes"]);
}

#[test]
fn an_endpoint_that_cannot_be_reached_ends_the_run() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/v1");
    check(&Case {
        args: &["run", "x", "--model", "compatible/m", "--base-url", &url],
        code: 8,
        says: &[&closed.to_string(), "hint: check the base URL, that the server runs"],
        ending: "model_failed",
        ..Case::default()
    });
}

#[test]
fn a_provider_that_hangs_is_given_up() {
    for script in [Script::silence(), Script::stalled("Half")] {
        let server = Server::start(script);
        let task = format!(
            "prompt = 'x'\nmodel = 'compatible/m'\nbase_url = '{}'\n[limits]\nmodel_timeout_ms = 300\n",
            server.url
        );
        check(&Case {
            args: &["run", "task.toml"],
            files: &[("task.toml", &task)],
            code: 8,
            says: &["hint: ", "more time"],
            ending: "model_failed",
            ..Case::default()
        });
        assert_eq!(server.asked(), 2, "once for a person and once for a script, and no more");
    }
}

/// A model that makes one call and then repeats what it was told.
fn caller(call: &str) -> String {
    format!(
        "[[rule]]\nname = 'call'\nunless = [{{ kind = 'tool_result' }}]\ncall = [{call}]\n\
         [[rule]]\nname = 'say'\nwhen = [{{ kind = 'tool_result', match = '(?s)(?<words>.+)' }}]\n\
         text = 'I was told: {{words}}'\n\
         [[rule]]\nname = 'else'\ntext = 'I could not ask.'\n"
    )
}

/// The model makes the call; it fails or is refused, and the model is told these words and answers.
fn check_call(call: &str, told: &[&str]) {
    let done = check(&Case {
        args: &["run", "task.toml"],
        files: &[("m.toml", &caller(call)), ("task.toml", TASK_WITH_TOOLS), ("sub/there.txt", "there\n")],
        ending: "answered",
        ..Case::default()
    });
    for part in told.iter().chain(&["I was told: "]) {
        assert!(done.out.contains(part), "`{part}` is missing\n{done:?}");
    }
}

const TASK_WITH_TOOLS: &str = "prompt = 'x'\nmodel = 'rules/m.toml'\n\
    [tools]\nuse = ['fs_list', 'fs_read', 'fs_write']\nroots = [{ name = 'w', path = 'sub', write = true }]\n\
    [policy]\nallow = ['fs_list', 'fs_read(w/**)']\n";

#[test]
fn a_call_that_is_wrong_is_answered_to_the_model() {
    check_call("{ tool = 'fs_read', arguments = { path = 'there.txt' } }", &["there"]);
    check_call(
        "{ tool = 'no_such_tool', arguments = {} }",
        &["there is no tool of this name; the tools are: fs_list"],
    );
    check_call("{ tool = 'fs_read', raw_arguments = '{\"path\": \"there' }", &["JSON"]);
    check_call(
        "{ tool = 'fs_read', raw_arguments = '{\"path\":\"a\",\"path\":\"there.txt\"}' }",
        &["same member name twice"],
    );
    check_call("{ tool = 'fs_read', raw_arguments = '[]' }", &["object"]);
    check_call("{ tool = 'fs_read', arguments = { path = 7 } }", &["path"]);
    check_call("{ tool = 'fs_read', arguments = { file = 'there.txt' } }", &["path"]);
    check_call("{ tool = 'fs_read', arguments = { path = 'gone.txt' } }", &["gone.txt"]);
    check_call("{ tool = 'fs_read', arguments = { path = '../m.toml' } }", &[".."]);
    check_call("{ tool = 'fs_read', arguments = { path = '/etc/hostname' } }", &["absolute"]);
    check_call(
        "{ tool = 'fs_write', arguments = { path = 'new.txt', content = 'x' } }",
        &["denied and did not run"],
    );
}

#[test]
fn a_file_of_100_megabytes_is_not_taken_whole() {
    let cli = Cli::new();
    cli.file("m.toml", caller("{ tool = 'fs_read', arguments = { path = 'big.txt' } }"));
    cli.file("task.toml", TASK_WITH_TOOLS);
    write_big(&cli.file("sub/big.txt", ""));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.len() < 1024 * 1024, "{} bytes came out", done.out.len());
    let bytes: u64 = fs::read_dir(cli.data().join("runs"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(bytes < 4 * 1024 * 1024, "the record has {bytes} bytes");
}

fn write_big(path: &Path) {
    let line = "all work and no play makes a dull file\n".repeat(27_000);
    fs::write(path, line.repeat(100)).unwrap();
    assert!(fs::metadata(path).unwrap().len() > 100 * 1024 * 1024);
}

#[test]
fn a_limit_ends_the_run_with_what_there_is() {
    let check_limit = |limits: &str, rules: &str, says: &[&str], ending: &str, out: &str| {
        let task = format!("{TASK_WITH_TOOLS}[limits]\n{limits}\n");
        let done = check(&Case {
            args: &["run", "task.toml"],
            files: &[("m.toml", rules), ("task.toml", &task), ("sub/there.txt", "there\n")],
            code: 4,
            says,
            ending,
            ..Case::default()
        });
        assert!(done.out.contains(out), "`{out}` is missing\n{done:?}");
    };
    let reads = caller("{ tool = 'fs_read', arguments = { path = 'there.txt' } }");
    let turns = &["the limit of model calls is reached", "wrapped up: the limit of model calls was reached"];
    check_limit("turns_max = 1", &reads, turns, "wrapped_up", "I was told: ");
    let calls = &["the limit of tool calls is reached"];
    let read = "{ tool = 'fs_read', arguments = { path = 'there.txt' } }";
    check_limit(
        "tool_calls_max = 1",
        &caller(&format!("{read}, {read}")),
        calls,
        "wrapped_up",
        "I was told: ",
    );
    check_limit("tokens_max = 1", &reads, &["the limit of tokens"], "limit_reached", "");
    check_limit("wall_ms_max = 0", &reads, &["the limit of time"], "limit_reached", "");
    let prices = "cost_usd_max = 0.000001\n[prices]\ninput_usd = 1000.0\noutput_usd = 1000.0";
    check_limit(prices, &reads, &["the limit of cost"], "limit_reached", "");
    let cut = "[[rule]]\nname = 'x'\ntext = 'Half an ans'\nstop = 'max_tokens'\n";
    check_limit("turns_max = 2", cut, &["incomplete: the answer was cut off"], "incomplete", "Half an ans");
}

#[test]
fn an_answer_that_keeps_missing_its_schema_is_a_failure_of_its_own() {
    let task =
        "prompt = 'x'\nmodel = 'rules/m.toml'\n[output.schema]\ntype = 'object'\nrequired = ['total']\n";
    for answer in ["not json", "{{}}", "[]"] {
        let rules = format!("[[rule]]\nname = 'x'\ntext = '{answer}'\n");
        check(&Case {
            args: &["run", "task.toml"],
            files: &[("m.toml", &rules), ("task.toml", task)],
            code: 5,
            says: &["failed: the answer does not follow the output schema"],
            ending: "output_invalid",
            ..Case::default()
        });
    }
}

#[test]
fn a_refusal_of_the_model_is_said() {
    let rules = "[[rule]]\nname = 'x'\ntext = 'I would rather not.'\nstop = 'refused'\n";
    check(&Case {
        args: &["run", "x", "--model", "rules/m.toml"],
        files: &[("m.toml", rules)],
        code: 1,
        says: &["refused by the model or its provider"],
        ending: "refused",
        ..Case::default()
    });
}

#[test]
fn a_model_that_fails_on_its_own_is_quoted() {
    let rules = "[[rule]]\nname = 'x'\nerror = 'server_error'\nmessage = 'out of order'\n";
    check(&Case {
        args: &["run", "x", "--model", "rules/m.toml"],
        files: &[("m.toml", rules)],
        code: 8,
        says: &["out of order", "hint: "],
        ending: "model_failed",
        ..Case::default()
    });
}
