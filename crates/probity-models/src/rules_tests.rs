use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use probity_contract::{
    CallId, Cancel, Content, Effect, Label, ModelParams, Origin, Stop, ToolChoice, ToolName, ToolSpec,
};

use super::*;

/// A request with these items, numbered from 1, and two tools on offer.
pub(super) fn request(contents: &[Content]) -> ModelRequest {
    let item = |(id, content): (u32, &Content)| {
        let content = content.clone();
        Arc::new(Item { id: ItemId(id), origin: Origin::Task, label: Label::system(), content })
    };
    let tool = |name: &str| ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: String::new(),
        input_schema: serde_json::json!({ "type": "object" }),
        effect: Effect::Pure,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    };
    ModelRequest {
        items: Arc::new((1..).zip(contents).map(item).collect()),
        tools: [tool("pay"), tool("look")].into(),
        tool_choice: ToolChoice::Auto,
        params: Arc::new(ModelParams::default()),
    }
}

pub(super) fn person(text: &str) -> Content {
    Content::Person(text.into())
}

pub(super) fn context(name: &str, text: &str) -> Content {
    Content::Context { name: name.into(), text: text.into() }
}

pub(super) fn result(tool: &str, is_error: bool, text: &str) -> Content {
    let (call, provider_id) = (CallId(1), String::new());
    Content::ToolResult { call, provider_id, tool: tool.into(), text: text.into(), is_error }
}

/// The reply in one line: texts as they are, calls as `tool(arguments)`, reasoning in `~`, errors with their class.
fn shown(rules: &str, request: &ModelRequest) -> String {
    let decided = match RulesModel::from_toml("rules/test", rules).unwrap().decide(request) {
        Ok(decided) => decided,
        Err(error) => return format!("{:?}: {error}", error.class),
    };
    let part = |part: &ReplyPart| match &part.kind {
        ReplyPartKind::Text(text) => text.clone(),
        ReplyPartKind::Reasoning(text) => format!("~{text}~"),
        ReplyPartKind::Call(call) => format!("{}({})", call.name, call.arguments),
        ReplyPartKind::Opaque => "?".to_owned(),
    };
    let parts: Vec<_> = decided.reply.parts.iter().map(part).collect();
    let end = match decided.error {
        Some(error) => format!(" ! {:?} {error}", error.class),
        None if decided.reply.stop == Stop::EndTurn => String::new(),
        None => format!(" . {:?}", decided.reply.stop),
    };
    parts.join(" | ") + &end
}

fn check(rules: &str, contents: &[Content], expected: &str) {
    assert_eq!(shown(rules, &request(contents)), expected, "{rules}");
}

const DESK: &str = r#"
[[rule]]
name = "over"
when = [
  { kind = "context", name = "handbook", match = 'limit is (?<limit>\d[\d,.]*)' },
  { kind = "person", match = 'pay (?<amount>\d[\d,.]*) to (?<vendor>\w+)' },
]
let = ["over = amount - limit"]
check = ["amount > limit"]
text = "{amount} is {over:grouped} over {limit}."

[[rule]]
name = "pay"
when = [{ kind = "person", match = 'pay (?<amount>\d[\d,.]*) to (?<vendor>\w+)' }]
unless = [{ kind = "tool_result", tool = "pay" }]
text = "Paying."
[[rule.call]]
tool = "pay"
arguments = { to = "{vendor}", amount = "{amount:number}" }
[[rule.call]]
tool = "look"

[[rule]]
name = "done"
when = [{ kind = "tool_result", tool = "pay", is_error = false, match = '(?<id>P-\d+)' }]
text = "Paid, {id}."
"#;

#[test]
fn the_first_rule_whose_conditions_hold_answers() {
    let (limit, ask) = (context("handbook", "The limit is 500.00 EUR."), person("pay 2,450.00 to Acme"));
    check(DESK, &[limit.clone(), ask.clone()], "2,450.00 is 1,950.00 over 500.00.");
    let pay = r#"Paying. | pay({"amount":2450,"to":"Acme"}) | look({}) . ToolCalls"#;
    check(DESK, std::slice::from_ref(&ask), pay);
    check(DESK, &[context("note", "The limit is 500.00 EUR."), ask.clone()], pay);
    check(DESK, &[ask.clone(), result("look", false, "P-1")], pay);
    check(DESK, &[ask.clone(), result("pay", false, "sent as P-17")], "Paid, P-17.");
}

#[test]
fn a_window_without_an_answer_says_what_each_rule_lacked() {
    let request = request(&[person("pay 3 to Acme"), result("pay", true, "P-1 refused")]);
    let error = RulesModel::from_toml("rules/desk.toml", DESK).unwrap().decide(&request).unwrap_err();
    assert_eq!(error.class, ModelErrorClass::NoAnswer);
    assert_eq!(
        error.message,
        "answer by `rules/desk.toml`: none of its 3 rules matches the window; tried last: `over` (line 2): not so: \
         context handbook matching `limit is (?<limit>\\d[\\d,.]*)`; `pay` (line 12): excluded by: tool_result pay; \
         `done` (line 23): not so: tool_result pay (no error) matching `(?<id>P-\\d+)`"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some(
            "the window holds person, tool_result pay (error); add a rule for it, or a last one without conditions"
        )
    );
}

#[test]
fn a_number_that_cannot_be_read_passes_the_rule_over() {
    let contents = [context("handbook", "limit is 1.2.3"), person("pay 3 to Acme"), result("pay", true, "")];
    let shown = shown(DESK, &request(&contents));
    assert!(shown.contains("`over` (line 2): `limit` = `1.2.3` is no number"), "{shown}");
}

#[test]
fn conditions_count_items_and_look_back_to_a_boundary() {
    let rules = r#"
[[rule]]
name = "tried twice"
when = [{ kind = "tool_result", tool = "look", is_error = true, since = "person", at_least = 2 }]
text = "Given up."
[[rule]]
name = "tried"
when = [{ kind = "tool_result", tool = "look", since = "person", at_least = 1, at_most = 1 }]
text = "Once more."
[[rule]]
name = "new"
when = [{ kind = "tool_result", at_most = 2 }]
text = "At most two."
[[rule]]
name = "otherwise"
text = "Many."
"#;
    let (ask, failed) = (person("look"), result("look", true, "no"));
    check(rules, &[ask.clone(), failed.clone(), failed.clone()], "Given up.");
    check(rules, &[ask.clone(), failed.clone(), failed.clone(), ask.clone(), failed.clone()], "Once more.");
    check(rules, &[failed.clone(), failed.clone(), ask.clone()], "At most two.");
    check(rules, &[], "At most two.");
    let many = [failed.clone(), failed.clone(), failed.clone(), ask];
    check(rules, &many, "Many.");
}

#[test]
fn first_last_and_all_occurrences_can_be_taken() {
    let rule = |take: &str, text: &str| {
        format!(
            "[[rule]]\nname = \"r\"\nwhen = [{{ kind = \"any\", match = 'line (?<n>\\d+)', {take} }}]\n{text}\n"
        )
    };
    let window = [context("a", "line 1, line 2"), person("line 3"), context("b", "none")];
    check(&rule("take = \"first\"", "text = '{n}'"), &window, "1");
    check(&rule("take = \"last\"", "text = '{n}'"), &window, "3");
    check(
        &rule("since = \"context\", at_most = 0, at_least = 0", "text = 'x'").replace("?<n>", ""),
        &window,
        "x",
    );
    check(&rule("take = \"all\", join = \"; \"", "text = '{n}'"), &window, "1; 2; 3");
    let sums =
        "let = [\"s = sum(n)\", \"mean3 = s * 10\"]\ncheck = [\"count(n) == 3\"]\ntext = '{s} {mean3}'";
    check(&rule("take = \"all\"", sums), &window, "6 60");
}

#[test]
fn one_of_the_alternatives_of_any_is_enough() {
    let rules = r#"
[[rule]]
name = "r"
any = [
  { kind = "person", match = 'vendor (?<v>\w+)' },
  { kind = "context", match = 'supplier (?<v>\w+)' },
]
text = "{v}"
"#;
    check(rules, &[person("vendor Acme"), context("c", "supplier Bolt")], "Acme");
    check(rules, &[context("c", "supplier Bolt")], "Bolt");
    assert!(shown(rules, &request(&[])).contains("none of its `any` is so"));
}

#[test]
fn replies_and_notices_are_read_like_other_items() {
    let rules = r#"
[[rule]]
name = "after a notice"
when = [
  { kind = "notice", match = 'turns are over' },
  { kind = "reply", match = 'pay\(\{"to":"(?<to>\w+)"\}\)' },
  { kind = "instructions", match = 'in (?<tongue>\w+)' },
]
text = "Tried to pay {to} in {tongue}."
"#;
    let reply = [ReplyPart::text("Paying."), ReplyPart::call("1", "pay", r#"{"to":"Acme"}"#)];
    let contents = [
        Content::Instructions("Answer in English".into()),
        Content::Reply(reply.into()),
        Content::Notice("The turns are over.".into()),
    ];
    check(rules, &contents, "Tried to pay Acme in English.");
}

#[test]
fn answers_can_be_json_malformed_cut_off_or_failed() {
    for (answer, expected) in [
        ("json = { vendor = \"{v}\", n = 1 }", "{\n  \"n\": 1,\n  \"vendor\": \"Acme\"\n}"),
        ("call = [{ tool = \"look\", raw_arguments = '{\"path\": ' }]", "look({\"path\": ) . ToolCalls"),
        ("text = 'Half an'\nstop = \"max_tokens\"", "Half an . MaxTokens"),
        ("text = 'x'\nstop = { other = \"odd\" }", "x . Other(\"odd\")"),
        (
            "text = 'So {v}'\nerror = \"truncated\"\nmessage = \"cut at {v}\"",
            "So Acme ! Truncated cut at Acme",
        ),
        ("error = \"server_error\"", " ! ServerError the rule says so"),
        ("reasoning = 'Is it {v}?'\ntext = 'Yes.'", "~Is it Acme?~ | Yes."),
    ] {
        let head = "[[rule]]\nname = \"r\"\nwhen = [{ kind = \"person\", match = '(?<v>Acme)' }]\n";
        check(&format!("{head}{answer}"), &[person("Acme")], expected);
    }
}

#[test]
fn calls_are_proposed_only_where_tools_are_offered() {
    let rules = r#"
[[rule]]
name = "call"
call = [{ tool = "pay" }]
[[rule]]
name = "say"
text = "Without tools."
"#;
    let with = |tools: &[ToolSpec], choice: ToolChoice| {
        shown(rules, &ModelRequest { tools: tools.into(), tool_choice: choice, ..request(&[]) })
    };
    let offered = request(&[]).tools;
    let named = |name: &str| ToolChoice::Named(ToolName::new(name).unwrap());
    assert_eq!(with(&offered, ToolChoice::Auto), "pay({}) . ToolCalls");
    assert_eq!(with(&[], ToolChoice::Auto), "Without tools.");
    assert_eq!(with(&offered, ToolChoice::None), "Without tools.");
    assert_eq!(with(&offered, ToolChoice::Required), "pay({}) . ToolCalls");
    assert_eq!(with(&offered, named("pay")), "pay({}) . ToolCalls");
    assert!(with(&offered, named("look")).contains("a call is demanded that it does not propose"));
    assert!(
        with(&[], ToolChoice::Required).contains("`call` (line 2): it proposes calls and no tool is offered")
    );
}

#[test]
fn a_decision_names_the_items_that_it_hangs_on() {
    let contents = [
        context("handbook", "limit is 500"),
        context("other", "limit is 900"),
        person("pay 700 to Acme"),
        result("look", false, ""),
    ];
    let decided = RulesModel::from_toml("rules/test", DESK).unwrap().decide(&request(&contents)).unwrap();
    assert_eq!((decided.rule.as_str(), decided.line), ("over", 2));
    assert_eq!(decided.captured, BTreeSet::from([ItemId(1), ItemId(3)]));
    assert_eq!(decided.matched, BTreeSet::from([ItemId(1), ItemId(3)]));
}

#[test]
fn usage_counts_four_characters_as_a_token() {
    let rules =
        "[[rule]]\nname = \"r\"\nreasoning = \"12345678\"\ntext = \"12345\"\n[[rule.call]]\ntool = \"pay\"";
    let decided = RulesModel::from_toml("rules/test", rules).unwrap();
    let usage = decided.decide(&request(&[person("123456789"), person("é")])).unwrap().reply.usage;
    // 3 + 1 read; 2 of reasoning, 2 of text, 1 for the name and 1 for `{}` written.
    assert_eq!((usage.input, usage.output, usage.reasoning), (Some(4), Some(6), Some(2)));
}

#[test]
fn the_stream_grows_word_by_word_into_the_finished_reply() {
    let rules = r#"
[[rule]]
name = "r"
text = "Two  words\nand more"
[[rule.call]]
tool = "pay"
arguments = { a = 1, b = 2 }
"#;
    let model = RulesModel::from_toml("rules/test", rules).unwrap();
    let context = ModelContext { cancel: Cancel::new(), timeout: Duration::from_secs(1) };
    let mut events: Vec<_> =
        model.call(request(&[]), context).map(Result::unwrap).collect().now_or_never().unwrap();
    let finished = events.pop().unwrap();
    assert_eq!(finished, ModelEvent::Finished(model.decide(&request(&[])).unwrap().reply));
    let text = |delta: &str| ModelEvent::Text { part: 0, delta: delta.into() };
    let arguments = |delta: &str| ModelEvent::CallArguments { part: 1, delta: delta.into() };
    let expected = [
        text("Two "),
        text(" "),
        text("words\n"),
        text("and "),
        text("more"),
        ModelEvent::CallStarted { part: 1, name: "pay".into() },
        arguments("{\"a\":1,"),
        arguments("\"b\":2}"),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_failing_rule_streams_what_came_before_and_then_the_error() {
    let rules = "[[rule]]\nname = \"r\"\ntext = \"Half an\"\nerror = \"truncated\"";
    let model = RulesModel::from_toml("rules/test", rules).unwrap();
    let context = ModelContext { cancel: Cancel::new(), timeout: Duration::from_secs(1) };
    let events: Vec<_> = model.call(request(&[]), context.clone()).collect().now_or_never().unwrap();
    let classes: Vec<_> = events.iter().map(|event| event.as_ref().map_err(|error| error.class)).collect();
    let text = |delta: &str| ModelEvent::Text { part: 0, delta: delta.into() };
    assert_eq!(classes, [Ok(&text("Half ")), Ok(&text("an")), Err(ModelErrorClass::Truncated)]);
    context.cancel.fire();
    let events: Vec<_> = model.call(request(&[]), context).collect().now_or_never().unwrap();
    assert!(matches!(&events[..], [Err(error)] if error.class == ModelErrorClass::Cancelled), "{events:?}");
}

#[test]
fn files_that_could_not_be_carried_out_are_refused_with_rule_and_line() {
    // The rule `r` begins in line 1, its name stands in line 2, the tried lines follow from line 3.
    for (body, line, words) in [
        ("txt = 'a'", 3, "unknown field `txt`"),
        ("when = [{ kind = \"memo\" }]\ntext = 'a'", 3, "unknown variant `memo`"),
        ("when = [{ kind = \"any\", macth = 'a' }]\ntext = 'a'", 3, "unknown field `macth`"),
        ("text = 'a'\n\n[[rule.call]]\ntool = 'p'\nargs = 1", 7, "unknown field `args`"),
        (
            "text = 'a'\nwhen = [\n { kind = \"any\" },\n { kind = \"any\", match = 'a(' },\n]",
            6,
            "the pattern is broken: unclosed group",
        ),
        ("text = 'a'\nwhen = [{ kind = \"any\", match = '\\w{1000}{1000}' }]", 4, "the pattern is broken"),
        (
            "text = 'a'\nwhen = [{ kind = \"any\", match = '(?<a.b>x)' }]",
            4,
            "the capture `a.b` cannot be used",
        ),
        (
            "when = [{ kind = \"any\", match = '(?<v>x)' }]\ntext = '{w}'",
            4,
            "unknown name `w`; this rule captures `v`",
        ),
        ("text = '{w}'", 3, "unknown name `w`; this rule captures nothing"),
        ("json = { a = [\"{w}\"] }", 3, "unknown name `w`"),
        ("[[rule.call]]\ntool = 'p'\narguments = { a = \"{w}\" }", 5, "unknown name `w`"),
        ("error = \"server_error\"\nmessage = '{w}'", 4, "unknown name `w`"),
        ("reasoning = '{w}'\ntext = ''", 3, "unknown name `w`"),
        ("text = 'a {'", 3, "a brace stands alone"),
        ("text = 'a'\ncheck = [\"w < 1\"]", 4, "unknown name `w`"),
        ("text = 'a'\nlet = [\"a = 1\", \"a = 2\"]", 4, "the name `a` is given twice"),
        ("text = 'a'\nlet = [\"a = b\", \"b = 2\"]", 4, "unknown name `b`"),
        ("text = 'a'\nlet = [\"a = 1 +\"]", 4, "ends too early"),
        (
            "text = 'a'\nwhen = [{ kind = \"any\", match = '(?<v>x)' },\n{ kind = \"any\", match = '(?<v>y)' }]",
            5,
            "the name `v` is given twice",
        ),
        (
            "text = 'a'\nany = [{ kind = \"any\", match = '(?<v>x)' },\n{ kind = \"any\", match = 'y' }]",
            5,
            "do not capture the same names",
        ),
        ("text = 'a'\nunless = [{ kind = \"any\", match = '(?<v>x)' }]", 4, "`unless` captures `v`"),
        (
            "text = '{v:number}'\nwhen = [{ kind = \"any\", match = '(?<v>x)', take = \"all\" }]",
            3,
            "`v` is a list",
        ),
        (
            "text = ''\ncheck = [\"sum(v) < 1\"]\nwhen = [{ kind = \"any\", match = '(?<v>x)' }]",
            4,
            "`v` is no list",
        ),
        ("text = 'a'\nwhen = [{ kind = \"any\", match = '(?<v>x)', at_most = 1 }]", 4, "captures nothing"),
        ("text = 'a'\nwhen = [{ kind = \"any\", at_least = 2, at_most = 1 }]", 4, "`at_most` is less than"),
        ("text = 'a'\nwhen = [{ kind = \"person\", name = 'x' }]", 4, "`name` belongs to"),
        ("text = 'a'\nwhen = [{ kind = \"person\", tool = 'x' }]", 4, "`tool` and `is_error` belong to"),
        ("text = 'a'\nwhen = [{ kind = \"any\", match = 'x', join = 'x' }]", 4, "`join` belongs to"),
        ("text = 'a'\nwhen = [{ kind = \"any\", take = 'all' }]", 4, "`take` belongs to"),
        ("", 1, "the rule has no answer"),
        ("text = 'a'\njson = 1", 4, "`text` or `json`, not both"),
        ("json = 2026-01-01", 3, "has no form in JSON"),
        ("text = 'a'\nmessage = 'b'", 4, "`message` belongs to"),
        ("error = \"oops\"", 3, "unknown variant `oops`"),
        ("error = \"truncated\"\nstop = \"end_turn\"", 4, "has no `stop`"),
        ("text = 'a'\nstop = \"later\"", 4, "unknown variant `later`"),
        ("call = [{ tool = 'p', arguments = {}, raw_arguments = '' }]", 3, "not both"),
        ("text = 'a'\n[[rule]]\nname = \"r\"\ntext = 'b'", 4, "the rule in line 1 has the same name"),
    ] {
        let error =
            RulesModel::from_toml("rules/x", &format!("[[rule]]\nname = \"r\"\n{body}\n")).unwrap_err();
        assert_eq!((error.line(), error.rule()), (Some(line), Some("r")), "{body}: {error}");
        let head = format!("load rules from `rules/x`: line {line}: rule `r`: ");
        assert!(error.to_string().starts_with(&head) && error.to_string().contains(words), "{body}: {error}");
    }
}

#[test]
fn files_that_hold_no_rules_are_refused() {
    for (name, text, words) in [
        ("rules/x", "", "missing field `rule`"),
        ("rules/x", "rule = []", "there is no rule in it"),
        ("rules/x", "[[rule]\n", "line 1: unclosed array table"),
        ("rules/x", "[[rule]]\ntext = 'a'", "line 1: missing field `name`"),
        ("rules/x", "[[rule]]\nname = \" \"\ntext = 'a'", "a rule's name is one line"),
        ("", "[[rule]]\nname = \"r\"\ntext = 'a'", "as a model name"),
        ("rules/x", &"#".repeat(RULES_FILE_BYTES_MAX + 1), "over 1048576 bytes"),
    ] {
        let error = RulesModel::from_toml(name, text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let error = RulesModel::load("no/such/file.toml").unwrap_err().to_string();
    assert!(error.starts_with("load rules from `rules/no/such/file.toml`: "), "{error}");
}
