/// How sure it is that a text was drawn and not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Drawn {
    No,
    Maybe,
    /// Practically never a word, an identifier, a version or a path.
    Surely,
}

/// How sure it is that a text was drawn.
///
/// Judged per run of letters and digits, so that words around a drawn run do not hide it. A drawn run changes its class
/// (small, capital, digit) far more often than words do, or has pairs of letters that words have not.
pub(super) fn is_drawn(text: &str) -> Drawn {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    let best = runs.clone().map(drawn_run).max().unwrap_or(Drawn::No);
    if best == Drawn::Maybe && runs.filter(|run| drawn_run(run) >= Drawn::Maybe).count() >= 3 {
        return Drawn::Surely;
    }
    best
}

/// The least length of letters of one case that are a value by their look.
pub(super) const LETTERS_MIN: usize = 20;

/// Whether a text is of small letters alone or of capitals alone, and drawn: no word is so long and has so many strange
/// pairs. The first [`LETTERS_MIN`] have one at an even offset and one at an odd one, since every other pair is looked at.
pub(super) fn is_letters(text: &str) -> bool {
    let rare = |from: usize| {
        let letters = text.as_bytes().get(from..LETTERS_MIN).unwrap_or_default();
        letters.as_chunks::<2>().0.iter().any(|[first, second]| is_rare_pair(*first, *second))
    };
    text.len() >= LETTERS_MIN
        && (text.bytes().all(|b| b.is_ascii_lowercase()) || text.bytes().all(|b| b.is_ascii_uppercase()))
        && rare(0)
        && rare(1)
        && is_drawn(text) >= Drawn::Maybe
}

fn drawn_run(run: &str) -> Drawn {
    let bytes = run.as_bytes();
    let (mut digits, mut turns, mut pairs, mut rare) = (0, 0, 0, 0);
    for (index, byte) in bytes.iter().enumerate() {
        digits += usize::from(byte.is_ascii_digit());
        let Some(next) = bytes.get(index + 1) else { break };
        if byte.is_ascii_alphabetic() && next.is_ascii_alphabetic() {
            pairs += 1;
            rare += usize::from(is_rare_pair(*byte, *next));
        }
        let hump = byte.is_ascii_uppercase() && next.is_ascii_lowercase();
        turns += usize::from(class(*byte) != class(*next) && !hump);
    }
    if bytes.len() < 8 || digits == bytes.len() {
        return Drawn::No;
    }
    // In a text drawn evenly from letters and digits some 45 in 100 neighbours differ in class and a third of the pairs
    // of letters is rare; in words hardly one in ten is.
    let strange = turns * 2 + rare * 2;
    if bytes.len() >= 16 && strange * 2 >= bytes.len() && (digits >= 2 || rare * 4 >= pairs) {
        Drawn::Surely
    } else if strange * 3 >= bytes.len() {
        Drawn::Maybe
    } else {
        Drawn::No
    }
}

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    }
}

/// An identifier in humps: every piece between capitals and digits is a word or an abbreviation.
pub(super) fn is_camel(text: &str) -> bool {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for byte in text.bytes() {
        let goes_on = |last: &u8| {
            last.is_ascii_digit() == byte.is_ascii_digit()
                && !(last.is_ascii_lowercase() && byte.is_ascii_uppercase())
        };
        match pieces.last_mut() {
            Some(piece) if piece.last().is_some_and(goes_on) => piece.push(byte),
            _ => pieces.push(vec![byte]),
        }
    }
    pieces.iter().all(|piece| {
        let small = piece.iter().any(u8::is_ascii_lowercase);
        let letters = piece.iter().all(u8::is_ascii_alphabetic);
        let digits = piece.iter().all(u8::is_ascii_digit);
        let common = piece.iter().zip(piece.iter().skip(1)).all(|(a, b)| letters && !is_rare_pair(*a, *b));
        digits || letters && (!small || piece.len() >= 3 && common)
    })
}

/// Whether words of European languages practically never have this pair of letters. By the first letter, those that
/// follow it in words.
pub(super) fn is_rare_pair(first: u8, second: u8) -> bool {
    let letter = |byte: u8| byte.to_ascii_lowercase().wrapping_sub(b'a');
    COMMON.get(usize::from(letter(first))).is_some_and(|letters| letters >> (letter(second) & 31) & 1 == 0)
}

/// For each letter those that follow it in words, one bit each.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler; an index out of range does not compile"
)]
static COMMON: [u32; 26] = {
    const FOLLOW: [&str; 26] = [
        "bcdefghiklmnopqrstuvwxyz",
        "abcdeijlmorstuy",
        "acehiklorstuy",
        "adegilmnorsuvwy",
        "abcdefghijklmnopqrstuvwxyz",
        "aefiloprstuy",
        "aeghilnorsuy",
        "aeimnortuy",
        "abcdefgklmnopqrstvxz",
        "aeiosu",
        "aefhilnosuy",
        "abcdefgiklmoprstuvy",
        "abeimnoprsuy",
        "acdefgijklmnorstuvxy",
        "abcdefghijklmnoprstuvwxyz",
        "aehilmnoprstuy",
        "su",
        "abcdefgiklmnoprstuvwy",
        "acdefghiklmnopqrstuvwy",
        "acefhilmnorstuwyz",
        "abcdefgiklmnoprstxyz",
        "aeiloruy",
        "adehilnorsy",
        "aceilmoptuxy",
        "acdeilmnoprstuwx",
        "aehiouyz",
    ];
    let mut common = [0; 26];
    let mut first = 0;
    while first < 26 {
        let letters = FOLLOW[first].as_bytes();
        let mut at = 0;
        while at < letters.len() {
            common[first] |= 1 << (letters[at] - b'a');
            at += 1;
        }
        first += 1;
    }
    common
};
