//! What the machine has to write down next, and what it has spent.

use std::collections::BTreeSet;
use std::sync::Arc;

use probity_contract::{
    CallId, ContentSetting, Emission, Entry, Fact, Kept, LimitKind, Limits, Part, PartId, Prices, Spending,
    Usage,
};
use probity_egress::{SamePrincipal, egress_text};
use serde::{Deserialize, Serialize};

use super::kept::Keeps;

const BYTES_PER_TOKEN: u64 = 4;

/// The record as far as it is not written yet, and the counters that number it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    content: ContentSetting,
    next_seq: u64,
    clock_ms: u64,
    // Texts that stand in the record already; each is written once.
    known_parts: BTreeSet<PartId>,
    unwritten: Vec<Emission>,
    must_be_durable: bool,
    // A record that failed takes nothing more: what came next would stand behind a gap.
    closed: bool,
}

impl Ledger {
    pub(crate) const fn new(content: ContentSetting) -> Self {
        Self {
            content,
            next_seq: 0,
            clock_ms: 0,
            known_parts: BTreeSet::new(),
            unwritten: Vec::new(),
            must_be_durable: false,
            closed: false,
        }
    }

    /// Moves the run's clock forward; a clock that goes back stands still.
    pub(crate) fn advance(&mut self, now_ms: u64) {
        self.clock_ms = self.clock_ms.max(now_ms);
    }

    pub(crate) const fn now_ms(&self) -> u64 {
        self.clock_ms
    }

    /// How many entries there are, handed out or not.
    pub(super) const fn entries(&self) -> u64 {
        self.next_seq
    }

    /// How many entries were handed out.
    pub(crate) fn handed_out(&self) -> u64 {
        let unwritten = self.unwritten.iter().filter(|line| matches!(line, Emission::Entry(_))).count();
        self.next_seq.saturating_sub(unwritten as u64)
    }

    /// Passes over entries that others have written behind those that were handed out.
    pub(crate) fn skip_to(&mut self, next_seq: u64, at_ms: u64) {
        self.advance(at_ms);
        let mut seq = self.handed_out().max(next_seq);
        for line in &mut self.unwritten {
            if let Emission::Entry(entry) = line {
                (entry.seq, entry.at_ms) = (seq, entry.at_ms.max(at_ms));
                seq += 1;
            }
        }
        self.next_seq = seq;
    }

    /// Writes a text unless it stands there already, and gives its id.
    pub(crate) fn part(&mut self, text: &str) -> PartId {
        let id = PartId::of(text);
        if self.known_parts.insert(id) {
            let kept = match self.content {
                ContentSetting::Full => Kept::Full(Arc::from(text)),
                ContentSetting::Redacted => {
                    Kept::Redacted(Arc::from(egress_text::<SamePrincipal>(text).as_str()))
                }
                ContentSetting::Digests => Kept::Length(text.len() as u64),
            };
            self.unwritten.push(Emission::Part(Part { id, kept }));
        }
        id
    }

    pub(crate) fn fact(&mut self, mut fact: Fact) {
        if let Some(keeps) = Keeps::of(self.content) {
            keeps.treat(&mut fact);
        }
        let entry = Entry { seq: self.next_seq, at_ms: self.clock_ms, fact };
        self.next_seq += 1;
        self.unwritten.push(Emission::Entry(entry));
    }

    /// Takes the start of a call's tool back, if it is not written yet.
    pub(crate) fn withdraw_start(&mut self, id: CallId) -> bool {
        let is_start = |line: &Emission| match line {
            Emission::Entry(entry) => matches!(entry.fact, Fact::ToolStarted { call, .. } if call == id),
            Emission::Part(_) => false,
        };
        let Some(at) = self.unwritten.iter().position(is_start) else { return false };
        self.unwritten.remove(at);
        for line in self.unwritten.iter_mut().skip(at) {
            if let Emission::Entry(entry) = line {
                entry.seq -= 1;
            }
        }
        self.next_seq -= 1;
        true
    }

    /// The next hand-over must reach the medium before anything else happens.
    pub(crate) const fn require_durable(&mut self) {
        self.must_be_durable = true;
    }

    /// Drops what is not written, and everything that comes.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Takes what is to be written now, and whether it must be durable.
    pub(crate) fn take(&mut self) -> Option<(Vec<Emission>, bool)> {
        if self.closed {
            self.unwritten.clear();
        }
        if self.unwritten.is_empty() {
            return None;
        }
        Some((std::mem::take(&mut self.unwritten), std::mem::take(&mut self.must_be_durable)))
    }
}

/// What is left for the output of one model call, and the limit that leaves no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reserved {
    pub(crate) output_tokens: u64,
    pub(crate) limit: LimitKind,
}

/// The tokens that so many dollars buy.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast to an integer saturates, and what is below zero is nothing"
)]
fn output_tokens_for(usd: f64, usd_per_million: f64) -> u64 {
    if usd <= 0.0 {
        return 0;
    }
    (usd * 1e6 / usd_per_million) as u64
}

/// What has been spent and reserved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) turns: u32,
    /// Permits that were made; the tools that were started.
    pub(crate) tool_calls: u32,
    /// What the providers counted.
    pub(crate) usage: Usage,
    /// The same with an estimate where a provider counted nothing: what is held against the limits.
    charged: Usage,
    /// Milliseconds in which the run only waited for people.
    pub(crate) waited_ms: u64,
    /// Bytes of all texts in the window, the base of the token estimate.
    pub(crate) window_bytes: u64,
    /// What the provider counted for the last window, and how many bytes that window had.
    counted: Option<CountedWindow>,
    /// What the tasks have spent that this one has started. Their model and tool calls are among those above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    children: Option<Box<Spending>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CountedWindow {
    input_tokens: u64,
    bytes: u64,
}

impl Spent {
    /// Tokens that the next model call is assumed to read: what the provider counted for the window before, and a quarter
    /// of the bytes that came since.
    ///
    /// Four bytes a token is the providers' own rule of thumb for English; the true count replaces it afterwards.
    fn input_estimate(&self) -> u64 {
        self.counted.map_or(self.window_bytes / BYTES_PER_TOKEN, |counted| {
            let since = self.window_bytes.saturating_sub(counted.bytes);
            counted.input_tokens.saturating_add(since / BYTES_PER_TOKEN)
        })
    }

    /// Takes what a reply of `reply_bytes` cost; to be called before it joins the window.
    pub(crate) fn count(&mut self, usage: &Usage, reply_bytes: u64) {
        self.usage = self.usage.plus(usage);
        let charged = Usage {
            input: usage.input.or(Some(self.input_estimate())),
            output: usage.output.or(Some(reply_bytes / BYTES_PER_TOKEN)),
            ..*usage
        };
        self.charged = self.charged.plus(&charged);
        self.counted =
            usage.input.map(|input_tokens| CountedWindow { input_tokens, bytes: self.window_bytes });
    }

    /// Takes what a task has spent that this one has started.
    pub(crate) fn count_child(&mut self, spent: &Spending) {
        self.turns = self.turns.saturating_add(spent.turns);
        self.tool_calls = self.tool_calls.saturating_add(spent.tool_calls);
        let before = self.children.take();
        self.children = Some(Box::new(before.map_or_else(|| spent.clone(), |before| before.plus(spent))));
    }

    /// The same for one of which nothing is heard any more: it counts against the limits, and nobody knows what it was.
    pub(crate) fn count_lost_child(&mut self, spent: &Spending) {
        let cost_usd = self.children.as_ref().and_then(|children| children.cost_usd);
        self.count_child(spent);
        if let Some(children) = &mut self.children {
            children.cost_usd = cost_usd;
        }
    }

    /// Everything that was spent, by this task and those that it has started.
    pub(crate) fn spending(&self, prices: Option<Prices>) -> Spending {
        let cost_of = |usage: &Usage| prices.and_then(|prices| prices.cost_usd(usage));
        let own = Spending {
            turns: self.turns,
            tool_calls: self.tool_calls,
            usage: self.usage,
            cost_usd: cost_of(&self.usage),
            charged_tokens: self.charged.total(),
            charged_usd: cost_of(&self.charged).unwrap_or(0.0),
        };
        match &self.children {
            None => own,
            Some(children) => own.plus(&Spending { turns: 0, tool_calls: 0, ..children.as_ref().clone() }),
        }
    }

    /// Tokens and US dollars that other tasks have spent for this one.
    fn charged_by_children(&self) -> (u64, f64) {
        self.children.as_ref().map_or((0, 0.0), |children| (children.charged_tokens, children.charged_usd))
    }

    /// Takes what was spent for replies that the run does not know.
    pub(crate) fn lost(&mut self, usage: &Usage) {
        self.usage = self.usage.plus(usage);
        self.charged = self.charged.plus(usage);
    }

    /// The output that one more model call may have, so that it stays within the limits, and the limit that says so.
    ///
    /// # Errors
    /// The limit that forbids the call.
    pub(crate) fn reserve_model_call(
        &self,
        limits: &Limits,
        prices: Option<Prices>,
        now_ms: u64,
    ) -> Result<Option<Reserved>, LimitKind> {
        if limits.wall_ms_max.is_some_and(|max| self.worked_ms(now_ms) >= max) {
            return Err(LimitKind::WallTime);
        }
        let read = Usage { input: Some(self.input_estimate()), output: Some(0), ..Usage::default() };
        let after = self.charged.plus(&read);
        let (others_tokens, others_usd) = self.charged_by_children();
        let tokens = limits.tokens_max.map(|max| Reserved {
            output_tokens: max.saturating_sub(after.total()).saturating_sub(others_tokens),
            limit: LimitKind::Tokens,
        });
        let cost = limits.cost_usd_max.zip(prices).map(|(max, prices)| Reserved {
            output_tokens: output_tokens_for(
                max - others_usd - prices.cost_usd(&after).unwrap_or(0.0),
                prices.output_usd,
            ),
            limit: LimitKind::Cost,
        });
        let least = tokens.into_iter().chain(cost).min_by_key(|reserved| reserved.output_tokens);
        match least {
            Some(Reserved { output_tokens: 0, limit }) => Err(limit),
            least => Ok(least),
        }
    }

    /// The limit of tokens or dollars that what was spent is over, if any: a provider need not keep to what it was asked.
    pub(crate) fn overspent(&self, limits: &Limits, prices: Option<Prices>) -> Option<LimitKind> {
        let (others_tokens, others_usd) = self.charged_by_children();
        if limits.tokens_max.is_some_and(|max| self.charged.total().saturating_add(others_tokens) > max) {
            return Some(LimitKind::Tokens);
        }
        let cost = prices.and_then(|prices| prices.cost_usd(&self.charged));
        let over = cost.zip(limits.cost_usd_max).is_some_and(|(cost, max)| cost + others_usd > max);
        over.then_some(LimitKind::Cost)
    }

    /// Milliseconds that the run has worked, waiting for people not counted.
    pub(crate) const fn worked_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.waited_ms)
    }

    /// The smaller of a step's own time and what is left of the run's.
    pub(crate) fn time_for(&self, limits: &Limits, step_ms: u64, now_ms: u64) -> u64 {
        let left = limits.wall_ms_max.map_or(u64::MAX, |max| max.saturating_sub(self.worked_ms(now_ms)));
        step_ms.min(left)
    }
}
