//! The search took longer than the text is worth.

use std::time::{Duration, Instant};

use probity_egress::{Human, Redactor};

use super::Draw;

/// Unoptimised and on a busy machine: what backtracks takes minutes or the stack, what is linear takes a second.
const ELAPSED_MAX: Duration = Duration::from_secs(60);

fn finishes(text: &str) {
    let begun = Instant::now();
    let mut redactor = Redactor::<Human>::new();
    let mut length = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let at = (8_000..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        length += redactor.push(&rest[..at]).len();
        rest = &rest[at..];
    }
    length += redactor.finish().len();
    assert!(length > 0 && begun.elapsed() < ELAPSED_MAX, "{:?} for {:.40?}", begun.elapsed(), text);
}

/// Yelp/detect-secrets#509, #418: 25,000 lines took minutes of backtracking.
#[test]
fn report_47_many_lines_are_linear() {
    let mut draw = Draw::seeded(47);
    let line = format!("  \"key_{}\": [\"{}\", \"a = b\", {{}}],\n", draw.word(8), draw.word(20));
    finishes(&line.repeat(25_000));
}

/// microsoft/DevSkim#789: one minified line did not end.
#[test]
fn report_48_one_minified_line_is_linear() {
    let piece = "var a=function(b){return b.token?b.key:c.password=d};e[\"secret\"]=f||\"\";";
    finishes(&piece.repeat(15_000));
    finishes(&"'\\\"".repeat(200_000));
    finishes(&"password=".repeat(100_000));
}

/// agent-sanitizer#294: a value of 8.4 million characters overflowed the stack of the expression engine.
#[test]
fn report_49_a_value_of_millions_of_characters() {
    let long = "x1Y2".repeat(2_100_000);
    finishes(&format!("password=\"{long}\" end"));
    finishes(&long);
}
