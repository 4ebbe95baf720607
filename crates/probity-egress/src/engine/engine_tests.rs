use probity_testkit::redaction_rows;

use super::Engine;
use super::cursor::reads;
use crate::report::Report;

/// What the engine gives that asks the detectors at every position.
fn exhaustive(text: &str, locations: bool) -> String {
    let mut engine = Engine { exhaustive: true, ..Engine::new(locations) };
    let mut out = String::new();
    engine.pass(text, &mut out, &mut Report::new());
    out
}

fn marked(text: &str, locations: bool) -> String {
    let mut out = String::new();
    Engine::new(locations).pass(text, &mut out, &mut Report::new());
    out
}

#[test]
fn corpus_redaction_marks_overlook_nothing() {
    for file in ["dev.jsonl.gz", "transforms.jsonl.gz"] {
        for row in redaction_rows(file).unwrap_or_default() {
            for locations in [false, true] {
                let text = row.text.as_str();
                assert_eq!(marked(text, locations), exhaustive(text, locations), "in {text:?}");
            }
        }
    }
}

#[test]
fn authorization_before_a_comma_ties_only_what_is_quoted() {
    for text in ["(\"authorization\", request_headers_of_9)", "authorization%22,correcthorsebattery"] {
        assert_eq!(exhaustive(text, false), text);
    }
}

/// How many characters were looked at in a pass of both tiers over `piece`, repeated to about `bytes`.
fn work(piece: &str, bytes: usize) -> u64 {
    let text = piece.repeat(bytes / piece.len());
    let before = reads();
    let mut engine = Engine::new(true);
    engine.push(&text, &mut String::new(), &mut Report::new());
    engine.finish(&mut String::new(), &mut Report::new());
    reads() - before
}

#[test]
fn work_grows_with_the_text_and_no_faster() {
    for piece in [
        "sk-",
        "eyJ",
        "eyJ0.",
        "AES-",
        "password=",
        "https://a:b",
        "-----BEGIN ",
        "a@",
        "\u{200b}",
        "g\u{200b}\u{200b}",
        "key: ",
        "/a",
        "\"token\",",
        "\u{1b}[",
        "\u{1b}]",
        "'",
        "\\",
        "a.b-c_",
        "token ",
        "(",
        "x:/",
    ] {
        let (short, long) = (work(piece, 3_000), work(piece, 12_000));
        assert!(long <= short * 5, "{piece:?}: {short} for 3 kB, {long} for 12 kB");
        assert!(long <= 12_000 * 600, "{piece:?}: {long} for 12 kB");
    }
}
