use std::fmt;

use serde::{Deserialize, Serialize};

/// Where in its way a call is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seat {
    /// The tool tells what the call touches.
    Targets,
    /// Every policy of the task judges.
    Adjudicate,
    /// Every policy of every task that this one was started by judges, too.
    Inherited,
    /// A person has changed the arguments: the changed call comes before all of these at once.
    EditRecheck,
    /// Every policy judges again, just before the effect.
    ExecuteRecheck,
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Targets => "targets",
            Self::Adjudicate => "adjudicate",
            Self::Inherited => "inherited",
            Self::EditRecheck => "edit-recheck",
            Self::ExecuteRecheck => "execute-recheck",
        })
    }
}
