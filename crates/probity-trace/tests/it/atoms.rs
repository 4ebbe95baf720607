//! What is an atom, and what it says.

use probity_trace::{Atom, AtomValue, atoms_of_json, atoms_of_text};

fn shown(atom: &Atom) -> String {
    let value = |value: &AtomValue| match value {
        AtomValue::Number(number) => number.to_string(),
        AtomValue::Date(date) => date.to_string(),
        AtomValue::Time(time) => time.to_string(),
        AtomValue::Words(words) => words.clone(),
        AtomValue::Literal(literal) => literal.clone(),
    };
    let other = atom.other.as_ref().map(|other| format!(" or {}", value(other))).unwrap_or_default();
    let unit = atom.unit.map(|unit| format!(" {unit}")).unwrap_or_default();
    format!("{} {}{other}{unit}", atom.kind.name(), value(&atom.value))
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = atoms_of_text(text).iter().map(shown).collect();
    assert_eq!(found, expected, "the atoms of {text:?}");
}

#[track_caller]
fn check_json(json: &str, expected: &[(&str, &str)]) {
    let atoms = atoms_of_json(json);
    let found: Vec<(&str, String)> =
        atoms.iter().map(|atom| (&json[atom.range.clone()], shown(atom))).collect();
    let found: Vec<(&str, &str)> = found.iter().map(|(range, atom)| (*range, atom.as_str())).collect();
    assert_eq!(found, expected, "the atoms of {json}");
}

#[test]
fn numbers_of_many_places() {
    check("costs 1,234.50", &["number 1234.5"]);
    check("costs 1.234,50 EUR", &["number 1234.5 EUR"]);
    check("costs 1 234 567,8 and 1'234.5", &["number 1234567.8", "number 1234.5"]);
    check("costs 1\u{a0}234,5 and 12,34,567", &["number 1234.5", "number 1234567"]);
    check("is 1,234 or 1.234", &["number 1234 or 1.234", "number 1.234 or 1234"]);
    check("it is 3,5 % of", &["number 3.5 %"]);
    check("one of 1,2,3", &["number 1", "number 2", "number 3"]);
    check("it is -5 and 3-4", &["number -5", "number 3", "number 4"]);
    check("€ 250 and $19.99 and USD 7", &["number 250 EUR", "number 19.99 USD", "number 7 USD"]);
    check("a 24-hour limit of 10kg, 3rd of 5k", &["number 24 h", "number 10 kg", "number 3", "number 5000"]);
    check("2.5 million people", &["number 2500000"]);
    check("0.10 is 0.1", &["number 0.1", "number 0.1"]);
}

#[test]
fn numbers_in_words() {
    check("has twenty-five bags", &["number 25"]);
    check("two hundred and three thousand four", &["number 203004"]);
    check("one of these, one hundred", &["number 100"]);
    check("twenty percent", &["number 20 %"]);
}

#[test]
fn dates_as_far_as_they_are_said() {
    check("on 2024-05-20T15:00:00Z", &["date 2024-05-20", "time 15:00:00"]);
    check("on May 20th, 2024 or May 20", &["date 2024-05-20", "date --05-20"]);
    check("am 20. März 2024, le 3 août", &["date 2024-03-20", "date --08-03"]);
    check("by 05/06/2024 and 25/06/2024", &["date 2024-05-06 or 2024-06-05", "date 2024-06-25"]);
    check("by 20.05.2024 in May 2024", &["date 2024-05-20", "date 2024-05"]);
    check("you may 3 or so, 31 February", &["date --05-03", "number 31", "name february"]);
}

#[test]
fn times_on_both_clocks() {
    check("at 7:05 PM, 7pm, 19:05 and 12:00 a.m.", &["time 19:05", "time 19:00", "time 19:05", "time 00:00"]);
    check("at 25:00", &["number 25", "id 00"]);
}

#[test]
fn ids() {
    check("flight HAT136 from JFK", &["id hat136", "id jfk"]);
    check("user mia_li_3668.", &["id mia li 3668"]);
    check("order #10023 and NO6JO3's", &["id 10023", "id no6jo3"]);
    check("is 550e8400-e29b-41d4-a716-446655440000", &["id 550e8400 e29b 41d4 a716 446655440000"]);
    check("version 1.2.3 at 192.168.0.1", &["id 1 2 3", "id 192 168 0 1"]);
    check("from JFK-SEA by a one-way", &["id jfk", "id sea"]);
    check("please DO NOT EVER CALL", &[]);
}

#[test]
fn addresses_and_paths() {
    check("write to mia.li3818@Example.com.", &["e-mail mia.li3818@example.com"]);
    check("see https://example.com/a?b=1).", &["url https://example.com/a?b=1"]);
    check(
        "in src/main.rs and /etc/hosts, report.pdf",
        &["path src/main.rs", "path /etc/hosts", "path report.pdf"],
    );
    check("and/or", &[]);
}

#[test]
fn names_and_quotes() {
    check("from New York to Seattle with Mia Li.", &["name new york", "name seattle", "name mia li"]);
    check("Thank you, Mia. The Bank of America is open", &["name mia", "name bank of america"]);
    check("- **Cabin Class:** Economy\n", &["name economy"]);
    check("it said \"not available\" and “gone”", &["phrase not available", "phrase gone"]);
    check("the id is 'HAT136'", &["id hat136"]);
    check("1. first\n2. second", &[]);
}

#[test]
fn values_of_arguments() {
    check_json(
        r#"{"cabin":"basic_economy","n":[1,234],"ok":true,"dob":"1990-04-05","street":"975 Sunset Drive","e":"a\"b\u00fc 5"}"#,
        &[
            ("basic_economy", "id basic economy"),
            ("1", "number 1"),
            ("234", "number 234"),
            ("1990-04-05", "date 1990-04-05"),
            ("975 Sunset Drive", "phrase 975 sunset drive"),
            ("5", "number 5"),
        ],
    );
    check_json(r#"{"x":"Z\u00fcrich"}"#, &[(r"Z\u00fcrich", "phrase zürich")]);
    check_json(r#"{"x":"152 + 103"}"#, &[("152", "number 152"), ("103", "number 103")]);
}
