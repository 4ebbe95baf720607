//! The command line of Probity.
fn main() {}
