mod key_bodies;
mod kinds;
mod mention;
mod names;
mod password_hashes;
mod vendors;

pub(crate) use key_bodies::{DER_START, KEY_BODIES, PUTTY_LINES};
pub(crate) use kinds::{Anchor, Check, Class, Glue, Kind, Shape, Step, anchors, shapes_from};
pub(crate) use mention::{Mention, mention};
pub(crate) use names::{LettersBackwards, Name, Strength, classify_name, speaks_of_key};
pub(crate) use password_hashes::PASSWORD_HASHES;
use vendors::vendors;
