//! One table: every input once, in the CPU time of this thread, which a busy machine changes less than the clock.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use super::inputs::{INPUTS, Input};
use super::scans::{Scan, pass_human, pass_streamed, pass_text};

const HELP: &str = "\
How fast the redaction pass is on one thread, in MB per second of CPU time

Usage: cargo xtask redaction-bench [--mb N] [--json] [INPUT]...

Options:
  --mb N   Megabytes of each input (default 64)
  --json   Print one JSON object an input
";

/// A pass that is slower than this on an eighth of the input is not run on all of it.
const GIVE_UP_MB_PER_SECOND: f64 = 1.0;
/// A pass over eight times the text may take this many times as long a byte.
const LINEAR_RATIO_MAX: f64 = 1.5;

struct Options {
    mb: usize,
    json: bool,
    only: Vec<String>,
}

/// Figures are megabytes a second; 0 where the pass was given up.
struct Row {
    text: f64,
    /// Of an eighth of the input.
    text_of_an_eighth: f64,
    streamed: f64,
    human: f64,
    memchr: f64,
    literals: f64,
    copy: f64,
}

pub(crate) fn print(arguments: &[String]) {
    let Some(options) = parse(arguments) else {
        eprint!("{HELP}");
        return;
    };
    let scan = Scan::new();
    if !options.json {
        println!(
            "{:<24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}",
            "input", "pass", "target", "streamed", "human", "memchr", "aho-c.", "copy", "of aho", "8 MB:1"
        );
    }
    let asked =
        |input: &&Input| options.only.is_empty() || options.only.iter().any(|name| name == input.name);
    for input in INPUTS.iter().filter(asked) {
        let row = measure(input, options.mb * 1_000_000, &scan);
        if options.json { print_json(input, &row) } else { print_line(input, &row) }
    }
}

fn parse(arguments: &[String]) -> Option<Options> {
    let mut options = Options { mb: 64, json: false, only: Vec::new() };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--mb" => options.mb = arguments.next()?.parse().ok().filter(|mb| *mb > 0)?,
            name if INPUTS.iter().any(|input| input.name == name) => options.only.push(name.to_owned()),
            _ => return None,
        }
    }
    Some(options)
}

fn measure(input: &Input, bytes: usize, scan: &Scan) -> Row {
    let eighth = (input.make)(bytes / 8);
    let text_of_an_eighth = speed(&eighth, pass_text);
    let gives_up = text_of_an_eighth < GIVE_UP_MB_PER_SECOND;
    let text = if gives_up { eighth } else { (input.make)(bytes) };
    let unless_slow = |work: fn(&str) -> usize| if gives_up { 0.0 } else { speed(&text, work) };
    Row {
        text: unless_slow(pass_text),
        text_of_an_eighth,
        streamed: unless_slow(pass_streamed),
        human: unless_slow(pass_human),
        memchr: speed(&text, |text| scan.equals(text)),
        literals: speed(&text, |text| scan.literals(text)),
        copy: speed(&text, |text| scan.copy(text)),
    }
}

/// The best of up to five runs, as many as fit into a second.
fn speed(text: &str, work: impl Fn(&str) -> usize) -> f64 {
    const ENOUGH: Duration = Duration::from_secs(1);
    let (mut best, mut sum) = (Duration::MAX, Duration::ZERO);
    for _ in 0..5 {
        let start = cpu_time();
        std::hint::black_box(work(std::hint::black_box(text)));
        let took = cpu_time().saturating_sub(start);
        best = best.min(took);
        sum += took;
        if sum > ENOUGH {
            break;
        }
    }
    text.len() as f64 / 1e6 / best.as_secs_f64().max(1e-9)
}

fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

fn print_line(input: &Input, row: &Row) {
    let mut line = format!("{:<24}{:>9.1}", input.name, row.text);
    line.push_str(&input.target.map_or(format!("{:>9}", ""), |target| format!("{target:>9.0}")));
    for figure in [row.streamed, row.human, row.memchr, row.literals, row.copy] {
        line.push_str(&format!("{figure:>9.1}"));
    }
    line.push_str(&format!("{:>9.3}{:>8.2}", row.text / row.literals, slowdown(row)));
    if input.target.is_some_and(|target| row.text < target) {
        line.push_str("  NOT MET");
    }
    if input.is_hostile && slowdown(row) > LINEAR_RATIO_MAX {
        line.push_str("  NOT LINEAR");
    }
    println!("{line}");
}

/// How many times as long the pass takes for a byte of the whole as for one of an eighth.
fn slowdown(row: &Row) -> f64 {
    row.text_of_an_eighth / row.text
}

fn print_json(input: &Input, row: &Row) {
    let value = json!({
        "input": input.name,
        "hostile": input.is_hostile,
        "target": input.target,
        "pass": row.text,
        "pass_of_an_eighth": row.text_of_an_eighth,
        "streamed": row.streamed,
        "human": row.human,
        "memchr": row.memchr,
        "aho_corasick": row.literals,
        "copy": row.copy,
    });
    println!("{value}");
}
