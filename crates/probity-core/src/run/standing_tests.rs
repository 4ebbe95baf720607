use proptest::prelude::*;
use serde_json::json;

use super::*;

fn stands(value: &Value, text: &str) -> bool {
    Standing::of(value).is_some_and(|standing| standing.stands_in(text, &Numbers::of(text)))
}

#[test]
fn a_text_stands_whole_or_not_at_all() {
    let text = "Send it to bob@corp.example, (cc \"amy@x.test\") and #general; see https://x.test/a. Use Bob's file a-b.txt!";
    for whole in [
        "bob@corp.example",
        "amy@x.test",
        "#general",
        "general",
        "https://x.test/a",
        "Bob",
        "a-b.txt",
        "Send it",
    ] {
        assert!(stands(&json!(whole), text), "{whole}");
    }
    for part in [
        "bob@corp",
        "corp.example",
        "bob",
        "https://x.test",
        "x.test/a",
        "Bo",
        "a-b",
        "gener",
        "BOB",
        "bob@corp.example,",
    ] {
        assert_eq!(stands(&json!(part), text), part == "bob@corp.example,", "{part}");
    }
    for longer in
        ["bob@corp.example.evil.test", "xbob@corp.example", "bob@corp.example-2", "bob@corp.examples"]
    {
        assert!(!stands(&json!("bob@corp.example"), longer), "{longer}");
    }
}

#[test]
fn what_means_nothing_by_standing_somewhere_does_not() {
    for value in
        [json!("b"), json!("to"), json!(""), json!("--"), json!(true), json!(null), json!({}), json!([])]
    {
        assert!(!stands(&value, "b to -- true null {} [] \"\""), "{value}");
    }
    assert!(stands(&json!("DE1"), "b DE1"));
}

#[test]
fn a_number_stands_as_a_number() {
    let text = "Pay $1,000.50 or 7 or -3 or 20% (100) for \"5\", [1,234] on 2022-03-04, v1.2.3, 1e9, x8, 9x; {\"n\":12}";
    for number in [json!(1000.5), json!(7), json!(7.0), json!(-3), json!(20), json!(100), json!(5), json!(12)]
    {
        assert!(stands(&number, text), "{number}");
    }
    for number in [
        json!(1000),
        json!(1),
        json!(3),
        json!(50),
        json!(1234),
        json!(2022),
        json!(4),
        json!(1.2),
        json!(8),
        json!(9),
        json!(0),
    ] {
        assert!(!stands(&number, text), "{number}");
    }
    assert!(stands(&json!(0), "0.0") && stands(&json!(-0.0), "0"));
}

fn word() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec!["a", "b", "1", "é", "-", "@", ".", ",", " ", "\"", "'s"]);
    proptest::collection::vec(part, 1..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Whatever letter or digit is joined to a value, it does not stand there any more; between blanks it does.
    #[test]
    fn a_value_with_something_joined_to_it_is_another(value in word(), joint in "[-@./:_+,]{0,3}", letter in "[a-z0-9]") {
        let Some(standing) = Standing::of_text(&value) else { return Ok(()) };
        let is_short = matches!(standing, Standing::Short(_));
        let stands_in = |text: &str| {
            let told = standing.stands_in(text, &Numbers::of(text));
            assert!(!(told && is_short), "short ones are not looked for");
            if is_short { super::stands(&value, text) } else { told }
        };
        let apart = format!("x {value} y");
        prop_assert!(stands_in(&apart));
        let is_edge = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if is_edge(value.chars().next()) {
            let text = format!("{letter}{joint}{value}");
            prop_assert!(!stands_in(&text), "{}", text);
        }
        if is_edge(value.chars().next_back()) {
            let text = format!("{value}{joint}{letter}");
            prop_assert!(!stands_in(&text), "{}", text);
        }
    }
}
