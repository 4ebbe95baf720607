//! Which piece of context made an answer what it is, tested by counterfactuals.

mod search;
