//! A made-up credential is planted everywhere it could be, and looked for in everything that comes out.
//!
//! The record of a run keeps what was said unless it is told otherwise, so its file is no exit; what is shown of it is.

use std::process::Command;

use probity_testkit::fake_token;

use crate::cli::{Cli, Done, Running};
use crate::server::{Script, Server};

/// A key that looks like no known credential, so that only its being known as the key can give it away.
fn made_up_key() -> String {
    let random: String = fake_token(11).chars().skip(4).collect();
    format!("desk-{random}")
}

/// Neither the canary nor a piece of it long enough to be of use.
fn is_silent(canary: &str, done: &Done) {
    let all = done.all();
    for piece in canary.as_bytes().windows(16) {
        let piece = str::from_utf8(piece).unwrap();
        assert!(!all.contains(piece), "`{piece}` of the canary came out\n{done:?}");
    }
}

/// Runs the command for a person and for a script, looks at what is shown of the records afterwards, and finds the
/// canary nowhere. What else came out must have this part, which shows that the canary's place was reached.
fn check(cli: &Cli, canary: &str, args: &[&str], prepare: impl Fn(&mut Command), shows: &str) {
    for form in [&[] as &[&str], &["--json"]] {
        let mut command = cli.command(args);
        command.args(form);
        prepare(&mut command);
        let done = Running::start(command).finish();
        is_silent(canary, &done);
        assert!(done.all().contains(shows), "`{shows}` is missing\n{done:?}");
        let look = |args: &[&str]| {
            let mut command = cli.command(&[args, form].concat());
            prepare(&mut command);
            let done = Running::start(command).finish();
            assert_eq!(done.code, Some(0), "{done:?}");
            is_silent(canary, &done);
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
    let (cli, token) = (Cli::new(), fake_token(10));
    let header = format!("x-debug: {token}");
    let server = Server::start(Script::refusal(400, &header, &format!("no: {token}")));
    let key = made_up_key();
    let prepare = |command: &mut Command| {
        command.env("PROBITY_LOG", "trace").env("OPENAI_API_KEY", &key);
    };
    // The client's library tells its connections at this level, so its log does come through.
    check(&cli, &token, &ask(&server), prepare, "TRACE");
    check(&cli, &key, &ask(&server), prepare, "TRACE");
}
