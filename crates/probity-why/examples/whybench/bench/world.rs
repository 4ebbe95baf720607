//! A case as methods see it: a recorded run, and forks of it, each model call of which is counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, bail};
use probity_contract::{Content, ItemId, Model, ModelReply, ReplyPart, ReplyPartKind};
use probity_models::RulesModel;
use probity_trace::atoms_of_text;
use probity_why::{
    Asked, Candidate, ChainStep, ConfirmChain, Cost, Fork, ForkChange, ForkEnd, ForkStep, Kept, Recorded,
    Settings, Target, candidates, text_of,
};
use regex::Regex;

use super::case::Case;
use super::chance::Chance;
use super::family::{FamilyReach, Kind, Role};
use super::noise::{Noisy, all_words};

pub(crate) struct World<'a> {
    pub(crate) case: &'a Case,
    /// The reply that is asked about, as it was recorded.
    pub(crate) reply: String,
    recorded: &'a Recorded<'a>,
    asked: Asked,
    kept: Kept,
    /// Which item each piece is.
    items: Vec<ItemId>,
    model: Arc<Noisy>,
    runtime: tokio::runtime::Runtime,
    /// What the rules answer where these pieces are out of sight: they say the same to the same window, so each is asked once.
    known: BTreeMap<Vec<usize>, ModelReply>,
    /// Calls without whose replies the call asked about answers otherwise.
    pub(crate) needed_replies: Vec<usize>,
    candidates: Vec<Candidate>,
    spent: Cost,
    shots: u32,
}

impl<'a> World<'a> {
    pub(crate) fn new(case: &'a Case, recorded: &'a Recorded<'a>, rules: Arc<RulesModel>) -> Result<Self> {
        let item = recorded.reply(case.asked()).context("the call asked about has no reply")?;
        let Content::Reply(parts) = &item.content else { bail!("a reply is none") };
        let words = std::iter::once(&case.ask).chain(&case.others).cloned().collect();
        let model =
            Noisy { rules, recorded: parts.to_vec(), words, chance: Mutex::new((Chance::new(&[], 0), 0)) };
        let asked = Asked::Reply(case.asked());
        let atoms = atoms_of_text(&case.ask);
        Ok(Self {
            case,
            reply: all_words(parts),
            kept: kept(parts, &case.ask)?,
            items: items(case, recorded)?,
            model: Arc::new(model),
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build()?,
            known: BTreeMap::new(),
            needed_replies: Vec::new(),
            candidates: candidates(recorded, &asked, &atoms)?,
            spent: Cost::default(),
            shots: 0,
            recorded,
            asked,
        })
    }

    /// Begins anew for one method at one noise.
    pub(crate) fn start(&mut self, noise_percent: u32, method: &str, seed: u64) {
        let noise = noise_percent.to_string();
        let parts = ["shots", method, &self.case.family, &self.case.size.to_string(), &noise];
        self.model.start(Chance::new(&parts, seed), noise_percent);
        (self.spent, self.shots) = (Cost::default(), 0);
    }

    pub(crate) fn spent(&self) -> (Cost, u32) {
        (self.spent, self.shots)
    }

    /// Asks as the runtime does.
    pub(crate) fn confirm(&mut self, settings: Settings) -> Result<Vec<ChainStep>> {
        let model = Arc::clone(&self.model) as Arc<dyn Model>;
        let atoms = atoms_of_text(&self.case.ask);
        let chain = ConfirmChain {
            settings,
            ..ConfirmChain::new(self.recorded, model, self.asked.clone(), self.kept.clone(), atoms)
        };
        let (mut spent, mut shots) = (Cost::default(), 0);
        let steps = self.runtime.block_on(chain.run(|_arm, shot| {
            spent = spent.plus(shot.cost);
            shots += 1;
        }))?;
        (self.spent, self.shots) = (self.spent.plus(spent), self.shots + shots);
        Ok(steps)
    }

    /// The leads of the pieces; lowest where one has none.
    pub(crate) fn leads(&self) -> Result<Vec<f64>> {
        let mut leads = vec![f64::NEG_INFINITY; self.case.pieces.len()];
        for candidate in &self.candidates {
            if let Some(number) = self.piece_of(&candidate.change) {
                leads[number] = candidate.suspect.lead;
            }
        }
        if leads.iter().any(|lead| !lead.is_finite()) {
            bail!("a text of the case is no candidate");
        }
        Ok(leads)
    }

    /// The piece that a change is about.
    pub(crate) fn piece_of(&self, change: &ForkChange) -> Option<usize> {
        let (ForkChange::StandIn(Target::Item(item)) | ForkChange::Restore(item)) = change else {
            return None;
        };
        self.items.iter().position(|own| own == item)
    }

    /// The call whose reply a change is about.
    pub(crate) fn reply_of(&self, change: &ForkChange) -> Option<usize> {
        let ForkChange::StandIn(Target::Item(item)) = change else { return None };
        self.recorded.place_of_reply(*item)
    }

    /// One run with these pieces neutral in the window of the call asked about: whether its answer is another.
    pub(crate) fn shoot_without(&mut self, without: &[usize]) -> Result<bool> {
        let quiet = match self.known.get(without) {
            Some(quiet) => quiet.clone(),
            None => {
                let changes = self.stand_ins(without);
                let fork = self.fork(self.case.asked(), &changes)?;
                let ForkStep::Ask(request) = fork.step() else { bail!("a fork asks first") };
                let quiet = self.model.rules.decide(&request)?.reply;
                self.known.insert(without.to_vec(), quiet.clone());
                quiet
            }
        };
        self.spent = self.spent.plus(Cost { model_calls: 1, microdollars: 0 });
        self.shots += 1;
        Ok(!self.kept.holds(&self.model.blur(quiet).parts)?)
    }

    /// Whether what the family declares is so, without noise.
    pub(crate) fn check(&mut self) -> Result<()> {
        let case = self.case;
        let from = match case.reach {
            FamilyReach::Near => case.asked(),
            FamilyReach::Whole => 0,
        };
        let flips = |without: &[usize]| self.flips(from, &self.stand_ins(without));
        if flips(&[])? {
            bail!("the answer changes by itself");
        }
        let culprits = case.with_role(Role::Culprit);
        let mut needed = [culprits.clone(), case.with_role(Role::Needed)].concat();
        needed.sort_unstable();
        if case.kind == Kind::Redundant {
            needed.clear();
            if !flips(&culprits)? {
                bail!("the answer stays without all culprits");
            }
        }
        let mut seen = Vec::new();
        for number in case.sent() {
            if flips(&[number])? {
                seen.push(number);
            }
        }
        if seen != needed {
            bail!("declared are {needed:?}, and the answer changes without each of {seen:?}");
        }
        if case.kind == Kind::None && flips(&case.sent().collect::<Vec<_>>())? {
            bail!("the answer changes without everything");
        }
        for number in (0..case.pieces.len()).filter(|number| case.is_absent(*number)) {
            let is_flipped = self.flips(from, &[ForkChange::Restore(self.items[number])])?;
            if is_flipped != (case.pieces[number].role == Role::Absent) {
                bail!("absent item {number} does not do what its role says");
            }
        }
        let mut needed_replies = Vec::new();
        for place in 0..case.asked() {
            let reply = self.recorded.reply(place).context("an earlier call has no reply")?.id;
            if self.flips(case.asked(), &[ForkChange::StandIn(Target::Item(reply))])? {
                needed_replies.push(place);
            }
        }
        self.needed_replies = needed_replies;
        Ok(())
    }

    fn stand_ins(&self, without: &[usize]) -> Vec<ForkChange> {
        without.iter().map(|number| ForkChange::StandIn(Target::Item(self.items[*number]))).collect()
    }

    fn fork(&self, from: usize, changes: &[ForkChange]) -> Result<Fork<'a>> {
        Ok(Fork::begin(self.recorded, from, changes, self.asked.clone(), self.kept.clone())?)
    }

    /// Whether a fork comes out otherwise without noise.
    fn flips(&self, from: usize, changes: &[ForkChange]) -> Result<bool> {
        let mut fork = self.fork(from, changes)?;
        loop {
            match fork.step() {
                ForkStep::Ask(request) => {
                    let decided = self.model.rules.decide(&request);
                    fork.heard(decided.as_ref().map(|decided| &decided.reply).map_err(|error| error.class));
                }
                ForkStep::Read(call) => bail!("a fork that may not read asks for `{}`", call.name),
                ForkStep::Done(ForkEnd::Came { is_kept }) => return Ok(!is_kept),
                ForkStep::Done(end) => bail!("a fork from call {from} ended with {end:?}"),
            }
        }
    }
}

/// How the words asked about are compared: as words of the text, or as an argument of the call that has them.
fn kept(parts: &[ReplyPart], ask: &str) -> Result<Kept> {
    for part in parts {
        match &part.kind {
            ReplyPartKind::Text(text) if says(text, ask) => {
                return Ok(Kept::Matches(Regex::new(&format!(r"(?:^|\W){}(?:$|\W)", regex::escape(ask)))?));
            }
            ReplyPartKind::Call(call) => {
                let arguments: serde_json::Value = serde_json::from_str(&call.arguments)?;
                let members = arguments.as_object().into_iter().flatten();
                if let Some((name, value)) =
                    members.into_iter().find(|(_, value)| value.as_str() == Some(ask))
                {
                    let (tool, pointer) = (Some(call.name.clone()), format!("/{name}"));
                    return Ok(Kept::Pointer { tool, pointer, value: value.clone() });
                }
            }
            _ => {}
        }
    }
    bail!("the reply `{}` does not say `{ask}`", all_words(parts))
}

/// The item of each piece, found by its text.
fn items(case: &Case, recorded: &Recorded<'_>) -> Result<Vec<ItemId>> {
    let mut all = recorded.window(case.asked())?;
    let never_sent = recorded.never_sent(case.asked());
    let is_absent = |item: &ItemId| never_sent.contains(item);
    all.extend(&never_sent);
    let texts: Vec<(ItemId, String)> =
        all.iter().filter_map(|item| Some((*item, text_of(recorded.item(*item)?)))).collect();
    let mut taken = Vec::new();
    for (number, piece) in case.pieces.iter().enumerate() {
        let is_it = |item: &ItemId, text: &str| {
            text == piece.text && is_absent(item) == case.is_absent(number) && !taken.contains(item)
        };
        let item = texts.iter().find(|(item, text)| is_it(item, text)).map(|(item, _)| *item);
        taken.push(item.with_context(|| format!("`{}` is no item of the record", piece.text))?);
    }
    Ok(taken)
}

/// Whether a text says these words, as words of their own.
pub(crate) fn says(text: &str, words: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(at, _)| {
        !is_word(text[..at].chars().next_back()) && !is_word(text[at + words.len()..].chars().next())
    })
}
