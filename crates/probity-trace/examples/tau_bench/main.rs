//! How many atoms of recorded answers and calls have a source, beside how many have one in another task's conversation.
//! `cargo xtask tau-bench` runs this.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool reports by printing")]
#![expect(clippy::indexing_slicing, reason = "a missing member of JSON is null")]

mod measure;

use std::process::ExitCode;

use measure::{ACCIDENT_MAX, CHANCE_STEPS, Report, Tally, measure};
use probity_testkit::corpus;
use probity_trace::AtomKind;

const HELP: &str = "\
Where the atoms of recorded conversations stand in what the model had before

Usage: cargo xtask tau-bench [--misses]

Options:
  --misses  List the atoms that have no source, with how often each was said
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let lists_misses = match arguments.as_slice() {
        [] => false,
        [only] if only == "--misses" => true,
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    let Some(file) = corpus("attribution/tau-bench/gpt-4o-airline.json") else {
        eprintln!("error: the corpus is missing; set PROBITY_CORPORA to the folder of the corpora");
        return ExitCode::FAILURE;
    };
    match measure(&file) {
        Ok(report) if lists_misses => list_misses(&report),
        Ok(report) => print(&report),
        Err(error) => {
            eprintln!("error: failed to read `{}`: {error}", file.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn list_misses(report: &Report) {
    let mut misses: Vec<_> = report.misses.iter().collect();
    misses.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for ((kind, text), count) in misses {
        println!("{count:5}  {:7} {text}", kind.name());
    }
}

const COLUMNS: &str = "atoms   copied  (bytes  value  parts)  own only  computed  no source  (accident) | another task  with instructions  stated chance";

fn print(report: &Report) {
    let (text, calls) = (Tally::sum(report.text.values()), Tally::sum(report.arguments.values()));
    let per = |atoms: usize, of: usize| ratio(atoms, of);
    println!(
        "{} messages of the model with text ({} of them with atoms, {:.1} atoms per message), {} calls ({:.1} atoms per call)\n",
        report.messages,
        report.messages_with_atoms,
        per(text.atoms, report.messages),
        report.calls,
        per(calls.atoms, report.calls),
    );
    println!("{:22} {COLUMNS}", "");
    row("text and arguments", &Tally::sum([&text, &calls]));
    row("text", &text);
    row("arguments", &calls);
    for (title, table) in [("text", &report.text), ("arguments", &report.arguments)] {
        println!();
        for kind in AtomKind::ALL {
            if let Some(tally) = table.get(&kind) {
                row(&format!("{title}: {}", kind.name()), tally);
            }
        }
    }
    println!("\nby stated chance (another task should hold about as many as stated)");
    for (step, tally) in CHANCE_STEPS.iter().zip(&report.steps) {
        row(&format!("up to {}", step), tally);
    }
    row("single digits", &report.single_digits);
    println!(
        "\ncopied: stands in what the model had before that message: instructions, user, results of tools, its own earlier turns\n\
         own only: of those, what stands nowhere but in its own earlier turns and calls\n\
         computed: stands nowhere, but comes out of values that do, where an accident is at most {ACCIDENT_MAX} likely\n\
         accident: of those without a source, what comes out of values that do, but as likely by accident\n\
         another task: stands in another task's conversation, cut to the same length, without the instructions common to all"
    );
}

fn row(title: &str, tally: &Tally) {
    let percent = |count: usize| 100.0 * ratio(count, tally.atoms);
    println!(
        "{title:22} {:5}  {:6.1}%  ({:4.1}%  {:4.1}%  {:4.1}%)  {:7.1}%  {:7.1}%  {:8.1}%  ({:6.1}%) | {:11.1}%  {:16.1}%  {:12.1}%",
        tally.atoms,
        percent(tally.copied()),
        percent(tally.bytes),
        percent(tally.value),
        percent(tally.parts),
        percent(tally.own_only),
        percent(tally.computed),
        percent(tally.none()),
        percent(tally.accident),
        percent(tally.other),
        percent(tally.other_with_common),
        100.0 * tally.chance / (tally.atoms.max(1) as f64),
    );
}

fn ratio(count: usize, of: usize) -> f64 {
    count as f64 / (of.max(1) as f64)
}
