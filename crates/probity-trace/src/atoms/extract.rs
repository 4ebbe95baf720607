//! The atoms of a text and of the JSON arguments of a call.

use std::ops::Range;

use super::chars::{lower_word, words};
use super::json::{Decoded, Leaf, leaves};
use super::names::names;
use super::pieces::{Piece, pieces, quotes};
use super::tokens::{Token, TokenKind, Tokens};
use super::units::unit_at;
use super::{Atom, AtomKind, AtomValue};

/// Arguments of at most so many words are one atom as a whole.
const ARGUMENT_WORDS_MAX: usize = 6;

/// Arguments of more bytes than this are texts.
const ARGUMENT_BYTES_MAX: usize = 80;

/// The atoms of a text in their order. No two overlap, and each range stands on the bounds of characters.
///
/// Numbers of a list (`1.` where a line begins) are layout and no atoms.
#[must_use]
pub fn atoms_of_text(text: &str) -> Vec<Atom> {
    let mut taken = Taken::new(text);
    let mut atoms = Vec::new();
    let pieces = pieces(text);
    for piece in pieces.iter().filter(|piece| piece.kind != AtomKind::Id) {
        taken.take(&piece.range, || atoms.push(words_atom(text, piece.kind, piece.range.clone())));
    }
    let tokens: Vec<Token> =
        Tokens::new(text).filter(|token| !matches!(token.kind, TokenKind::Word { .. })).collect();
    for quote in quotes(text) {
        let is_one = only_atom(&quote, &tokens, &pieces);
        // Quoted digits are numbers.
        let is_wordy = text.get(quote.clone()).is_some_and(|quote| quote.chars().any(char::is_alphabetic));
        if !is_one && is_wordy {
            taken.take(&quote, || atoms.push(words_atom(text, AtomKind::Phrase, quote.clone())));
        }
    }
    for piece in pieces.iter().filter(|piece| piece.kind == AtomKind::Id) {
        if !covered_by_value(text, &piece.range, &tokens) {
            taken.take(&piece.range, || atoms.push(words_atom(text, piece.kind, piece.range.clone())));
        }
    }
    for token in tokens.iter().filter(|token| !is_list_number(text, token)) {
        taken.take(&(token.start..token.end), || atoms.extend(value_atom(text, token)));
    }
    for name in names(text) {
        taken.take(&name, || atoms.push(words_atom(text, AtomKind::Name, name.clone())));
    }
    atoms.sort_by_key(|atom| atom.range.start);
    atoms
}

/// The atoms of the JSON arguments of a call: of every value, not of the names of members, `true`, `false` and `null`.
///
/// A short value is one atom; a long one is read as a text. A range is of the JSON as it was given, and what is not JSON
/// is read as far as it can be.
#[must_use]
pub fn atoms_of_json(json: &str) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for leaf in leaves(json) {
        match leaf {
            Leaf::Bare(range) => {
                let bare = json.get(range.clone()).unwrap_or_default();
                if bare.bytes().any(|byte| byte.is_ascii_digit()) {
                    atoms.extend(atoms_of_text(bare).into_iter().map(|atom| moved(atom, range.start)));
                }
            }
            Leaf::String(range) => {
                let decoded = Decoded::string(json.get(range.clone()).unwrap_or_default());
                for mut atom in atoms_of_argument(&decoded.text) {
                    atom.range = decoded.original(atom.range);
                    atoms.push(moved(atom, range.start));
                }
            }
        }
    }
    atoms
}

fn atoms_of_argument(text: &str) -> Vec<Atom> {
    let atoms = atoms_of_text(text);
    let bare = text.trim();
    let is_short = bare.len() <= ARGUMENT_BYTES_MAX
        && words(bare).take(ARGUMENT_WORDS_MAX + 1).count() <= ARGUMENT_WORDS_MAX;
    let is_wordy = bare.chars().any(char::is_alphabetic) && !bare.contains(['+', '*', '=', '\n', '"', ':']);
    let whole = text.len() - text.trim_start().len();
    let whole = whole..whole + bare.len();
    let is_value = matches!(atoms.as_slice(), [one] if one.range == whole);
    if is_value || !is_short || !is_wordy {
        return atoms;
    }
    vec![words_atom(text, AtomKind::Phrase, whole)]
}

fn moved(mut atom: Atom, by: usize) -> Atom {
    atom.range = atom.range.start + by..atom.range.end + by;
    atom
}

fn words_atom(text: &str, kind: AtomKind, range: Range<usize>) -> Atom {
    let part = text.get(range.clone()).unwrap_or_default();
    let value = match kind {
        AtomKind::Email | AtomKind::Url | AtomKind::Path => AtomValue::Literal(part.to_lowercase()),
        AtomKind::Number
        | AtomKind::Date
        | AtomKind::Time
        | AtomKind::Id
        | AtomKind::Name
        | AtomKind::Phrase => AtomValue::Words(joined_words(part)),
    };
    Atom { kind, range, text: part.to_owned(), value, other: None, unit: None }
}

fn joined_words(part: &str) -> String {
    let mut joined = String::with_capacity(part.len());
    for word in words(part) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(&lower_word(part.get(word).unwrap_or_default()));
    }
    joined
}

fn value_atom(text: &str, token: &Token) -> Option<Atom> {
    let (kind, value, other) = match token.kind {
        TokenKind::Number { value, other } => {
            (AtomKind::Number, AtomValue::Number(value), other.map(AtomValue::Number))
        }
        TokenKind::Date { value, other } => {
            (AtomKind::Date, AtomValue::Date(value), other.map(AtomValue::Date))
        }
        TokenKind::Time(time) => (AtomKind::Time, AtomValue::Time(time), None),
        TokenKind::Word { .. } => return None,
    };
    let unit = (kind == AtomKind::Number).then(|| unit_at(text, token.start, token.end)).flatten();
    let range = token.start..token.end;
    Some(Atom { kind, text: text.get(range.clone())?.to_owned(), range, value, other, unit })
}

/// `1.` and `1)` where a line begins, marks of Markdown aside.
fn is_list_number(text: &str, token: &Token) -> bool {
    let behind = text.get(token.end..).unwrap_or_default();
    let is_short = matches!(token.kind, TokenKind::Number { .. }) && token.end - token.start <= 3;
    if !is_short || !(behind.starts_with(". ") || behind.starts_with(") ") || behind.starts_with(".\n")) {
        return false;
    }
    let before = text.get(..token.start).unwrap_or_default();
    let marks = before.bytes().rev().take(16).take_while(|byte| b"*#_> \t-(".contains(byte)).count();
    let line = before.get(..before.len() - marks).unwrap_or_default();
    line.is_empty() || line.ends_with('\n')
}

/// Whether a quote is nothing but one atom.
fn only_atom(quote: &Range<usize>, tokens: &[Token], pieces: &[Piece]) -> bool {
    let first = tokens.partition_point(|token| token.start < quote.start);
    let is_token =
        tokens.get(first).is_some_and(|token| token.start == quote.start && token.end == quote.end);
    let at = pieces.partition_point(|piece| piece.range.start < quote.start);
    is_token || pieces.get(at).is_some_and(|piece| piece.range == *quote)
}

/// Whether a number, date or time already says what stands here: `24h` is a number, `2024-05-20` a date.
fn covered_by_value(text: &str, piece: &Range<usize>, tokens: &[Token]) -> bool {
    let text = text.get(piece.clone()).unwrap_or_default();
    let after = tokens.partition_point(|token| token.start <= piece.start);
    let covering = after.checked_sub(1).and_then(|last| tokens.get(last));
    let is_digits = !text.contains(char::is_alphabetic) && text.contains('.');
    if is_digits {
        // A version or an address: no value may begin or end in it.
        let next = tokens.get(after).is_some_and(|token| token.start < piece.end);
        return next || covering.is_some_and(|token| token.end > piece.start);
    }
    covering.is_some_and(|token| match token.kind {
        TokenKind::Number { .. } => {
            let is_run = token.start == piece.start && token.end == piece.end && !text.contains('.');
            token.end >= piece.end && !is_run
        }
        TokenKind::Date { .. } | TokenKind::Time(_) => token.end >= piece.end || token.start == piece.start,
        TokenKind::Word { .. } => false,
    })
}

/// Which bytes belong to an atom already.
struct Taken(Vec<bool>);

impl Taken {
    fn new(text: &str) -> Self {
        Self(vec![false; text.len()])
    }

    /// Runs `then` where nothing of the range is taken, and takes it.
    fn take(&mut self, range: &Range<usize>, then: impl FnOnce()) {
        if let Some(bytes) = self.0.get_mut(range.clone())
            && !bytes.contains(&true)
        {
            bytes.fill(true);
            then();
        }
    }
}
