//! Exact numbers against a naive model.

use probity_trace::Decimal;
use proptest::prelude::*;

fn shown(number: Option<Decimal>) -> Option<String> {
    number.map(|number| number.to_string())
}

#[test]
fn as_they_are_written() {
    let number = |mantissa, places| Decimal::new(mantissa, places).unwrap();
    assert_eq!(number(150, 2).to_string(), "1.5");
    assert_eq!(number(-5, 3).to_string(), "-0.005");
    assert_eq!(number(1000, 0).to_string(), "1000");
    assert_eq!(shown(number(1, 0).over(number(3, 0), 4)), Some("0.3333".into()));
    assert_eq!(shown(number(-2, 0).over(number(3, 0), 0)), Some("-1".into()));
    assert_eq!(shown(number(1, 0).over(number(0, 0), 0)), None);
    assert_eq!(number(25, 1).rounded(0).to_string(), "3");
    assert_eq!(number(-25, 1).rounded(0).to_string(), "-3");
    assert_eq!(shown(number(1, 1).plus(number(2, 1))), Some("0.3".into()));
    assert_eq!(Decimal::new(1, 19), None);
    assert_eq!(shown(number(i128::MAX, 0).plus(number(1, 0))), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn sums_products_and_order_are_those_of_hundredths(one in -1_000_000_i128..1_000_000, other in -1_000_000_i128..1_000_000) {
        let (left, right) = (Decimal::new(one, 2).unwrap(), Decimal::new(other, 2).unwrap());
        prop_assert_eq!(left.plus(right), Decimal::new(one + other, 2));
        prop_assert_eq!(left.minus(right), Decimal::new(one - other, 2));
        prop_assert_eq!(left.times(right), Decimal::new(one * other, 4));
        prop_assert_eq!(left.cmp(&right), one.cmp(&other));
        prop_assert_eq!(left == right, one == other);
        if let Some(quotient) = left.over(right, 6) {
            let back = quotient.times(right).unwrap().minus(left).unwrap();
            let half = Decimal::new(5, 7).unwrap().times(right).unwrap();
            let size = |number: Decimal| if number.is_negative() { number.negated() } else { number };
            prop_assert!(size(back) <= size(half), "{} / {} = {}", left, right, quotient);
        }
    }
}
