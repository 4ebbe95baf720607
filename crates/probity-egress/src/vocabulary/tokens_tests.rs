use crate::{SamePrincipal, egress_text};

use super::TOKENS;

/// `{20}`, `{20:hex}`: that many made-up characters.
fn fill(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((spec, tail)) = after.split_once('}') else { break };
        let (count, class) = spec.split_once(':').unwrap_or((spec, "any"));
        let alphabet = match class {
            "hex" => "0fa1ke2fa3ce",
            "digit" => "0123456789",
            "upper" => "FAKE2KEY7",
            _ => "FAKEfake0NOTreal1",
        };
        let alphabet = if class == "hex" { alphabet.replace('k', "d") } else { alphabet.to_owned() };
        out.push_str(before);
        out.extend(alphabet.chars().cycle().take(count.parse().unwrap_or(0)));
        rest = tail;
    }
    out + rest
}

#[test]
fn every_kind_matches_its_examples_and_not_its_lookalikes() {
    for token in TOKENS {
        assert!(!token.examples.is_empty(), "{} has no example", token.kind);
        for template in token.examples {
            let text = fill(template);
            let out = egress_text::<SamePrincipal>(&format!("before {text} after"));
            assert!(out.as_str().contains("[REDACTED:"), "{}: `{template}` stayed: {out}", token.kind);
            let glued: String = text.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
            assert!(!out.as_str().contains(&glued), "{}: the tail of `{template}` stayed: {out}", token.kind);
        }
        for template in token.lookalikes {
            let text = format!("before {} after", fill(template));
            assert_eq!(egress_text::<SamePrincipal>(&text).as_str(), text, "{}: `{template}`", token.kind);
        }
    }
}

#[test]
fn kinds_fit_the_marker_grammar() {
    for token in TOKENS {
        assert!(token.kind.len() <= 40, "{}", token.kind);
        assert!(
            token.kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{}",
            token.kind
        );
    }
}
