use std::collections::BTreeSet;

use super::{KINDS, anchors};
use crate::{Report, SamePrincipal, egress_text, egress_text_reporting};

/// `{20}`, `{20:hex}`: that many made-up characters.
fn fill(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((spec, tail)) = after.split_once('}') else { break };
        let (count, class) = spec.split_once(':').unwrap_or((spec, "any"));
        let Ok(count) = count.parse() else {
            out.push_str(before);
            out.push('{');
            rest = after;
            continue;
        };
        let alphabet = match class {
            "hex" => "0fa1de2fa3ce",
            "uhex" => "0FA1DE2FA3CE",
            "digit" => "0123456789",
            "upper" => "FAKE2KEY7",
            "lower" => "fake0not1real",
            _ => "FAKEfake0NOTreal1",
        };
        out.push_str(before);
        out.extend(alphabet.chars().cycle().take(count));
        rest = tail;
    }
    out + rest
}

#[test]
fn every_kind_matches_its_examples() {
    let mut stayed = Vec::new();
    for kind in KINDS {
        for template in kind.examples {
            let text = fill(template);
            let mut report = Report::new();
            let out = egress_text_reporting::<SamePrincipal>(&format!("before {text} after"), &mut report);
            let by: Vec<&str> = report.findings().iter().map(|finding| finding.kind).collect();
            // What stands behind the made-up characters may stay.
            let stays = template.rsplit_once('}').map_or(0, |(_, rest)| rest.len());
            let tail = text.get(..text.len() - stays).and_then(|made_up| made_up.get(made_up.len() - 8..));
            if !by.contains(&kind.kind) || tail.is_none_or(|tail| out.as_str().contains(tail)) {
                stayed.push(format!("{}: `{template}`: {out}, {by:?}", kind.id));
            }
        }
    }
    assert!(stayed.is_empty(), "{stayed:#?}");
}

#[test]
fn no_kind_matches_its_counterexamples() {
    let mut touched = Vec::new();
    for kind in KINDS {
        for template in kind.counterexamples {
            let text = format!("before {} after", fill(template));
            if egress_text::<SamePrincipal>(&text).as_str() != text {
                touched.push(format!("{}: `{template}`", kind.id));
            }
        }
    }
    assert!(touched.is_empty(), "{touched:#?}");
}

#[test]
fn the_vocabulary_is_broad() {
    let kinds: BTreeSet<&str> = KINDS.iter().map(|kind| kind.kind).collect();
    assert!(KINDS.len() >= 400, "{} kinds", KINDS.len());
    assert!(kinds.len() >= 300, "{} names", kinds.len());
}

#[test]
fn anchors_are_bounded() {
    for anchor in anchors() {
        assert!(anchor.literal.len() >= 2 && anchor.before_max <= 80, "{anchor:?}");
    }
}
