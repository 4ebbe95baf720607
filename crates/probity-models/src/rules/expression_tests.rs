use super::*;
use crate::rules::scope::{Bound, Value};

fn scope() -> Scope {
    let mut scope = Scope::default();
    for (name, value) in [
        ("amount", Value::One("2,450.00".into())),
        ("limit", Value::One("500.00".into())),
        ("vendor", Value::One("Northgate".into())),
        ("lines", Value::Many { values: vec!["10.50".into(), "1,000".into()], join: ", ".into() }),
        ("words", Value::Many { values: vec!["a".into()], join: ", ".into() }),
    ] {
        scope.bind(name, Bound { value, items: Default::default() });
    }
    scope
}

fn value(text: &str) -> Result<String, String> {
    let (_, expression) = parse_let(&format!("x = {text}"))?;
    expression.value(&scope()).map(Number::plain).map_err(|error| error.to_string())
}

#[test]
fn expressions_follow_the_usual_precedence() {
    for (text, expected) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 4 - 3", "3"),
        ("-2 * -(1 + 1)", "4"),
        ("amount - limit", "1950.00"),
        ("amount*0.1", "245.000"),
        ("sum(lines) + count(lines)", "1012.50"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn broken_expressions_say_where_they_break() {
    let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    for (text, expected) in [
        ("1 +", "`x = 1 +` ends too early"),
        ("1 2", "`2` in `x = 1 2` cannot be read here"),
        ("(1", "`x = (1` ends too early"),
        ("1 / 2", "`/ 2` in `x = 1 / 2` cannot be read here"),
        ("max(lines)", "`max(…)` is not known; there are `sum(…)` and `count(…)`"),
        ("1.2.3", "`1.2.3` is no number"),
        ("sum(lines", "`x = sum(lines` ends too early"),
        (&deep, "is nested deeper than 32"),
        ("vendor + 1", "`vendor` = `Northgate` is no number"),
        ("sum(words)", "`words` = `a` is no number"),
    ] {
        let error = value(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for text in ["amount", "1x = 2", "= 2", "a == 2"] {
        assert!(parse_let(text).is_err(), "`{text}` was read");
    }
}

#[test]
fn comparisons_compare_numbers_not_texts() {
    for (text, expected) in [
        ("amount <= limit", false),
        ("amount>=limit", true),
        ("limit == 500", true),
        ("limit != 500.0", false),
        ("limit < 1000", true),
        ("count(lines) > 1", true),
    ] {
        assert_eq!(Check::parse(text).unwrap().holds(&scope()), Ok(expected), "{text}");
    }
    assert!(Check::parse("amount").is_err());
    assert!(Check::parse("amount <= limit <= 3").is_err());
    assert!(Check::parse("vendor == 1").unwrap().holds(&scope()).is_err());
}
