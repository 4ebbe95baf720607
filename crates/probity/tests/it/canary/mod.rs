//! A made-up credential is planted everywhere it could be, and looked for in everything that comes out.
//!
//! The record of a run keeps what was said unless it is told otherwise, so its file is no exit; what is shown of it is.

mod inside;
mod plant;

use std::fs;
use std::process::Command;

use probity_testkit::fake_token;
use serde_json::json;

use self::plant::{Canary, canaries, told};
use crate::cli::{Cli, Done, Running};
use crate::server::{Script, Server};

/// A key that looks like no known credential, so that only its being known as the key can give it away.
fn made_up_key() -> String {
    let random: String = fake_token(11).chars().skip(4).collect();
    format!("desk-{random}")
}

/// Runs the command for a person, for a script and with everything logged, looks at what is shown of the records
/// afterwards, and finds the canary nowhere. What else came out must have this part, which shows that the canary's place
/// was reached.
fn check(cli: &Cli, canary: &str, args: &[&str], prepare: impl Fn(&mut Command), shows: &str) {
    check_all(cli, &[Canary::new(canary)], args, prepare, shows);
}

fn check_all(cli: &Cli, canaries: &[Canary], args: &[&str], prepare: impl Fn(&mut Command), shows: &str) {
    let are_silent = |done: &Done| {
        let all = done.all();
        canaries.iter().for_each(|canary| canary.is_silent_in(&all));
    };
    for (form, log) in [(&[] as &[&str], "warn"), (&["--json"], "warn"), (&[], "trace")] {
        let run = |args: &[&str]| {
            let mut command = cli.command(&[args, form].concat());
            command.env("PROBITY_LOG", log);
            prepare(&mut command);
            let done = Running::start(command).finish();
            are_silent(&done);
            done
        };
        let done = run(args);
        assert!(done.all().contains(shows), "`{shows}` is missing\n{done:?}");
        let look = |args: &[&str]| {
            let done = run(args);
            assert_eq!(done.code, Some(0), "{done:?}");
        };
        look(&["runs", "list"]);
        for record in cli.records() {
            let run = record.summary().unwrap().run;
            look(&["runs", "show", run.as_str()]);
        }
    }
}

fn ask(server: &Server) -> [&str; 6] {
    ["run", "x", "--model", "openai/m", "--base-url", &server.url]
}

#[test]
fn in_a_refusal_of_the_provider() {
    let token = fake_token(10);
    let (cli, header) = (Cli::new(), format!("x-debug: {token}"));
    for message in [format!("no: {token}"), format!("Bearer {token}"), format!("{}{token}", "x".repeat(480))]
    {
        let server = Server::start(Script::refusal(400, &header, &message));
        check(&cli, &token, &ask(&server), |_| (), "the provider answered 400");
    }
}

#[test]
fn in_the_answer_of_the_model_cut_at_every_place() {
    let token = fake_token(10);
    for cut in (1..token.len()).step_by(3) {
        let cli = Cli::new();
        let (first, rest) = token.split_at(cut);
        let server = Server::start(Script::stream(&["It is ", first, rest, " I think."]));
        check(&cli, &token, &ask(&server), |_| (), "[REDACTED");
    }
}

#[test]
fn in_the_environment_and_quoted_by_the_provider() {
    let (cli, key) = (Cli::new(), made_up_key());
    let message = format!("Incorrect API key provided: {key}.");
    let server = Server::start(Script::refusal(401, "x: y", &message));
    let set = |command: &mut Command| {
        command.env("OPENAI_API_KEY", &key);
    };
    check(&cli, &key, &ask(&server), set, "Incorrect API key provided");
    check(&cli, &key, &["doctor", "--offline"], set, "openai");
    let server = Server::start(Script::stream(&["Your key is ", &key, ", is it not?"]));
    check(&cli, &key, &ask(&server), set, "is it not?");
}

#[test]
fn in_a_key_file_and_quoted_by_the_provider() {
    let (cli, key) = (Cli::new(), made_up_key());
    cli.file("key", format!("{key}\n"));
    let message = format!("Incorrect API key provided: {key}.");
    let server = Server::start(Script::refusal(401, "x: y", &message));
    let args = [&ask(&server) as &[&str], &["--key-file", "key"]].concat();
    check(&cli, &key, &args, |_| (), "Incorrect API key provided");
    cli.file("key", format!("{key} {key}"));
    check(&cli, &key, &args, |_| (), "a key is one line");
}

#[test]
fn in_both_halves_of_a_context_argument() {
    let token = fake_token(10);
    let (cli, random) = (Cli::new(), token.trim_start_matches("ghp_").to_owned());
    cli.file("m.toml", "[[rule]]\nname = 'x'\ntext = 'I have read it.'\n");
    cli.file("there.txt", "there\n");
    cli.file(&format!("{token}.txt"), "there\n");
    let check_context = |canary: &str, context: &str, shows: &str| {
        check(&cli, canary, &["run", "x", "--model", "rules/m.toml", "--context", context], |_| (), shows);
    };
    check_context(&token, &token, "it is not NAME=FILE");
    check_context(&token, &format!("note={token}"), "No such file");
    check_context(&token, &format!("{token}=gone.txt"), "No such file");
    check_context(&token, &format!("note=.{token}/../."), "read `--context note=");
    check_context(&token, &format!("note={token}.txt"), "I have read it.");
    check_context(&token, &format!("{token}=there.txt"), "I have read it.");
    // Neither half says by itself what the other one makes of it.
    check_context(&random, &format!("DB_PASSWORD={random}"), "No such file");
}

#[test]
fn in_names_contents_and_errors_of_tools() {
    let token = fake_token(10);
    let check_call = |call: &str, shows: &str| {
        let cli = Cli::new();
        cli.file(&format!("room/{token}.txt"), format!("The token is {token}.\n"));
        cli.file("m.toml", format!(
            "[[rule]]\nname = 'call'\nunless = [{{ kind = 'tool_result' }}]\ncall = [{call}]\n\
             [[rule]]\nname = 'say'\nwhen = [{{ kind = 'tool_result', match = '(?s)(?<words>.+)' }}]\ntext = 'I was told: {{words}}'\n"
        ));
        let args = [
            "run",
            "x",
            "--model",
            "rules/m.toml",
            "--root",
            "room",
            "--allow",
            "fs_read",
            "--allow",
            "fs_list",
        ];
        check(&cli, &token, &args, |_| (), shows);
    };
    check_call("{ tool = 'fs_list', arguments = { path = '.' } }", "I was told: ");
    check_call(
        &format!("{{ tool = 'fs_read', arguments = {{ path = '{token}.txt' }} }}"),
        "The token is [REDACTED",
    );
    check_call(
        &format!("{{ tool = 'fs_read', arguments = {{ path = 'no-{token}/{token}' }} }}"),
        "I was told: ",
    );
    check_call(&format!("{{ tool = '{token}', arguments = {{}} }}"), "I was told: ");
    check_call(&format!("{{ tool = 'fs_read', arguments = {{ '{token}' = 7 }} }}"), "I was told: ");
    check_call(&format!("{{ tool = 'fs_read', raw_arguments = '{{\"{token}' }}"), "I was told: ");
}

#[test]
fn in_the_prompt_the_title_and_the_task_file() {
    let (cli, token) = (Cli::new(), fake_token(10));
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'x'\nwhen = [{ kind = 'person', match = '(?<all>.+)' }]\ntext = 'You said {all}'\n",
    );
    check(
        &cli,
        &token,
        &["run", &format!("Keep {token} safe"), "--model", "rules/m.toml"],
        |_| (),
        "You said Keep [REDACTED",
    );
    cli.file(
        "task.toml",
        format!("title = 'about {token}'\nprompt = 'with {token}'\nmodel = 'rules/m.toml'\n"),
    );
    check(&cli, &token, &["run", "task.toml"], |_| (), "You said with [REDACTED");
    cli.file("broken.toml", format!("prompt = '{token}\n"));
    check(&cli, &token, &["run", "broken.toml"], |_| (), "line 1");
    cli.file("unknown.toml", format!("{token} = 'x'\n"));
    check(&cli, &token, &["run", "unknown.toml"], |_| (), "unknown field");
}

#[test]
fn on_the_command_line() {
    let (cli, token) = (Cli::new(), fake_token(10));
    cli.file("m.toml", "[[rule]]\nname = 'x'\ntext = 'x'\n");
    let check_args = |args: &[&str], shows: &str| check(&cli, &token, args, |_| (), shows);
    check_args(&["run", "x", "--model", &token], "PROVIDER/NAME");
    check_args(&["run", "x", "--model", &format!("{token}/x")], "provider");
    check_args(&["run", "x", "--model", &format!("openai/{token}")], "there is no key");
    check_args(
        &["run", "x", "--model", "openai/m", "--base-url", &format!("https://me:{token}@127.0.0.1/")],
        "user name",
    );
    check_args(&["run", "x", "--model", "openai/m", "--base-url", &token], "base URL");
    check_args(&["run", "x", "--model", "openai/m", "--key-file", &token], "key file");
    check_args(&["run", "x", "--model", "rules/m.toml", "--root", &token], "root");
    check_args(&["run", "x", "--model", "rules/m.toml", "--tools", &token], "no such tool");
    check_args(&["run", "x", "--model", "rules/m.toml", "--allow", &format!("{token}(")], "hint: a rule is");
    check_args(&["run", &format!("{token}.toml")], "No such file");
    check_args(&["run", "x", &format!("--{token}")], "unexpected argument");
    check_args(&["runs", "show", &token], "there is none");
    check_args(&["run", "x", "--model", "rules/m.toml", "--data-dir", &format!("m.toml/{token}")], "store");
}

#[test]
fn in_what_dependencies_log_at_trace_level() {
    let (cli, token, key) = (Cli::new(), fake_token(10), made_up_key());
    let header = format!("x-debug: {token}");
    let server = Server::start(Script::refusal(400, &header, &format!("no: {token}")));
    for canary in [&token, &key] {
        let prepare = |command: &mut Command| {
            command.env("PROBITY_LOG", "trace").env("OPENAI_API_KEY", &key);
        };
        // The client's library tells its connections at this level, so its log does come through.
        check(&cli, canary, &ask(&server), prepare, "TRACE");
    }
}

/// The headers of an answer that hold all of them.
fn headers(canaries: &[Canary]) -> Vec<String> {
    let numbered = canaries.iter().enumerate();
    numbered.map(|(index, canary)| format!("x-note-{index}: {}", canary.text)).collect()
}

#[test]
fn corpus_redaction_in_what_the_provider_refuses_with() {
    let canaries = canaries();
    let headers = headers(&canaries);
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let told = told(&canaries);
    for body in [
        json!({ "error": { "message": told } }).to_string(),
        json!({ "error": { "message": "no", "metadata": { "raw": told } } }).to_string(),
        json!({ "detail": [{ "msg": "no", "input": told }] }).to_string(),
        told.clone(),
    ] {
        let server = Server::start(Script::answer(400, &headers, body));
        check_all(&Cli::new(), &canaries, &ask(&server), |_| (), "the provider answered 400");
    }
    // Behind one another, so that the cut falls into each of them at some place.
    for canary in canaries.iter().take(7) {
        for before in [480, 490] {
            let body = format!("{} {}", "x".repeat(before), canary.text);
            let server = Server::start(Script::answer(400, &[], body));
            let done = Cli::new().run(&ask(&server));
            let start = canary.text.get(..8).unwrap();
            assert!(!done.all().contains(&format!("x {start}")), "{done:?}");
        }
    }
}

#[test]
fn corpus_redaction_in_what_the_model_streams() {
    let canaries = canaries();
    let told = told(&canaries);
    let pieces: Vec<&str> = told.as_bytes().chunks(7).map(|piece| str::from_utf8(piece).unwrap()).collect();
    let event = |name: &str, piece: &str| {
        format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { name: piece } }] }))
    };
    let mut body = String::new();
    for name in ["reasoning_content", "content"] {
        body.extend(pieces.iter().map(|piece| event(name, piece)));
    }
    body.push_str(
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let server = Server::start(Script::answer(200, &["content-type: text/event-stream"], body));
    let args = [&ask(&server) as &[&str], &["--reasoning"]].concat();
    let cli = Cli::new();
    check_all(&cli, &canaries, &args, |_| (), "somebody left [REDACTED");
    // What is kept for the model is no exit. That they are found there shows that they were planted and can be found.
    let path = fs::read_dir(cli.data().join("runs")).unwrap().next().unwrap().unwrap().path();
    let kept = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    for canary in &canaries {
        assert!(canary.found_in(&kept).is_some(), "`{}` was not planted", canary.text);
    }
}

#[test]
fn corpus_redaction_in_files_their_names_and_tools() {
    let canaries = canaries();
    let check_call = |prepare: &dyn Fn(&Cli), tool: &str, arguments: &str, shows: &str| {
        let cli = Cli::new();
        prepare(&cli);
        cli.file("m.toml", format!(
            "[[rule]]\nname = 'call'\nunless = [{{ kind = 'tool_result' }}]\ncall = [{{ tool = '{tool}', arguments = {arguments} }}]\n\
             [[rule]]\nname = 'say'\nwhen = [{{ kind = 'tool_result', match = '(?s)(?<words>.+)' }}]\ntext = 'I was told: {{words}}'\n"
        ));
        let args = ["run", "x", "--model", "rules/m.toml", "--root", "room", "--allow", tool];
        check_all(&cli, &canaries, &args, |_| (), shows);
    };
    let content = |cli: &Cli| {
        cli.file("room/notes.txt", told(&canaries));
    };
    let names = |cli: &Cli| {
        for canary in &canaries {
            cli.file(&format!("room/{}", canary.text), "x");
        }
    };
    check_call(&content, "fs_read", "{ path = 'notes.txt' }", "I was told: ");
    check_call(&content, "fs_search", "{ pattern = 'somebody left' }", "I was told: ");
    check_call(&names, "fs_list", "{ path = '.' }", "I was told: ");
    let missing = toml::Value::from(told(&canaries).replace('\n', " ")).to_string();
    check_call(&content, "fs_read", &format!("{{ path = {missing} }}"), "I was told: ");
    check_call(
        &content,
        "fs_search",
        &format!("{{ pattern = {missing}, path = {missing} }}"),
        "I was told: ",
    );
    check_call(&content, "fs_read", &format!("{{ path = 'notes.txt', {missing} = 1 }}"), "I was told: ");
}

#[test]
fn corpus_redaction_in_task_files_and_arguments() {
    let (cli, canaries) = (Cli::new(), canaries());
    let told = told(&canaries);
    let quoted = toml::Value::from(told.as_str()).to_string();
    let line = told.replace('\n', " ");
    cli.file("m.toml", "[[rule]]\nname = 'x'\nwhen = [{ kind = 'person', match = '(?s)(?<all>.+)' }]\ntext = 'You said {all}'\n");
    let check_args = |args: &[&str], shows: &str| check_all(&cli, &canaries, args, |_| (), shows);
    cli.file(
        "task.toml",
        format!("title = {quoted}\nprompt = {quoted}\nmodel = 'rules/m.toml'\ninstructions = {quoted}\n"),
    );
    check_args(&["run", "task.toml"], "You said somebody left [REDACTED");
    check_args(&["run", &told, "--model", "rules/m.toml"], "You said somebody left [REDACTED");
    cli.file("broken.toml", format!("prompt = {line}\n"));
    check_args(&["run", "broken.toml"], "line 1");
    cli.file("wrong.toml", format!("prompt = 'x'\nlimits = {quoted}\n"));
    check_args(&["run", "wrong.toml"], "limits");
    cli.file(
        "rules.toml",
        format!(
            "[[rule]]\nname = 'x'\nwhen = [{{ kind = 'person', match = '[{}' }}]\ntext = 'y'\n",
            line.replace('\'', "")
        ),
    );
    check_args(&["run", "x", "--model", "rules/rules.toml"], "the pattern is broken");
    check_args(&["run", "x", "--model", &line], "PROVIDER/NAME");
    check_args(&["run", "x", "--model", "rules/m.toml", "--allow", &format!("{line}(")], "hint: a rule is");
    check_args(&["run", "x", "--model", "rules/m.toml", "--context", &line], "NAME=FILE");
    check_args(&["run", "x", "--model", "rules/m.toml", "--context", &format!("note={line}")], "--context");
    check_args(&["run", "x", &format!("--{line}")], "unexpected argument");
    check_args(&["runs", "show", &line], "there is none");
}

#[test]
fn corpus_redaction_in_what_redact_is_given() {
    let (cli, canaries) = (Cli::new(), canaries());
    let told = told(&canaries);
    let lines: String =
        told.lines().map(|line| format!("{}\n", json!({ "note": line, line: [line] }))).collect();
    let check_redact = |args: &[&str], shows: &str| {
        cli.file("in.txt", &told);
        cli.file("in.jsonl", &lines);
        let done = cli.run(&[&["redact"], args].concat());
        canaries.iter().for_each(|canary| canary.is_silent_in(&done.all()));
        assert!(done.all().contains(shows), "`{shows}` is missing\n{done:?}");
    };
    check_redact(&["in.txt"], "somebody left [REDACTED");
    check_redact(&["in.txt", "--tier", "human"], "somebody left [REDACTED");
    check_redact(&["in.jsonl"], "somebody left [REDACTED");
    check_redact(&["in.txt", "--check"], "");
    check_redact(&["in.txt", "--report", "report.jsonl"], "somebody left [REDACTED");
    let report = fs::read_to_string(cli.work().join("report.jsonl")).unwrap();
    assert!(report.lines().count() >= canaries.len(), "{report}");
    canaries.iter().for_each(|canary| canary.is_silent_in(&report));
    check_redact(&["in.txt", "in.jsonl", "--in-place"], "");
    let replaced = fs::read_to_string(cli.work().join("in.txt")).unwrap();
    assert!(replaced.contains("somebody left [REDACTED"), "{replaced}");
    canaries.iter().for_each(|canary| canary.is_silent_in(&replaced));
    check_redact(&[&told.replace('\n', " ")], "error");
}

/// A canary test that could not fail would be worth nothing: a channel that nobody redacts gives every one of them away.
#[test]
fn corpus_redaction_a_channel_that_is_not_redacted_gives_them_away() {
    let (cli, canaries) = (Cli::new(), canaries());
    cli.file("notes.txt", told(&canaries));
    let done = Running::start(cli.command_of("cat", &["notes.txt"])).finish();
    for canary in &canaries {
        assert!(canary.found_in(&done.all()).is_some(), "`{}` is not found", canary.text);
    }
}
