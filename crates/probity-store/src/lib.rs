//! Where records live: owner-only files and an index.
