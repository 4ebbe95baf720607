use super::*;

fn read(text: &str) -> Number {
    Number::read(text).unwrap_or_else(|| panic!("`{text}` should be a number"))
}

#[test]
fn numbers_are_read_as_people_write_them() {
    for (text, plain, grouped) in [
        ("2,450.00", "2450.00", "2,450.00"),
        ("2450", "2450", "2,450"),
        (" -1,234,567.5 ", "-1234567.5", "-1,234,567.5"),
        ("0.05", "0.05", "0.05"),
        ("+999", "999", "999"),
        ("0", "0", "0"),
    ] {
        assert_eq!((read(text).plain(), read(text).grouped()), (plain.to_owned(), grouped.to_owned()));
    }
}

#[test]
fn what_only_looks_like_a_number_is_refused() {
    for text in [
        "",
        "-",
        ".5",
        "5.",
        "1,2",
        "1234,567",
        "1,,234",
        ",123",
        "1.2.3",
        "1.234,56",
        "EUR 5",
        "5e3",
        "--5",
        "٣",
        "0.1234567890123456789",
    ] {
        assert!(Number::read(text).is_none(), "`{text}` was read");
    }
    assert!(Number::read(&"9".repeat(40)).is_none());
}

#[test]
fn sums_differences_and_products_are_exact() {
    let show = |number: Option<Number>| number.map(Number::plain);
    assert_eq!(show(read("0.10").plus(read("0.2"))), Some("0.30".into()));
    assert_eq!(show(read("500.00").minus(read("2,450"))), Some("-1950.00".into()));
    assert_eq!(show(read("19.99").times(read("0.19"))), Some("3.7981".into()));
    assert_eq!(read("1.10").compare(read("1.1")), Some(Ordering::Equal));
    assert_eq!(read("-3").compare(read("2")), Some(Ordering::Less));
}

#[test]
fn what_does_not_fit_is_no_number() {
    let huge = read(&"9".repeat(38));
    assert!(huge.plus(huge).is_none());
    assert!(huge.times(read("10")).is_none());
    assert!(huge.compare(read("0.1")).is_none());
    assert!(read("0.0000000001").times(read("0.0000000001")).is_none());
}

#[test]
fn json_numbers_keep_every_digit_or_are_not_made() {
    let json = |text: &str| read(text).to_json().map(|number| number.to_string());
    assert_eq!(json("2,450.00"), Some("2450".into()));
    assert_eq!(json("-499.90"), Some("-499.9".into()));
    assert_eq!(json("0.000"), Some("0".into()));
    assert_eq!(json("0.123456789012345678"), None);
    assert_eq!(json("99999999999999999999"), None);
}
