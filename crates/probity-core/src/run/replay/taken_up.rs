//! A run that was taken up from a checkpoint: back to where that was made, and on with what the record tells of the time behind it.

use std::collections::VecDeque;
use std::sync::Arc;

use probity_contract::{Emission, Entry, Fact, Redemption, ToolSpec};

use super::super::{LeftBehind, Outcome, Resumption, Run};
use super::{Player, ReplayError};
use crate::MemoryRedeemer;

/// How many states of one place in the record are tried. A checkpoint is made when lines were handed out, or when nothing is left to
/// be done; between two entries there are few of these.
const MOMENTS_MAX: usize = 8;

/// How often a run goes back to try another state, so that a record that was made to be slow is not.
pub(super) const RETRIES_MAX: usize = 256;

/// Bytes of the states that are kept for entries to come. The oldest go first.
const KEPT_MAX: usize = 128 << 20;

/// The run as a checkpoint holds it.
#[derive(Clone)]
struct Moment {
    /// Entries that it has handed out.
    entries: u64,
    state: Arc<str>,
}

/// States from which the run may have been taken up.
#[derive(Default)]
pub(super) struct Moments {
    kept: VecDeque<Moment>,
    bytes: usize,
}

impl Moments {
    fn keep(&mut self, moment: Moment) {
        if self.kept.back().is_some_and(|last| last.state == moment.state) {
            return;
        }
        self.bytes += moment.state.len();
        self.kept.push_back(moment);
        while self.bytes > KEPT_MAX
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes -= oldest.state.len();
        }
    }
}

/// Another state at a place where the run was taken up.
pub(super) struct Branch {
    moment: Moment,
    // Where the player stood there.
    entries: usize,
    written: usize,
    tick: usize,
}

impl Player<'_> {
    /// Whether the next entry tells that a driver took the run up, and that was not done yet.
    pub(super) fn is_to_be_taken_up(&self) -> bool {
        let next = self.told.entries.get(self.entries);
        next.is_some_and(|next| matches!(next.fact, Fact::Resumed { .. }))
            && self.taken_up_at != Some(self.entries)
    }

    /// Keeps the state, where a later entry tells of a checkpoint with as many entries.
    pub(super) fn remember(&mut self) {
        let entries = self.run.entries();
        if entries != self.entries as u64 || !self.told.checkpoints.contains(&entries) {
            return;
        }
        // A run that cannot be written down had no checkpoint there.
        if let Ok(state) = serde_json::to_string(&self.run) {
            self.moments.keep(Moment { entries, state: state.into() });
        }
    }

    /// Goes on to where the run is taken up, or its record ends, if nothing is told before but what people answered while no driver was
    /// at work. The checkpoint then holds no more than that.
    pub(super) fn answered_at_rest(&mut self) -> bool {
        let owed = self.owed.clone();
        let lines = self.at_rest();
        self.owed = owed;
        let Some((moment, lines)) = lines else { return false };
        self.entries += lines.iter().filter(|line| matches!(line, Emission::Entry(_))).count();
        self.written.extend(lines);
        self.moments.keep(moment);
        true
    }

    fn at_rest(&mut self) -> Option<(Moment, Vec<Emission>)> {
        if self.run.entries() != self.entries as u64
            || !matches!(self.told.entries.get(self.entries)?.fact, Fact::Answered { .. })
        {
            return None;
        }
        let state = serde_json::to_string(&self.run).ok()?;
        let mut run: Run = serde_json::from_str(&state).ok()?;
        let (mut at, mut lines) = (self.entries, Vec::new());
        while let Some(Entry { at_ms, fact, .. }) = self.told.entries.get(at)
            && !matches!(fact, Fact::Resumed { .. })
        {
            let Fact::Answered { call, digest, answer, by } = fact else { return None };
            let made = self.answered(*call, *digest, *answer, by.as_ref()).ok()?;
            let Some(Outcome::Answered { binding, answer, .. }) = made else { return None };
            let from = at;
            for line in run.answer_at_rest(*at_ms, binding, answer).ok()? {
                if !self.told.is_told(&line, at) {
                    return None;
                }
                at += usize::from(matches!(line, Emission::Entry(_)));
                lines.push(line);
            }
            if at == from {
                return None;
            }
        }
        let state = serde_json::to_string(&run).ok()?;
        Some((Moment { entries: run.entries(), state: state.into() }, lines))
    }

    /// Goes back to the checkpoint: to the last state that it may have held. The others are kept for when that proves wrong.
    pub(super) fn take_up(&mut self) -> Result<(), ReplayError> {
        let before = self.checkpoint_entries().ok_or_else(|| self.differs())?;
        let (entries, written, tick) = (self.entries, self.written.len(), self.tick);
        let moments = self.moments.kept.iter().rev().filter(|moment| moment.entries == before);
        let branches =
            moments.take(MOMENTS_MAX).cloned().map(|moment| Branch { moment, entries, written, tick });
        let mut branches = branches.collect::<Vec<_>>().into_iter();
        let last = branches.next().ok_or_else(|| self.differs())?;
        self.branches.extend(branches.rev());
        // No more than so many are ever gone back to, and that from the last one on.
        self.branches.drain(..self.branches.len().saturating_sub(RETRIES_MAX));
        self.go_on_from(&last)
    }

    /// Goes back to another state at the last place where there is one.
    pub(super) fn go_back(&mut self) -> Option<Result<(), ReplayError>> {
        let branch = self.branches.pop().filter(|_| self.told.may_retry())?;
        Some(self.go_on_from(&branch))
    }

    /// Entries before the checkpoint that the next entry tells of.
    fn checkpoint_entries(&self) -> Option<u64> {
        let Fact::Resumed { left_behind, .. } = self.told.entries.get(self.entries)?.fact else {
            return None;
        };
        (self.entries as u64).checked_sub(left_behind)
    }

    fn go_on_from(&mut self, branch: &Branch) -> Result<(), ReplayError> {
        self.entries = branch.entries;
        self.written.truncate(branch.written);
        self.tick = branch.tick;
        self.taken_up_at = Some(self.entries);
        self.owed.clear();
        self.run = self.restored(&branch.moment).ok_or_else(|| self.differs())?;
        self.redeemer = MemoryRedeemer::new();
        for entry in self.told.entries.iter().take(self.entries) {
            if let Fact::ToolStarted { redeems: Some(binding), .. } = &entry.fact {
                // It was used up, as far as the record tells.
                let _used = Redemption::claim(&self.redeemer, &self.spec.run, *binding);
            }
        }
        Ok(())
    }

    fn restored(&self, moment: &Moment) -> Option<Run> {
        let mut run: Run = serde_json::from_str(&moment.state).ok()?;
        let mut left_behind = LeftBehind::default();
        let from = usize::try_from(moment.entries).ok()?;
        for entry in self.told.entries.get(from..self.entries)? {
            let text = |part| self.told.text(part).ok().map(Arc::from);
            left_behind.take(entry.seq, entry.at_ms, Some(&entry.fact), text);
        }
        let resumed = self.told.entries.get(self.entries)?;
        let Fact::Resumed { checkpoint, tools, .. } = &resumed.fact else { return None };
        let mut spec = self.spec.clone();
        let as_now = |own: &ToolSpec| tools.iter().find(|tool| tool.name == own.name).unwrap_or(own).clone();
        spec.tools = run.state.spec.tools.iter().map(as_now).collect();
        let resumption = Resumption { checkpoint: *checkpoint, now_ms: resumed.at_ms, left_behind };
        run.resume(&spec, &resumption).ok()?;
        Some(run)
    }
}
