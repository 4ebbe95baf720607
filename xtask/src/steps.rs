//! Steps in order, each timed; one that fails does not keep the others from running.

use std::time::{Duration, Instant};

use anyhow::Result;

#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Done>,
}

struct Done {
    name: &'static str,
    took: Duration,
    /// What went wrong, and what to do next.
    failure: Option<String>,
}

impl Steps {
    /// Runs one step. `next` is what a person does when it fails.
    pub(crate) fn step<T>(
        &mut self,
        name: &'static str,
        next: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Option<T> {
        eprintln!("==> {name}");
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        let (value, failure) = match result {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(format!("{error:#}\n    next: {next}"))),
        };
        let word = if failure.is_some() { "FAILED" } else { "ok" };
        eprintln!("    {name}: {word} in {}", seconds(took));
        if let Some(failure) = &failure {
            eprintln!("    {failure}");
        }
        self.done.push(Done { name, took, failure });
        value
    }

    /// Prints a line for each step, then each failure again, and says whether all went well.
    pub(crate) fn report(&self) -> bool {
        eprintln!("\n==> summary");
        for done in &self.done {
            let word = if done.failure.is_some() { "FAILED" } else { "ok" };
            eprintln!("    {:<12} {word:<6} {:>8}", done.name, seconds(done.took));
        }
        for done in &self.done {
            if let Some(failure) = &done.failure {
                eprintln!("\n{} failed: {failure}", done.name);
            }
        }
        self.all_well()
    }

    fn all_well(&self) -> bool {
        self.done.iter().all(|done| done.failure.is_none())
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
