use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use probity_egress::{Human, Report, egress_text_reporting};
use probity_testkit::{corpora_dir, redaction_rows};

use crate::dictionary;
use crate::draw::Draw;
use crate::mutate::mutated;
use crate::targets::Target;

/// After so many failures it ends: they are of one cause, or there is enough to do.
const FAILURES_MAX: usize = 8;
/// Texts that are mutated further.
const POOL_MAX: usize = 30_000;
/// Attempts at a shorter text for one failure.
const SHORTER_TRIES_MAX: usize = 5_000;

/// A search for texts that a target's check does not like.
pub(crate) struct Hunt {
    target: Target,
    seed: u64,
    draw: Draw,
    pool: Vec<String>,
    /// What reports looked like so far.
    seen: HashSet<u64>,
    failures: Vec<String>,
}

impl Hunt {
    pub(crate) fn new(target: Target, seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let is_there = corpora_dir().is_some_and(|dir| dir.join("redaction").is_dir());
        let files = ["dev.jsonl.gz", "transforms.jsonl.gz"].into_iter().filter(|_| is_there);
        let mut pool: Vec<String> = files.filter_map(redaction_rows).flatten().map(|row| row.text).collect();
        pool.extend((0..200).map(|_| (0..8).map(|_| dictionary::piece(&mut draw)).collect()));
        Self { target, seed, draw, pool, seen: HashSet::new(), failures: Vec::new() }
    }

    /// Searches for so long or through so many texts, tells what it found, and says whether that is nothing.
    pub(crate) fn run(mut self, limit: Duration, texts: u64) -> bool {
        self.target.prepare();
        let start = Instant::now();
        let mut number = 0_u64;
        while number < texts && start.elapsed() < limit && self.failures.len() < FAILURES_MAX {
            number += 1;
            let mut text = {
                let (one, other) = (self.draw.below(self.pool.len()), self.draw.below(self.pool.len()));
                mutated(&self.pool[one], &self.pool[other], &mut self.draw)
            };
            self.target.season(&mut text, &mut self.draw);
            let seed = self.draw.next();
            match self.target.check(&text, seed) {
                Ok(()) => self.keep(text),
                Err(what) => self.fail(number, &text, seed, &what),
            }
        }
        println!(
            "{}: {number} texts from seed {} in {:.0} s, {} kept for what they made the pass report, {} failed",
            self.target.name(),
            self.seed,
            start.elapsed().as_secs_f64(),
            self.seen.len(),
            self.failures.len()
        );
        self.failures.is_empty()
    }

    /// Keeps a text that the pass reports something new on.
    fn keep(&mut self, text: String) {
        let mut report = Report::new();
        egress_text_reporting::<Human>(&text, &mut report);
        let mut hasher = DefaultHasher::new();
        for finding in report.findings().iter().take(6) {
            (finding.rule, finding.source, finding.confidence).hash(&mut hasher);
        }
        if self.pool.len() < POOL_MAX && self.seen.insert(hasher.finish()) {
            self.pool.push(text);
        }
    }

    fn fail(&mut self, number: u64, text: &str, seed: u64, what: &str) {
        let short = shortest(self.target, text, seed);
        if self.failures.contains(&short) {
            return;
        }
        let what = self.target.check(&short, seed).err().unwrap_or_else(|| what.to_owned());
        println!("{}: text {number} of seed {}: {what}", self.target.name(), self.seed);
        println!("    shortest form: {short:?}");
        match save(self.target, self.seed, number, &short) {
            Ok(file) => println!(
                "    again: cargo xtask fuzz {} --seed {seed} --input {}",
                self.target.name(),
                file.display()
            ),
            Err(error) => println!("    it could not be saved: {error}"),
        }
        self.failures.push(short);
    }
}

/// The text without each half, quarter and so on that it fails without, and the rest made plain.
fn shortest(target: Target, text: &str, seed: u64) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let mut size = chars.len() / 2;
    let mut tries = 0;
    while size > 0 {
        let (mut at, mut is_shorter) = (0, false);
        while at < chars.len() && tries < SHORTER_TRIES_MAX {
            let end = (at + size).min(chars.len());
            let less: Vec<char> = [&chars[..at], &chars[end..]].concat();
            tries += 1;
            if target.check(&less.iter().collect::<String>(), seed).is_err() {
                chars = less;
                is_shorter = true;
            } else {
                at = end;
            }
        }
        size = if is_shorter && size == 1 { 1 } else { size / 2 };
    }
    plain(target, chars, seed)
}

/// The text with an `a` for every character that does not matter.
fn plain(target: Target, mut chars: Vec<char>, seed: u64) -> String {
    for at in 0..chars.len() {
        let before = std::mem::replace(&mut chars[at], 'a');
        if target.check(&chars.iter().collect::<String>(), seed).is_ok() {
            chars[at] = before;
        }
    }
    chars.into_iter().collect()
}

/// Saves it in `fuzz/` of cargo's folder, in which this program stands as `PROFILE/examples/fuzz`.
fn save(target: Target, seed: u64, number: u64, text: &str) -> std::io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.ancestors().nth(3).map(|dir| dir.join("fuzz")).unwrap_or_default();
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{}-{seed}-{number}.txt", target.name()));
    std::fs::write(&file, text)?;
    Ok(file)
}
