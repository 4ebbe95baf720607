use probity_contract::{Access, Arguments, CallFacts, CallId, Digest, Label, PrincipalId, RunId, Target};

use super::*;

fn call(tool: &str, arguments: &str, targets: Vec<Target>) -> FrozenCall {
    FrozenCall::freeze(CallFacts {
        run: RunId::new("r").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: ToolName::new(tool).unwrap(),
        tool_digest: Digest::of("test", &[]),
        arguments: Arguments::parse(arguments).unwrap(),
        targets,
        label: Label::untrusted(),
    })
    .unwrap()
}

fn path(path: &str, resolved: &str) -> FrozenCall {
    let target = Target::Path {
        root: "work".into(),
        path: path.into(),
        resolved: resolved.into(),
        access: Access::Read,
        recursive: false,
    };
    call("fs_read", "{}", vec![target])
}

fn command(argv: &[&str]) -> FrozenCall {
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    let cwd = Target::Path {
        root: "work".into(),
        path: ".".into(),
        resolved: ".".into(),
        access: Access::Read,
        recursive: false,
    };
    let arguments = serde_json::json!({ "argv": argv }).to_string();
    call("shell", &arguments, vec![Target::Command { argv }, cwd])
}

fn url(url: &str, host: &str) -> FrozenCall {
    let target = Target::Url { url: url.into(), host: host.into(), port: 443, method: "GET".into() };
    call("http_get", "{}", vec![target])
}

fn check(rule: &str, call: &FrozenCall, strict: bool, loose: bool) {
    let rule = Rule::parse(rule).unwrap();
    assert_eq!(rule.matches(call, Reading::Strict), strict, "strictly: {rule} {:?}", call.targets());
    assert_eq!(rule.matches(call, Reading::Loose), loose, "loosely: {rule} {:?}", call.targets());
    assert!(!strict || loose, "a deny rule must match what an allow rule matches");
}

#[test]
fn paths_match_strictly_in_both_forms_and_loosely_in_either() {
    check("fs_read", &path("a", "a"), true, true);
    check("fs_read(work/**)", &path("docs/a.md", "docs/a.md"), true, true);
    check("fs_read(work/docs/**)", &path("docs/a.md", "docs/a.md"), true, true);
    check("fs_read(work/docs/*)", &path("docs/deep/a.md", "docs/deep/a.md"), false, false);
    check("fs_read(work/docs/**)", &path("docs/link", "private/key"), false, true);
    check("fs_read(work/private/**)", &path("docs/link", "private/key"), false, true);
    check("fs_read(private/**)", &path("docs/link", "private/key"), false, true);
    check("fs_read(work/private/**)", &path("Private/key", "Private/key"), false, true);
    check("fs_read(work)", &path(".", "."), true, true);
    check("fs_write(work/**)", &path("a", "a"), false, false);
    check("fs_*(work/**)", &path("a", "a"), true, true);
}

#[test]
fn commands_match_word_by_word_and_loosely_anywhere() {
    check("shell(git status)", &command(&["git", "status"]), true, true);
    check("shell(git status)", &command(&["git", "status", "--short"]), false, true);
    check("shell(git log *)", &command(&["git", "log", "--oneline", "a/b"]), true, true);
    check("shell(git log *)", &command(&["git", "log"]), true, true);
    check("shell(git)", &command(&["git", "status"]), false, true);
    check("shell(git status)", &command(&["git status"]), false, true);
    check("shell(rm *)", &command(&["rm", "-rf", "/"]), true, true);
    for hidden in [
        &["/bin/rm", "x"][..],
        &["env", "rm", "x"],
        &["sh", "-c", "ls; rm x"],
        &["sh", "-c", "ls|/usr/bin/rm x"],
        &["bash", "-c", "$(rm x)"],
    ] {
        check("shell(rm *)", &command(hidden), false, true);
    }
    check("shell(rm *)", &command(&["ls", "form"]), false, false);
}

#[test]
fn hosts_and_urls_match() {
    let api = url("https://api.example.org/v1/x", "api.example.org");
    check("http_get(api.example.org)", &api, true, true);
    check("http_get(*.example.org)", &api, true, true);
    check("http_get(https://api.example.org/**)", &api, true, true);
    check("http_get(example.org)", &api, false, false);
    check("http_get(API.example.org)", &api, false, true);
}

#[test]
fn named_arguments_match() {
    let pay = |arguments: &str| call("pay", arguments, Vec::new());
    check("pay(to=ACME-*)", &pay(r#"{"to":"ACME-1","amount":5}"#), true, true);
    check("pay(to=ACME-1, amount=5)", &pay(r#"{"to":"ACME-1","amount":5}"#), true, true);
    check("pay(to=ACME-1, amount=5)", &pay(r#"{"to":"ACME-1","amount":6}"#), false, false);
    check("pay(to=ACME-1)", &pay(r#"{"amount":6}"#), false, false);
    check("pay(to=A)", &pay(r#"{"to":["A","B"]}"#), false, true);
    check("pay(to=A)", &pay(r#"{"to":{"x":"A"}}"#), false, true);
    check("pay(ACME-1)", &pay(r#"{"to":"ACME-1"}"#), false, true);
}

#[test]
fn deny_beats_ask_beats_allow_in_every_order() {
    let lists = RuleLists {
        allow: vec!["fs_read(work/docs/a.md)".into()],
        ask: vec!["fs_read(work/docs/**)".into()],
        deny: vec!["fs_read".into()],
    };
    let tools = [ToolName::new("fs_read").unwrap()];
    let verdict = |lists: &RuleLists| {
        let name = PolicyName::new("rules").unwrap();
        RulePolicy::new(name, lists, &tools, Otherwise::Abstain)
            .unwrap()
            .verdict(&path("docs/a.md", "docs/a.md"))
    };
    assert!(matches!(verdict(&lists), Verdict::Deny { .. }));
    assert!(matches!(verdict(&RuleLists { deny: vec![], ..lists.clone() }), Verdict::Ask { .. }));
    assert!(matches!(verdict(&RuleLists { deny: vec![], ask: vec![], ..lists }), Verdict::Allow { .. }));
    assert_eq!(verdict(&RuleLists::default()), Verdict::Abstain);
}

#[test]
fn a_rule_that_cannot_be_used_stops_the_start() {
    for bad in
        ["", " ", "(x)", "fs_read(", "fs_read()", "fs_read( )", "fs read(x)", "fs_read([)", "a\n", "pay(to=)"]
    {
        assert!(Rule::parse(bad).is_err(), "{bad:?}");
    }
    let lists = RuleLists { deny: vec!["fs_wriet".into()], ..RuleLists::default() };
    let tools = [ToolName::new("fs_write").unwrap()];
    let name = PolicyName::new("rules").unwrap();
    let error = RulePolicy::new(name, &lists, &tools, Otherwise::Ask).unwrap_err().to_string();
    assert_eq!(error, "read the rule `fs_wriet`: the task has no tool of this name");
    assert!(toml_like(r#"{"alow":["x"]}"#).is_err());
}

fn toml_like(text: &str) -> Result<RuleLists, serde_json::Error> {
    serde_json::from_str(text)
}
