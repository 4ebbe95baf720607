//! What importers promise, by hand, by chance and on recorded traces.

mod corpus;
mod support;
