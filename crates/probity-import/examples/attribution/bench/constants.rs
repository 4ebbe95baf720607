//! Guesses that look at nothing of a run but who speaks when.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::cases::{Case, Half, Turns};
use super::score::Guess;

/// A rule that says the same of every run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The turn at this place, counted from 0.
    At(usize),
    /// The first, second, … turn of this speaker, counted from 0.
    NthOf(usize, String),
    /// The last turn of this speaker.
    LastOf(String),
    /// This agent.
    Agent(String),
    /// Who speaks at this place.
    SpeakerAt(usize),
    /// Who speaks most often, the first of several.
    MostOften,
}

impl Rule {
    pub(crate) const fn is_of_step(&self) -> bool {
        matches!(self, Self::At(_) | Self::NthOf(..) | Self::LastOf(_))
    }

    /// The turn it names. One that is not there is never right, and no other is put in its place.
    fn step(&self, turns: &Turns) -> usize {
        let last = turns.list.len().saturating_sub(1);
        let of = |speaker: &String| {
            let all = turns.list.iter().enumerate().filter(|(_, turn)| turn.speaker == *speaker);
            all.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let found = match self {
            Self::At(at) | Self::SpeakerAt(at) => (*at <= last).then_some(*at),
            Self::NthOf(nth, speaker) => of(speaker).get(*nth).copied(),
            Self::LastOf(speaker) => of(speaker).last().copied(),
            Self::Agent(_) | Self::MostOften => None,
        };
        found.unwrap_or(usize::MAX)
    }

    fn agent(&self, turns: &Turns) -> String {
        match self {
            Self::Agent(agent) => agent.clone(),
            Self::MostOften => {
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                turns.list.iter().for_each(|turn| *counts.entry(&turn.speaker).or_default() += 1);
                let most = counts.values().max().copied().unwrap_or(0);
                let found = turns.list.iter().find(|turn| counts.get(turn.speaker.as_str()) == Some(&most));
                found.map(|turn| turn.speaker.clone()).unwrap_or_default()
            }
            Self::At(_) | Self::NthOf(..) | Self::LastOf(_) | Self::SpeakerAt(_) => {
                turns.list.get(self.step(turns)).map(|turn| turn.speaker.clone()).unwrap_or_default()
            }
        }
    }

    /// What two rules guess of a run.
    pub(crate) fn guess(step: &Self, agent: &Self, turns: &Turns) -> Guess {
        Guess { step: step.step(turns), agent: agent.agent(turns) }
    }

    fn is_right(&self, case: &Case) -> bool {
        if self.is_of_step() {
            self.step(&case.turns) == case.step
        } else {
            self.agent(&case.turns) == case.agent
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => write!(f, "step {at}"),
            Self::NthOf(nth, speaker) => write!(f, "turn {} of {speaker}", nth + 1),
            Self::LastOf(speaker) => write!(f, "last turn of {speaker}"),
            Self::Agent(agent) => write!(f, "{agent}"),
            Self::SpeakerAt(at) => write!(f, "who speaks at step {at}"),
            Self::MostOften => write!(f, "who speaks most often"),
        }
    }
}

/// The rule for steps and the rule for agents that are right most often in these runs; the simplest of several.
pub(crate) fn rules(cases: &[&Case]) -> (Rule, Rule) {
    let speakers: BTreeSet<&String> =
        cases.iter().flat_map(|case| &case.turns.list).map(|turn| &turn.speaker).collect();
    let longest = cases.iter().map(|case| case.turns.list.len()).max().unwrap_or(0);
    let mut all: Vec<Rule> = (0..longest).map(Rule::At).collect();
    all.extend(speakers.iter().flat_map(|who| (0..3).map(|nth| Rule::NthOf(nth, (*who).clone()))));
    all.extend(speakers.iter().map(|who| Rule::LastOf((*who).clone())));
    all.extend(speakers.iter().map(|who| Rule::Agent((*who).clone())));
    all.extend((0..4).map(Rule::SpeakerAt));
    all.push(Rule::MostOften);
    let best = |of_step: bool| {
        let mut best = (0, if of_step { Rule::At(0) } else { Rule::SpeakerAt(0) });
        for rule in all.iter().filter(|rule| rule.is_of_step() == of_step) {
            let right = cases.iter().filter(|case| rule.is_right(case)).count();
            if right > best.0 {
                best = (right, rule.clone());
            }
        }
        best.1
    };
    (best(true), best(false))
}

/// The rules by which Who&When is known to be answered without looking, and what they are stated to reach, in percent:
/// steps, then agents.
pub(crate) fn stated(half: Half) -> Option<(Rule, Rule, f64, f64)> {
    match half {
        Half::AlgorithmGenerated => Some((Rule::At(1), Rule::SpeakerAt(0), 27.0, 49.2)),
        Half::HandCrafted => {
            let surfer = "websurfer".to_owned();
            Some((Rule::NthOf(0, surfer.clone()), Rule::Agent(surfer), 17.2, 56.9))
        }
        Half::TauRetail | Half::MagenticOne => None,
    }
}
