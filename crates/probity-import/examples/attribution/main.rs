//! Who made the decisive mistake of a failed run, and when, guessed without a model and printed beside constants.
//! `cargo xtask who-and-when` and `cargo xtask agentrx` run this.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool reports by printing")]
#![expect(clippy::indexing_slicing, reason = "places come from the lists that they are places of")]

mod bench;

use std::error::Error;
use std::process::ExitCode;

use bench::{Half, agent_rx, report, who_and_when};
use probity_testkit::corpus;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["who-and-when"] => tell_who_and_when(),
        ["agentrx"] => tell_agent_rx(),
        _ => {
            eprintln!("error: say `who-and-when` or `agentrx`, and nothing else");
            return ExitCode::from(2);
        }
    };
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: failed to read the annotated runs: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How often the folds are drawn anew.
const REPEATS: u64 = 5;

const MISSING: &str = "the corpus is missing; set PROBITY_CORPORA to the folder of the corpora";

fn tell_who_and_when() -> Result<(), Box<dyn Error>> {
    let folder = corpus("attribution/who-and-when/data").ok_or(MISSING)?;
    let [algorithm, hand] = who_and_when(&folder)?;
    println!("Who&When: who made the decisive mistake, and at which turn; no model");
    report(REPEATS, [(Half::AlgorithmGenerated, &algorithm), (Half::HandCrafted, &hand)]);
    Ok(())
}

fn tell_agent_rx() -> Result<(), Box<dyn Error>> {
    let folder = corpus("attribution/agentrx").ok_or(MISSING)?;
    let logs = corpus("attribution/who-and-when/data/Hand-Crafted").ok_or(MISSING)?;
    let [retail, magentic] = agent_rx(&folder, &logs)?;
    println!("AgentRx: the root cause that its annotators named, and at which turn; no model");
    report(REPEATS, [(Half::TauRetail, &retail), (Half::MagenticOne, &magentic)]);
    Ok(())
}
