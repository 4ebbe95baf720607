//! Promises about any text at all, and texts that were made to be slow.

use probity_trace::{
    AtomKind, AtomValue, CopyIndex, CopySource, Sameness, VERBATIM_BYTES_MIN, VerbatimIndex, atoms_of_json,
    atoms_of_text,
};
use proptest::prelude::*;

/// Pieces of which texts are made that come near every rule.
fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "1",
        "12",
        "1,234",
        "1.234,50",
        "'",
        "\u{2019}",
        "\u{a0}",
        "\u{202f}",
        ",",
        ".",
        "-",
        "\u{2212}",
        "$",
        "€",
        "%",
        "EUR",
        "k",
        "M",
        "2024-05-20",
        "20",
        "May",
        "mai",
        "März",
        "2024",
        "T",
        "Z",
        ":",
        "05/06/2024",
        "7:05",
        "PM",
        "p.m.",
        "twenty",
        "two",
        "hundred",
        "and",
        "million",
        "one",
        "HAT136",
        "mia_li_3668",
        "_",
        "#",
        "JFK",
        "a@b.co",
        "@",
        "https://x.y/z",
        "://",
        "/",
        "src/main.rs",
        "New",
        "York",
        "The",
        "İ",
        "ΑΣ",
        "ß",
        "é",
        "e\u{301}",
        "😀",
        "\"",
        "“",
        "”",
        "`",
        "\\",
        "\\n",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\u",
        "{",
        "}",
        "[",
        "]",
        "\n",
        "\t",
        " ",
        " ",
        " ",
        "*",
        "0",
        "00",
        "999999999999999999999999999999",
        "１２",
        "٣",
    ]);
    let any = "\\PC{0,3}";
    prop::collection::vec(prop_oneof![9 => known.prop_map(str::to_owned), 1 => any], 0..24)
        .prop_map(|pieces| pieces.concat())
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn atoms_stand_where_they_say_and_in_themselves(text in pieces()) {
        let atoms = atoms_of_text(&text);
        let mut end = 0;
        for atom in &atoms {
            prop_assert!(atom.range.start >= end, "{:?} overlaps in {:?}", atom, short(&text));
            prop_assert_eq!(text.get(atom.range.clone()), Some(atom.text.as_str()));
            end = atom.range.end;
        }
        // Begins with a word, so that it is not read as JSON.
        let source = format!("x {text}");
        let index = CopyIndex::new([CopySource { key: (), text: source.as_str() }]);
        for atom in &atoms {
            let copies = index.find(atom);
            let is_there = copies.holders.iter().any(|holder| holder.range == (atom.range.start + 2..atom.range.end + 2));
            prop_assert!(is_there || copies.left_out > 0, "{:?} of {:?} is not held by itself: {:?}", atom, short(&text), copies.holders);
            for holder in &copies.holders {
                let held = source.get(holder.range.clone());
                prop_assert!(held.is_some());
                prop_assert_eq!(holder.sameness == Sameness::Bytes, held == Some(atom.text.as_str()));
            }
            prop_assert!((0.0..=1.0).contains(&copies.chance.probability));
        }
        let operands = index.operands(1);
        for atom in atoms.iter().take(3) {
            let computed = operands.computed(atom);
            prop_assert!(computed.hits <= computed.tried);
        }
    }

    #[test]
    fn json_ranges_are_of_the_original(text in pieces(), number in -9999_i64..9999) {
        let json = serde_json::json!({"a": text, "b": [number, {"c": text}]}).to_string();
        for json in [json.as_str(), &text, &format!("{{\"a\": {text}}}"), &json[..json.floor_char_boundary(json.len() / 2)]] {
            for atom in atoms_of_json(json) {
                let raw = json.get(atom.range.clone());
                prop_assert!(raw.is_some(), "{:?} in {:?}", atom, short(json));
                prop_assert!(raw == Some(atom.text.as_str()) || raw.is_some_and(|raw| raw.contains('\\')));
            }
            let index = CopyIndex::new([CopySource { key: (), text: json }]);
            for atom in atoms_of_text(&text) {
                for holder in index.find(&atom).holders {
                    prop_assert!(json.get(holder.range).is_some());
                }
            }
        }
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written(whole in 1000_u32..999_999_999, cents in 0_u32..100) {
        let digits = whole.to_string();
        let grouped = |sign: &str| {
            let first = (digits.len() - 1) % 3 + 1;
            let mut text = digits[..first].to_owned();
            for group in digits.as_bytes()[first..].chunks(3) {
                text.push_str(sign);
                text.push_str(std::str::from_utf8(group).unwrap());
            }
            text
        };
        let value = format!("{whole}.{cents:02}");
        let written = [
            value.clone(),
            format!("{},{cents:02} EUR", grouped(".")),
            format!("{}.{cents:02}", grouped(",")),
            format!("{}.{cents:02}", grouped("'")),
            format!("{},{cents:02} €", grouped("\u{a0}")),
            format!("${}.{cents:02}", grouped(" ")),
        ];
        let read: Vec<AtomValue> = written.iter().map(|text| atoms_of_text(text)[0].value.clone()).collect();
        prop_assert!(read.iter().all(|value| *value == read[0]), "{:?}: {:?}", written, read);
    }

    #[test]
    fn every_place_of_a_word_is_found(words in prop::collection::vec("[ab]{1,2}", 0..30), asked in "[AB]{1,2}[0-9]?") {
        let text = format!("x {}", words.join(" "));
        let asked_text = format!("\"{asked} c\"");
        let index = CopyIndex::new([CopySource { key: (), text: text.as_str() }]);
        let atom = atoms_of_text(&asked_text.replace(" c", " a")).pop().unwrap();
        prop_assert_eq!(atom.kind, AtomKind::Phrase);
        let wanted = [asked.to_lowercase(), "a".to_owned()];
        let pairs = words.windows(2).filter(|pair| **pair == wanted).count();
        let copies = index.find(&atom);
        let found = copies.holders.iter().filter(|holder| holder.sameness > Sameness::Parts).count();
        // Of overlapping places (`a a a`) the first counts.
        prop_assert!(if wanted[0] == "a" { (found > 0) == (pairs > 0) } else { found == pairs }, "{:?} in {:?}: {:?}", wanted, text, copies.holders);
    }

    #[test]
    fn planted_passages_are_found(before in pieces(), passage in "[a-zé 😀]{23,60}", after in pieces(), other in pieces()) {
        let source = format!("{other}{passage}{other}");
        let asked = format!("{before}{passage}{after}");
        let spans = VerbatimIndex::new([CopySource { key: (), text: source.as_str() }]).spans(&asked, VERBATIM_BYTES_MIN);
        let mut end = 0;
        for span in &spans {
            prop_assert!(span.range.start >= end && span.range.len() >= VERBATIM_BYTES_MIN);
            let held = source.get(span.source_range.clone());
            prop_assert!(held.is_some() && (held == asked.get(span.range.clone()) || held.is_some_and(|held| held.contains('\\'))));
            end = span.range.end;
        }
        let covered: usize = spans.iter().map(|span| span.range.len()).sum();
        prop_assert!(covered + VERBATIM_BYTES_MIN > passage.len(), "{:?} in {:?}: {:?}", passage, short(&source), spans);
    }
}

/// A megabyte of the worst, less of the rest: what takes longer than in proportion would not end here.
#[test]
fn texts_made_to_be_slow_are_read() {
    let pieces = [
        "1",
        "1,",
        "1,234,",
        "1.",
        "1 234 ",
        "1'234'",
        "-",
        "$",
        "12:",
        "12:30:",
        "2024-",
        "1/2/",
        "\"",
        "\"a ",
        "'a",
        "“a",
        "`",
        "a",
        "a ",
        "A ",
        "A. ",
        "Ab ",
        "Ab of ",
        "of ",
        "AB ",
        "a_",
        "a-1-",
        "A1 ",
        "@",
        "a@",
        "a@b.",
        "://",
        "a://",
        "/",
        "/a",
        "a.",
        "{",
        "[",
        "{\"",
        "{\"a\":",
        "\\",
        "\\u",
        "\"\\",
        "[1,",
        "twenty ",
        "hundred and ",
        "two hundred ",
        "May ",
        "May 2",
        "20 ",
        "20th of ",
        "7 p",
        "7 p.",
        "1 million ",
        "#0",
        "é",
        "İ",
        "😀",
        "\u{a0}",
        "e\u{301}",
        "\n",
        "1. ",
        "* ",
        " ",
    ];
    for piece in pieces {
        let bytes = if WORST.contains(&piece) { 1 << 20 } else { 1 << 16 };
        let text = piece.repeat(bytes / piece.len());
        let atoms = atoms_of_text(&text);
        let arguments = atoms_of_json(&text);
        assert!(atoms.last().is_none_or(|atom| text.get(atom.range.clone()).is_some()), "{piece:?}");
        let index = CopyIndex::new([
            CopySource { key: 0, text: text.as_str() },
            CopySource { key: 1, text: &text[..text.floor_char_boundary(9000)] },
        ]);
        for atom in atoms.iter().take(20).chain(arguments.iter().take(20)) {
            assert!(index.find(atom).holders.len() <= probity_trace::HOLDERS_MAX);
        }
        let operands = index.operands(2);
        atoms.iter().take(2).for_each(|atom| assert!(operands.computed(atom).computations.len() <= 8));
        let spans =
            VerbatimIndex::new([CopySource { key: 0, text: text.as_str() }]).spans(&text, VERBATIM_BYTES_MIN);
        assert!(spans.len() <= text.len() / VERBATIM_BYTES_MIN, "{piece:?}");
    }
}

const WORST: [&str; 6] = ["1", "1,", "\"", "\"a ", "a_", "7 p."];
