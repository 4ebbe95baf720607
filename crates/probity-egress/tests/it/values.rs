use std::collections::BTreeMap;

use probity_egress::{Human, SamePrincipal, VALUE_DEPTH_MAX, VALUE_MEMBERS_MAX, egress_value};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::made_up::github;

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
