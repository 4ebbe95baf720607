use probity_contract::{
    Access, Arguments, CallFacts, CallId, Digest, Effect, Label, PrincipalId, RunId, Target, ToolName,
};
use proptest::prelude::*;
use proptest::sample::select;

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
        operands: Vec::new(),
        arguments_from: Vec::new(),
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
    assert_eq!(
        rule.matches(&Seen::new(call), Reading::Strict),
        strict,
        "strictly: {rule} {:?}",
        call.targets()
    );
    assert_eq!(rule.matches(&Seen::new(call), Reading::Loose), loose, "loosely: {rule} {:?}", call.targets());
    assert!(!strict || loose, "a deny rule must match what an allow rule matches");
}

#[test]
fn paths_match_strictly_in_both_forms_and_loosely_in_either() {
    check("fs_read", &path("a", "a"), true, true);
    check("fs_read(work/**)", &path("docs/a.md", "docs/a.md"), true, true);
    check("fs_read(work/docs/**)", &path("docs/a.md", "docs/a.md"), true, true);
    check("fs_read(work/docs/*)", &path("docs/deep/a.md", "docs/deep/a.md"), false, true);
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
    check("http_get(API.example.org)", &api, true, true);
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
    let tools = [spec("fs_read", &["path"])];
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
    let tools = [spec("fs_write", &["path"])];
    let name = PolicyName::new("rules").unwrap();
    let error = RulePolicy::new(name, &lists, &tools, Otherwise::Ask).unwrap_err().to_string();
    assert_eq!(error, "read the rule `fs_wriet`: the task has no tool of this name");
    assert!(toml_like(r#"{"alow":["x"]}"#).is_err());
}

fn toml_like(text: &str) -> Result<RuleLists, serde_json::Error> {
    serde_json::from_str(text)
}

fn spec(name: &str, arguments: &[&str]) -> ToolSpec {
    let property = |name: &&str| ((*name).to_owned(), serde_json::json!({}));
    let properties: serde_json::Map<_, _> = arguments.iter().map(property).collect();
    ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: String::new(),
        input_schema: serde_json::json!({ "properties": properties, "additionalProperties": false }),
        effect: Effect::Once,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    }
}

fn search(path: &str) -> FrozenCall {
    let (root, access, recursive) = ("work".to_owned(), Access::Read, true);
    let target = Target::Path { root, path: path.into(), resolved: path.into(), access, recursive };
    call("fs_search", "{}", vec![target])
}

#[test]
fn a_rule_about_what_lies_below_meets_a_call_that_reaches_there() {
    for rule in
        ["*(work/secret/**)", "*(secret/**)", "*(work/secret/keys.txt)", "*(**/*.pem)", "*(work/s?cret/**)"]
    {
        check(rule, &search("."), false, true);
    }
    check("*(work/secret/**)", &search("secret"), true, true);
    check("*(work/secret/**)", &search("Secret/deep"), false, true);
    check("*(work/secret/**)", &search("docs"), false, false);
    check("*(work/secret/keys.txt)", &search("secret/other"), false, false);
    // What widens must cover everything below.
    check("fs_search(work/docs/**)", &search("docs"), true, true);
    check("fs_search(work/docs/**)", &search("docs/a"), true, true);
    check("fs_search(work/docs/*)", &search("docs/a"), false, true);
    check("fs_search(work/docs)", &search("docs"), false, true);
    check("fs_search(work/docs/**)", &search("."), false, true);
    check(
        "fs_list(work/secret/**)",
        &call("fs_list", "{}", path("secret", "secret").targets().to_vec()),
        false,
        true,
    );
    let lists = RuleLists { deny: vec!["*(work/secret/**)".into()], ..RuleLists::default() };
    let tools = [spec("fs_search", &["path"])];
    let rules =
        RulePolicy::new(PolicyName::new("rules").unwrap(), &lists, &tools, Otherwise::Abstain).unwrap();
    let Verdict::Deny { reason } = rules.verdict(&search(".")) else { panic!("not denied") };
    assert!(reason.contains("`*(work/secret/**)`") && reason.contains("narrower path"), "{reason}");
    assert_eq!(rules.verdict(&search("docs")), Verdict::Abstain);
}

#[test]
fn a_star_that_narrows_does_not_stop_at_a_slash() {
    check("shell(*secret*)", &command(&["cat", "secret/keys.txt"]), false, true);
    check("fs_read(*secret*)", &path("a/secret/b", "a/secret/b"), false, true);
}

#[test]
fn what_a_program_is_fed_is_judged() {
    let fed = |argv: &[&str], stdin: &str| {
        let mut targets = command(argv).targets().to_vec();
        targets.push(Target::Other { what: "stdin".into(), value: stdin.into() });
        call("shell", "{}", targets)
    };
    check("shell(rm *)", &fed(&["sh"], "ls\nrm -rf x"), false, true);
    check("shell(rm *)", &fed(&["sh"], "ls; /bin/rm -rf x"), false, true);
    check("shell(rm *)", &fed(&["sh"], "ls"), false, false);
    check("shell(python3)", &fed(&["python3"], "print(1)"), false, true);
    check("shell(*)", &fed(&["python3"], "x"), false, true);
    check("shell(sh *)", &fed(&["sh", "-s"], "sh x"), false, true);
    check("shell", &fed(&["python3"], "print(1)"), true, true);
}

#[test]
fn one_address_has_many_spellings() {
    let rule = "http_get(http://h.org/admin/**)";
    let at = |tail: &str| url(&format!("http://h.org{tail}"), "h.org");
    check(rule, &at("/admin/x"), true, true);
    for tail in [
        "/%61dmin/x",
        "/%2561dmin/x",
        "//admin/x",
        "/admin",
        "/admin?x",
        "/admin;a=b/x",
        "/ADMIN/x",
        "/pub/..%2fadmin/x",
        "/pub/..%5cadmin/x",
    ] {
        check(rule, &at(tail), false, true);
    }
    check(rule, &at("/public/x"), false, false);
    // What widens must not be led elsewhere.
    check("http_get(http://h.org/pub/**)", &at("/pub/..%2fadmin/x"), false, true);
    check("http_get(http://h.org/pub/**)", &at("/pub/%2e%2e/admin/x"), false, true);
    check("http_get(http://h.org/pub/**)", &at("/pub/a%20b?q=1"), true, true);
    for rule in ["http_get([::1])", "http_get([::1]:443)", "http_get(http://[0:0::1]/**)"] {
        check(rule, &url("http://[::1]/a", "[::1]"), true, true);
        check(rule, &url("http://1/a", "1"), false, false);
    }
    let idn = url("https://www.xn--bcher-kva.example/a", "www.xn--bcher-kva.example");
    for rule in [
        "http_get(www.bücher.example)",
        "http_get(*.BÜCHER.example)",
        "http_get(https://*.bücher.example/**)",
    ] {
        check(rule, &idn, true, true);
    }
}

#[test]
fn names_of_arguments_may_be_anything_that_the_tool_has() {
    let pay = |arguments: &str| call("pay", arguments, Vec::new());
    check("pay(to=A,amount=5)", &pay(r#"{"to":"A","amount":5}"#), true, true);
    check("pay(to={A,B},amount=5)", &pay(r#"{"to":"B","amount":5}"#), true, true);
    check("pay(to-account=A)", &pay(r#"{"to-account":"A"}"#), true, true);
    check("pay(to.iban=DE*)", &pay(r#"{"to":{"iban":"DE1"}}"#), true, true);
    check("pay(to.iban=DE*)", &pay(r#"{"to.iban":"DE1"}"#), true, true);
    check("pay(to.iban=DE*)", &pay(r#"{"to":{"iban":"FR1"}}"#), false, false);
    check(
        r"fs_write(work/\[id\]/**)",
        &call("fs_write", "{}", path("[id]/a", "[id]/a").targets().to_vec()),
        true,
        true,
    );
}

#[test]
fn a_rule_that_can_never_match_stops_the_start() {
    let tools = [spec("fs_list", &["path"]), spec("pay", &["to", "amount"])];
    let new = |rule: &str| {
        let lists = RuleLists { deny: vec![rule.into()], ..RuleLists::default() };
        RulePolicy::new(PolicyName::new("rules").unwrap(), &lists, &tools, Otherwise::Ask)
    };
    for good in
        ["*", "*(x)", "fs_*", "pay(to=x)", "pay(to.iban=x)", r"pay(a\=b)", "*(to=x)", "fs_list(path=a,b=c)"]
    {
        assert_eq!(new(good).is_ok(), good != "fs_list(path=a,b=c)", "{good}");
    }
    for (bad, why) in [
        ("fs_list(pth=secret)", "no argument `pth`"),
        ("*(pth=secret)", "an argument `pth`"),
        ("fs_raed*", "no tool whose name matches"),
        ("pay(to=A, Ltd)", "`Ltd` is not"),
        ("fs_list(work/[id]/**)", "for a bracket"),
        ("fs_list([ab:cd])", "for a bracket"),
    ] {
        let error = new(bad).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_rule_is_quoted_whole_or_not_at_all() {
    let long = format!("nope({})", "x".repeat(300));
    assert!(Rule::parse(&long).unwrap().check(&[]).unwrap_err().to_string().contains(&long));
    let error = Rule::parse(&format!("nope({}", "x".repeat(5000))).unwrap_err().to_string();
    assert!(error.contains("longer than") && error.len() < 100, "{error}");
}

fn words() -> impl Strategy<Value = String> {
    let part = select(vec![
        "a", "A", "b", "/", ".", "*", "**", "?", "{a,b}", " ", "work", "=", "-", "%2f", ":", "h.org",
        "http://",
    ]);
    prop::collection::vec(part, 1..7).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_matches_strictly_matches_loosely(pattern in words(), text in words(), recursive: bool, kind in 0..4_u8) {
        let Ok(rule) = Rule::parse(&format!("t({pattern})")) else { return Ok(()) };
        let value = text.clone();
        let target = match kind {
            0 => Target::Path { root: "work".into(), path: value.clone(), resolved: value, access: Access::Read, recursive },
            1 => Target::Command { argv: value.split(' ').map(str::to_owned).collect() },
            2 => Target::Url { url: format!("http://h.org/{value}"), host: "h.org".into(), port: 80, method: "GET".into() },
            _ => Target::Other { what: "x".into(), value },
        };
        let call = call("t", &serde_json::json!({ "a": text }).to_string(), vec![target]);
        prop_assert!(!rule.matches(&Seen::new(&call), Reading::Strict) || rule.matches(&Seen::new(&call), Reading::Loose));
    }
}
