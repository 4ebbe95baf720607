//! What a call may hand down to tasks that it starts, and what comes back from them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{CallId, RunId};
use crate::model::Usage;

/// The place of a call below which its tool may start tasks. Made by the engine that runs the call, and opaque to all others:
/// `probity-core` reads its own back, and what somebody else puts in here it does not take for one.
///
/// Empty for a tool that has not said that it starts any ([`crate::Tool::delegates`]).
#[derive(Clone, Default)]
pub struct Lineage(Option<Arc<dyn Any + Send + Sync>>);

impl Lineage {
    /// Of a call that starts no tasks.
    pub const NONE: Self = Self(None);

    /// A lineage that its maker can read back.
    #[must_use]
    pub fn new(place: Arc<dyn Any + Send + Sync>) -> Self {
        Self(Some(place))
    }

    /// What its maker has put in, if it is of this type.
    #[must_use]
    pub fn read<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.clone()?.downcast().ok()
    }
}

/// Whether there is one.
impl fmt::Debug for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Lineage(..)" } else { "Lineage(none)" })
    }
}

/// The call that has started a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentCall {
    /// Its run.
    pub run: RunId,
    /// Which call of it.
    pub call: CallId,
}

/// What the tasks that one call starts may spend together. What is not set is not limited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// Model calls, a wrap-up not counted.
    pub turns: u32,
    /// Tool calls that start.
    pub tool_calls: u32,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Milliseconds. Tasks that run side by side have the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
}

impl Allowance {
    /// For each kind the less of both.
    #[must_use]
    pub fn least(&self, other: &Self) -> Self {
        Self {
            turns: self.turns.min(other.turns),
            tool_calls: self.tool_calls.min(other.tool_calls),
            tokens: lesser(self.tokens, other.tokens),
            cost_usd: lesser(self.cost_usd, other.cost_usd),
            wall_ms: lesser(self.wall_ms, other.wall_ms),
        }
    }

    /// What is left when this was spent; never less than nothing. Time is not spent.
    #[must_use]
    pub fn without(&self, spent: &Spending) -> Self {
        Self {
            turns: self.turns.saturating_sub(spent.turns),
            tool_calls: self.tool_calls.saturating_sub(spent.tool_calls),
            tokens: self.tokens.map(|tokens| tokens.saturating_sub(spent.charged_tokens)),
            cost_usd: self.cost_usd.map(|usd| (usd - spent.charged_usd).max(0.0)),
            wall_ms: self.wall_ms,
        }
    }

    /// All of it, as if it had been spent: what is assumed of a task of which nothing is heard any more.
    #[must_use]
    pub fn all_spent(&self) -> Spending {
        Spending {
            turns: self.turns,
            tool_calls: self.tool_calls,
            charged_tokens: self.tokens.unwrap_or(0),
            charged_usd: self.cost_usd.unwrap_or(0.0),
            ..Spending::default()
        }
    }

    /// Whether a task can do anything with it: ask its model once.
    #[must_use]
    pub fn is_of_use(&self) -> bool {
        let no_money = self.cost_usd.is_some_and(|usd| usd <= 0.0);
        self.turns > 0 && self.tokens != Some(0) && self.wall_ms != Some(0) && !no_money
    }
}

fn lesser<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// What a task has spent, those that it has started included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spending {
    /// Model calls.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// What the providers counted.
    pub usage: Usage,
    /// US dollars, where all of it is known.
    pub cost_usd: Option<f64>,
    /// Tokens that count against a limit, with an estimate where a provider counted nothing.
    pub charged_tokens: u64,
    /// US dollars that count against a limit, in the same way.
    pub charged_usd: f64,
}

impl Spending {
    /// Both together. A cost is known where both are.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            usage: self.usage.plus(&other.usage),
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(one, other)| one + other),
            charged_tokens: self.charged_tokens.saturating_add(other.charged_tokens),
            charged_usd: self.charged_usd + other.charged_usd,
        }
    }
}
