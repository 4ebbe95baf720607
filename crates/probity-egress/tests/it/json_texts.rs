use probity_egress::{
    JsonFinding, Report, SamePrincipal, Source, egress_json, egress_value, register_secret,
};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use serde_json::Value;

use crate::made_up::github;

fn pass(text: &str) -> (Option<String>, Vec<JsonFinding<SamePrincipal>>) {
    let (mut report, mut findings) = (Report::with_key([7; 32]), Vec::new());
    let passed = egress_json(text, &mut report, &mut |finding| findings.push(finding));
    assert_eq!(report.total(), u64::try_from(findings.len()).unwrap());
    assert!(report.findings().is_empty());
    (passed.map(|text| text.as_str().to_owned()), findings)
}

/// The text becomes that one, and stays it; each finding says what was removed from where.
fn check(text: &str, expected: &str, removed: &[(&str, &str)]) {
    let (passed, findings) = pass(text);
    assert_eq!(passed.as_deref(), Some(expected));
    let told: Vec<(&str, &str)> =
        findings.iter().map(|found| (found.path.as_str(), &text[found.finding.input.clone()])).collect();
    assert_eq!(told, removed);
    for found in &findings {
        assert!(expected[found.finding.output.clone()].contains(found.finding.kind), "{found:?}");
        assert_eq!(found.finding.fingerprint.as_deref().map(str::len), Some(16));
    }
    assert_eq!(pass(expected), (Some(expected.to_owned()), Vec::new()), "twice changes nothing");
}

fn same(text: &str) {
    check(text, text, &[]);
}

#[test]
fn what_is_not_secret_stays_as_it_was_written() {
    same("{}");
    same(" { \"b\" : 1 , \"a\":[ true,null , \"\\u00e9\\/\\ud83d\\ude00 caf\u{e9}\" ] }\r");
    same("{\"b\":1,\"a\":2,\"b\":3}");
    same(
        "[1.10, 1E+2, -0, 0.1000000000000000055511151231257827, 123456789012345678901234567890, 1e999, -1e-999, 18446744073709551616]",
    );
    let nested = format!("{}1{}", "[".repeat(127), "]".repeat(127));
    same(&nested);
    same(&format!("[{}1]", "0.25,".repeat(150_000)));
}

#[test]
fn what_is_no_json_is_not_passed() {
    for text in ["", "words", "{\"a\":1", "{} {}", "{'a':1}", "[1,]", "\"\\ud800\"", &"[".repeat(128)] {
        assert_eq!(pass(text), (None, Vec::new()), "{text}");
    }
}

#[test]
fn texts_and_names_are_passed_and_their_place_is_told() {
    let token = github();
    check(
        &format!("{{\"z\": \"caf\\u00e9 \\ud83d\\ude00 \\\"{token}\\\" x {token}\", \"n\": 1.0}}"),
        "{\"z\": \"caf\u{e9} \u{1f600} \\\"[REDACTED:github-token]\\\" x [REDACTED:github-token]\", \"n\": 1.0}",
        &[("/z", &token), ("/z", &token)],
    );
    check(
        &format!("[{{\"a/b~\": {{\"{token}\": [\"{token}\"]}}}}]"),
        "[{\"a/b~\": {\"[REDACTED:github-token]\": [\"[REDACTED:github-token]\"]}}]",
        &[("/0/a~1b~0/[REDACTED:github-token]", &token), ("/0/a~1b~0/[REDACTED:github-token]/0", &token)],
    );
    check(&format!("\"{token}\""), "\"[REDACTED:github-token]\"", &[("", &token)]);
}

#[test]
fn a_member_with_a_credential_name_goes_whole_from_its_place() {
    check(
        "{ \"user\":\"bob\", \"Pass\\u0077ord\" : {\"v\": [1]}, \"passwd\":1234 , \"args\": [\"-u\",\"bob:plain\"]}",
        "{ \"user\":\"bob\", \"Pass\\u0077ord\" : \"[REDACTED:password]\", \"passwd\":\"[REDACTED:password]\" , \"args\": [\"-u\",\"[REDACTED:password]\"]}",
        &[("/Password", "{\"v\": [1]}"), ("/passwd", "1234"), ("/args/1", "\"bob:plain\"")],
    );
    check(
        "[{\"name\":\"DB_PASSWORD\",\"value\":\"plain\"}]",
        "[{\"name\":\"DB_PASSWORD\",\"value\":\"[REDACTED:password]\"}]",
        &[("/0/value", "\"plain\"")],
    );
    let (_, findings) = pass("{\"password\":\"plain\"}");
    assert_eq!((findings[0].finding.rule, findings[0].finding.source), ("name", Source::Name));
}

#[test]
fn members_that_share_a_name_hide_nothing() {
    let token = github();
    check(
        &format!("{{\"a\":\"{token}\",\"password\":\"x1\",\"a\":1,\"password\":null,\"password\":\"x2\"}}"),
        "{\"a\":\"[REDACTED:github-token]\",\"password\":\"[REDACTED:password]\",\"a\":1,\"password\":null,\"password\":\"[REDACTED:password]\"}",
        &[("/a", &token), ("/password", "\"x1\""), ("/password", "\"x2\"")],
    );
    check(
        "{\"name\":\"color\",\"name\":\"DB_PASSWORD\",\"value\":\"x1\",\"value\":\"x2\"}",
        "{\"name\":\"color\",\"name\":\"DB_PASSWORD\",\"value\":\"[REDACTED:password]\",\"value\":\"[REDACTED:password]\"}",
        &[("/value", "\"x1\""), ("/value", "\"x2\"")],
    );
    // Two names become one.
    let other = token.replace('a', "b");
    check(
        &format!("{{\"{token}\":1,\"{other}\":\"{token}\"}}"),
        "{\"[REDACTED:github-token]\":1,\"[REDACTED:github-token]\":\"[REDACTED:github-token]\"}",
        &[
            ("/[REDACTED:github-token]", &token),
            ("/[REDACTED:github-token]", &other),
            ("/[REDACTED:github-token]", &token),
        ],
    );
}

#[test]
fn registered_digits_leave_in_no_notation() {
    assert!(register_secret("771234567890123456789012345678"));
    assert!(register_secret("77123456789.10"));
    check(
        "[771234567890123456789012345678, 77123456789.10]",
        "[\"[REDACTED:registered]\", \"[REDACTED:registered]\"]",
        &[("/0", "771234567890123456789012345678"), ("/1", "77123456789.10")],
    );
}

#[test]
fn every_one_of_many_findings_is_told() {
    let token = github();
    let text = format!("[\"{}\"]", format!("{token} ").repeat(12_000));
    let (_, findings) = pass(&text);
    assert_eq!(findings.len(), 12_000);
    assert!(findings.iter().all(|found| text[found.finding.input.clone()] == token));
}

/// JSON texts of every shape, some with what a pass removes.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("\"password\"".to_owned()),
        Just("\"name\"".to_owned()),
        Just("\"value\"".to_owned()),
        Just("\"--token\"".to_owned()),
        Just(format!("\"\\u0041 {}\"", github())),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
    ];
    let leaf = prop_oneof![
        word.clone(),
        any::<f64>().prop_map(|number| Value::from(number).to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(" ,"))),
            // Without names that are shared: of those a value has only one.
            prop::collection::btree_map(word.clone(), inner, 0..6).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_passed_text_is_the_snapshot(text in texts()) {
        let (passed, findings) = pass(&text);
        let passed = passed.unwrap();
        let (value, of_passed): (Value, Value) =
            (serde_json::from_str(&text).unwrap(), serde_json::from_str(&passed).unwrap());
        assert_eq!(&of_passed, egress_value::<SamePrincipal>(&value).as_value());
        assert_eq!(findings.is_empty(), passed == text);
        assert_eq!(pass(&passed), (Some(passed.clone()), Vec::new()));
    }
}
