//! Characters that a reader cannot see.

use unicode_normalization::UnicodeNormalization as _;

use crate::imitation::{enclosed, latin};

/// Whether a character hides in a text, or changes how its neighbours look: controls, line breaks, bidirectional and
/// zero-width format characters, fillers that look like blanks, tag characters, supplementary variation selectors.
///
/// These are the controls of Unicode (category `Cc`) and the characters with the property `Default_Ignorable_Code_Point`
/// (Unicode 16, `DerivedCoreProperties.txt`), save the variation selectors U+FE00 to U+FE0F, which emoji in ordinary
/// names and texts carry.
#[must_use]
pub fn is_hard_to_see(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The places, in bytes, of letters that look like Latin ones and are others, in ascending order.
///
/// These are letters whose compatibility form (NFKC) is an ASCII letter or digit (full width, mathematical, encircled); letters of
/// Greek, Cyrillic, Armenian, Georgian, Cherokee, Coptic, Lisu and of phonetic alphabets in a word that also has an ASCII
/// letter; and words of such letters alone that could all be read as Latin ones. Words of another script that have a letter of
/// its own are left alone, and so are Latin letters with marks. It does not promise to know every letter that can be confused:
/// the table is the one by which fences are recognised, not Unicode's whole list.
#[must_use]
pub fn look_alike_letters(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut word: Vec<(usize, char)> = Vec::new();
    let end = std::iter::once((text.len(), ' '));
    for (at, c) in text.char_indices().chain(end) {
        if c.is_alphanumeric() {
            word.push((at, c));
        } else {
            found.extend(look_alike_in(&word));
            word.clear();
        }
    }
    found
}

fn look_alike_in(word: &[(usize, char)]) -> Vec<usize> {
    let mixes = word.iter().any(|(_, c)| c.is_ascii_alphabetic());
    let reads_as_latin = |c: char| c.is_numeric() || is_other(c) && latin(lower(c)).is_ascii();
    let disguised = !word.is_empty() && word.iter().all(|(_, c)| reads_as_latin(*c));
    let looks = |c: char| is_disguised(c) || is_other(c) && (mixes || disguised);
    word.iter().filter(|(_, c)| looks(*c)).map(|(at, _)| *at).collect()
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Whether its compatibility form is an ASCII letter or digit, or it has none and looks like one in a frame.
fn is_disguised(c: char) -> bool {
    let mut form = std::iter::once(c).nfkc();
    let first = form.next().unwrap_or(c);
    !c.is_ascii() && (form.next().is_none() && first.is_ascii_alphanumeric() || enclosed(c) != c)
}

/// Whether it belongs to an alphabet some of whose letters look like Latin ones.
const fn is_other(c: char) -> bool {
    matches!(
        c,
        '\u{250}'..='\u{2af}'
            | '\u{370}'..='\u{3ff}'
            | '\u{400}'..='\u{52f}'
            | '\u{530}'..='\u{58f}'
            | '\u{10a0}'..='\u{10ff}'
            | '\u{13a0}'..='\u{13ff}'
            | '\u{1c80}'..='\u{1c8f}'
            | '\u{1d00}'..='\u{1dbf}'
            | '\u{1f00}'..='\u{1fff}'
            | '\u{2c80}'..='\u{2cff}'
            | '\u{a4d0}'..='\u{a4ff}'
            | '\u{a640}'..='\u{a69f}'
            | '\u{ab70}'..='\u{abbf}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_seen_and_what_people_write_is_not_touched() {
        for c in [
            '\u{7}',
            '\u{9b}',
            '\u{202e}',
            '\u{200b}',
            '\u{2066}',
            '\u{3164}',
            '\u{e0100}',
            '\u{e0041}',
            '\u{2029}',
        ] {
            assert!(is_hard_to_see(c), "{c:?}");
        }
        for c in "aé日本👩❤\u{fe0f} ß…".chars() {
            assert!(!is_hard_to_see(c), "{c:?}");
        }
    }

    #[test]
    fn letters_that_look_like_others_are_found_and_other_scripts_are_left_alone() {
        let found = |text: &str| -> String {
            look_alike_letters(text).into_iter().filter_map(|at| text.get(at..)?.chars().next()).collect()
        };
        for (text, alike) in [
            ("p\u{430}yment", "\u{430}"),
            ("to = ACM\u{395}-1", "\u{395}"),
            // All of it Cyrillic, and readable as a Latin word.
            ("\u{440}\u{430}\u{443}\u{440}\u{430}l 2", "\u{440}\u{430}\u{443}\u{440}\u{430}"),
            ("\u{441}\u{43e}\u{440}\u{443}", "\u{441}\u{43e}\u{440}\u{443}"),
            ("\u{ff52}\u{ff4d} -rf", "\u{ff52}\u{ff4d}"),
            ("\u{1d42b}oot", "\u{1d42b}"),
            ("\u{24e1}m", "\u{24e1}"),
            ("ha\u{501}d", "\u{501}"),
            ("\u{1d00}b", "\u{1d00}"),
        ] {
            assert_eq!(found(text), alike, "{text}");
        }
        for text in [
            "payment to ACME-1, 250.00 EUR",
            "caf\u{e9} na\u{ef}ve \u{131}\u{15f}\u{131}k \u{142}\u{f3}d\u{17a} \u{df}",
            "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}",
            "\u{3b4}\u{3b9}\u{3ac}\u{3b8}\u{3b5}\u{3c3}\u{3b7}",
            "\u{65e5}\u{672c} 2026 \u{1f469}",
            "",
        ] {
            assert_eq!(found(text), "", "{text}");
        }
    }
}
