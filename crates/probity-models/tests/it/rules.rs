//! The rule model seen from outside: which items an answer hangs on.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, LazyLock};

use probity_contract::{
    CallId, Content, Effect, Item, ItemId, Label, ModelErrorClass, ModelParams, ModelRequest, Origin,
    ReplyPart, Stop, ToolChoice, ToolName, ToolSpec,
};
use probity_models::{Decided, RulesModel};
use proptest::prelude::*;

/// Every way in which a condition can look at a window, and answers of every kind. Each answer says its rule's name, so
/// that two rules never agree by chance.
const RULES: &str = r#"
[[rule]]
name = "twice denied"
when = [
  { kind = "tool_result", tool = "pay", is_error = true, since = "person", at_least = 2 },
  { kind = "person", match = 'amount (?<amount>\d+)' },
]
text = "1 gave up on {amount}"

[[rule]]
name = "all notes"
when = [{ kind = "context", match = 'limit (?<limits>\d+)', take = "all", at_least = 3 }]
unless = [{ kind = "tool_result", tool = "look", since = "reply" }]
let = ["total = sum(limits)"]
text = "2 limits {limits} total {total}"

[[rule]]
name = "over"
when = [
  { kind = "context", name = "note", match = 'limit (?<limit>\d+)', take = "first" },
  { kind = "person", match = 'amount (?<amount>\d+)' },
]
check = ["amount > limit"]
json = { rule = 3, amount = "{amount:number}", limit = "{limit}" }

[[rule]]
name = "either"
any = [
  { kind = "tool_result", is_error = false, match = 'id (?<id>\d+)', at_most = 2, at_least = 1 },
  { kind = "notice", match = 'id (?<id>\d+)' },
]
call = [{ tool = "pay", arguments = { rule = 4, id = "{id}" } }]

[[rule]]
name = "instructed"
when = [{ kind = "instructions", match = 'tongue (?<tongue>\d+)' }]
error = "server_error"
message = "5 in {tongue}"

[[rule]]
name = "any number"
when = [{ kind = "any", match = '(?<n>\d+)' }]
text = "6 saw {n}"
"#;

static MODEL: LazyLock<RulesModel> =
    LazyLock::new(|| RulesModel::from_toml("rules/property", RULES).unwrap());

fn content() -> impl Strategy<Value = fn(u32) -> Content> {
    fn result(tool: &str, is_error: bool, text: String) -> Content {
        let (call, provider_id) = (CallId(1), String::new());
        Content::ToolResult { call, provider_id, tool: tool.into(), text: text.into(), is_error }
    }
    fn context(name: &str, text: String) -> Content {
        Content::Context { name: name.into(), text: text.into() }
    }
    let kinds: [fn(u32) -> Content; 12] = [
        |n| Content::Instructions(format!("tongue {n}").into()),
        |n| Content::Person(format!("amount {n}").into()),
        |_| Content::Person("and now?".into()),
        |n| context("note", format!("limit {n}")),
        |n| context("handbook", format!("limit {n}")),
        |_| context("note", "nothing".into()),
        |n| result("pay", true, format!("denied {n}")),
        |n| result("pay", false, format!("id {n}")),
        |n| result("look", false, format!("id {n}")),
        |n| result("look", true, format!("id {n}")),
        |n| Content::Notice(format!("id {n}").into()),
        |_| Content::Reply([ReplyPart::text("thinking")].into()),
    ];
    proptest::sample::select(kinds.to_vec())
}

/// Windows in which no two items carry the same number.
fn window() -> impl Strategy<Value = Vec<Arc<Item>>> {
    let numbers = Just((100..160).collect::<Vec<u32>>()).prop_shuffle();
    (proptest::collection::vec(content(), 0..14), numbers).prop_map(|(contents, numbers)| {
        let contents = contents.into_iter().zip(numbers).map(|(content, number)| content(number));
        (1..).zip(contents).map(|(id, content)| item(id, content)).collect()
    })
}

/// An item of a task's context.
pub(crate) fn item(id: u32, content: Content) -> Arc<Item> {
    Arc::new(Item { id: ItemId(id), origin: Origin::Task, label: Label::system(), content })
}

/// A question with these items in the window and one tool on offer.
pub(crate) fn request(items: Vec<Arc<Item>>) -> ModelRequest {
    let tool = ToolSpec {
        name: ToolName::new("pay").unwrap(),
        description: "Pays.".into(),
        input_schema: serde_json::json!({ "type": "object" }),
        effect: Effect::Once,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    };
    ModelRequest {
        items: Arc::new(items),
        tools: [tool].into(),
        tool_choice: ToolChoice::Auto,
        params: Arc::new(ModelParams::default()),
    }
}

fn without(items: &[Arc<Item>], drop: impl Fn(ItemId) -> bool) -> Vec<Arc<Item>> {
    items.iter().filter(|item| !drop(item.id)).cloned().collect()
}

/// What a person or a tool would notice of an answer.
#[derive(Debug, PartialEq)]
enum Noticed {
    Reply(Vec<ReplyPart>, Stop, Option<String>),
    NoAnswer,
}

fn noticed(items: Vec<Arc<Item>>) -> (Noticed, Option<Decided>) {
    match MODEL.decide(&request(items)) {
        Ok(decided) => {
            let (reply, error) = (decided.reply.clone(), decided.error.clone());
            (Noticed::Reply(reply.parts, reply.stop, error.map(|error| error.message)), Some(decided))
        }
        Err(error) => {
            assert_eq!(error.class, ModelErrorClass::NoAnswer);
            (Noticed::NoAnswer, None)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn an_item_that_met_no_condition_can_be_dropped(items in window(), picks in any::<u64>()) {
        let (before, decided) = noticed(items.clone());
        let Some(decided) = decided else { return Ok(()) };
        let spare = |id: ItemId| !decided.matched.contains(&id);
        for item in items.iter().filter(|item| spare(item.id)) {
            prop_assert_eq!(&noticed(without(&items, |id| id == item.id)).0, &before);
        }
        let some = without(&items, |id| spare(id) && picks >> (id.0 % 64) & 1 == 1);
        prop_assert_eq!(&noticed(some).0, &before);
    }

    #[test]
    fn an_item_whose_capture_was_used_cannot_be_dropped(items in window()) {
        let (before, decided) = noticed(items.clone());
        let Some(decided) = decided else { return Ok(()) };
        prop_assert!(decided.captured.is_subset(&decided.matched));
        for &captured in &decided.captured {
            prop_assert_ne!(&noticed(without(&items, |id| id == captured)).0, &before);
        }
    }

    #[test]
    fn equal_windows_get_equal_answers(items in window()) {
        let first = MODEL.decide(&request(items.clone()));
        // Another window between the two must leave no trace.
        let _ = MODEL.decide(&request(without(&items, |id| id.0 % 2 == 0)));
        prop_assert_eq!(&first, &MODEL.decide(&request(items)));
    }
}

/// The properties above say nothing if one rule takes every window.
#[test]
fn every_rule_of_the_property_file_answers_some_window() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for _ in 0..2_000 {
        let items = window().new_tree(&mut runner).unwrap().current();
        let rule = noticed(items).1.map_or_else(|| "none".to_owned(), |decided| decided.rule);
        *seen.entry(rule).or_default() += 1;
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
    assert!(seen.values().all(|&count| count >= 10), "{seen:?}");
}
