//! Runs WhyBench and prints its tables: `cargo xtask whybench [-- --seeds N --first-seed N --families DIR]`.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    reason = "a report prints, and breaks where a case is no case"
)]

mod bench;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use bench::{Draw, METHODS};

const SEEDS: u64 = 50;

fn main() -> Result<()> {
    let mut draw = Draw { seeds: SEEDS, first_seed: 1, threads: 2 };
    let mut folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("whybench/families");
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--" => {}
            "--seeds" => draw.seeds = value()?.parse()?,
            "--first-seed" => draw.first_seed = value()?.parse()?,
            "--threads" => draw.threads = value()?.parse()?,
            "--families" => folder = PathBuf::from(value()?),
            other => {
                bail!("unknown argument `{other}`: --seeds N, --first-seed N, --threads N, --families DIR")
            }
        }
    }
    let started = Instant::now();
    let all = bench::run(&folder, draw, &METHODS)?;
    println!("# WhyBench\n\nSeeds {} to {}.\n", draw.first_seed, draw.first_seed + draw.seeds - 1);
    bench::print(&all);
    eprintln!("{} results in {:.0} s", all.len(), started.elapsed().as_secs_f64());
    Ok(())
}
