use super::cursor::{Cursor, Starved};

/// The rest of a secret whose marker is already out: how its end is recognised, in constant memory.
#[derive(Debug)]
pub(super) enum Swallow {
    /// As long as the characters are of the class.
    While(fn(char) -> bool),
}

impl Swallow {
    /// How many bytes at the cursor still belong to the secret; 0 ends it.
    pub(super) fn step(&mut self, cursor: &Cursor<'_>) -> Result<usize, Starved> {
        let mut ahead = cursor.clone();
        match self {
            Self::While(class) => {
                ahead.eat_if(*class)?;
                Ok(ahead.offset() - cursor.offset())
            }
        }
    }
}
