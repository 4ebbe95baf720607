//! Reports made fit to be shown: every text is passed whole before anything is cut out of it.

mod confirmed;
mod passed;
mod shown;
mod two;
mod words;

use passed::PassedText;

pub(crate) use confirmed::{ShownConfirmed, ShownVerdict};
pub(crate) use shown::{
    Mark, ShownAtom, ShownChain, ShownHolder, ShownLead, ShownUnknown, ShownWhy, ShownWindow,
};
pub(crate) use two::{ShownRun, ShownTwo};
