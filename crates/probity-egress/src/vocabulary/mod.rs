mod key_bodies;
mod names;
mod password_hashes;
mod tokens;

pub(crate) use key_bodies::{DER_START, KEY_BODIES, PUTTY_LINES};
pub(crate) use names::{Name, Strength, classify_name};
pub(crate) use password_hashes::PASSWORD_HASHES;
pub(crate) use tokens::{Glue, Part, TOKENS, Token};

/// Fixed text that every token of a shape contains, and what may stand before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Anchor {
    pub(crate) literal: &'static str,
    /// The fewest characters of the token before it.
    pub(crate) before_min: usize,
    /// The most.
    pub(crate) before_max: usize,
    /// Which ASCII characters may stand there, one bit each.
    pub(crate) before_class: u128,
}

pub(crate) fn anchors() -> impl Iterator<Item = Anchor> {
    TOKENS
        .iter()
        .filter_map(|t| {
            let (mut min, mut max, mut class) = (0, 0, 0_u128);
            for part in t.parts {
                match part {
                    Part::Text(literal) if literal.len() >= 2 => {
                        return Some(Anchor {
                            literal,
                            before_min: min,
                            before_max: max,
                            before_class: class,
                        });
                    }
                    Part::Text(text) => {
                        min += text.len();
                        max += text.len();
                        for b in text.bytes() {
                            class |= 1 << b;
                        }
                    }
                    Part::Run(f, n) => {
                        min += n;
                        max += 80;
                        for b in 0..128_u8 {
                            if f(char::from(b)) {
                                class |= 1 << b;
                            }
                        }
                    }
                    Part::Exactly(f, n) => {
                        min += n;
                        max += n;
                        for b in 0..128_u8 {
                            if f(char::from(b)) {
                                class |= 1 << b;
                            }
                        }
                    }
                }
            }
            None
        })
        .chain(["BEGIN ", "BEGIN%20", "BEGIN+"].map(|literal| Anchor {
            literal,
            before_min: 4,
            before_max: 6,
            before_class: (1 << b'-') | (1 << b' '),
        }))
        .chain(
            KEY_BODIES
                .iter()
                .chain([&DER_START, &PUTTY_LINES])
                .chain(PASSWORD_HASHES.iter().map(|(start, _)| start))
                .map(|literal| Anchor { literal, before_min: 0, before_max: 0, before_class: 0 }),
        )
}
