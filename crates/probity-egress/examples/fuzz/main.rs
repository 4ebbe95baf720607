//! Looks for texts and values for which a promise of this crate does not hold. `cargo xtask fuzz` runs this.
//!
//! Texts are made of the corpus' rows (where it is there) and a dictionary of what the pass reacts to, by mutation; one
//! that makes the pass report something new is mutated further. One seed gives one sequence. Coverage of the code would
//! guide better, but needs a compiler of C++ and flags that are not stable.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool reports by printing")]
#![expect(clippy::disallowed_methods, reason = "it runs for a time and saves what it found")]
#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a fuzzer that breaks is a failed check")]

mod dictionary;
mod draw;
mod encode;
mod hunt;
mod mutate;
mod targets;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use hunt::Hunt;
use targets::Target;

const HELP: &str = "\
Looks for texts for which a promise of the passes does not hold

Usage: cargo xtask fuzz [TARGET…] [--seconds N] [--texts N] [--seed N] [--input FILE]

Targets (default: all):
  text    no panic, a second pass changes nothing, the report says what was removed
  stream  any chunking gives the whole, with the same report, and little is held back
  value   a snapshot is passed throughout and stays, and holds no text under a credential's name
  known   no registered secret is left in any of its encodings

Options:
  --seconds N   How long each target runs (default 60)
  --texts N     How many texts each target tries at most, whatever the time (no limit by default)
  --seed N      Where the sequence of texts begins (default 1)
  --input FILE  Only check this file's text
";

struct Options {
    targets: Vec<Target>,
    limit: Duration,
    texts: u64,
    seed: u64,
    input: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Some(options) = parse(std::env::args().skip(1)) else {
        eprint!("{HELP}");
        return ExitCode::from(2);
    };
    let mut is_well = true;
    for target in &options.targets {
        is_well &= match &options.input {
            Some(file) => check_file(*target, file, options.seed),
            None => Hunt::new(*target, options.seed).run(options.limit, options.texts),
        };
    }
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Options> {
    let limit = Duration::from_secs(60);
    let mut options = Options { targets: Vec::new(), limit, texts: u64::MAX, seed: 1, input: None };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => options.limit = Duration::from_secs(arguments.next()?.parse().ok()?),
            "--texts" => options.texts = arguments.next()?.parse().ok()?,
            "--seed" => options.seed = arguments.next()?.parse().ok()?,
            "--input" => options.input = Some(arguments.next()?.into()),
            name => options.targets.push(Target::named(name)?),
        }
    }
    if options.targets.is_empty() {
        options.targets = Target::ALL.to_vec();
    }
    // What is registered stays so, and would change what the other targets see.
    options.targets.sort_by_key(|target| *target == Target::Known);
    Some(options)
}

fn check_file(target: Target, file: &std::path::Path, seed: u64) -> bool {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("error: read `{}`: {error}", file.display());
            return false;
        }
    };
    target.prepare();
    match target.check(&text, seed) {
        Ok(()) => println!("{}: holds", target.name()),
        Err(what) => {
            println!("{}: {what}", target.name());
            return false;
        }
    }
    true
}
