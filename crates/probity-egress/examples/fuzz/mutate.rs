use crate::dictionary;
use crate::draw::Draw;
use crate::encode;

/// Longer texts are cut: short ones are tried more often, and what holds for long ones is tested elsewhere.
const TEXT_BYTES_MAX: usize = 6_000;

/// Another text made of this one and, at times, of a piece of `other`.
pub(crate) fn mutated(text: &str, other: &str, draw: &mut Draw) -> String {
    let mut text = text.to_owned();
    for _ in 0..=draw.below(5) {
        step(&mut text, other, draw);
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    }
    text
}

fn step(text: &mut String, other: &str, draw: &mut Draw) {
    let range = draw.range(text);
    let piece = text[range.clone()].to_owned();
    match draw.below(10) {
        0..=2 => text.insert_str(range.start, &dictionary::piece(draw)),
        3 => text.replace_range(range, &dictionary::piece(draw)),
        4 => text.replace_range(range, ""),
        5 => {
            let times = *draw.of(&[2, 2, 3, 8, 64, 300]);
            text.replace_range(range, &piece.repeat(times.min(1 + TEXT_BYTES_MAX / piece.len().max(1))));
        }
        6 => text.replace_range(range, &encode::encoded(&piece, draw)),
        7 => {
            let from = draw.place(other);
            text.truncate(range.start);
            text.push_str(&other[from..]);
        }
        8 => {
            let range_of_other = draw.range(other);
            text.insert_str(range.start, &other[range_of_other]);
        }
        _ => {
            let changed = if piece.chars().any(char::is_lowercase) {
                piece.to_uppercase()
            } else {
                piece.to_lowercase()
            };
            text.replace_range(range, &changed);
        }
    }
}
