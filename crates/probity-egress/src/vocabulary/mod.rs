mod names;
mod tokens;

pub(crate) use names::{Name, Strength, classify_name};
pub(crate) use tokens::{Glue, Part, TOKENS, Token};
