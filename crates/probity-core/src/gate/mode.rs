//! How a task treats what its rules leave open.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What follows where rules are silent, and whether a task may only read.
///
/// A mode is a set of restrictions, so modes form a lattice, and [`Mode::and`] is the meet. Of two modes that say what follows
/// silence it permits nothing that either does not, whoever else judges the call. `ask` and `deny` are not above one another: where
/// another policy allows a call that no rule covers, `ask` is the stricter one, where none does, `deny` is. Both together are
/// `allow-listed`. A line from `ask` down to `allow-listed` lost for that reason: a run without a person would have let
/// through what somebody wanted to be asked about.
///
/// As text: `ask`, `deny`, `allow-listed`, `read-only`, several with `+` between them (`read-only+deny`), or `unstated`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mode {
    /// A person must decide about what no rule covers.
    asks: bool,
    /// Nobody is asked about what no rule covers.
    unasked: bool,
    /// Only reads.
    reads_only: bool,
}

/// What follows where no rule speaks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// Nothing; if no other policy allows the call, it is denied.
    Abstains,
    Asks,
    Denies,
}

/// A word that is no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "read the mode `{0}`: it is not `ask`, `deny`, `allow-listed` or `read-only`, or several with `+` between them"
)]
pub struct ModeError(String);

impl Mode {
    /// The top: it leaves it to another mode to say what follows silence. A task that nobody says it for is in `deny`.
    pub const UNSTATED: Self = Self { asks: false, unasked: false, reads_only: false };
    /// A person is asked about what no rule covers, also where another policy allows it.
    pub const ASK: Self = Self { asks: true, ..Self::UNSTATED };
    /// Nobody is asked about what no rule covers: it is left to other policies, and denied where none allows it.
    pub const DENY: Self = Self { unasked: true, ..Self::UNSTATED };
    /// What no rule covers is denied, whoever else would allow it.
    pub const ALLOW_LISTED: Self = Self { asks: true, unasked: true, reads_only: false };
    /// Only calls of tools whose effect is `pure`, and that only read; everything else is denied, also where a rule allows it.
    pub const READ_ONLY: Self = Self { reads_only: true, ..Self::UNSTATED };

    /// The meet: all restrictions of both. The mode of a child is this of its own and of its parent's.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            asks: self.asks || other.asks,
            unasked: self.unasked || other.unasked,
            reads_only: self.reads_only || other.reads_only,
        }
    }

    /// Whether it has every restriction of the other.
    #[must_use]
    pub fn is_within(self, other: Self) -> bool {
        self.and(other) == self
    }

    /// This mode, or `deny` with its other restrictions where it does not say what follows silence.
    pub(super) const fn stated(self) -> Self {
        if self.asks || self.unasked { self } else { self.and(Self::DENY) }
    }

    pub(super) const fn silence(self) -> Silence {
        match (self.asks, self.unasked) {
            (false, _) => Silence::Abstains,
            (true, false) => Silence::Asks,
            (true, true) => Silence::Denies,
        }
    }

    pub(super) const fn reads_only(self) -> bool {
        self.reads_only
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = match (self.asks, self.unasked) {
            (false, false) => None,
            (true, false) => Some("ask"),
            (false, true) => Some("deny"),
            (true, true) => Some("allow-listed"),
        };
        match (self.reads_only, rest) {
            (false, rest) => f.write_str(rest.unwrap_or("unstated")),
            (true, None) => f.write_str("read-only"),
            (true, Some(rest)) => write!(f, "read-only+{rest}"),
        }
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        text.split('+').try_fold(Self::UNSTATED, |mode, name| {
            Ok(mode.and(match name.trim() {
                "unstated" => Self::UNSTATED,
                "ask" => Self::ASK,
                "deny" => Self::DENY,
                "allow-listed" => Self::ALLOW_LISTED,
                "read-only" => Self::READ_ONLY,
                _ => return Err(ModeError(text.chars().filter(|c| !c.is_control()).collect())),
            }))
        })
    }
}

impl TryFrom<String> for Mode {
    type Error = ModeError;
    fn try_from(text: String) -> Result<Self, ModeError> {
        text.parse()
    }
}

impl From<Mode> for String {
    fn from(mode: Mode) -> Self {
        mode.to_string()
    }
}
