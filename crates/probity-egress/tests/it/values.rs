use std::collections::BTreeMap;

use probity_egress::{
    Human, SamePrincipal, VALUE_BYTES_MAX, VALUE_DEPTH_MAX, VALUE_MEMBERS_MAX, egress_text, egress_value,
    register_secret,
};
use proptest::prelude::*;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::made_up::{github, hostile};

fn check(value: Value, expected: Value) {
    assert_eq!(egress_value::<SamePrincipal>(&value).as_value(), &expected);
}

#[test]
fn a_member_with_a_credential_name_goes_whole() {
    check(
        json!({"user": "bob", "Password": "x", "a": [{"x-api-key": {"v": 1}}], "credentials": ["a", "b"], "passwd": 1234}),
        json!({"user": "bob", "Password": "[REDACTED:password]", "a": [{"x-api-key": "[REDACTED:api-key]"}],
            "credentials": "[REDACTED:credential]", "passwd": "[REDACTED:password]"}),
    );
    check(
        json!({"key": "color", "max_tokens": 10, "password": null}),
        json!({"key": "color", "max_tokens": 10, "password": null}),
    );
}

#[test]
fn other_members_and_their_names_are_passed() {
    let token = github();
    let mut map = BTreeMap::new();
    map.insert(format!("for {token}"), format!("is {token}"));
    let snapshot = egress_value::<SamePrincipal>(&map);
    assert_eq!(snapshot.to_string(), r#"{"for [REDACTED:github-token]":"is [REDACTED:github-token]"}"#);
    assert_eq!(egress_value::<Human>(&"see /etc/passwd").to_string(), "\"see [REDACTED:path]\"");
}

#[test]
fn a_snapshot_of_a_snapshot_is_the_same() {
    let value = json!({"password": "hunter22", "authorization": "Bearer x", "note": "token=x9Kq2LmZ7pR4"});
    let once = egress_value::<SamePrincipal>(&value);
    assert_eq!(egress_value::<SamePrincipal>(&once), once);
}

#[test]
fn types_read_as_json_reads_them() {
    #[derive(Serialize)]
    enum Kind {
        Plain,
        One(u8),
        Two(u8, u8),
        Named { secret_key: &'static str },
    }
    #[derive(Serialize)]
    struct All {
        kinds: Vec<Kind>,
        none: Option<u8>,
        pair: (u8, char),
        map: BTreeMap<u8, f64>,
    }
    let all = All {
        kinds: vec![Kind::Plain, Kind::One(1), Kind::Two(1, 2), Kind::Named { secret_key: "a1" }],
        none: None,
        pair: (1, 'c'),
        map: BTreeMap::from([(7, 0.5)]),
    };
    let expected = json!({"kinds": ["Plain", {"One": 1}, {"Two": [1, 2]}, {"Named": {"secret_key": "[REDACTED:secret]"}}],
        "none": null, "pair": [1, "c"], "map": {"7": 0.5}});
    assert_eq!(egress_value::<SamePrincipal>(&all).as_value(), &expected);
}

#[test]
fn limits_fail_closed() {
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([Endless])
        }
    }
    let text = egress_value::<SamePrincipal>(&Endless).to_string();
    assert_eq!(
        text,
        "[".repeat(VALUE_DEPTH_MAX + 1) + "\"[REDACTED:limit]\"" + &"]".repeat(VALUE_DEPTH_MAX + 1)
    );

    let wide = vec![0_u8; VALUE_MEMBERS_MAX + 5];
    let snapshot = egress_value::<SamePrincipal>(&wide);
    let elements = snapshot.as_value().as_array().unwrap();
    assert_eq!(
        (elements.len(), elements.last().unwrap()),
        (VALUE_MEMBERS_MAX + 1, &json!("[REDACTED:limit]"))
    );
}

#[test]
fn a_value_that_refuses_says_nothing_of_itself() {
    struct Refuses;
    impl Serialize for Refuses {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("password=hunter22"))
        }
    }
    assert_eq!(egress_value::<SamePrincipal>(&Refuses).to_string(), "\"[REDACTED:unreadable]\"");
}

#[test]
fn a_name_in_one_member_gives_the_value_in_another_away() {
    check(
        json!([{"key": "password", "value": "plain"}, {"value": "plain", "name": "DB_PASSWORD"}, {"Name": "Authorization", "Value": "Bearer x"},
            {"name": "cookie", "values": ["a=b", "c"]}, {"type": "password", "value": "plain"}, {"field": "client_secret", "default": {"a": "b"}}]),
        json!([{"key": "password", "value": "[REDACTED:password]"}, {"value": "[REDACTED:password]", "name": "DB_PASSWORD"},
            {"Name": "Authorization", "Value": "[REDACTED:authorization]"}, {"name": "cookie", "values": "[REDACTED:cookie]"},
            {"type": "password", "value": "[REDACTED:password]"}, {"field": "client_secret", "default": "[REDACTED:secret]"}]),
    );
    check(
        json!({"name": "API_KEY", "value": "k3Yk3yQk9xZ7", "type": "string"}),
        json!({"name": "API_KEY", "value": "[REDACTED:api-key]", "type": "string"}),
    );
    let same = json!([{"key": "color", "value": "plain"}, {"name": "password", "value": null, "type": "string"}, {"name": "token", "value": "word"},
        {"name": "password", "description": "at least 8", "in": "body"}, {"key": "max_tokens", "value": 4096}, {"key": "password", "value": true}]);
    check(same.clone(), same);
}

#[test]
fn pairs_in_arrays_are_names_and_values() {
    check(
        json!([
            ["authorization", "Bearer x"],
            ["accept", "text/html"],
            ["Cookie", "a=b"],
            ["password", "plain"]
        ]),
        json!([
            ["authorization", "[REDACTED:authorization]"],
            ["accept", "text/html"],
            ["Cookie", "[REDACTED:cookie]"],
            ["password", "[REDACTED:password]"]
        ]),
    );
    check(
        json!(["Host", "a", "Authorization", "Bearer x", "X-Api-Key", "k3Yk3yQk9xZ7"]),
        json!(["Host", "a", "Authorization", "[REDACTED:authorization]", "X-Api-Key", "[REDACTED:api-key]"]),
    );
    check(
        json!(["deploy", "--password", "plain", "--api-key", "k3Yk3yQk9xZ7", "-v", "--token", "--dry-run"]),
        json!([
            "deploy",
            "--password",
            "[REDACTED:password]",
            "--api-key",
            "[REDACTED:api-key]",
            "-v",
            "--token",
            "--dry-run"
        ]),
    );
    check(json!(["curl", "-u", "bob:plain", "x"]), json!(["curl", "-u", "[REDACTED:password]", "x"]));
    check(
        json!({"a": {"headers": [("authorization", "Bearer x")]}}),
        json!({"a": {"headers": [["authorization", "[REDACTED:authorization]"]]}}),
    );
    let same = json!({"required": ["username", "password", "email"], "columns": ["password", "created_at"], "types": [["token", "string"]],
        "scopes": ["secret", "token"], "args": ["-u", "HEAD"], "one": ["password"]});
    check(same.clone(), same);
}

#[test]
fn a_command_in_words_says_what_its_line_says() {
    for (flag, pair) in [
        ("-u", "bob:s3cr3t9"),
        ("--user", "bob:correct-horse"),
        ("--proxy-user", "a:b3cd"),
        ("-U", "bob:pl@in!"),
        ("-u", "1000:1000"),
        ("-u", "bob:${PASSWORD}"),
        ("-u", "HEAD"),
        ("-u", "origin/a:refs/b"),
    ] {
        let line = egress_text::<SamePrincipal>(&format!("curl {flag} {pair} x"));
        let expected: Vec<&str> = line.as_str().split(' ').collect();
        check(json!(["curl", flag, pair, "x"]), json!(expected));
    }
}

#[test]
fn texts_in_pieces_are_read_as_texts() {
    let token = github();
    let bytes: Vec<u8> = token.bytes().collect();
    let chars: Vec<char> = token.chars().collect();
    check(
        json!({"a": bytes, "b": chars, "c": [1, 2, 3, 250, 9, 9]}),
        json!({"a": "[REDACTED:bytes]", "b": "[REDACTED:text]", "c": [1, 2, 3, 250, 9, 9]}),
    );
    check(json!(b"password=hunter22 \xff".as_slice()), json!("[REDACTED:bytes]"));
    check(json!(b"plain words".as_slice()), json!(b"plain words".as_slice()));
}

#[test]
fn registered_values_leave_in_no_type() {
    assert!(register_secret("8812345678901234"));
    assert!(register_secret("reg\"ister\\ed\nvalue of two lines"));
    let expected = json!("[REDACTED:registered]");
    check(json!(8_812_345_678_901_234_u64), expected.clone());
    check(json!(-8_812_345_678_901_234_i64), expected.clone());
    check(
        json!({"8812345678901234": 1, "n": 18_812_345_678_901_234_u64}),
        json!({"[REDACTED:registered]": 1, "n": "[REDACTED:registered]"}),
    );
    assert_eq!(egress_value::<SamePrincipal>(&8_812_345_678_901_234_i128).as_value(), &expected);
    assert_eq!(
        egress_value::<SamePrincipal>(&(u128::MAX - 1)).as_value(),
        &json!((u128::MAX - 1).to_string())
    );
    assert_eq!(egress_value::<SamePrincipal>(&88_123_456_789_012_340_000_000_u128).as_value(), &expected);
    assert_eq!(
        egress_value::<SamePrincipal>(&BTreeMap::from([(8_812_345_678_901_234_u64, 1)])).to_string(),
        r#"{"[REDACTED:registered]":1}"#
    );
    check(
        json!({"a": "x reg\"ister\\ed y", "b": "reg\\\"ister\\\\ed", "value of two lines": 1}),
        json!({"[REDACTED:registered]": 1, "a": "x [REDACTED:registered] y", "b": "[REDACTED:registered]"}),
    );
    check(json!([1, 2.5, 123_456, true, null, 1e300]), json!([1, 2.5, 123_456, true, null, 1e300]));
}

#[test]
fn under_a_common_name_elements_are_judged_one_by_one_and_long_numbers_under_a_secret_go() {
    check(
        json!({"key": ["k3Yk3yQk9xZ7", "word"], "client_secret": 123_456_789, "secret": 3, "api_key": 1_234}),
        json!({"key": ["[REDACTED:api-key]", "word"], "client_secret": "[REDACTED:secret]", "secret": 3, "api_key": 1_234}),
    );
}

#[test]
fn a_text_that_is_written_by_a_function_is_bounded_and_may_fail() {
    struct Written(fn(&mut std::fmt::Formatter<'_>) -> std::fmt::Result);
    impl std::fmt::Display for Written {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0(f)
        }
    }
    impl Serialize for Written {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(self)
        }
    }
    let fails = Written(|_| Err(std::fmt::Error));
    assert_eq!(egress_value::<SamePrincipal>(&fails).to_string(), "\"[REDACTED:unreadable]\"");
    let endless = Written(|f| {
        loop {
            f.write_str("password=hunter22 ")?;
        }
    });
    assert_eq!(
        egress_value::<SamePrincipal>(&[&endless, &endless]).to_string(),
        r#"["[REDACTED:limit]","[REDACTED:limit]"]"#
    );
    let plain = Written(|f| f.write_str("password=hunter22"));
    assert_eq!(egress_value::<SamePrincipal>(&plain).to_string(), "\"password=[REDACTED:password]\"");
}

#[test]
fn the_limit_of_bytes_holds_for_names_and_texts_together() {
    let text = "a".repeat(VALUE_BYTES_MAX / 2);
    let snapshot = egress_value::<SamePrincipal>(&json!([text, text, text, 1]));
    let last: Vec<&Value> = snapshot.as_value().as_array().unwrap().iter().skip(2).collect();
    assert_eq!(last, [&json!("[REDACTED:limit]"), &json!(1)]);
}

fn settled(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..4 {
        text = egress_text::<Human>(egress_text::<SamePrincipal>(&text).as_str()).to_string();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_snapshot_of_a_snapshot_is_the_same_whatever_it_holds(texts in proptest::collection::vec(hostile(), 2..6)) {
        // Texts alone are the matter of `promises`; here it is what a snapshot adds to their pass.
        let texts: Vec<String> = texts.iter().map(|text| settled(text)).collect();
        let pairs: Vec<(&String, &String)> = texts.iter().zip(texts.iter().skip(1)).collect();
        let members: BTreeMap<&String, &String> = pairs.iter().copied().collect();
        let value = json!({"row": texts, "pairs": pairs, "members": members, "named": {"name": texts[0], "value": texts[1]}});
        let once = egress_value::<SamePrincipal>(&value);
        prop_assert_eq!(&egress_value::<SamePrincipal>(&once), &once);
        let once = egress_value::<Human>(&value);
        prop_assert_eq!(&egress_value::<Human>(&once), &once);
    }

    #[test]
    fn no_text_is_left_under_a_credential_name(text in "[a-z]{6,20}", depth in 0_usize..6, name in 0_usize..6) {
        let names = ["password", "Authorization", "client_secret", "Set-Cookie", "dbPassword", "CREDENTIALS"];
        let name = names.get(name).copied().unwrap_or_default();
        let mut value = json!({"a": [format!("_{text}_"), 1, {"b": format!("_{text}_")}]});
        for _ in 0..depth {
            value = json!([{"x": value}]);
        }
        for whole in [json!({name: value}), json!({"name": name, "value": value}), json!([[name, value], ["x", 1]])] {
            let out = egress_value::<SamePrincipal>(&whole).to_string();
            prop_assert!(!out.contains(&format!("_{text}_")) && out.contains(name), "{out}");
        }
    }
}
