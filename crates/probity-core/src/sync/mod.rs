//! What several threads share, and nothing else: small enough for a model checker to try every interleaving.
//!
//! The files beside this one take their primitives from [`atomics`] alone. A test includes them a second time beside an
//! `atomics` of its own, which is the model checker's; so what is checked is the very text that is used.

mod atomics;
mod nursery;
mod purse;
mod steady;
mod used;

pub(crate) use nursery::Nursery;
pub(crate) use purse::Purse;
pub(crate) use steady::Reading;
pub(crate) use used::Used;
