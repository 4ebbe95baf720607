//! The primitives that are used outside of the model checker.

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
