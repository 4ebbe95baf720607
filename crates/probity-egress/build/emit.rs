use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::shape::{Mask, Shape, Step, word_chars};
use crate::source::Kind;

/// The tables in Rust: classes, kinds, shapes, which shapes a pair of characters can begin, anchors.
pub(crate) fn kinds(kinds: &[Kind]) -> Result<String, std::fmt::Error> {
    let mut classes = Classes::default();
    let mut out = String::new();
    writeln!(out, "pub(crate) static KINDS: &[Kind] = &[")?;
    for Kind { entry, .. } in kinds {
        let checks: Vec<String> = entry.checks.iter().map(|check| format!("Check::{check:?}")).collect();
        let glue = if entry.glue { "Allowed" } else { "Refused" };
        writeln!(
            out,
            "Kind {{ id: {:?}, kind: {:?}, glue: Glue::{glue}, confidence: Confidence::{:?}, checks: &[{}], secret_chars: {},
              #[cfg(test)] examples: &{:?}, #[cfg(test)] counterexamples: &{:?} }},",
            entry.id,
            entry.kind,
            entry.confidence,
            checks.join(", "),
            entry.secret_chars,
            entry.examples,
            entry.counterexamples
        )?;
    }
    writeln!(out, "];\nstatic SHAPES: &[Shape] = &[")?;
    let shapes: Vec<(usize, &Shape)> = kinds
        .iter()
        .enumerate()
        .flat_map(|(at, kind)| kind.shapes.iter().map(move |shape| (at, shape)))
        .collect();
    for (kind, shape) in &shapes {
        writeln!(out, "Shape {{ kind: {kind}, steps: &{} }},", steps(&shape.steps, &mut classes))?;
    }
    writeln!(out, "];")?;
    pairs(&shapes, &mut out)?;
    writeln!(out, "static ANCHORS: &[Anchor] = &[")?;
    let mut anchors = BTreeMap::new();
    for (kind, shape) in &shapes {
        let anchor = &shape.anchor;
        let glue = kinds.get(*kind).is_none_or(|kind| kind.entry.glue);
        for text in &anchor.texts {
            let place = (text, anchor.before_min, anchor.before_max, anchor.before_class);
            let (is_glued, after) = anchors.entry(place).or_insert((false, anchor.after));
            *is_glued |= glue;
            *after = anchor.after.min(*after);
        }
    }
    for ((text, before_min, before_max, class), (glue, after)) in anchors {
        let glue = if glue { "Allowed" } else { "Refused" };
        writeln!(
            out,
            "Anchor {{ literal: {text:?}, before_min: {before_min}, before_max: {before_max}, before_class: {class:#x}, glue: Glue::{glue}, is_of_shape: true, after: {after} }},"
        )?;
    }
    writeln!(out, "];")?;
    out.push_str(&classes.text);
    Ok(out)
}

/// Shapes with the longest fixed beginning first, of these the longest kind, in the order of its file, so that the more telling of two is asked first.
fn pairs(shapes: &[(usize, &Shape)], out: &mut String) -> std::fmt::Result {
    let mut by_pair: BTreeMap<(u8, u8), Vec<usize>> = BTreeMap::new();
    for (at, (_, shape)) in shapes.iter().enumerate() {
        for pair in shape.beginnings() {
            by_pair.entry(pair).or_default().push(at);
        }
    }
    let length =
        |kind: &usize| shapes.iter().filter(|(of, _)| of == kind).map(|(_, shape)| shape.least()).max();
    let mut lists: Vec<Vec<usize>> = vec![Vec::new()];
    let mut table = vec![0; 128 * 128];
    for ((first, second), mut list) in by_pair {
        list.sort_by_key(|at| {
            std::cmp::Reverse(shapes.get(*at).map(|(kind, shape)| (shape.fixed_start(), length(kind))))
        });
        let place = lists.iter().position(|known| *known == list).unwrap_or(lists.len());
        if place == lists.len() {
            lists.push(list);
        }
        if let Some(slot) = table.get_mut(usize::from(first) * 128 + usize::from(second)) {
            *slot = place;
        }
    }
    writeln!(out, "static LISTS: &[&[Start]] = &[")?;
    for list in lists {
        out.push_str("&[");
        for at in list {
            let (mut text, mut mask) = ([0; 8], [0; 8]);
            let fixed = shapes.get(at).and_then(|(_, shape)| match shape.steps.first() {
                Some(Step::Text(text)) => Some(text.as_bytes()),
                _ => None,
            });
            for (byte, (text, mask)) in fixed.unwrap_or_default().iter().zip(text.iter_mut().zip(&mut mask)) {
                (*text, *mask) = (*byte, u8::MAX);
            }
            let steps = shapes.get(at).map_or(&[][..], |(_, shape)| &shape.steps);
            let len = fixed.unwrap_or_default().len();
            let more = word_chars(steps.get(usize::from(fixed.is_some())));
            let mut word = [0; 8];
            for of in word.iter_mut().skip(len).take(more) {
                *of = 0x80_u8;
            }
            let [text, mask, word] = [text, mask, word].map(u64::from_le_bytes);
            write!(out, "Start {{ shape: {at}, text: {text:#x}, mask: {mask:#x}, word: {word:#x} }}, ")?;
        }
        out.push_str("],\n");
    }
    writeln!(out, "];\nstatic PAIRS: [u16; 16384] = {table:?};")
}

/// Each class once, as a constant and as a function.
#[derive(Default)]
struct Classes {
    known: BTreeMap<Mask, usize>,
    text: String,
}

impl Classes {
    fn name(&mut self, class: Mask) -> String {
        let next = self.known.len();
        let at = *self.known.entry(class).or_insert(next);
        if at == next {
            self.text.push_str(&format!(
                "const CLASS_{at}: Class = Class {{ mask: {class:#x}, has: class_{at} }};
                 fn class_{at}(c: char) -> bool {{ CLASS_{at}.contains(c) }}\n"
            ));
        }
        format!("CLASS_{at}")
    }
}

fn steps(list: &[Step], classes: &mut Classes) -> String {
    let parts: Vec<String> = list
        .iter()
        .map(|step| match step {
            Step::Text(text) => format!("Step::Text({text:?})"),
            Step::OneOf(texts) => format!("Step::OneOf(&{texts:?})"),
            Step::Run { class, min, max } => {
                format!("Step::Run {{ class: {}, min: {min}, max: {max} }}", classes.name(*class))
            }
            Step::Maybe(inner) => format!("Step::Maybe(&{})", steps(inner, classes)),
            Step::Begin => "Step::Begin".to_owned(),
            Step::End => "Step::End".to_owned(),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}

/// The two sections of the list of services.
pub(crate) fn vendors(text: &str) -> String {
    let (names, words) = text.split_once("# words").unwrap_or((text, ""));
    let section = |text: &str| {
        let mut list: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        list.sort_unstable();
        list.dedup();
        format!("{list:?}")
    };
    format!(
        "static VENDORS: &[&str] = &{};\nstatic VENDOR_WORDS: &[&str] = &{};\n",
        section(names),
        section(words)
    )
}
