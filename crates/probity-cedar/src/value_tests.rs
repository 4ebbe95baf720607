use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::shape::Member;

#[track_caller]
fn check(number: &str, expected: Option<&str>) {
    let number: Number = serde_json::from_str(number).unwrap();
    assert_eq!(decimal(&number).as_deref(), expected, "{number}");
}

#[test]
fn numbers_that_a_decimal_holds() {
    check("0", Some("0.0"));
    check("10", Some("10.0"));
    check("-3", Some("-3.0"));
    check("0.1", Some("0.1"));
    check("-0.5", Some("-0.5"));
    check("12.3456", Some("12.3456"));
    check("1e-4", Some("0.0001"));
    check("922337203685477", Some("922337203685477.0"));
    check("-922337203685477", Some("-922337203685477.0"));
}

#[test]
fn numbers_that_a_decimal_does_not_hold() {
    check("0.00001", None);
    check("1.23456", None);
    check("922337203685478", None);
    check("9007199254740991", None);
    check("1e-300", None);
    // A third has no end in either notation; its shortest digits are more than four.
    check("0.3333333333333333", None);
}

#[test]
fn an_argument_is_named_by_its_way() {
    let member = |shape| Member { shape, required: true, nullable: false };
    let inner = Shape::Record([("b".to_owned(), member(Shape::Whole))].into());
    let shape = Shape::Record([("a".to_owned(), member(inner))].into());
    let words = |value: &Value| expression(value, &shape).unwrap_err().to_string();
    assert_eq!(
        words(&json!({ "a": { "b": "x" } })),
        "the argument `a.b` is not of the type that the tool declares"
    );
    assert_eq!(words(&json!({ "a": {} })), "the argument `a.b` is missing");
    assert_eq!(words(&json!([])), "the call's argument object is not of the type that the tool declares");
}

proptest! {
    #[test]
    fn a_decimal_is_the_number_that_was_sent(scaled in -9_000_000_000_000_000_i64..9_000_000_000_000_000) {
        let (sign, digits) = (if scaled < 0 { "-" } else { "" }, scaled.unsigned_abs());
        let sent = format!("{sign}{}.{:04}", digits / 10_000, digits % 10_000);
        let number: Number = serde_json::from_str(&sent).unwrap();
        // A double with so many digits may stand for another decimal; then it is refused or that decimal, never a third.
        if let Some(text) = decimal(&number) {
            let (whole, fraction) = text.split_once('.').unwrap();
            let read: i64 = format!("{whole}{fraction:0<4}").parse().unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), sent.parse::<f64>().unwrap().to_bits());
            if digits < 1 << 50 {
                prop_assert_eq!(read, scaled);
            }
        } else {
            prop_assert!(digits >= 1 << 50);
        }
    }
}
