//! The record format of a run, read and written without I/O.
