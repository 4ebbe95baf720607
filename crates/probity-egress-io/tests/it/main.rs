//! Every adapter against the pass over the whole, over writers that err, cut short and break off.

#![expect(clippy::unwrap_used, reason = "tests")]

mod log;
mod responses;
mod streams;
mod texts;
mod writers;
