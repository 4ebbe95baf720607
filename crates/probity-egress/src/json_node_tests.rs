use serde_json::{Value, json};

use super::{JSON_DEPTH_MAX, Node};

/// A text is read where `serde_json` reads it, and as the same value.
fn check(text: &str) {
    let node = Node::parse(text);
    let value: Option<Value> = serde_json::from_str(text).ok();
    assert_eq!(node.as_ref().map(|node| serde_json::to_value(node).unwrap()), value, "{text}");
}

#[test]
fn what_json_is_and_what_it_is_not() {
    for text in [
        "",
        " ",
        "{}",
        "[]",
        " { } ",
        "[ ]",
        "null",
        "true",
        "false",
        "nul",
        "nullx",
        "truefalse",
        "0",
        "-0",
        "00",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1.5",
        "1e5",
        "1E-5",
        "1e+5",
        "1e",
        "1e+",
        "-1",
        "12a",
        "1 2",
        "\"\"",
        "\"a\"",
        "\"a",
        "\"\\\"\"",
        "\"\\",
        "\"\\\\\"",
        "\"\\u00e9\\n\"",
        "\"\\x\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\t\"",
        "\"\u{7f}\u{e9}\"",
        "[1,2]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{\"a\" : [ {\"b\":null} ] }",
        "{a:1}",
        "{\"a\"}",
        "{\"a\":}",
        "{1:2}",
        "{\"a\":1",
        "\u{a0}1",
        "\r\n[1]\t",
        "\u{feff}1",
        "18446744073709551615",
        "-9223372036854775808",
        "{\"\\u0061\":1}",
        "\"\\\u{e9}\"",
    ] {
        check(text);
    }
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check(&nested(JSON_DEPTH_MAX));
    check(&nested(JSON_DEPTH_MAX + 1));
    check(&"[".repeat(1_000_000));
}

#[test]
fn names_that_are_equal_are_both_there() {
    let text = serde_json::to_string(&Node::parse("{\"b\":1,\"a\":2,\"b\":3}").unwrap()).unwrap();
    assert_eq!(text, "{\"b\":1,\"a\":2,\"b\":3}");
}

#[test]
fn every_part_stands_where_it_says() {
    let text = " {\"a\" : [1, \"x\"]} ";
    let node = Node::parse(text).unwrap();
    assert_eq!((node.start, node.end()), (1, text.len() - 1));
    assert_eq!(serde_json::to_value(&node).unwrap(), json!({"a": [1, "x"]}));
}
