//! What may be to blame, as the search sees it: a number, a rank and a place. It never sees a text or a name.

/// What an arm does to a suspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was in the run: an arm replaces it by a neutral stand-in.
    Neutralise,
    /// It was available and never sent: an arm puts it back.
    Restore,
}

/// Something that may have made the answer what it is. Its number is its position in the list given to the search.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// What an arm does to it.
    pub change: Change,
    /// The model call whose window first held it, counted from 0. For an absent item, the first that could have.
    pub first_seen: u32,
    /// A lead: the higher, the earlier it is tried; one more says about 2.7 times likelier. See [`rank`](crate::rank). Not
    /// finite counts as lowest.
    pub lead: f64,
}
