use probity_contract::ReplyPart;
use serde_json::json;

use super::*;

fn says(text: &str) -> Vec<ReplyPart> {
    vec![ReplyPart::text(text)]
}

#[test]
fn a_value_counts_however_it_is_written_and_another_one_does_not() {
    let kept = Kept::Atoms(atoms_of_text("The limit is 1,200.50 EUR."));
    for same in ["limit: EUR 1200.50", "1.200,50 EUR it is", "it is 1,200.50 EUR"] {
        assert!(kept.holds(&says(same)).unwrap(), "{same}");
    }
    for other in ["1,200.51 EUR", "11,200.50 EUR", "1,200.50 USD", "", "no limit"] {
        assert!(!kept.holds(&says(other)).unwrap(), "{other}");
    }
}

#[test]
fn words_calls_pointers_and_patterns() {
    assert!(
        Kept::Words("a  b".into()).holds(&says("a\nb ")).unwrap()
            && !Kept::Words("a b".into()).holds(&says("a c")).unwrap()
    );
    let call = |arguments: &str| vec![ReplyPart::call("p1", "pay", arguments)];
    let kept = Kept::Call(CallKey::of("pay", r#"{"to":"ada","amount":1.0}"#));
    assert!(kept.holds(&call(r#"{ "amount": 1, "to": "ada" }"#)).unwrap());
    assert!(!kept.holds(&call(r#"{"amount":2,"to":"ada"}"#)).unwrap() && !kept.holds(&says("pay")).unwrap());
    let pointer = |tool: Option<&str>| Kept::Pointer {
        tool: tool.map(str::to_owned),
        pointer: "/to".into(),
        value: json!("ada"),
    };
    assert!(pointer(Some("pay")).holds(&call(r#"{"to":"ada"}"#)).unwrap());
    assert!(!pointer(Some("mail")).holds(&call(r#"{"to":"ada"}"#)).unwrap());
    assert!(
        pointer(None).holds(&says(r#" {"to":"ada"} "#)).unwrap()
            && !pointer(None).holds(&says("ada")).unwrap()
    );
    assert!(Kept::Matches(Regex::new("li.it").unwrap()).holds(&says("the limit")).unwrap());
    assert!(Kept::Judged(Arc::new(|text| Ok(text.len() == 2))).holds(&says("ab")).unwrap());
}
