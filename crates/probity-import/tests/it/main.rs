//! What importers promise, by hand, by chance and on recorded traces.

mod corpus;
mod formats;
mod hostile;
mod runs;
mod samples;
mod support;
mod zips;
