//! Traces of other frameworks, read as records.
