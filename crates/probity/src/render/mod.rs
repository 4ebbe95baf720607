//! What a person or a script sees.

mod approver;
mod confirmed;
mod consultant;
mod explanation;
mod outcome;
mod questions;
pub(crate) mod screen;
mod two;
mod watcher;
mod why;

pub(crate) use approver::TerminalApprover;
pub(crate) use confirmed::confirmed_lines;
pub(crate) use consultant::TerminalConsultant;
pub(crate) use explanation::Explanation;
pub(crate) use outcome::{Report, count_words, ending_words};
pub(crate) use questions::{Questions, name_of};
pub(crate) use screen::Screen;
pub(crate) use two::two_lines;
pub(crate) use watcher::{FailureTeller, Watcher};
pub(crate) use why::why_lines;
