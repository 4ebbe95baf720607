//! Pages in one file: nothing is loaded from elsewhere, nothing runs, and every text of a run is passed and escaped.

mod board;
mod file;
mod page;
mod style;
mod two;
mod why;
mod windows;

pub(crate) use file::write;
pub(crate) use two::two_page;
pub(crate) use why::why_page;
