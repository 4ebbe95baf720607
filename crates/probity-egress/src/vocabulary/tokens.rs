/// One kind of token that its shape gives away.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) kind: &'static str,
    pub(crate) parts: &'static [Part],
    pub(crate) glue: Glue,
}

/// Whether the token is recognised with a letter or digit directly before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glue {
    /// Its beginning hardly occurs otherwise.
    Allowed,
    /// Its beginning is short or common: it must start a word.
    Refused,
}

/// A piece of a token. Pieces are matched in order, each as long as it goes, never undone.
#[derive(Debug)]
pub(crate) enum Part {
    Text(&'static str),
    Run { class: fn(char) -> bool, min: usize, max: usize },
}

fn alnum(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

const fn run(class: fn(char) -> bool, min: usize) -> Part {
    Part::Run { class, min, max: min }
}

/// The table.
pub(crate) const TOKENS: &[Token] =
    &[Token { kind: "github-token", parts: &[Part::Text("ghp_"), run(alnum, 36)], glue: Glue::Allowed }];
