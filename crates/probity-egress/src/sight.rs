//! Characters that a reader cannot see.

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
}
