//! What holds for the snapshot of every value.

use probity_egress::{Human, SamePrincipal, Tier, egress_value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::made_up::hostile;
use crate::promises::cases;

/// Names under which no text may stay, whatever it is.
const CREDENTIALS: &[&str] = &[
    "password",
    "Password",
    "PASSWD",
    "DB_PASSWORD",
    "dbPassword",
    "db-password",
    "userPassword2",
    "passphrase",
    "client_secret",
    "clientSecret",
    "Authorization",
    "proxy-authorization",
    "Cookie",
    "Set-Cookie",
    "x-api-key",
    "API_KEY",
    "access_token",
    "refreshToken",
    "private_key",
    "aws_secret_access_key",
    "credentials",
];

/// Names that say nothing, nor do they say what another member is called.
const OTHERS: &[&str] =
    &["note", "color", "max_tokens", "token_count", "items", "a", "", "public_key_id", "city", "0"];

/// Names that may say what another member is called, and names of what is called so.
const SAYING: &[&str] = &["name", "key", "type", "header", "value", "values", "default"];

/// Values of these names and texts: members, elements, and what is no text.
fn values(name: BoxedStrategy<String>, text: BoxedStrategy<String>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => text.prop_map(Value::String),
        1 => (-9_i64..9_999).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(4, 12, 4, move |inner| {
        prop_oneof![
            2 => vec((name.clone(), inner.clone()), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
            1 => vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

/// Texts that hardly occur twice and that nothing but the name above them gives away.
fn canary() -> impl Strategy<Value = String> {
    (any::<u32>(), 0_u8..3).prop_map(|(number, form)| match form {
        0 => format!("canary {number}"),
        1 => format!("a canary {number} sings\n\"loud\""),
        _ => format!("canary {number} é"),
    })
}

/// The number that makes a canary one of its own.
fn numbers(value: &Value, is_under_credential: bool, found: &mut Vec<(String, bool)>) {
    match value {
        Value::String(text) => {
            found.extend(
                text.split_whitespace()
                    .find(|word| word.parse::<u32>().is_ok())
                    .map(|number| (format!("canary {number}"), is_under_credential)),
            );
        }
        Value::Array(items) => items.iter().for_each(|item| numbers(item, is_under_credential, found)),
        Value::Object(members) => {
            for (name, value) in members {
                numbers(value, is_under_credential || CREDENTIALS.contains(&name.as_str()), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn snapshot_holds<T: Tier>(value: &Value) -> Result<(), TestCaseError> {
    let snapshot = egress_value::<T>(value);
    let text = snapshot.to_string();
    let mut canaries = Vec::new();
    numbers(value, false, &mut canaries);
    for (canary, is_under_credential) in canaries {
        // A number that another one begins with is not told apart from it.
        let is_there = text
            .match_indices(&canary)
            .any(|(at, _)| !text[at + canary.len()..].starts_with(|c: char| c.is_ascii_digit()));
        prop_assert_eq!(is_there, !is_under_credential, "{} in {}", canary, text);
    }
    prop_assert_eq!(&egress_value::<T>(&snapshot), &snapshot);
    Ok(())
}

fn snapshot_stays<T: Tier>(value: &Value) -> Result<(), TestCaseError> {
    let snapshot = egress_value::<T>(value);
    prop_assert_eq!(&egress_value::<T>(&snapshot), &snapshot);
    Ok(())
}

fn chosen(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(names).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(cases(100_000))]

    #[test]
    fn a_snapshot_holds_no_text_under_a_credential_name(
        value in values(prop_oneof![2 => chosen(OTHERS), 1 => chosen(CREDENTIALS)].boxed(), canary().boxed())
    ) {
        snapshot_holds::<SamePrincipal>(&value)?;
        snapshot_holds::<Human>(&value)?;
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn a_snapshot_of_a_snapshot_of_any_value_stays(
        value in values(prop_oneof![chosen(OTHERS), chosen(CREDENTIALS), chosen(SAYING), hostile()].boxed(), hostile().boxed())
    ) {
        snapshot_stays::<SamePrincipal>(&value)?;
        snapshot_stays::<Human>(&value)?;
    }
}
