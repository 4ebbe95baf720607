//! Files of rules: whose they are, where they may lie, and `probity policy check`, `test` and `trust` of them.

use std::fs;

use serde_json::json;

use crate::cli::{Cli, Done};
use crate::snapshots::check;

const RULES: &str = r#"# what anybody may do here
allow = [
  "fs_list",
  { rule = "fs_read(work/docs/**)", match = ["fs_read(work/docs/a.md)"], not_match = ["fs_read(work/private/key)"] },
  "shell(git log *)",
  "shell(head *)",
]
ask = [{ rule = "fs_write", reason = "somebody should look" }]
deny = [{ rule = "shell(rm *)", reason = "nothing is removed", match = ["shell(ls && env rm x)"], not_match = ["shell(ls form)"] }]
"#;

const CASES: &str = r#"
[[case]]
call = "fs_read(work/docs/a.md)"
expect = "allow"

[[case]]
name = "a link out of docs"
call = { tool = "fs_read", path = "work/docs/link", resolved = "work/private/key" }
expect = "none"

[[case]]
call = "shell(git log | head -n 3)"
expect = "allow"

[[case]]
call = "shell(git log; r\\m $x)"
expect = "deny"
"#;

/// A task whose model reads one file of a folder that is only read, with these lines under `[policy]`.
fn place(policy: &str) -> Cli {
    let cli = Cli::new();
    cli.file("docs/a.md", "the text");
    fs::create_dir(cli.work().join("out")).unwrap();
    let read =
        "[[rule]]\nname = 'read'\n[[rule.call]]\ntool = 'fs_read'\narguments = { path = 'docs/a.md' }\n";
    let answer =
        "[[rule]]\nname = 'answer'\nwhen = [{ kind = 'tool_result', tool = 'fs_read' }]\ntext = 'done'\n";
    cli.file("m.toml", format!("{answer}{read}"));
    let tools = "[tools]\nuse = ['fs_read', 'fs_write']\nroots = [{ name = 'docs', path = 'docs' }, { name = 'out', path = 'out', write = true }]";
    cli.file(
        "task.toml",
        format!("model = 'rules/m.toml'\nprompt = 'x'\nprincipal = 'ada'\n{tools}\n[policy]\n{policy}\n"),
    );
    cli
}

fn of_user(cli: &Cli, rules: &str) {
    cli.file("../home/.config/probity/rules.toml", rules);
}

fn of_project(cli: &Cli, rules: &str) {
    cli.file(".probity/rules.toml", rules);
}

fn run(cli: &Cli) -> Done {
    cli.run(&["run", "task.toml"])
}

fn refused(cli: &Cli, args: &[&str], says: &[&str]) {
    let done = cli.run(args);
    assert_eq!(done.code, Some(2), "{done:?}");
    for part in says {
        assert!(done.err.contains(part), "`{part}` is missing: {done:?}");
    }
    assert!(cli.records().is_empty(), "no run begins");
}

#[test]
fn the_page_about_rules_is_right() {
    let page = include_str!("../../../../docs/rules.md");
    let block = |begins: &str| {
        let (_, rest) = page.split_once(&format!("```toml\n{begins}")).unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let cli = place("");
    cli.file("rules.toml", block("# rules.toml"));
    cli.file("cases.toml", block("# cases.toml"));
    let done = cli.run(&["policy", "test", "rules.toml", "cases.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    // The short forms of a call, in the order of the table.
    let (_, table) = page.split_once("The short form is").unwrap();
    let calls =
        table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ").map(|(call, _)| call));
    let case = |call: &str| json!({ "call": call.replace("\\|", "|"), "expect": "none" }).to_string() + "\n";
    let cases: String = calls.take(5).map(case).collect();
    assert_eq!(cases.lines().count(), 5);
    cli.file("cases.jsonl", cases);
    let done = cli.run(&["policy", "test", "rules.toml", "cases.jsonl", "--json"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let said: Vec<_> =
        done.json()["cases"].as_array().unwrap().iter().map(|case| case["said"].clone()).collect();
    assert_eq!(said, ["allow", "allow", "none", "none", "allow"]);
}

#[test]
fn what_the_commands_print() {
    let cli = place("allow = ['fs_read(docs/**)']\nrules = ['more.toml']");
    cli.file("rules.toml", RULES);
    cli.file("cases.toml", CASES);
    check("rules_check", &cli, &["policy", "check", "rules.toml"]);
    check("rules_check_json", &cli, &["policy", "check", "rules.toml", "--json"]);
    check("rules_test", &cli, &["policy", "test", "rules.toml", "cases.toml"]);
    cli.file("cases.jsonl", "{\"call\":\"shell(git log)\",\"expect\":\"deny\"}\n{\"name\":\"listing\",\"call\":\"fs_list\",\"expect\":\"allow\"}\n");
    check("rules_test_wrong", &cli, &["policy", "test", "rules.toml", "cases.jsonl"]);
    check("rules_test_wrong_json", &cli, &["policy", "test", "rules.toml", "cases.jsonl", "--json"]);
    cli.file("rules.toml", RULES.replace("work/private/key", "work/docs/key"));
    check("rules_check_wrong_example", &cli, &["policy", "check", "rules.toml"]);
    cli.file("more.toml", "mode = 'read-only'\ndeny = ['fs_read(docs/private/**)']\n");
    of_user(&cli, "allow = ['fs_read(docs/**)']\ndeny = ['other_tool', 'shell']\n");
    of_project(&cli, "allow = ['fs_write']\nask = ['fs_read(docs/b.md)']\n");
    check("rules_check_layers", &cli, &["policy", "check", "task.toml"]);
    check("rules_trust", &cli, &["policy", "trust", "."]);
    check("rules_trust_json", &cli, &["policy", "trust", ".", "--json"]);
    check("rules_trust_remove", &cli, &["policy", "trust", ".", "--remove"]);
}

#[test]
fn i05_a_user_s_allow_does_not_soften_the_organisation_s_ask_or_deny() {
    let cli = place("allow = ['fs_read']");
    of_user(&cli, "allow = ['fs_read']");
    assert!(run(&cli).err.contains("allowed"), "{:?}", run(&cli));
    let with = |rules: &str| {
        cli.file("../organisation.toml", rules);
        let mut command = cli.command(&[
            "policy",
            "explain",
            "task.toml",
            "--json",
            "--call",
            r#"{"tool":"fs_read","arguments":{"path":"docs/a.md"}}"#,
        ]);
        command.env("PROBITY_ORGANISATION_RULES", cli.work().join("../organisation.toml"));
        crate::cli::Running::start(command).finish().json()
    };
    assert_eq!(with("ask = ['fs_read']")["ruling"], "ask");
    let denied = with("deny = [{ rule = 'fs_read', reason = 'not here' }]");
    let why = denied["denial"]["reason"].as_str().unwrap();
    assert!(why.contains("(organisation's rules): not here"), "{denied}");
    assert_eq!(with("mode = 'allow-listed'\nallow = ['fs_list']")["ruling"], "deny");
    assert_eq!(with("")["error"]["exit_code"], 2, "an empty file was cut off");
    assert_eq!(with("mode = 'allow-listed'\nallow = ['fs_read']")["ruling"], "allow");
    // What the surroundings name must be there.
    let mut command = cli.command(&["run", "task.toml"]);
    command.env("PROBITY_ORGANISATION_RULES", cli.work().join("gone.toml"));
    let done = crate::cli::Running::start(command).finish();
    assert!(done.code == Some(2) && done.err.contains("gone.toml"), "{done:?}");
}

#[test]
fn i50_a_project_s_rules_allow_nothing_before_a_person_has_looked() {
    let cli = place("");
    of_project(&cli, "allow = ['fs_read(docs/**)']");
    let done = run(&cli);
    assert!(done.err.contains("are not trusted") && done.err.contains("probity policy trust"), "{done:?}");
    assert!(done.err.contains("denied") && !done.err.contains("allows it"), "{done:?}");
    let trusted = cli.run(&["policy", "trust", "."]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    let done = run(&cli);
    assert!(done.err.contains("allows it") && !done.err.contains("not trusted"), "{done:?}");
    // Other rules are not those that were looked at.
    of_project(&cli, "allow = ['fs_read(docs/**)', 'fs_write']");
    assert!(run(&cli).err.contains("are not trusted"));
    cli.run(&["policy", "trust", "."]);
    assert!(!run(&cli).err.contains("are not trusted"));
    cli.run(&["policy", "trust", ".", "--remove"]);
    assert!(run(&cli).err.contains("are not trusted"));
    // What they deny counts all the same.
    of_project(&cli, "deny = ['fs_read']");
    let list = cli.file(
        "task.toml",
        fs::read_to_string(cli.work().join("task.toml")).unwrap() + "allow = ['fs_read']\n",
    );
    let done = run(&cli);
    assert!(done.err.contains("denies it (project's rules)"), "{done:?} {list:?}");
}

#[test]
fn i50_rules_that_a_tool_could_write_stop_the_start() {
    let says = |what: &str, root: &str| {
        [what.to_owned(), format!("lie in the root `{root}`, which tools may write")]
    };
    let check = |cli: &Cli, args: &[&str], what: &str, root: &str| {
        let says = says(what, root);
        refused(cli, args, &says.each_ref().map(String::as_str));
    };
    let cli = place("rules = ['out/rules.toml']");
    cli.file("out/rules.toml", "deny = ['fs_write']");
    check(&cli, &["run", "task.toml"], "the rules `out/rules.toml`", "out");
    let cli = place("shadow = ['out/rules.toml']");
    cli.file("out/rules.toml", "deny = ['fs_write']");
    check(&cli, &["run", "task.toml"], "the rules `out/rules.toml`", "out");
    // The user's rules and the list of trusted folders, also where they are not there yet.
    let cli = place("allow = ['fs_read']");
    let home = format!("home={}", cli.work().join("../home").display());
    check(&cli, &["run", "task.toml", "--write-root", &home], "the user's rules", "home");
    of_project(&cli, "deny = ['fs_write']");
    check(&cli, &["run", "task.toml", "--write-root", "here=.probity"], "the project's rules", "here");
}

#[test]
fn i49_files_that_cannot_be_used_stop_the_start() {
    let cli = place("rules = ['rules.toml']");
    let wrong = |rules: &str, says: &[&str]| {
        cli.file("rules.toml", rules);
        refused(&cli, &["run", "task.toml"], says);
        refused(&cli, &["policy", "check", "task.toml"], says);
    };
    wrong("alow = ['fs_read']", &["`rules.toml`", "unknown field `alow`", "docs/rules.md"]);
    wrong("deny = [{ rule = 'fs_read', because = 'x' }]", &["unknown field `because`"]);
    wrong("deny = ['fs_read'", &["`rules.toml`"]);
    wrong("deny = ['fs_read()']", &["the brackets are empty"]);
    wrong("allow = ['mcp__*']", &["must name its tool in full"]);
    wrong("deny = ['other_tool']", &["no tool of this name"]);
    wrong("mode = 'yolo'", &["`yolo`"]);
    wrong("# nothing\n", &["`rules.toml`", "states nothing"]);
    wrong(
        "deny = [{ rule = 'fs_read(docs/*)', match = ['fs_write(docs/a)'] }]",
        &["does not match its example"],
    );
    fs::remove_file(cli.work().join("rules.toml")).unwrap();
    refused(&cli, &["run", "task.toml"], &["`rules.toml`", "No such file"]);
    // Nobody's file is nobody's rules, but an empty one was cut off.
    let cli = place("allow = ['fs_read']");
    of_user(&cli, "");
    refused(&cli, &["run", "task.toml"], &["load the user's rules", "it states nothing"]);
    refused(&cli, &["run", "x", "--model", "rules/m.toml"], &["it states nothing"]);
    of_user(&cli, "deny = ['other_tool']");
    assert!(
        run(&cli).err.contains("the rule `other_tool` of the user's rules names no tool"),
        "{:?}",
        run(&cli)
    );
}

#[test]
fn rules_that_are_tried_out_are_told_and_change_nothing() {
    let cli = place("allow = ['fs_read']\nshadow = ['new.toml']");
    cli.file("new.toml", "deny = [{ rule = 'fs_read', reason = 'later' }]");
    let done = run(&cli);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains("the rule `fs_read` allows it"), "{done:?}");
    assert!(done.err.contains("would have been denied") && done.err.contains("later"), "{done:?}");
}

#[test]
fn a_mode_of_the_task_holds() {
    let write = json!({ "tool": "fs_write", "arguments": { "path": "out/a", "content": "x" } }).to_string();
    let ruling = |policy: &str, more: &[&str]| {
        let cli = place(policy);
        let args = [&["policy", "explain", "task.toml", "--json", "--call", &write], more].concat();
        cli.run(&args).json()["ruling"].clone()
    };
    assert_eq!(ruling("allow = ['fs_write']", &[]), "allow");
    assert_eq!(ruling("mode = 'read-only'\nallow = ['fs_write']", &[]), "deny");
    assert_eq!(ruling("mode = 'deny'", &["--on-terminal"]), "deny");
    assert_eq!(ruling("", &["--on-terminal"]), "ask");
}

#[test]
fn cases_that_cannot_be_read_are_a_usage_error() {
    let cli = place("");
    cli.file("rules.toml", RULES);
    for (name, text, says) in [
        ("a.toml", "", "missing field `case`"),
        ("a.toml", "case = []", "it has no case"),
        ("a.toml", "[[case]]\ncall = 'fs_read('\nexpect = 'deny'", "the bracket is not closed"),
        ("a.toml", "[[case]]\ncall = 'fs_read'\nexpect = 'no'", "unknown variant `no`"),
        ("a.jsonl", "\n", "it has no case"),
        ("a.jsonl", "\n{}", "line 2"),
    ] {
        cli.file(name, text);
        refused(&cli, &["policy", "test", "rules.toml", name], &[says, "hint: a case is"]);
    }
    // A task's own policies are tested with its tools.
    let cli = place("allow = ['fs_read(docs/**)']");
    cli.file("a.jsonl", "{\"call\":\"fs_read(docs/a.md)\",\"expect\":\"allow\"}");
    assert_eq!(cli.run(&["policy", "test", "task.toml", "a.jsonl"]).code, Some(0));
}
