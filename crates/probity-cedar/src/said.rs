//! What the policies said of all resources of a call, put together.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use probity_contract::Verdict;

use crate::resource::Resource;
use crate::rules::Facts;

/// Policies that one reason names; more are counted.
const NAMED_MAX: usize = 3;

/// One policy that was satisfied, and of what.
struct Satisfied<'a> {
    id: &'a str,
    facts: &'a Facts,
    of: Option<String>,
}

/// The policies that were satisfied, and the resources that none permits.
#[derive(Default)]
pub(crate) struct Heard<'a> {
    forbids: BTreeMap<usize, Satisfied<'a>>,
    asks: BTreeMap<usize, Satisfied<'a>>,
    permits: BTreeMap<usize, Satisfied<'a>>,
    uncovered: Vec<String>,
    is_uncovered: bool,
}

impl<'a> Heard<'a> {
    /// Takes what was satisfied for one resource.
    pub(crate) fn add(
        &mut self,
        resource: &Resource<'_>,
        satisfied: impl IntoIterator<Item = (&'a str, &'a Facts)>,
    ) {
        let mut is_covered = false;
        for (id, facts) in satisfied {
            is_covered = true;
            let kind = match (facts.forbids, &facts.ask) {
                (true, _) => &mut self.forbids,
                (false, Some(_)) => &mut self.asks,
                (false, None) => &mut self.permits,
            };
            kind.entry(facts.number).or_insert_with(|| Satisfied { id, facts, of: resource.shown() });
        }
        if !is_covered {
            self.is_uncovered = true;
            self.uncovered.extend(resource.shown());
        }
    }

    /// Deny over ask over allow. A permit has to hold for every resource, a question or a forbid for one.
    pub(crate) fn verdict(&self) -> Verdict {
        if !self.forbids.is_empty() {
            let forbid = |one: &Satisfied<'_>| {
                let mut words = format!("the policy `{}` forbids ", one.id);
                words.push_str(one.of.as_deref().unwrap_or("it"));
                let texts = [&one.facts.reason, &one.facts.advice].into_iter().flatten();
                for (separator, text) in [": ", "; "].into_iter().zip(texts) {
                    words.push_str(separator);
                    words.push_str(text);
                }
                words
            };
            return Verdict::Deny { reason: listed(&self.forbids, forbid) };
        }
        if !self.asks.is_empty() {
            let ask = |one: &Satisfied<'_>| {
                let why = one.facts.ask.as_deref().unwrap_or("a person must decide");
                format!("the policy `{}` asks: {why}", one.id)
            };
            let mut reason = listed(&self.asks, ask);
            // A person who approves takes over what no policy permits, so the question says what that is.
            for uncovered in self.uncovered.iter().take(NAMED_MAX) {
                let _ = write!(reason, "; no policy permits {uncovered}");
            }
            if let Some(more) = self.uncovered.len().checked_sub(NAMED_MAX + 1) {
                let _ = write!(reason, "; nor {} more", more + 1);
            }
            return Verdict::Ask { reason };
        }
        if self.is_uncovered || self.permits.is_empty() {
            return Verdict::Abstain;
        }
        let permit = |one: &Satisfied<'_>| format!("the policy `{}` permits it", one.id);
        Verdict::Allow { reason: listed(&self.permits, permit) }
    }
}

fn listed<'a>(
    satisfied: &BTreeMap<usize, Satisfied<'a>>,
    words: impl Fn(&Satisfied<'a>) -> String,
) -> String {
    let mut list = satisfied.values().take(NAMED_MAX).map(words).collect::<Vec<_>>().join("; ");
    if let Some(more) = satisfied.len().checked_sub(NAMED_MAX + 1) {
        let _ = write!(list, "; and {} more", more + 1);
    }
    list
}
