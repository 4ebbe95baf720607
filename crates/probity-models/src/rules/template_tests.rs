use super::*;
use crate::rules::scope::{Bound, Value as Held};

fn scope() -> Scope {
    let mut scope = Scope::default();
    let lines = Held::Many { values: vec!["a".into(), "b".into()], join: " + ".into() };
    for (name, value) in [
        ("amount", Held::One("2,450.00".into())),
        ("vendor", Held::One("Northgate \"Travel\"".into())),
        ("lines", lines),
    ] {
        scope.bind(name, Bound { value, items: Default::default() });
    }
    scope
}

#[test]
fn places_are_filled_in_their_form() {
    for (text, expected) in [
        ("", ""),
        ("no places", "no places"),
        ("{vendor}: {amount}, plain {amount:number}.", "Northgate \"Travel\": 2,450.00, plain 2450.00."),
        ("{amount:grouped}{amount}", "2,450.002,450.00"),
        ("{lines}", "a + b"),
        ("{{\"a\": {{}}}} é{amount}", "{\"a\": {}} é2,450.00"),
    ] {
        let filled = Template::parse(text).unwrap().fill(&scope());
        assert_eq!(filled.as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn broken_places_are_refused() {
    for text in ["{", "}", "a {b", "{a} }", "{}", "{a b}", "{1a}", "{a:currency}", "{a:}", "{é}"] {
        assert!(Template::parse(text).is_err(), "`{text}` was read");
    }
}

#[test]
fn a_text_that_is_no_number_is_not_written_as_one() {
    let error = Template::parse("{vendor:number}").unwrap().fill(&scope()).unwrap_err();
    assert_eq!(error, NotANumber::Text { name: "vendor".into(), text: "Northgate \"Travel\"".into() });
}

#[test]
fn json_keeps_types_and_quotes_what_was_captured() {
    let table: toml::Table = toml::from_str(
        r#"
        to = "{vendor}"
        amount = "{amount:number}"
        note = "{amount:number} EUR"
        n = 3
        ok = true
        deep = { list = ["{amount}", 1.5] }
        "#,
    )
    .unwrap();
    let filled = JsonTemplate::from_table(&table).unwrap().fill(&scope()).unwrap();
    assert_eq!(
        filled,
        serde_json::json!({
            "to": "Northgate \"Travel\"", "amount": 2450, "note": "2450.00 EUR", "n": 3, "ok": true,
            "deep": { "list": ["2,450.00", 1.5] },
        })
    );
}

#[test]
fn toml_values_without_a_json_form_are_refused() {
    for text in ["a = nan", "a = inf", "a = 2026-03-01"] {
        let table: toml::Table = toml::from_str(text).unwrap();
        assert!(JsonTemplate::from_table(&table).is_err(), "`{text}` was read");
    }
}
