#![expect(clippy::string_slice, reason = "tests")]

use probity_egress::{Human, SamePrincipal};
use probity_testkit::fake_token;

use super::*;

#[test]
fn every_byte_that_stays_is_found_again() {
    let token = fake_token(3);
    let recorded = format!("pay 12 EUR, {token}, to Ä-17 at https://bank.example/x?y and {token} 99");
    for word in ["12", "Ä-17", "99", "pay"] {
        let start = recorded.find(word).unwrap_or_default();
        let passed = PassedText::<Human>::of(&recorded);
        assert_eq!(passed.piece(&(start..start + word.len())).as_str(), word);
    }
    assert!(!PassedText::<SamePrincipal>::of(&recorded).text().as_str().contains(&token));
}

#[test]
fn no_piece_of_what_was_removed_is_left() {
    let token = fake_token(3);
    let recorded = format!("the token is {token} and no other");
    let passed = PassedText::<SamePrincipal>::of(&recorded);
    for start in 0..recorded.len() {
        for end in start..recorded.len() {
            let [before, piece, behind] = passed.excerpt(&(start..end), 7);
            for shown in [before, piece, behind] {
                for at in 0..token.len() - 8 {
                    assert!(!shown.as_str().contains(&token[at..at + 8]), "{start}..{end}: {shown}");
                }
            }
        }
    }
}
