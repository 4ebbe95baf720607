//! From a person's approval to the effect: a model of the ways on which something else can be put in place of what was
//! approved, of repairs for that, and of the gate on the same ways.
//!
//! An approved action is taken apart and put together again before it runs: it is reloaded from a store, bound to a tool,
//! projected out of a transcript. Each such [`Edge`] reads fields from a place that somebody else can write. The suite of
//! this crate writes to each of them, at each moment, and looks at what the [`sink`](Outcome) was given.
//!
//! Four topologies and seven repairs make 28 cells, with 20 pairs of edge and field in all, so 140 replacements. Which repair
//! is enough on which topology is found out by running it. The fields of a topology are those on which the meaning of its
//! effect depends; that there are 20 pairs, four of them where a workflow is replaced, is from arXiv 2609.26529, and from its
//! figures (17 fields and 85 replacements when one field is left out of the check) follows four and five pairs for the
//! topologies with one edge and seven for the transcript. Which fields these are is not told there and is ours.
//!
//! The default build has the gate at the sink, whatever stands before it. With one of the features `broken-…` a repair
//! alone is in its place; these builds are there to show that the suite catches them.

mod action;
mod build;
mod consumer;
mod gate;
mod repair;
mod topology;

pub use action::{Action, Field};
pub use build::{Build, Door};
pub use consumer::{Attack, Moment, Outcome, consume, reached};
pub use gate::{Approval, GateError};
pub use repair::Repair;
pub use topology::{Edge, TOPOLOGIES, Topology};
