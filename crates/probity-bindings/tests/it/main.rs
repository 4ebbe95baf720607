//! The 28 cells of approval binding: what each repair is worth on each way, what the gate is worth on all of them, and that
//! the suite catches builds without it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod broken;
mod cells;
mod ways;
