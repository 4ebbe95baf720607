//! Recorded conversations: nearly every atom that the model wrote stands in what it had before, and few stand in what
//! another one had.

#[path = "../../examples/tau_bench/measure.rs"]
mod measure;

use measure::{Tally, measure};
use probity_testkit::corpus;

#[test]
fn corpus_attribution_tau_bench_atoms_have_sources() {
    let Some(file) = corpus("attribution/tau-bench/gpt-4o-airline.json") else { return };
    let report = measure(&file).unwrap();
    let (text, calls) = (Tally::sum(report.text.values()), Tally::sum(report.arguments.values()));
    // Not by finding nothing, or nothing but trifles.
    assert!(
        report.messages > 1000 && report.calls > 1000,
        "{} messages, {} calls",
        report.messages,
        report.calls
    );
    assert!(
        text.atoms > 5 * report.messages && calls.atoms > 3 * report.calls,
        "{} and {}",
        text.atoms,
        calls.atoms
    );
    assert!(report.single_digits.atoms * 10 < text.atoms + calls.atoms, "{:?}", report.single_digits);
    for tally in [text, calls] {
        assert!(tally.copied() * 100 >= tally.atoms * 95, "{tally:?}");
        assert!(tally.other * 100 <= tally.atoms * 30, "{tally:?}");
    }
    // What is said to be unlikely by chance is rarely found in another task.
    let unlikely = report.steps[0];
    assert!(unlikely.atoms > 2000 && unlikely.other * 50 <= unlikely.atoms, "{unlikely:?}");
}
