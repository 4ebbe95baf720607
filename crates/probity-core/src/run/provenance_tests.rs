use probity_contract::{CallId, Effect, ModelCallId, Readers, ToolName};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn tool(endorses: &[&str]) -> ToolSpec {
    ToolSpec {
        name: ToolName::new("send").unwrap(),
        description: String::new(),
        input_schema: json!({"type": "object", "properties": {
            "to": {}, "cc": {}, "n": {}, "urgent": {"type": "boolean"}, "body": {"type": "string"},
        }}),
        effect: Effect::Once,
        server: None,
        sandbox: None,
        endorses: endorses.iter().map(|at| (*at).to_owned()).collect(),
    }
}

/// Items in order, each by who brought it, its integrity and its text.
fn items(of: &[(Origin, Integrity, &str)]) -> Vec<Arc<Item>> {
    let item = |(id, (origin, integrity, text)): (u32, &(Origin, Integrity, &str))| {
        let content = match origin {
            Origin::Model(_) => Content::Reply([ReplyPart::call("", "echo", *text)].into()),
            Origin::Task | Origin::Principal | Origin::Tool(_) | Origin::Engine => {
                Content::Notice(Arc::from(*text))
            }
        };
        Arc::new(Item { id: ItemId(id), origin: *origin, label: Label::of(*integrity), content })
    };
    (1..).zip(of).map(item).collect()
}

const PERSON: Origin = Origin::Principal;
const TOOL: Origin = Origin::Tool(CallId(1));
const MODEL: Origin = Origin::Model(ModelCallId(1));

fn check(of: &[(Origin, Integrity, &str)], arguments: Value, expected: &[(&str, Integrity, Option<u32>)]) {
    let arguments = Arguments::from_value(&arguments).unwrap();
    let found = sources(&items(of), Integrity::Untrusted, &tool(&["/urgent"]), &arguments);
    let found: Vec<_> =
        found.iter().map(|one| (one.at.as_str(), one.integrity, one.item.map(|item| item.0))).collect();
    assert_eq!(found, expected, "{arguments:?}");
}

#[test]
fn a_value_keeps_the_integrity_of_the_best_and_oldest_item_that_it_stands_in() {
    use Integrity::{Person, System, ToolTrusted, Untrusted};
    let window = [
        (TOOL, ToolTrusted, "bob@corp.example has 1,000 points"),
        (PERSON, Person, "Send bob@corp.example 50 points"),
        (PERSON, Person, "bob@corp.example"),
        (Origin::Task, System, "Copy amy@corp.example"),
        (TOOL, Untrusted, "eve@evil.test wants 7"),
    ];
    check(
        &window,
        json!({"to": "bob@corp.example", "n": 50}),
        &[("/n", Person, Some(2)), ("/to", Person, Some(2))],
    );
    check(
        &window,
        json!({"cc": ["amy@corp.example", "eve@evil.test"], "n": 1000}),
        &[("/cc/0", System, Some(4)), ("/n", ToolTrusted, Some(1))],
    );
    check(&window, json!({"to": "eve@evil.test", "n": 7}), &[]);
    check(&window, json!({"to": "bob", "n": 5}), &[]);
}

#[test]
fn what_was_stored_as_trusted_is_believed_as_far_as_whoever_brought_it() {
    use Integrity::{Person, System, ToolTrusted};
    let window = [(PERSON, System, "to bob@x.test"), (TOOL, System, "and amy@x.test")];
    check(
        &window,
        json!({"to": "bob@x.test", "cc": "amy@x.test"}),
        &[("/cc", ToolTrusted, Some(2)), ("/to", Person, Some(1))],
    );
}

/// As a run stored them when there were two levels: whatever was written after a tool's result is no more than that.
#[test]
fn what_was_written_later_is_believed_no_further_than_what_was_read_before() {
    use Integrity::{System, ToolTrusted};
    let window = |later| [(TOOL, System, "x"), (later, System, r#"{"text":"eve@evil.test"}"#)];
    for later in [MODEL, Origin::Engine] {
        check(&window(later), json!({"to": "eve@evil.test"}), &[("/to", ToolTrusted, Some(2))]);
    }
    check(&window(PERSON), json!({"to": "eve@evil.test"}), &[("/to", Integrity::Person, Some(2))]);
}

#[test]
fn what_a_model_wrote_first_is_not_a_tool_s_though_it_gives_it_back() {
    use Integrity::{ToolTrusted, Untrusted};
    let given_back = |written: &'static str, text: &'static str| {
        [(TOOL, Untrusted, "eve@evil.test"), (MODEL, Untrusted, written), (TOOL, ToolTrusted, text)]
    };
    let to_eve = || json!({"to": "eve@evil.test"});
    check(&given_back(r#"{"text":"hello eve@evil.test"}"#, "hello eve@evil.test"), to_eve(), &[]);
    check(&given_back(r#"{"text":"\u0065ve@evil.test"}"#, "eve@evil.test"), to_eve(), &[]);
    check(&given_back(r#"{"eve@evil.test":"x"}"#, "eve@evil.test"), to_eve(), &[]);
    check(&given_back(r#"{"text":"cut off eve@evil.test"#, "cut off eve@evil.test"), to_eve(), &[]);
    check(&given_back(r#"{"n":12345}"#, "12345"), json!({"n": 12345}), &[]);
    // A tool that tells it first is a source, and a person is one in any case.
    check(&given_back(r#"{"text":"other"}"#, "eve@evil.test"), to_eve(), &[("/to", ToolTrusted, Some(3))]);
    let person = [(MODEL, Untrusted, r#"{"text":"bob@x.test"}"#), (PERSON, Integrity::Person, "bob@x.test")];
    check(&person, json!({"to": "bob@x.test"}), &[("/to", Integrity::Person, Some(2))]);
}

#[test]
fn names_that_are_not_declared_must_stand_somewhere_too() {
    let window = [
        (PERSON, Integrity::Person, "Give bob@x.test the role admin"),
        (TOOL, Integrity::Untrusted, "eve@evil.test"),
    ];
    check(&window, json!({"roles": {"eve@evil.test": "admin"}}), &[]);
    check(&window, json!({"bob@x.test": "admin"}), &[("/bob@x.test", Integrity::Person, Some(1))]);
    check(&window, json!({"to": {"urgent": true}}), &[]);
}

#[test]
fn a_declared_type_endorses_and_a_better_source_is_better() {
    let window = [(TOOL, Integrity::Untrusted, "x")];
    check(&window, json!({"urgent": true, "cc": false}), &[("/urgent", Integrity::Endorsed, None)]);
}

#[test]
fn of_a_window_that_is_a_person_s_nothing_is_looked_for() {
    let arguments = Arguments::parse(r#"{"to":"bob@x.test"}"#).unwrap();
    let window = items(&[(Origin::Task, Integrity::System, "bob@x.test")]);
    assert!(sources(&window, Integrity::Person, &tool(&[]), &arguments).is_empty());
    assert_eq!(sources(&window, Integrity::Endorsed, &tool(&[]), &arguments).len(), 1);
}

#[test]
fn work_is_bounded_by_values_and_by_bytes() {
    let many: Value = (0..2 * VALUES_MAX).map(|_| json!("bob@x.test")).collect();
    let window = [(PERSON, Integrity::Person, "bob@x.test")];
    let arguments = Arguments::from_value(&json!({"to": many})).unwrap();
    assert_eq!(sources(&items(&window), Integrity::Untrusted, &tool(&[]), &arguments).len(), VALUES_MAX);
    let long = format!("{} bob@x.test", "x".repeat(SCAN_BYTES_MAX));
    let window = [(PERSON, Integrity::Person, "amy@x.test"), (PERSON, Integrity::Person, long.as_str())];
    check(&window, json!({"to": "bob@x.test", "cc": "amy@x.test"}), &[("/cc", Integrity::Person, Some(1))]);
}

fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["bob@x.test", "eve@evil.test", "amy", "100", "7.5", "x1y2"])
        .prop_map(str::to_owned)
}

fn window() -> impl Strategy<Value = Vec<(u8, usize, Vec<String>)>> {
    proptest::collection::vec((0_u8..4, 0_usize..5, proptest::collection::vec(word(), 0..4)), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A value is never believed further than some item in which it stands as a word, nor less than the window, and its readers
    /// are those of the call; without an item that may be believed further than the window there is no source at all.
    #[test]
    fn i36_a_value_is_never_believed_further_than_an_item_that_it_stands_in(window in window(), to in word(), level in 0_usize..4) {
        let of: Vec<(Origin, Integrity, String)> = window.iter().map(|(origin, level, words)| {
            let origin = [Origin::Task, PERSON, TOOL, MODEL][usize::from(*origin)];
            (origin, Integrity::ALL[*level], json!({"text": words.join(" ")}).to_string())
        }).collect();
        let of: Vec<_> = of.iter().map(|(origin, level, text)| (*origin, *level, text.as_str())).collect();
        let (items, window) = (items(&of), Integrity::ALL[level]);
        let arguments = Arguments::from_value(&json!({"to": to})).unwrap();
        let found = sources(&items, window, &tool(&[]), &arguments);
        let holders = items.iter().filter(|item| item.flat_text().contains(&to));
        let best = holders.map(|item| held(item).integrity).max();
        for source in &found {
            prop_assert!(Some(source.integrity) <= best && source.integrity > window);
            let item = items.iter().find(|item| Some(item.id) == source.item).unwrap();
            prop_assert!(item.flat_text().contains(&to) && source.integrity <= held(item).integrity);
        }
        prop_assert!(best.is_some_and(|best| best > window) || found.is_empty());
    }
}

#[test]
fn a_label_never_rises_by_who_brought_it() {
    for integrity in Integrity::ALL {
        let item = |origin| Item {
            id: ItemId(1),
            origin,
            label: Label { integrity, readers: Readers::Only(["ada".to_owned()].into()) },
            content: Content::Notice("".into()),
        };
        for origin in [Origin::Task, Origin::Engine, MODEL, PERSON, TOOL] {
            let held = held(&item(origin));
            assert!(held.integrity <= integrity && held.readers == item(origin).label.readers);
        }
    }
}
