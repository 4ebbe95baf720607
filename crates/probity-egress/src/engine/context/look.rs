use super::super::drawn::{Drawn, is_drawn};
use super::VALUE_CHARS_MIN;

/// Fewer digits alone are a number, of an account or a time.
const NUMBER_CHARS_MIN: usize = 32;

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    Plain,
    /// Like a hash or an identifier: drawn, but mostly no secret.
    Identifier,
    Drawn,
    SurelyDrawn,
}

impl Look {
    pub(super) fn of(text: &str) -> Self {
        let (mut digits, mut letters, mut groups) = (0, 0, 1);
        let (mut hex, mut plain, mut small) = (true, true, false);
        for byte in text.bytes() {
            digits += usize::from(byte.is_ascii_digit());
            letters += usize::from(byte.is_ascii_alphabetic());
            groups += usize::from(byte == b'-');
            hex &= byte.is_ascii_hexdigit() || byte == b'-';
            plain &= byte.is_ascii_alphanumeric() || byte == b'-';
            small |= byte.is_ascii_lowercase();
        }
        if text.len() < VALUE_CHARS_MIN || digits == 0 || is_path(text) || is_constant(text) {
            return Self::Plain;
        }
        if hex && (groups == 1 && text.len() >= 20 || groups == 5 && text.len() == 36) {
            let number = digits == text.len() && digits < NUMBER_CHARS_MIN;
            return if number { Self::Plain } else { Self::Identifier };
        }
        // Serial numbers: groups of capitals and digits.
        if plain && groups >= 3 && letters >= 2 && !small && digits >= groups {
            return Self::Drawn;
        }
        let long_groups = || text.split('-').all(|group| group.len() >= 8);
        if plain && groups >= 2 && !small && digits >= 6 && long_groups() {
            return Self::Drawn;
        }
        match is_drawn(text) {
            // Groups as of a UUID, of other lengths.
            Drawn::No if plain && groups >= 4 && digits >= 6 && letters >= 4 => Self::Identifier,
            Drawn::No => Self::Plain,
            Drawn::Maybe => Self::Drawn,
            Drawn::Surely => Self::SurelyDrawn,
        }
    }
}

/// Whether more follows a first piece that is a word: it is asked about behind that.
pub(super) fn begins_with_word(text: &str) -> bool {
    let Some((piece, _)) = text.split_once(['-', '_', '.']) else { return false };
    let small = piece.bytes().all(|b| b.is_ascii_lowercase());
    piece.len() >= 4 && small && is_drawn(piece) == Drawn::No
}

/// Whether a piece between slashes is a word.
fn is_path(text: &str) -> bool {
    let word = |piece: &str| {
        piece.len() >= 3 && piece.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-' | b'.'))
    };
    text.contains('/') && text.split('/').any(word)
}

/// `MODE2_FORM1_RAW`: capitals in words that `_` ties, none of them long and drawn.
fn is_constant(text: &str) -> bool {
    let drawn = |piece: &str| piece.len() >= VALUE_CHARS_MIN && is_drawn(piece) == Drawn::Surely;
    text.contains('_') && !text.bytes().any(|b| b.is_ascii_lowercase()) && !text.split('_').any(drawn)
}
