//! WhyBench: tasks with a known cause, run by the real machine, and asked why. What a family is: `whybench/README.md`.

mod case;
mod chance;
mod family;
mod methods;
mod noise;
mod recording;
mod report;
mod score;
mod texts;
mod world;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use probity_why::Recorded;

pub(crate) use case::{Case, SIZES};
pub(crate) use family::Families;
pub(crate) use methods::{METHODS, Method};
pub(crate) use report::print;
pub(crate) use score::{Scored, score};
pub(crate) use world::World;

/// How often a shot's answer is another plausible one, in percent.
pub(crate) const NOISE_PERCENT: [u32; 4] = [0, 5, 10, 20];

/// Which cases are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) seeds: u64,
    pub(crate) first_seed: u64,
    pub(crate) threads: usize,
}

/// Every family at every size, seed and noise by every method, in the order of the families.
pub(crate) fn run(folder: &Path, draw: Draw, methods: &[Method]) -> Result<Vec<Scored>> {
    let families = Families::load(folder)?;
    let mut jobs = Vec::new();
    for family in 0..families.list.len() {
        for size in SIZES {
            jobs.extend((0..draw.seeds).map(|seed| (family, size, draw.first_seed + seed)));
        }
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..draw.threads {
            scope.spawn(|| {
                while let Some(&(family, size, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run_case(&families, family, size, seed, methods);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push(((family, size, seed), outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(job, _)| *job);
    let mut all = Vec::new();
    for (_, outcome) in done {
        all.extend(outcome?);
    }
    Ok(all)
}

fn run_case(
    families: &Families,
    number: usize,
    size: usize,
    seed: u64,
    methods: &[Method],
) -> Result<Vec<Scored>> {
    let family = families.list.get(number).context("no such family")?;
    let at = || format!("family `{}`, {size} suspects, seed {seed}", family.name);
    let case = Case::draw(families, family, size, seed).with_context(at)?;
    let (record, model) = recording::record(&case).with_context(at)?;
    let recorded = Recorded::of(&record).with_context(at)?;
    let mut world = World::new(&case, &recorded, model).with_context(at)?;
    world.check().with_context(at)?;
    let mut all = Vec::new();
    for percent in NOISE_PERCENT {
        for method in methods {
            world.start(percent, method.name, seed);
            let said = (method.run)(&mut world)?;
            all.push(score(&world, method.name, percent, &said));
        }
    }
    Ok(all)
}
