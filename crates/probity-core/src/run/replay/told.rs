//! What a record tells of a run: its entries, its texts, and what it was given.
#![expect(clippy::wildcard_enum_match_arm, reason = "each question here is about a few facts of many")]

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use probity_contract::{
    Allowance, Bench, Body, CallId, Content, ContentSetting, DenialDetail, Emission, Ending, Entry, Fact,
    Kept, PartId, ReplyPart, Roster, RunStarted, ToolChoice, ToolName,
};

use super::super::{FirstItem, RunSpec};
use super::ReplayError;
use super::taken_up::RETRIES_MAX;
use crate::boundary::BoundarySettings;

/// What a record tells.
pub(super) struct Told<'l> {
    pub(super) entries: Vec<&'l Entry>,
    pub(super) parts: HashMap<PartId, &'l str>,
    /// How many entries stood before those checkpoints from which the run was taken up.
    pub(super) checkpoints: HashSet<u64>,
    started: &'l RunStarted,
    retries_left: Cell<usize>,
}

impl<'l> Told<'l> {
    pub(super) fn of(lines: &'l [Emission]) -> Result<Self, ReplayError> {
        let (mut entries, mut parts) = (Vec::new(), HashMap::new());
        for line in lines {
            match line {
                Emission::Entry(entry) => entries.push(entry),
                Emission::Part(part) => match &part.kept {
                    Kept::Full(text) => _ = parts.insert(part.id, text.as_ref()),
                    Kept::Redacted(_) | Kept::Length(_) => return Err(ReplayError::TextNotKept),
                },
            }
        }
        for entry in &entries {
            if let Some(what) = untold(&entry.fact) {
                return Err(ReplayError::NotTold { seq: entry.seq, what });
            }
        }
        let Some(Fact::RunStarted(started)) = entries.first().map(|entry| &entry.fact) else {
            return Err(ReplayError::TextNotKept);
        };
        if started.content != ContentSetting::Full {
            return Err(ReplayError::TextNotKept);
        }
        let before = |(at, entry): (usize, &&Entry)| match &entry.fact {
            Fact::Resumed { left_behind, .. } => (at as u64).checked_sub(*left_behind),
            _ => None,
        };
        let checkpoints = entries.iter().enumerate().filter_map(before).collect();
        Ok(Self { entries, parts, checkpoints, started, retries_left: Cell::new(RETRIES_MAX) })
    }

    /// Whether a line is the record's: its entry at a place, or a text that stands somewhere in it.
    pub(super) fn is_told(&self, line: &Emission, at: usize) -> bool {
        match line {
            Emission::Entry(entry) => self.entries.get(at).is_some_and(|told| *told == entry),
            Emission::Part(part) => match &part.kept {
                Kept::Full(text) => self.parts.get(&part.id).is_some_and(|told| *told == text.as_ref()),
                Kept::Redacted(_) | Kept::Length(_) => false,
            },
        }
    }

    /// Whether one more checkpoint may be tried in place of another.
    pub(super) fn may_retry(&self) -> bool {
        let left = self.retries_left.get();
        self.retries_left.set(left.saturating_sub(1));
        left > 0
    }

    pub(super) fn is_cancelled(&self) -> bool {
        let last = self.entries.last().map(|entry| &entry.fact);
        matches!(last, Some(Fact::Ended { ending: Ending::Cancelled, .. }))
    }

    pub(super) fn text(&self, part: PartId) -> Result<&'l str, ReplayError> {
        self.parts.get(&part).copied().ok_or(ReplayError::TextNotKept)
    }

    fn content(&self, body: &Body) -> Result<Content, ReplayError> {
        let text = |part: &PartId| self.text(*part).map(Arc::from);
        Ok(match body {
            Body::Instructions { text: part } => Content::Instructions(text(part)?),
            Body::Person { text: part } => Content::Person(text(part)?),
            Body::Context { name, text: part } => Content::Context { name: name.clone(), text: text(part)? },
            Body::Notice { text: part } => Content::Notice(text(part)?),
            Body::ToolResult { call, provider_id, tool, text: part, is_error } => Content::ToolResult {
                call: *call,
                provider_id: provider_id.clone(),
                tool: tool.clone(),
                text: text(part)?,
                is_error: *is_error,
            },
            Body::Reply { parts } => Content::Reply(self.parts_of(parts)?.into()),
        })
    }

    pub(super) fn parts_of(&self, parts: &[PartId]) -> Result<Vec<ReplyPart>, ReplayError> {
        let read =
            |part: &PartId| serde_json::from_str(self.text(*part)?).map_err(|_| ReplayError::TextNotKept);
        parts.iter().map(read).collect()
    }

    /// The facts from an entry on.
    pub(super) fn facts_from(&self, at: usize) -> impl Iterator<Item = &'l Fact> {
        self.entries.iter().skip(at).map(|entry| &entry.fact)
    }

    /// Those of them that the process told that told the first, until another took up its run.
    pub(super) fn facts_of_a_process(&self, at: usize) -> impl Iterator<Item = &'l Fact> {
        let is_taken_up = |fact: &Fact| matches!(fact, Fact::Resumed { .. });
        self.facts_from(at)
            .enumerate()
            .take_while(move |(from, fact)| *from == 0 || !is_taken_up(fact))
            .map(|(_, fact)| fact)
    }

    /// The tools that have started tasks.
    fn delegates(&self) -> BTreeMap<ToolName, Allowance> {
        let starters: HashSet<CallId> = self
            .facts_from(0)
            .filter_map(|fact| match fact {
                Fact::ChildEnded { call, .. } => Some(*call),
                _ => None,
            })
            .collect();
        let named = self.facts_from(0).filter_map(|fact| match fact {
            Fact::CallProposed { call, tool, .. } if starters.contains(call) => Some(tool),
            _ => None,
        });
        named.filter_map(|tool| Some((ToolName::new(tool.clone()).ok()?, ALL))).collect()
    }

    /// What the run was given, as far as a record says it.
    pub(super) fn spec(&self, denial_detail: DenialDetail) -> Result<RunSpec, ReplayError> {
        let started = self.started;
        let mut items = Vec::new();
        let mut first_tool_choice = ToolChoice::Auto;
        for fact in self.facts_from(1) {
            match fact {
                Fact::ItemAdded { origin, label, body, .. } => items.push(FirstItem {
                    origin: *origin,
                    label: label.clone(),
                    content: self.content(body)?,
                }),
                Fact::ModelCalled { tool_choice, tools_offered: true, .. } => {
                    first_tool_choice = tool_choice.clone();
                    break;
                }
                _ => break,
            }
        }
        let roster = Roster::new(started.policies.clone());
        let roster = roster.map_err(|_| ReplayError::NotTold { seq: 0, what: "two policies of one name" })?;
        Ok(RunSpec {
            run: started.run.clone(),
            title: started.title.clone(),
            principal: started.principal.clone(),
            model: started.model.clone(),
            prices: started.prices,
            params: Arc::new(started.params.clone()),
            tools: started.tools.clone().into(),
            first_tool_choice,
            principals_above: Vec::new(),
            parent: None,
            delegates: self.delegates(),
            bench: Bench::of(roster),
            boundary: BoundarySettings::default(),
            limits: started.limits.clone(),
            denial_detail,
            content: started.content,
            items,
            started_at_unix_ms: started.started_at_unix_ms,
        })
    }
}

/// For a tool that has started tasks: as much as the run has itself. A record does not tell what was wanted.
const ALL: Allowance =
    Allowance { turns: u32::MAX, tool_calls: u32::MAX, tokens: None, cost_usd: None, wall_ms: None };

/// What a record does not say enough of to be played again.
fn untold(fact: &Fact) -> Option<&'static str> {
    match fact {
        Fact::RunStarted(started) if !started.inherited.is_empty() || started.parent.is_some() => {
            Some("a task that a call has started")
        }
        Fact::RunStarted(started) if started.imported.is_some() => Some("another program's run"),
        Fact::Intercepted(_) | Fact::ItemReplaced { .. } | Fact::ReplyRefused { .. } => Some("interceptors"),
        Fact::Foreign { .. } => Some("another program's run"),
        Fact::Ended { ending: Ending::RecordFailed { .. } | Ending::MessageDenied(_), .. } => {
            Some("an ending from outside of the run")
        }
        _ => None,
    }
}
