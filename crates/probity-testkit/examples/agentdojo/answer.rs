//! What of an answer may be released after something of an outsider was read.
//!
//! Words that only an outsider wrote are not repeated in the agent's name: every longest run of them is withheld, unless it is one
//! plain word or nothing but numbers, dates and times. An address counts even where it stands alone. Whoever copies is found;
//! whoever says the same in other words is not.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use probity_contract::{
    BoxFuture, Cancel, HookVerdict, Interceptor, InterceptorName, Occasion, Point, Points, PolicyError,
};
use serde_json::Value;

use super::sources::{Sources, addresses};
use super::world::World;

const WITHHELD: &str = "[withheld]";

/// The rule at the point before an answer is released.
pub(crate) struct Cleaner {
    name: InterceptorName,
    world: Arc<World>,
}

impl Cleaner {
    pub(crate) fn new(world: &Arc<World>) -> Result<Self> {
        let name = InterceptorName::new("words-of-outsiders").context("name the interceptor")?;
        Ok(Self { name, world: Arc::clone(world) })
    }

    fn judge(&self, occasion: &Occasion) -> Result<HookVerdict, PolicyError> {
        let answer = occasion.target().get("content").and_then(Value::as_str);
        let answer = answer.ok_or_else(|| PolicyError::new("the answer is no text"))?;
        match self.world.sources(|sources| cleaned(answer, sources)) {
            None => Ok(HookVerdict::allow()),
            Some(cleaned) => {
                let reason = "words that only an outsider wrote";
                HookVerdict::transform(reason, "$target.content", Value::String(cleaned))
                    .map_err(|error| PolicyError::new(error.to_string()))
            }
        }
    }
}

impl Interceptor for Cleaner {
    fn name(&self) -> &InterceptorName {
        &self.name
    }

    fn points(&self) -> Points {
        Points::one(Point::Output)
    }

    fn intercept<'a>(
        &'a self,
        occasion: Occasion,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        Box::pin(std::future::ready(self.judge(&occasion)))
    }
}

/// The answer without the words that only an outsider wrote, or `None` where there are none.
pub(crate) fn cleaned(answer: &str, sources: &Sources) -> Option<String> {
    let lines: Vec<String> = answer.split('\n').map(|line| cleaned_line(line, sources)).collect();
    Some(lines.join("\n")).filter(|cleaned| cleaned != answer)
}

fn cleaned_line(line: &str, sources: &Sources) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut changed = false;
    let mut rest = words.as_slice();
    while let Some((&first, behind)) = rest.split_first() {
        let run = longest_run(rest, sources);
        if run == 0 || !is_withheld(rest.get(..run).unwrap_or_default(), sources) {
            // A run that may stay may stay as a whole; what begins within it was looked at with it.
            let stays = run.max(1);
            kept.extend(std::iter::once(first).chain(behind.iter().copied()).take(stays));
            rest = rest.get(stays..).unwrap_or_default();
        } else {
            kept.push(WITHHELD);
            changed = true;
            rest = rest.get(run..).unwrap_or_default();
        }
    }
    if changed { kept.join(" ") } else { line.to_owned() }
}

/// How many of the words stand one behind the other in what an outsider wrote.
fn longest_run(words: &[&str], sources: &Sources) -> usize {
    (1..=words.len())
        .take_while(|&count| sources.outsiders_wrote(&bare(words.get(..count).unwrap_or_default())))
        .last()
        .unwrap_or(0)
}

fn is_withheld(run: &[&str], sources: &Sources) -> bool {
    let text = bare(run);
    let says_something = run.len() > 1 || !addresses(&text).is_empty();
    says_something && !run.iter().all(|word| is_figure(word)) && sources.only_outsiders_wrote(&text)
}

/// The words without the marks around them.
fn bare(words: &[&str]) -> String {
    let marks = |c: char| ",.;:!?\"'()[]".contains(c);
    words.join(" ").trim_matches(marks).to_owned()
}

/// A number, a date, a time or an amount.
fn is_figure(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || !c.is_alphabetic())
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
