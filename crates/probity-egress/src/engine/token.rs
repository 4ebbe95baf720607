use super::cursor::{Cursor, Starved};
use super::swallow::Swallow;
use super::{Found, Left};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Glue, Part, TOKENS, Token};

/// Finds a vendor's token that starts at the cursor.
pub(super) fn find(cursor: &Cursor<'_>, left: Left) -> Result<Option<Found>, Starved> {
    for token in TOKENS {
        if token.glue == Glue::Refused && !left.is_boundary() {
            continue;
        }
        if let Some(found) = match_one(token, cursor)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn match_one(token: &'static Token, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    let mut rest = None;
    let mut open = false;
    for (index, part) in token.parts.iter().enumerate() {
        match *part {
            Part::Text(text) => {
                if !ahead.literal(text)? {
                    // The input ended inside a token whose beginning is unmistakable.
                    if index > 0 && open && ahead.at_input_end() {
                        break;
                    }
                    return Ok(None);
                }
                rest = None;
            }
            Part::Run { class, min, max } => {
                let count = ahead.run(max, class)?;
                open = token.glue == Glue::Allowed && count >= 6;
                if count < min && !(open && ahead.at_input_end()) {
                    return Ok(None);
                }
                rest = (count == max).then_some(class).or(rest);
            }
        }
    }
    Ok(Some(Found {
        kind: token.kind,
        source: Source::Format,
        confidence: Confidence::High,
        keep: 0,
        cut: ahead.offset() - cursor.offset(),
        then: rest.map(Swallow::While),
    }))
}
