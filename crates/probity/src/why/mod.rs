//! Reports made fit to be shown: every text is passed whole before anything is cut out of it.

mod passed;
mod shown;
mod words;

pub(crate) use passed::PassedText;
pub(crate) use shown::{Mark, ShownAtom, ShownChain, ShownHolder, ShownLead, ShownUnknown, ShownWhy};
