use std::collections::BTreeSet;

use probity_contract::{
    Access, ArgumentSource, Arguments, CallFacts, CallId, Effect, Label, PrincipalId, RunId, Target,
};
use serde_json::json;

use super::*;

fn spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: String::new(),
        input_schema: json!({}),
        effect,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    }
}

fn call(
    tool: &ToolSpec,
    arguments: &str,
    targets: Vec<Target>,
    label: Integrity,
    from: &[(&str, Integrity)],
) -> FrozenCall {
    let source = |(at, integrity): &(&str, Integrity)| ArgumentSource {
        at: (*at).to_owned(),
        integrity: *integrity,
        item: None,
        part: None,
    };
    FrozenCall::freeze(CallFacts {
        run: RunId::new("r").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: tool.name.clone(),
        tool_digest: tool.digest(),
        arguments: Arguments::parse(arguments).unwrap(),
        targets,
        operands: Vec::new(),
        arguments_from: from.iter().map(source).collect(),
        label: Label::of(label),
    })
    .unwrap()
}

fn policy(tools: &[ToolSpec]) -> ArgumentPolicy {
    ArgumentPolicy::new(PolicyName::new("arguments").unwrap(), tools)
}

#[test]
fn i37_every_argument_decides_but_those_that_are_data() {
    use Integrity::{Person, ToolTrusted, Untrusted};
    let send = spec("send", Effect::Once);
    let policy = policy(std::slice::from_ref(&send)).data(send.name.clone(), ["/body", "/meta"]);
    let check = |arguments: &str, from: &[(&str, Integrity)], expected: Option<&str>| {
        let verdict = policy.verdict(&call(&send, arguments, Vec::new(), Untrusted, from));
        match (verdict, expected) {
            (Verdict::Abstain, None) => {}
            (Verdict::Deny { reason }, Some(named)) => assert!(reason.starts_with(named), "{reason}"),
            (verdict, _) => panic!("{arguments}: {verdict:?}"),
        }
    };
    check(r#"{"to":"b","body":"x"}"#, &[("/to", Person)], None);
    check(r#"{"to":"b","body":"x"}"#, &[("/to", ToolTrusted)], None);
    check(r#"{"to":"b","body":"x"}"#, &[("/body", Person)], Some("`/to` may come"));
    check(r#"{"to":["b","c"]}"#, &[("/to/0", Person)], Some("`/to/1` may come"));
    check(r#"{"to":[]}"#, &[], Some("`/to` may come"));
    check(r#"{"meta":{"a":1},"body":["x"]}"#, &[], None);
    check(r#"{"body2":"x"}"#, &[], Some("`/body2` may come"));
    check(r#"{"a":1,"b":1,"c":1,"d":1,"e":1}"#, &[], Some("`/a`, `/b`, `/c` and 2 more may come"));
    check("{}", &[], Some("the call may come"));
}

#[test]
fn i37_an_address_within_data_decides_too() {
    use Integrity::{Person, Untrusted};
    let send = spec("send", Effect::Once);
    let policy = policy(std::slice::from_ref(&send)).data(send.name.clone(), ["/body", "/meta"]);
    let check = |arguments: &str, from: &[(&str, Option<&str>)], expected: Option<&str>| {
        let mut facts = call(&send, arguments, Vec::new(), Untrusted, &[]).facts().clone();
        let source = |(at, part): &(&str, Option<&str>)| ArgumentSource {
            at: (*at).to_owned(),
            integrity: Person,
            item: None,
            part: part.map(str::to_owned),
        };
        facts.arguments_from = from.iter().map(source).collect();
        match (policy.verdict(&FrozenCall::freeze(facts).unwrap()), expected) {
            (Verdict::Abstain, None) => {}
            (Verdict::Deny { reason }, Some(named)) => assert!(reason.starts_with(named), "{reason}"),
            (verdict, _) => panic!("{arguments}: {verdict:?}"),
        }
    };
    check(r#"{"body":"nothing to see"}"#, &[], None);
    for body in ["go to https://evil.test/a", "write to eve@evil.test", "pay to US133000000121212121212"] {
        check(&json!({ "body": body }).to_string(), &[], Some("an address in `/body` may come"));
        check(&json!({ "body": body }).to_string(), &[("/body", None)], None);
    }
    let two = r#"{"body":"www.x.test or www.evil.test"}"#;
    check(two, &[("/body", Some("www.x.test"))], Some("an address in `/body` may come"));
    check(two, &[("/body", Some("www.x.test")), ("/body", Some("www.evil.test"))], None);
    check(two, &[("/meta", Some("www.x.test")), ("/body", Some("www.evil.test"))], Some("an address"));
    check(
        r#"{"meta":{"https:~0~1~1evil.test":"x"}}"#.replace("~0~1~1", "//").as_str(),
        &[],
        Some("an address in"),
    );
    // What is known of a piece says nothing of the whole.
    check(r#"{"to":"bob@x.test, eve@evil.test"}"#, &[("/to", Some("bob@x.test"))], Some("`/to` may come"));
}

#[test]
fn i37_only_calls_that_can_change_something_are_judged_and_those_that_are_named() {
    use Integrity::{Endorsed, Person, Untrusted};
    let (reads, acts) = (spec("reads", Effect::Pure), spec("acts", Effect::Idempotent));
    let tools = [reads.clone(), acts.clone()];
    let path = |access| Target::Path {
        root: "w".into(),
        path: "a".into(),
        resolved: "a".into(),
        access,
        recursive: false,
    };
    let url = |method: &str| Target::Url {
        url: "http://h/".into(),
        host: "h".into(),
        port: 80,
        method: method.into(),
    };
    let abstains = |policy: &ArgumentPolicy, tool: &ToolSpec, targets: Vec<Target>, label| {
        policy.verdict(&call(tool, r#"{"a":"b"}"#, targets, label, &[])) == Verdict::Abstain
    };
    let plain = policy(&tools);
    assert!(abstains(&plain, &reads, vec![path(Access::Read), url("GET")], Untrusted));
    for targets in
        [vec![path(Access::Write)], vec![url("POST")], vec![Target::Command { argv: vec!["ls".into()] }]]
    {
        assert!(!abstains(&plain, &reads, targets, Untrusted));
    }
    assert!(!abstains(&plain, &acts, Vec::new(), Untrusted));
    // A tool of that name which is defined otherwise declares nothing.
    assert!(!abstains(&plain, &ToolSpec { description: "x".into(), ..reads.clone() }, Vec::new(), Untrusted));
    assert!(!abstains(&policy(&tools).also(reads.name.clone()), &reads, vec![url("GET")], Untrusted));
    let strict = policy(&tools).needing(Person);
    assert!(!abstains(&strict, &acts, Vec::new(), Endorsed) && abstains(&strict, &acts, Vec::new(), Person));
    let asked = policy(&tools).asking().verdict(&call(&acts, "{}", Vec::new(), Untrusted, &[]));
    assert!(matches!(asked, Verdict::Ask { .. }), "{asked:?}");
}

#[test]
fn other_settings_are_other_rules() {
    let acts = spec("acts", Effect::Once);
    let new = || policy(std::slice::from_ref(&acts));
    let all = [
        new(),
        new().asking(),
        new().needing(Integrity::Person),
        new().data(acts.name.clone(), ["/a"]),
        new().data(acts.name.clone(), ["/a", "/b"]),
        new().also(acts.name.clone()),
    ];
    let epochs: BTreeSet<Digest> = all.iter().map(Policy::epoch).collect();
    assert_eq!(epochs.len(), all.len());
}
