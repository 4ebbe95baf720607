mod tokens;

pub(crate) use tokens::{Glue, Part, TOKENS, Token};
