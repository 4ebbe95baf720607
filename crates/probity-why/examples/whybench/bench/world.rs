//! A case as methods see it: texts, and shots of arms through noise, each of which is counted.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use probity_why::{Arm, Cost, Outcome, Shot};

use super::case::Case;
use super::chance::Chance;
use super::family::{FamilyReach, Kind, Role};
use super::prober::{Prober, Ran, StandIns};

pub(crate) struct World<'a> {
    pub(crate) case: &'a Case,
    /// The reply that is asked about, as it was recorded.
    pub(crate) reply: String,
    prober: Box<dyn Prober + 'a>,
    /// What arms come to without noise: the model gives the same to the same window, so each is run once.
    known: BTreeMap<(usize, Arm), Ran>,
    /// Replies without which the call asked about answers otherwise.
    pub(crate) needed_replies: Vec<usize>,
    chance: Chance,
    noise_percent: u32,
    spent: Cost,
    shots: u32,
}

impl<'a> World<'a> {
    pub(crate) fn new(case: &'a Case) -> Result<Self> {
        let mut prober = StandIns::record(case)?;
        let reply = prober.run(&Arm::baseline(asked(case)), case.turns - 1)?.reply;
        Ok(Self {
            case,
            reply,
            prober: Box::new(prober),
            known: BTreeMap::new(),
            needed_replies: Vec::new(),
            chance: Chance::new(&[], 0),
            noise_percent: 0,
            spent: Cost::default(),
            shots: 0,
        })
    }

    /// Begins anew for one method at one noise.
    pub(crate) fn start(&mut self, noise_percent: u32, method: &str, seed: u64) {
        self.chance = Chance::new(
            &["shots", method, &self.case.family, &self.case.size.to_string(), &noise_percent.to_string()],
            seed,
        );
        self.noise_percent = noise_percent;
        (self.spent, self.shots) = (Cost::default(), 0);
    }

    pub(crate) fn spent(&self) -> (Cost, u32) {
        (self.spent, self.shots)
    }

    /// One run of an arm, where the call `asked` (from 0) is asked about: whether its reply still says the words asked
    /// about, or, where it never did, is the same.
    pub(crate) fn shoot(&mut self, arm: &Arm, asked: usize) -> Result<Shot> {
        let ran = self.quiet(arm, asked)?;
        let recorded = self.quiet(&Arm::baseline(u32::try_from(asked)?), asked)?.reply;
        let has_words = says(&recorded, &self.case.ask);
        let mut is_kept = if has_words { says(&ran.reply, &self.case.ask) } else { ran.reply == recorded };
        if self.chance.percent(self.noise_percent) {
            // Another plausible answer than the one that came.
            let plausible: Vec<&String> = std::iter::once(&self.case.ask)
                .chain(&self.case.others)
                .filter(|other| !says(&ran.reply, other))
                .collect();
            is_kept = has_words && !plausible.is_empty() && *self.chance.pick(&plausible) == &self.case.ask;
        }
        let cost = Cost { model_calls: ran.calls, microdollars: 0 };
        self.spent = self.spent.plus(cost);
        self.shots += 1;
        Ok(Shot { outcome: if is_kept { Outcome::Kept } else { Outcome::Flipped }, cost })
    }

    /// One run with these suspects neutral in the window of the call asked about.
    pub(crate) fn shoot_without(&mut self, without: &[usize]) -> Result<bool> {
        let arm = Arm { from_call: asked(self.case), without: without.to_vec(), with: Vec::new() };
        Ok(self.shoot(&arm, self.case.turns - 1)?.outcome == Outcome::Flipped)
    }

    /// Whether what the family declares is so, without noise.
    pub(crate) fn check(&mut self) -> Result<()> {
        let case = self.case;
        if !says(&self.reply, &case.ask) {
            bail!("the reply `{}` does not say `{}`", self.reply, case.ask);
        }
        let from = match case.reach {
            FamilyReach::Near => asked(case),
            FamilyReach::Whole => 0,
        };
        let flips = |world: &mut Self, without: Vec<usize>, with: Vec<usize>| -> Result<bool> {
            let ran = world.quiet(&Arm { from_call: from, without, with }, case.turns - 1)?;
            Ok(!says(&ran.reply, &case.ask))
        };
        let culprits = case.with_role(Role::Culprit);
        let mut needed = [culprits.clone(), case.with_role(Role::Needed)].concat();
        needed.sort_unstable();
        if case.kind == Kind::Redundant {
            needed.clear();
            if !flips(self, culprits.clone(), Vec::new())? {
                bail!("the answer stays without all culprits");
            }
        }
        let mut seen = Vec::new();
        for number in case.sent() {
            if flips(self, vec![number], Vec::new())? {
                seen.push(number);
            }
        }
        if seen != needed {
            bail!("declared are {needed:?}, and the answer changes without each of {seen:?}");
        }
        let all = flips(self, case.sent().collect(), Vec::new())?;
        if case.kind == Kind::None && all {
            bail!("the answer changes without everything");
        }
        for number in (0..case.pieces.len()).filter(|number| case.reply_of(*number).is_some()) {
            let near = Arm { from_call: asked(case), without: vec![number], with: Vec::new() };
            if !says(&self.quiet(&near, case.turns - 1)?.reply, &case.ask) {
                self.needed_replies.push(number);
            }
        }
        for number in (0..case.pieces.len()).filter(|number| case.is_absent(*number)) {
            if flips(self, Vec::new(), vec![number])? != (case.pieces[number].role == Role::Absent) {
                bail!("absent item {number} does not do what its role says");
            }
        }
        Ok(())
    }

    fn quiet(&mut self, arm: &Arm, asked: usize) -> Result<Ran> {
        let key = (asked, arm.clone());
        if let Some(ran) = self.known.get(&key) {
            return Ok(ran.clone());
        }
        let ran = self.prober.run(arm, asked)?;
        self.known.insert(key, ran.clone());
        Ok(ran)
    }
}

fn asked(case: &Case) -> u32 {
    u32::try_from(case.turns - 1).unwrap_or(u32::MAX)
}

/// Whether a reply says these words, as words of their own.
fn says(reply: &str, words: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    reply.match_indices(words).any(|(at, _)| {
        !is_word(reply[..at].chars().next_back()) && !is_word(reply[at + words.len()..].chars().next())
    })
}
