//! `probity policy`, and Cedar policies in a run.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{Cli, Done, Running};
use crate::snapshots::check;

const CEDAR: &str = r#"@id("plans")
permit (principal, action == Probity::Action::"fs_read", resource is Probity::Path)
when { resource.root == "minutes" && resource.path like "plan*" };

@id("hall")
@ask("it names prices")
permit (principal, action == Probity::Action::"fs_read", resource is Probity::Path)
when { resource.path == "hall.md" };

@id("private")
@reason("private notes stay private")
forbid (principal, action == Probity::Action::"fs_read", resource is Probity::Path)
when { resource.path like "private*" };

@id("untrusted")
@reason("what somebody else wrote may ask for it")
forbid (principal, action == Probity::Action::"fs_read", resource is Probity::Path)
when { resource.path == "plan-b.md" && context.labels.integrity == Probity::Integrity::"untrusted" };
"#;

const TOOLS: &str = "
[tools]
use = ['fs_read', 'fs_write']
roots = [{ name = 'minutes', path = 'minutes' }, { name = 'out', path = 'out', write = true }]
";

/// A task whose model reads three files. `policy` is its table of policies.
fn place(policy: &str) -> Cli {
    let cli = Cli::new();
    for name in ["plan.md", "plan-b.md", "hall.md", "private.md"] {
        cli.file(&format!("minutes/{name}"), format!("the text of {name}"));
    }
    fs::create_dir(cli.work().join("out")).unwrap();
    cli.file("rules/read.cedar", CEDAR);
    cli.file(
        "m.toml",
        r#"
[[rule]]
name = "answer"
when = [{ kind = "tool_result", tool = "fs_read" }]
text = "done"

[[rule]]
name = "read"
[[rule.call]]
tool = "fs_read"
arguments = { path = "minutes/plan.md" }
[[rule.call]]
tool = "fs_read"
arguments = { path = "minutes/private.md" }
"#,
    );
    task(&cli, "task.toml", policy);
    cli
}

fn task(cli: &Cli, name: &str, policy: &str) {
    let text =
        format!("model = 'rules/m.toml'\nprompt = 'x'\nprincipal = 'ada'\n{TOOLS}\n[policy]\n{policy}\n");
    cli.file(name, text);
}

fn read(path: &str) -> String {
    json!({ "tool": "fs_read", "arguments": { "path": format!("minutes/{path}") } }).to_string()
}

/// Explains a call, for a script and for a person, and gives the former.
fn explain(cli: &Cli, call: &str, more: &[&str], code: i32) -> Value {
    let args = [&["policy", "explain", "task.toml", "--call", call], more].concat();
    let person = cli.run(&args);
    assert_eq!(person.code, Some(code), "{person:?}");
    let script = cli.run(&[args.as_slice(), &["--json"]].concat());
    assert_eq!(script.code, Some(code), "{script:?}");
    assert!(cli.records().is_empty(), "nothing is run");
    script.json()
}

fn error(cli: &Cli, args: &[&str], says: &[&str]) -> Done {
    let done = cli.run(args);
    assert_eq!(done.code, Some(2), "{done:?}");
    for part in says {
        assert!(done.err.contains(part), "`{part}` is missing: {done:?}");
    }
    let script = cli.run(&[args, &["--json"]].concat());
    assert_eq!(script.json()["error"]["exit_code"], 2, "{script:?}");
    done
}

#[test]
fn what_the_policy_commands_print() {
    let cli = place("allow = ['fs_read(out/**)']\nask = ['fs_write']\ncedar = ['rules/read.cedar']");
    check("policy_check", &cli, &["policy", "check", "task.toml"]);
    check("policy_check_json", &cli, &["policy", "check", "task.toml", "--json"]);
    let explain = |name: &str, call: &str, more: &[&str]| {
        let args = [&["policy", "explain", "task.toml", "--call", call], more].concat();
        check(name, &cli, &args);
    };
    explain("policy_explain_allowed", &read("plan.md"), &[]);
    explain("policy_explain_asked", &read("hall.md"), &[]);
    explain("policy_explain_denied", &read("private.md"), &[]);
    explain("policy_explain_denied_json", &read("private.md"), &["--json"]);
    explain("policy_explain_not_covered", &read("other.md"), &[]);
    explain("policy_explain_not_frozen", &read("../task.toml"), &[]);
    explain("policy_explain_not_understood", r#"{"tool":"fs_read","arguments":{"file":"a"}}"#, &[]);

    cli.file("rules/read.cedar", CEDAR.replace("resource.path ==", "resource.pth =="));
    check("policy_check_refused", &cli, &["policy", "check", "task.toml"]);
    check("policy_check_refused_json", &cli, &["policy", "check", "task.toml", "--json"]);
    check("policy_schema", &cli, &["policy", "check", "task.toml", "--schema"]);
}

#[test]
fn a_call_is_explained_as_a_run_would_judge_it() {
    let cli = place("cedar = ['rules/read.cedar']");
    let said = |value: &Value| value["seats"][1]["opinions"][0]["said"].clone();

    let allowed = explain(&cli, &read("plan.md"), &[], 0);
    assert_eq!((&allowed["ruling"], said(&allowed)), (&json!("allow"), json!("allow")), "{allowed}");
    assert_eq!(allowed["seats"][0]["targets"][0]["path"], "plan.md");
    assert_eq!(allowed["call"]["principal"], "ada");
    let asked = explain(&cli, &read("hall.md"), &[], 0);
    assert_eq!((&asked["ruling"], &asked["askers"][0]["policy"]), (&json!("ask"), &json!("cedar")));
    let denied = explain(&cli, &read("private.md"), &[], 1);
    assert_eq!((&denied["denial"]["code"], &denied["denial"]["by"]), (&json!("policy"), &json!("cedar")));
    assert!(denied["denial"]["remedy"].as_str().unwrap().contains("change the call"), "{denied}");

    assert_eq!(explain(&cli, &read("plan-b.md"), &[], 1)["denial"]["code"], "policy");
    assert_eq!(explain(&cli, &read("plan-b.md"), &["--trusted"], 0)["ruling"], "allow");
    assert_eq!(explain(&cli, &read("other.md"), &[], 1)["denial"]["code"], "not_covered");
    // On a terminal the rules ask about what none of them covers, also beside a permit, and never against a forbid.
    assert_eq!(explain(&cli, &read("other.md"), &["--on-terminal"], 0)["ruling"], "ask");
    assert_eq!(explain(&cli, &read("plan.md"), &["--on-terminal"], 0)["ruling"], "ask");
    assert_eq!(explain(&cli, &read("private.md"), &["--on-terminal"], 1)["ruling"], "deny");

    let outside = explain(&cli, &read("../task.toml"), &[], 1);
    assert_eq!((&outside["denial"]["code"], &outside["seats"]), (&json!("targets_failed"), &json!([])));
    task(&cli, "task.toml", "");
    assert_eq!(explain(&cli, &read("plan.md"), &[], 1)["denial"]["code"], "no_policy");
}

#[test]
fn an_explained_call_writes_nothing() {
    let cli = place("allow = ['fs_write(out/**)']");
    let call = json!({ "tool": "fs_write", "arguments": { "path": "out/a", "content": "x" } });
    let value = explain(&cli, &call.to_string(), &[], 0);
    assert_eq!(value["ruling"], "allow", "{value}");
    assert_eq!(fs::read_dir(cli.work().join("out")).unwrap().count(), 0);
}

#[test]
fn the_call_may_come_from_a_file_or_standard_input() {
    let cli = place("cedar = ['rules/read.cedar']");
    cli.file("call.json", read("private.md"));
    assert_eq!(explain(&cli, "@call.json", &[], 1)["ruling"], "deny");

    let shell = "exec \"$0\" policy explain task.toml --json --call - < call.json";
    let mut command = cli.command_of("sh", &["-c", shell, env!("CARGO_BIN_EXE_probity")]);
    command.stdin(Stdio::null());
    let done = Running::start(command).finish();
    assert_eq!((done.code, &done.json()["ruling"]), (Some(1), &json!("deny")), "{done:?}");
}

#[test]
fn a_call_that_cannot_be_read_is_a_usage_error() {
    let cli = place("cedar = ['rules/read.cedar']");
    let check = |call: &str, says: &[&str]| {
        error(&cli, &["policy", "explain", "task.toml", "--call", call], says);
    };
    let hint = "hint: write the call as";
    check("", &["not complete, valid JSON", hint]);
    check("[]", &["must be a JSON object", hint]);
    check("-", &["not complete, valid JSON", hint]);
    check("@gone.json", &["`gone.json`", "No such file", hint]);
    check(r#"{"tool":"fs_read"}"#, &["the members `tool`", hint]);
    check(r#"{"tool":"fs_read","arguments":{},"x":1}"#, &["and no others", hint]);
    check(r#"{"tool":3,"arguments":{}}"#, &["`tool`, a name", hint]);
    check(r#"{"tool":"fs_read","tool":"fs_read","arguments":{}}"#, &["the same member name twice", hint]);
    check(r#"{"tool":"shell","arguments":{}}"#, &["there is no tool of this name", "fs_read", hint]);
    check(r#"{"tool":"fs_read","arguments":"x"}"#, &["must be a JSON object", hint]);
    check(r#"{"tool":"fs_read","arguments":{"path":3}}"#, &["do not fit the tool's schema", hint]);
}

#[test]
fn cedar_alone_judges_a_run() {
    let cli = place("cedar = ['rules/read.cedar']");
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains("cedar: the policy `plans` permits it"), "{done:?}");
    assert!(done.err.contains("denied by cedar"), "{done:?}");
    assert!(done.err.contains("private notes stay private"), "{done:?}");
}

#[test]
fn a_rule_that_denies_beats_a_permit_and_a_forbid_beats_a_rule_that_allows() {
    let cli = place("allow = ['fs_read']\ndeny = ['fs_read(minutes/plan.md)']\ncedar = ['rules/read.cedar']");
    let done = cli.run(&["run", "task.toml"]);
    assert!(done.err.contains("denied by rules"), "{done:?}");
    assert!(done.err.contains("denied by cedar"), "{done:?}");
    assert!(!done.err.contains("allowed"), "{done:?}");
}

#[test]
fn wrong_cedar_policies_stop_the_start() {
    let cli = place("cedar = ['rules/read.cedar']");
    let both = |says: &[&str]| {
        error(&cli, &["run", "task.toml"], says);
        error(&cli, &["policy", "check", "task.toml"], says);
        error(&cli, &["policy", "explain", "task.toml", "--call", &read("plan.md")], says);
        assert!(cli.records().is_empty(), "no run begins");
    };
    let schema = "--schema` shows what a policy can read";
    cli.file("rules/read.cedar", "permit (principal, action, resource)");
    both(&["rules/read.cedar:1:", "hint: correct the policy's text", schema]);
    cli.file("rules/read.cedar", "permit (principal, action == Probity::Action::\"pay\", resource);");
    both(&["rules/read.cedar:1:1", schema]);
    cli.file("rules/read.cedar", b"\xff");
    both(&["rules/read.cedar", "not UTF-8"]);
    fs::remove_file(cli.work().join("rules/read.cedar")).unwrap();
    both(&["rules/read.cedar", "No such file"]);
    // The schema is there for whoever has yet to write the file.
    let done = cli.run(&["policy", "check", "task.toml", "--schema", "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.json()["schema"].as_str().unwrap().contains("action \"fs_read\""), "{done:?}");
}

#[test]
fn cedar_policies_that_a_tool_could_write_stop_the_start() {
    let cli = place("cedar = ['out/read.cedar']");
    let refused = |said: &str| {
        let hint = "hint: move the file, and every link to it, out of all roots";
        let says = [said, "they lie in the root `out`, which tools may write", hint];
        error(&cli, &["run", "task.toml"], &says);
        error(&cli, &["policy", "check", "task.toml"], &says);
    };
    cli.file("out/read.cedar", CEDAR);
    refused("`out/read.cedar`");

    // The file lies elsewhere, but a link on the way to it can be changed, and the other way round.
    fs::remove_file(cli.work().join("out/read.cedar")).unwrap();
    symlink("../rules/read.cedar", cli.work().join("out/read.cedar")).unwrap();
    refused("`out/read.cedar`");
    cli.file("out/real.cedar", CEDAR);
    symlink("../out/real.cedar", cli.work().join("rules/link.cedar")).unwrap();
    task(&cli, "task.toml", "cedar = ['rules/link.cedar']");
    refused("`rules/link.cedar`");
    task(&cli, "task.toml", "cedar = ['minutes/../out/./real.cedar']");
    refused("`minutes/../out/./real.cedar`");

    // A root of the command line counts, and one that is only read does not.
    task(&cli, "task.toml", "cedar = ['rules/read.cedar']");
    let args = ["run", "task.toml", "--write-root", "more=rules"];
    error(&cli, &args, &["they lie in the root `more`"]);
    let done = cli.run(&["run", "task.toml", "--root", "more=rules"]);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn no_credential_comes_out_of_a_policy_or_a_call() {
    let cli = place("cedar = ['rules/read.cedar']\ndeny = ['fs_write']");
    let (in_policy, in_call) = (probity_testkit::fake_token(11), probity_testkit::fake_token(12));
    cli.file("rules/read.cedar", CEDAR.replace("private notes", &in_policy));
    let never = |done: &Done| {
        let shown = [&in_policy, &in_call].into_iter().find(|token| done.all().contains(token.as_str()));
        assert_eq!(shown, None, "{done:?}");
        assert!(done.all().contains("[REDACTED:"), "{done:?}");
    };
    let written = json!({ "tool": "fs_write", "arguments": { "path": "out/a", "content": in_call } });
    let misspelled = json!({ "tool": "fs_read", "arguments": { "path": in_call, "lines": in_call } });
    let calls = [(read("private.md"), true), (written.to_string(), true), (misspelled.to_string(), false)];
    for (call, must_be_marked) in calls {
        for more in [&["--json"] as &[&str], &[]] {
            let done = cli.run(&[&["policy", "explain", "task.toml", "--call", &call], more].concat());
            assert_ne!(done.code, Some(0), "{done:?}");
            assert!(!done.all().contains(&in_call), "{done:?}");
            if must_be_marked {
                never(&done);
            }
        }
    }
    cli.file("rules/read.cedar", CEDAR.replace("resource.root", &format!("resource.{in_policy}")));
    never(&cli.run(&["policy", "check", "task.toml", "--json"]));
}

/// A task that asks for `out/a.txt`, whose rules let only what the person has named be written.
fn place_named(more: &str) -> Cli {
    let cli = place("");
    cli.file("named.toml", "allow = [{ rule = 'fs_write', arguments = { path = 'person' } }]");
    cli.file(
        "task.toml",
        format!(
            "model = 'rules/m.toml'\nprompt = 'Write out/a.txt, please'\nprincipal = 'ada'\n{TOOLS}\n[policy]\nrules = \
             ['named.toml']\n{more}"
        ),
    );
    cli
}

fn write(path: &str) -> String {
    json!({ "tool": "fs_write", "arguments": { "path": path, "content": "some text" } }).to_string()
}

#[test]
fn a_call_is_explained_with_the_label_of_each_argument() {
    let cli = place_named("");
    let named = explain(&cli, &write("out/a.txt"), &[], 0);
    assert_eq!(named["ruling"], "allow", "{named}");
    let labels = |value: &Value| {
        let labels = value["call"]["argument_labels"].as_array().unwrap().iter();
        labels.map(|one| json!([one["at"], one["label"]["integrity"], one["item"]])).collect::<Vec<_>>()
    };
    assert_eq!(labels(&named), [json!(["/content", "untrusted", null]), json!(["/path", "person", 1])]);
    let other = explain(&cli, &write("out/b.txt"), &[], 1);
    assert_eq!(other["denial"]["code"], "not_covered", "{other}");
    let args = ["policy", "explain", "task.toml", "--call"];
    check("policy_explain_labels", &cli, &[&args[..], &[&write("out/a.txt")]].concat());
}

#[test]
fn what_only_some_may_read_is_written_nowhere() {
    let cli = place_named("[[context]]\nname = 'note'\ntext = 'for some'\nreaders = ['ada']\n");
    let denied = explain(&cli, &write("out/a.txt"), &[], 1);
    assert_eq!(
        (&denied["denial"]["code"], &denied["denial"]["by"]),
        (&json!("policy"), &json!("readers")),
        "{denied}"
    );
    assert_eq!(denied["call"]["label"]["readers"], json!({ "only": ["ada"] }));
    let checked = cli.run(&["policy", "check", "task.toml"]);
    assert!(checked.out.contains("readers: what only some may read"), "{checked:?}");
}
