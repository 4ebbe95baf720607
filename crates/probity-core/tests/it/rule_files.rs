//! Rule files, layer upon layer: what is refused, who wins, and what a mode does.

use std::sync::{Arc, Mutex};

use probity_contract::{
    Arguments, CallFacts, CallId, Cancel, Digest, Effect, FrozenCall, Label, Policy, PolicyName, PrincipalId,
    RunId, Said as Heard, Seat, Target, ToolName, ToolSpec, Verdict,
};
use probity_core::{
    CallExample, LayerError, LayeredRules, Mode, ReloadableRules, RuleFile, RuleLayer, RuleSource,
    SHADOW_CALLS_MAX, ShadowLog, ShadowPolicy,
};
use probity_testkit::{Judges, ScriptedPolicy, policy_name};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::reference::{Dice, Lists, Said, Scene, load, said};

/// A call that touches these things.
pub(crate) fn frozen(tool: &str, arguments: &Value, targets: Vec<Target>) -> FrozenCall {
    FrozenCall::freeze(CallFacts {
        run: RunId::new("r").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: ToolName::new(tool).unwrap(),
        tool_digest: Digest::of("test", &[]),
        arguments: Arguments::from_value(arguments).unwrap(),
        targets,
        label: Label::untrusted(),
        operands: Vec::new(),
        arguments_from: Vec::new(),
    })
    .unwrap()
}

const SOURCES: [RuleSource; 4] =
    [RuleSource::Organisation, RuleSource::User, RuleSource::Project, RuleSource::Task];

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, effect, arguments: Value| ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: String::new(),
        input_schema: json!({ "properties": arguments, "additionalProperties": false }),
        effect,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    };
    vec![
        tool("fs_read", Effect::Pure, json!({ "path": {} })),
        tool("fs_write", Effect::Once, json!({ "path": {} })),
        tool("http_get", Effect::Pure, json!({ "url": {} })),
        tool("shell", Effect::Once, json!({ "argv": {} })),
        tool("pay", Effect::Once, json!({ "to": {}, "amount": {} })),
    ]
}

fn layer(source: RuleSource, file: &Value) -> RuleLayer {
    let file: RuleFile = serde_json::from_value(file.clone()).unwrap();
    RuleLayer { source, file_name: "rules.toml".to_owned(), file, may_widen: true }
}

fn rules(layers: &[RuleLayer], mode: Mode) -> Result<LayeredRules, LayerError> {
    LayeredRules::new(PolicyName::new("rules").unwrap(), layers, &tools(), mode)
}

fn call(said: &str) -> FrozenCall {
    said.parse::<CallExample>().unwrap().freeze(&tools()).unwrap()
}

fn check(layers: &[RuleLayer], called: &str, expected: Said) {
    let verdict = rules(layers, Mode::UNSTATED).unwrap().verdict(&call(called));
    assert_eq!(said(&verdict), expected, "{called}: {verdict:?}");
}

fn refused(source: RuleSource, file: &Value, why: &str) {
    let error = rules(&[layer(source, file)], Mode::UNSTATED).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn a_call_is_written_as_it_is_said() {
    let target = |said: &str| serde_json::to_value(call(said).targets()).unwrap();
    assert_eq!(target("fs_read(work/a b.md)")[0]["path"], "a b.md");
    assert_eq!(target("fs_read(work)")[0]["path"], ".");
    assert_eq!(target("shell(ls)")[0]["argv"], json!(["ls"]));
    assert_eq!(target("run(git log | head)")[1]["argv"], json!(["head"]));
    assert_eq!(target("run(git $x)")[0]["what"], "unaccounted_command");
    assert_eq!(target("http_get(https://h.org:8443/a?b#c)")[0]["url"], "https://h.org:8443/a?b");
    assert_eq!(
        call("pay(to=ACME-1, amount=5)").arguments().to_value(),
        json!({ "to": "ACME-1", "amount": 5 })
    );
    let long = json!({ "tool": "fs_write", "path": "work/a", "resolved": "work/b", "write": true, "arguments": { "x": [1] } });
    let long: CallExample = serde_json::from_value(long).unwrap();
    let long = long.freeze(&tools()).unwrap();
    let told = serde_json::to_value(long.targets()).unwrap();
    assert_eq!((&told[0]["resolved"], &told[0]["access"]), (&json!("b"), &json!("write")));
    for bad in ["", "(x)", "pay(", "pay()", "pay(to=x, y)", "http_get(https://)"] {
        assert!(bad.parse::<CallExample>().is_err(), "{bad}");
    }
    for bad in [
        json!({ "tool": "x", "pth": "y" }),
        json!({ "tool": "x", "write": true }),
        json!({ "path": "y" }),
        json!(3),
    ] {
        assert!(serde_json::from_value::<CallExample>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn i49_a_wrong_example_refuses_the_load() {
    let rule = |rule: &str, list: &str, matches: &[&str], not_match: &[&str]| json!({ list: [{ "rule": rule, "match": matches, "not_match": not_match }] });
    let fine = |file: &Value| drop(rules(&[layer(RuleSource::User, file)], Mode::UNSTATED).unwrap());
    fine(&rule(
        "fs_read(work/docs/**)",
        "allow",
        &["fs_read(work/docs/a.md)"],
        &["fs_read(work/docs)", "fs_read(work/x)"],
    ));
    fine(&rule("shell(rm *)", "deny", &["shell(ls; env /bin/rm x)", "shell(r\\m $x)"], &["shell(ls form)"]));
    fine(&rule(
        "shell(git *)",
        "allow",
        &["shell(git log; git status)"],
        &["shell(git $x)", "shell(git log; ls)"],
    ));
    fine(&rule("pay(to=ACME-*)", "ask", &["pay(to=ACME-1, amount=5)"], &["pay(to=bob)"]));
    refused(
        RuleSource::User,
        &rule("fs_read(work/*)", "allow", &["fs_read(work/a/b)"], &[]),
        "does not match its example `fs_read(work/a/b)`",
    );
    refused(
        RuleSource::User,
        &rule("fs_read(work/*)", "deny", &[], &["fs_read(work/a/b)"]),
        "it matches `fs_read(work/a/b)`",
    );
    refused(RuleSource::Task, &rule("shell(rm *)", "deny", &[], &["shell(sh -c 'rm x')"]), "it matches");
}

#[test]
fn i49_what_cannot_be_meant_refuses_the_load() {
    for source in SOURCES {
        refused(source, &json!({ "allow": ["fs_read("] }), "the bracket is not closed");
        refused(source, &json!({ "deny": ["fs_read()"] }), "the brackets are empty");
        refused(source, &json!({ "allow": ["mcp__*"] }), "must name its tool in full");
        refused(source, &json!({ "allow": ["*"] }), "must name its tool in full");
        refused(source, &json!({ "allow": ["fs_*(work/**)"] }), "must name its tool in full");
        refused(source, &json!({ "deny": ["fs_read(pth=x)"] }), "no argument `pth`");
    }
    for unknown in [
        json!({ "alow": [] }),
        json!({ "mode": "yolo" }),
        json!({ "deny": [{ "rule": "shell", "because": "x" }] }),
    ] {
        assert!(serde_json::from_value::<RuleFile>(unknown.clone()).is_err(), "{unknown}");
    }
    let twenty: Vec<String> =
        (0..20).map(|number| format!("shell(rm {number})")).chain(["shell(".to_owned()]).collect();
    refused(RuleSource::Organisation, &json!({ "deny": twenty }), "the bracket is not closed");
    refused(RuleSource::User, &json!({}), "it states nothing");
    // A tool that the task does not have: in the task's own file a mistake, in one for many tasks told.
    refused(RuleSource::Task, &json!({ "deny": ["other_tool"] }), "no tool of this name");
    let told = rules(
        &[layer(RuleSource::Organisation, &json!({ "deny": ["other_tool", "shell"] }))],
        Mode::UNSTATED,
    )
    .unwrap();
    let idle: Vec<&str> = told.idle_rules().iter().map(|rule| rule.tool.as_str()).collect();
    assert_eq!(idle, ["other_tool"]);
}

#[test]
fn i05_no_layer_softens_another() {
    let of = |source, key: &str| layer(source, &json!({ key: ["fs_read(work/**)"] }));
    for [above, below] in [[0, 1], [1, 0], [2, 3], [3, 2], [0, 3]] {
        let (above, below) = (SOURCES[above], SOURCES[below]);
        check(&[of(above, "ask"), of(below, "allow")], "fs_read(work/a)", Said::Ask);
        check(&[of(above, "deny"), of(below, "allow")], "fs_read(work/a)", Said::Deny);
        check(&[of(above, "allow"), of(below, "deny")], "fs_read(work/a)", Said::Deny);
        check(&[of(above, "ask"), of(below, "deny")], "fs_read(work/a)", Said::Deny);
        check(&[of(above, "allow"), of(below, "allow")], "fs_read(work/a)", Said::Allow);
    }
    // Silence is for its author to mean something by.
    let above = |mode: &str| {
        layer(RuleSource::Organisation, &json!({ "mode": mode, "allow": ["fs_read(work/docs/**)"] }))
    };
    let below = || of(RuleSource::Task, "allow");
    check(&[above("unstated"), below()], "fs_read(work/a)", Said::Allow);
    check(&[above("deny"), below()], "fs_read(work/a)", Said::Allow);
    check(&[above("ask"), below()], "fs_read(work/a)", Said::Ask);
    check(&[above("allow-listed"), below()], "fs_read(work/a)", Said::Deny);
    check(&[above("allow-listed"), below()], "fs_read(work/docs/a)", Said::Allow);
}

#[test]
fn the_author_and_the_reason_are_told() {
    let deny = json!({ "deny": [{ "rule": "shell(rm *)", "reason": "nothing is removed here" }] });
    let verdict = rules(&[layer(RuleSource::Organisation, &deny)], Mode::UNSTATED)
        .unwrap()
        .verdict(&call("shell(rm x)"));
    let reason =
        "the rule `shell(rm *)` denies it (organisation's rules): nothing is removed here".to_owned();
    assert_eq!(verdict, Verdict::Deny { reason });
}

#[test]
fn i50_rules_that_are_not_trusted_only_narrow() {
    let untrusted = |key: &str, mode: &str| RuleLayer {
        may_widen: false,
        ..layer(RuleSource::Project, &json!({ "mode": mode, key: ["fs_read(work/**)"] }))
    };
    let below = || layer(RuleSource::Task, &json!({ "allow": ["fs_read", "fs_write"] }));
    check(&[untrusted("allow", "unstated")], "fs_read(work/a)", Said::Abstain);
    check(&[untrusted("ask", "unstated"), below()], "fs_read(work/a)", Said::Ask);
    check(&[untrusted("deny", "unstated"), below()], "fs_read(work/a)", Said::Deny);
    check(&[untrusted("ask", "unstated")], "fs_read(work/a)", Said::Deny);
    check(&[untrusted("allow", "ask"), below()], "fs_write(work/a)", Said::Ask);
    check(&[untrusted("allow", "allow-listed"), below()], "fs_read(work/a)", Said::Allow);
    check(&[untrusted("allow", "allow-listed"), below()], "fs_write(work/a)", Said::Deny);
    check(&[untrusted("allow", "read-only"), below()], "fs_write(work/a)", Said::Deny);
}

#[test]
fn i16_an_allow_needs_both_forms_of_a_path_and_a_deny_either_over_all_layers() {
    let example = |path: &str, resolved: &str| {
        let example = json!({ "tool": "fs_read", "path": path, "resolved": resolved });
        serde_json::from_value::<CallExample>(example).unwrap().freeze(&tools()).unwrap()
    };
    let of = |source, key: &str, rule: &str| layer(source, &json!({ key: [rule] }));
    let both = [
        of(RuleSource::Organisation, "allow", "fs_read(work/proj/**)"),
        of(RuleSource::Task, "allow", "fs_read(work/keys/**)"),
    ];
    let said_of = |layers: &[RuleLayer], path: &str, resolved: &str| {
        said(&rules(layers, Mode::UNSTATED).unwrap().verdict(&example(path, resolved)))
    };
    assert_eq!(said_of(&both, "work/proj/a", "work/proj/b"), Said::Allow);
    // One rule for the name and another for where it leads is nobody's leave.
    assert_eq!(said_of(&both, "work/proj/key", "work/keys/id"), Said::Abstain);
    let denied =
        [of(RuleSource::User, "deny", "fs_read(work/keys/**)"), of(RuleSource::Task, "allow", "fs_read")];
    assert_eq!(said_of(&denied, "work/proj/key", "work/keys/id"), Said::Deny);
    assert_eq!(said_of(&denied, "work/keys/id", "work/proj/key"), Said::Deny);
    assert_eq!(said_of(&both, "work/proj_evil/x", "work/proj_evil/x"), Said::Abstain);
}

const MODES: [&str; 8] = [
    "unstated",
    "ask",
    "deny",
    "allow-listed",
    "read-only",
    "read-only+ask",
    "read-only+deny",
    "read-only+allow-listed",
];

#[test]
fn i34_modes_are_a_lattice_and_their_meet_is_within_both() {
    let modes: Vec<Mode> = MODES.iter().map(|name| name.parse().unwrap()).collect();
    for (mode, name) in modes.iter().zip(MODES) {
        assert_eq!(mode.to_string(), name);
        assert_eq!(mode.and(*mode), *mode);
        assert_eq!(mode.and(Mode::UNSTATED), *mode);
    }
    for (a, b, c) in modes.iter().flat_map(|a| modes.iter().flat_map(|b| modes.iter().map(|c| (*a, *b, *c))))
    {
        assert_eq!(a.and(b), b.and(a));
        assert_eq!(a.and(b).and(c), a.and(b.and(c)));
        assert!(a.and(b).is_within(a) && modes.contains(&a.and(b)));
        // It is the greatest of all below both, and the order is one.
        assert!(!(c.is_within(a) && c.is_within(b)) || c.is_within(a.and(b)));
        assert!(!(a.is_within(b) && b.is_within(a)) || a == b);
        assert!(!(a.is_within(b) && b.is_within(c)) || a.is_within(c));
    }
    assert_eq!(Mode::ASK.and(Mode::DENY), Mode::ALLOW_LISTED);
    assert!(
        "".parse::<Mode>().is_err() && "bypass".parse::<Mode>().is_err() && "ask+".parse::<Mode>().is_err()
    );
}

/// What follows where another policy says something, too, the most permissive last: deny, ask, allow.
fn ruling(said: Said, other: Said) -> u8 {
    match (said.min(other), said.max(other)) {
        (Said::Deny, _) | (Said::Abstain, Said::Abstain) => 0,
        (Said::Ask, _) => 1,
        (Said::Abstain | Said::Allow, _) => 2,
    }
}

/// A child in whatever mode, below a task in whatever mode, does nothing that it could not in the meet of both: all 64 pairs.
#[test]
fn i34_a_child_in_any_mode_below_any_mode_is_in_the_meet() {
    use probity_contract::{Bench, Level, Opinion, Roster, Ruling, Seat};
    let lists = json!({ "allow": ["fs_read(work/**)", "fs_write"], "ask": ["pay"], "deny": ["shell(rm *)"] });
    let calls =
        ["fs_read(work/a)", "fs_read(x/a)", "fs_write(work/a)", "pay(to=x)", "shell(rm x)", "shell(ls)"];
    let modes: Vec<Mode> = MODES.iter().map(|name| name.parse().unwrap()).collect();
    let roster = || Roster::new(vec![policy_name("rules")]).unwrap();
    let (alone, child) = (Bench::of(roster()), Bench::of(roster()).for_child(roster()).unwrap());
    let loaded: Vec<(Mode, LayeredRules)> =
        modes.iter().map(|mode| (*mode, rules(&[layer(RuleSource::Task, &lists)], *mode).unwrap())).collect();
    let ruled = |bench: &Bench, modes: &[Mode], called: &FrozenCall| {
        let opinion = |(level, mode): (u8, &Mode)| {
            let verdict = loaded.iter().find(|(of, _)| of == mode).unwrap().1.verdict(called);
            let said = probity_contract::Said::Verdict(verdict);
            Opinion { level: Level(level), policy: policy_name("rules"), epoch: None, said }
        };
        let opinions: Vec<Opinion> = (0..).zip(modes).map(opinion).collect();
        match bench.rule(Seat::ExecuteRecheck, &opinions) {
            Ruling::Allow => 2,
            Ruling::Ask(_) => 1,
            Ruling::Deny(_) => 0,
        }
    };
    for called in calls {
        let of = &call(called);
        for (own, above) in modes.iter().flat_map(|own| modes.iter().map(|above| (*own, *above))) {
            let below = ruled(&child, &[own, above], of);
            let meet = ruled(&alone, &[own.and(above)], of);
            assert!(below <= meet, "{called}: {own} below {above} is wider than {}", own.and(above));
            assert!(below <= ruled(&alone, &[own], of).min(ruled(&alone, &[above], of)));
        }
    }
}

#[test]
fn i34_under_a_meet_nothing_is_possible_that_is_not_under_both_whoever_else_judges() {
    let lists = json!({ "allow": ["fs_read(work/**)", "fs_write"], "ask": ["pay"], "deny": ["shell(rm *)"] });
    let calls = [
        "fs_read(work/a)",
        "fs_read(x/a)",
        "fs_write(work/a)",
        "pay(to=x)",
        "shell(rm x)",
        "shell(ls)",
        "http_get(https://h/)",
    ];
    let says_what_follows_silence = |mode: &Mode| mode.is_within(Mode::ASK) || mode.is_within(Mode::DENY);
    let under = |mode: Mode, called: &str| {
        said(&rules(&[layer(RuleSource::Task, &lists)], mode).unwrap().verdict(&call(called)))
    };
    let others = [Said::Deny, Said::Ask, Said::Abstain, Said::Allow];
    // A task's mode says what follows silence; where nobody does it is `deny`.
    let modes: Vec<Mode> =
        MODES.iter().map(|name| name.parse().unwrap()).filter(says_what_follows_silence).collect();
    assert_eq!(modes.len(), 6);
    let mode_of = |mode| rules(&[layer(RuleSource::Task, &lists)], mode).unwrap().mode();
    assert_eq!([mode_of(Mode::UNSTATED), mode_of(Mode::ASK)], [Mode::DENY, Mode::ASK]);
    assert_eq!(mode_of(Mode::READ_ONLY), Mode::READ_ONLY.and(Mode::DENY));
    for called in calls {
        let heard: Vec<(Mode, Said)> = modes.iter().map(|mode| (*mode, under(*mode, called))).collect();
        let of = |wanted: Mode| heard.iter().find(|(mode, _)| *mode == wanted).unwrap().1;
        for (a, b, other) in
            modes.iter().flat_map(|a| modes.iter().flat_map(|b| others.map(|other| (*a, *b, other))))
        {
            let meet = ruling(of(a.and(b)), other);
            assert!(meet <= ruling(of(a), other).min(ruling(of(b), other)), "{called} {a} {b} {other:?}");
        }
    }
    assert_eq!(under(Mode::READ_ONLY, "fs_read(work/a)"), Said::Allow);
    assert_eq!(under(Mode::READ_ONLY, "fs_write(work/a)"), Said::Deny);
    assert_eq!(under(Mode::READ_ONLY, "http_get(https://h/)"), Said::Abstain);
    assert_eq!(under(Mode::ASK, "shell(ls)"), Said::Ask);
    assert_eq!(under(Mode::DENY, "shell(ls)"), Said::Abstain);
    assert_eq!(under(Mode::ALLOW_LISTED, "shell(ls)"), Said::Deny);
}

#[test]
fn read_only_believes_no_tool_but_the_one_that_was_declared() {
    let lists = json!({ "mode": "read-only", "allow": ["fs_read"] });
    let rules = rules(&[layer(RuleSource::Task, &lists)], Mode::UNSTATED).unwrap();
    let touching = |targets: Vec<Target>| {
        let mut facts = call("fs_read").facts().clone();
        facts.targets = targets;
        said(&rules.verdict(&FrozenCall::freeze(facts).unwrap()))
    };
    let url = |method: &str| Target::Url {
        url: "https://h/".into(),
        host: "h".into(),
        port: 443,
        method: method.into(),
    };
    assert_eq!(touching(vec![url("GET")]), Said::Allow);
    assert_eq!(touching(vec![url("POST")]), Said::Deny);
    assert_eq!(touching(vec![Target::Command { argv: vec!["ls".into()] }]), Said::Deny);
    assert_eq!(
        said(&rules.verdict(&frozen("fs_read", &json!({}), Vec::new()))),
        Said::Deny,
        "another definition"
    );
}

/// Draws layers, one more, and calls; hands each call on with what is said of it without and with the additional layer.
fn drawn(seed: u64, add: fn(&Lists) -> Lists, check: impl Fn(Said, Said, &str)) {
    let mut dice = Dice(seed);
    for _ in 0..150 {
        let layers: Vec<Lists> = (0..=dice.below(2)).map(|_| Lists::draw(&mut dice)).collect();
        let more = add(&Lists::draw(&mut dice));
        let (before, after) =
            (load(&layers), load(&[layers.as_slice(), std::slice::from_ref(&more)].concat()));
        for _ in 0..25 {
            let scene = Scene::draw(&mut dice);
            let [was, is] = [&before, &after].map(|rules| said(&rules.verdict(&scene.call())));
            check(was, is, &format!("{was:?} {is:?} {layers:?} {more:?} {scene:?}"));
        }
    }
}

#[test]
fn i04_adding_a_layer_of_rules_that_narrow_never_allows_more() {
    drawn(4, Lists::narrowing, |was, is, about| assert!(is != Said::Allow || was == Said::Allow, "{about}"));
}

#[test]
fn i50_whatever_is_not_trusted_only_narrows_whoever_else_judges() {
    drawn(50, Lists::untrusted, |was, is, about| {
        for other in [Said::Deny, Said::Ask, Said::Abstain, Said::Allow] {
            assert!(ruling(is, other) <= ruling(was, other), "{other:?} {about}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn i49_a_file_is_loaded_whole_or_not_at_all(
        texts in prop::collection::vec("(fs_read|pay|shell|\\*|mcp__\\*|Pay)(\\(([a-z*?{},=\\[\\]\\\\/ ]|to=){0,6}\\)?)?", 1..5),
        list in prop::sample::select(vec!["allow", "ask", "deny"]),
    ) {
        let load = |texts: &[String]| rules(&[layer(RuleSource::User, &json!({ list: texts }))], Mode::UNSTATED);
        let each = texts.iter().all(|text| load(std::slice::from_ref(text)).is_ok());
        prop_assert_eq!(load(&texts).is_ok(), each);
    }
}

#[test]
fn i49_what_cannot_be_loaded_leaves_every_deny_in_force() {
    let denies = |denies: &[&str]| layer(RuleSource::User, &json!({ "deny": denies, "allow": ["fs_read"] }));
    let live = ReloadableRules::new(rules(&[denies(&["shell(rm *)", "pay"])], Mode::UNSTATED).unwrap());
    let (epoch, denied) =
        (live.epoch(), |live: &ReloadableRules, called: &str| said(&live.in_force().verdict(&call(called))));
    let broken = [
        json!({ "deny": ["shell(rm *)", "pay("] }),
        json!({}),
        json!({ "allow": ["*"] }),
        json!({ "deny": ["fs_read()"] }),
        json!({ "allow": [{ "rule": "fs_read", "not_match": ["fs_read"] }] }),
    ];
    for file in &broken {
        assert!(live.replace(rules(&[layer(RuleSource::User, file)], Mode::UNSTATED)).is_err(), "{file}");
        assert_eq!(live.epoch(), epoch);
        assert_eq!([denied(&live, "shell(rm x)"), denied(&live, "pay(to=x)")], [Said::Deny; 2]);
    }
    live.replace(rules(&[denies(&["pay"])], Mode::UNSTATED)).unwrap();
    assert_ne!(live.epoch(), epoch);
    assert_eq!([denied(&live, "shell(rm x)"), denied(&live, "pay(to=x)")], [Said::Abstain, Said::Deny]);
}

#[test]
fn the_epoch_changes_with_whatever_a_verdict_depends_on() {
    let file = json!({ "mode": "deny", "allow": ["fs_read"], "ask": ["pay"], "deny": ["shell"] });
    let epoch = |layers: &[RuleLayer], mode| rules(layers, mode).unwrap().epoch();
    let base = layer(RuleSource::User, &file);
    let mut others = vec![
        epoch(std::slice::from_ref(&base), Mode::READ_ONLY),
        epoch(&[base.clone(), base.clone()], Mode::UNSTATED),
        epoch(&[RuleLayer { may_widen: false, ..base.clone() }], Mode::UNSTATED),
        epoch(&[RuleLayer { source: RuleSource::Task, ..base.clone() }], Mode::UNSTATED),
    ];
    for (key, value) in [
        ("mode", json!("ask")),
        ("allow", json!([])),
        ("ask", json!(["shell"])),
        ("deny", json!(["shell(rm)"])),
        ("deny", json!([{ "rule": "shell", "reason": "no" }])),
    ] {
        let mut changed = file.clone();
        changed[key] = value;
        others.push(epoch(&[layer(RuleSource::User, &changed)], Mode::UNSTATED));
    }
    others.push(epoch(std::slice::from_ref(&base), Mode::UNSTATED));
    assert_eq!(others.pop().unwrap(), epoch(&[base], Mode::UNSTATED));
    let many = others.len();
    others.sort_by_key(|epoch| *epoch.as_bytes());
    others.dedup();
    assert_eq!(others.len(), many);
}

#[derive(Default)]
struct Log(Mutex<Vec<(String, Seat, Heard)>>, tokio::sync::Notify);

impl ShadowLog for Log {
    fn would_have_said(&self, policy: &PolicyName, _call: &FrozenCall, seat: Seat, said: &Heard) {
        self.0.lock().unwrap().push((policy.to_string(), seat, said.clone()));
        self.1.notify_one();
    }
}

#[tokio::test]
async fn a_policy_in_shadow_is_heard_and_changes_nothing() {
    let call = call("fs_read(work/a)");
    for judges in
        [Judges::denies("no"), Judges::allows(), Judges::Fails("broken".into()), Judges::Panics("oh".into())]
    {
        let log = Arc::new(Log::default());
        let shadow = ShadowPolicy::new(Arc::new(ScriptedPolicy::new("new", judges.clone())), log.clone());
        let epoch = shadow.epoch();
        assert_eq!(shadow.judge(&call, Seat::Adjudicate, &Cancel::new()).await.unwrap(), Verdict::Abstain);
        log.1.notified().await;
        let told = log.0.lock().unwrap().clone();
        assert_eq!((told.len(), &*told[0].0, told[0].1), (1, "new", Seat::Adjudicate));
        let fits = match (&judges, &told[0].2) {
            (Judges::Says(said), Heard::Verdict(told)) => said == told,
            (Judges::Fails(words) | Judges::Panics(words), Heard::Failed(line)) => {
                line.contains(words.as_str())
            }
            _ => false,
        };
        assert!(fits, "{judges:?} {told:?}");
        assert_eq!(shadow.epoch(), epoch);
    }
}

#[tokio::test]
async fn a_policy_in_shadow_that_hangs_is_not_asked_without_end() {
    let (call, log) = (call("fs_read(work/a)"), Arc::new(Log::default()));
    let hanging = ScriptedPolicy::new("new", Judges::Hangs);
    let shadow = ShadowPolicy::new(Arc::new(hanging.clone()), log.clone());
    for _ in 0..SHADOW_CALLS_MAX + 10 {
        assert_eq!(shadow.judge(&call, Seat::Adjudicate, &Cancel::new()).await.unwrap(), Verdict::Abstain);
    }
    for _ in 0..SHADOW_CALLS_MAX * 4 {
        tokio::task::yield_now().await;
    }
    assert_eq!(hanging.heard().len(), SHADOW_CALLS_MAX);
    assert!(log.0.lock().unwrap().is_empty());
}

/// `pay` with the label of the call, and that of single arguments.
fn labelled(integrity: &str, arguments: &Value) -> Value {
    json!({
        "tool": "pay", "arguments": {"to": "ACME-1", "amount": 5, "ref": {"a/b": ["x", "y"]}},
        "integrity": integrity, "arguments_integrity": arguments,
    })
}

/// What a rule of `list` with these needs says of the call.
fn needing(list: &str, needs: &Value, call: &Value) -> Said {
    let mut entry = json!({ "rule": "pay" });
    entry.as_object_mut().unwrap().extend(needs.as_object().unwrap().clone());
    let layer = layer(RuleSource::Task, &json!({ list: [entry] }));
    let call: CallExample = serde_json::from_value(call.clone()).unwrap();
    let mut tools = tools();
    tools[4].input_schema = json!({});
    let name = PolicyName::new("rules").unwrap();
    let rules = LayeredRules::new(name, &[layer], &tools, Mode::UNSTATED).unwrap();
    said(&rules.verdict(&call.freeze(&tools).unwrap()))
}

#[test]
fn i37_a_rule_speaks_of_how_far_the_call_and_its_arguments_may_be_believed() {
    let both = |needs: Value, call: Value, has: bool| {
        let expected = |spoken: bool, said: Said| if spoken { said } else { Said::Abstain };
        assert_eq!(needing("allow", &needs, &call), expected(has, Said::Allow), "{needs} {call}");
        assert_eq!(needing("ask", &needs, &call), expected(!has, Said::Ask), "{needs} {call}");
        assert_eq!(needing("deny", &needs, &call), expected(!has, Said::Deny), "{needs} {call}");
    };
    let person = || json!({"to": "person"});
    both(json!({"needs": "person"}), labelled("person", &json!({})), true);
    both(json!({"needs": "person"}), labelled("system", &json!({})), true);
    both(json!({"needs": "person"}), labelled("endorsed", &json!({"to": "person"})), false);
    both(json!({"arguments": person()}), labelled("untrusted", &person()), true);
    both(json!({"arguments": person()}), labelled("untrusted", &json!({"to": "endorsed"})), false);
    both(json!({"arguments": person()}), labelled("untrusted", &json!({"amount": "person"})), false);
    both(json!({"arguments": {"to": "person", "amount": "person"}}), labelled("untrusted", &person()), false);
    // Of an argument all that stands below; and nothing of one that is not there.
    both(json!({"arguments": {"ref": "person"}}), labelled("untrusted", &json!({"ref.a/b": "person"})), true);
    both(json!({"arguments": {"ref": "person"}}), labelled("untrusted", &person()), false);
    both(json!({"arguments": {"memo": "person"}}), labelled("untrusted", &json!({})), true);
    both(json!({"needs": "person", "arguments": person()}), labelled("untrusted", &person()), false);
}

#[test]
fn i49_needs_that_cannot_be_meant_refuse_the_load() {
    let entry = |more: &Value| {
        let mut entry = json!({ "rule": "pay" });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "deny": [entry] })
    };
    refused(RuleSource::User, &entry(&json!({"arguments": {"too": "person"}})), "has an argument `too`");
    for bad in [
        json!({"needs": "user"}),
        json!({"needs": 3}),
        json!({"arguments": ["to"]}),
        json!({"arguments": {"to": "x"}}),
    ] {
        assert!(serde_json::from_value::<RuleFile>(entry(&bad)).is_err(), "{bad}");
    }
    let example = |matches: Value| entry(&json!({"needs": "person", "match": [matches]}));
    let fine = layer(RuleSource::User, &example(json!("pay(to=x)")));
    drop(rules(&[fine], Mode::UNSTATED).unwrap());
    refused(
        RuleSource::User,
        &example(json!({"tool": "pay", "integrity": "person"})),
        "does not match its example",
    );
    let absent = json!({"tool": "pay", "arguments_integrity": {"to": "person"}});
    refused(RuleSource::User, &example(absent), "no argument `to`");
}

#[test]
fn rules_that_need_something_are_other_rules() {
    let epoch = |file: &Value| rules(&[layer(RuleSource::User, file)], Mode::UNSTATED).unwrap().epoch();
    let files = [
        json!({ "allow": ["pay"] }),
        json!({ "allow": [{ "rule": "pay", "needs": "person" }] }),
        json!({ "allow": [{ "rule": "pay", "needs": "endorsed" }] }),
        json!({ "allow": [{ "rule": "pay", "arguments": { "to": "person" } }] }),
        json!({ "allow": [{ "rule": "pay", "arguments": { "to": "endorsed" } }] }),
    ];
    let epochs: std::collections::BTreeSet<Digest> = files.iter().map(epoch).collect();
    assert_eq!(epochs.len(), files.len());
}
