use std::fmt::Debug;
use std::hash::Hash;

mod sealed {
    pub trait Sealed {}
}

/// An audience: what may not reach it decides what a pass removes.
///
/// Sealed: the two tiers of this crate are the only ones, so a sink that asks for `Egress<Human>` knows what it gets.
pub trait Tier:
    sealed::Sealed + Copy + Clone + Debug + Default + Eq + Ord + Hash + Send + Sync + 'static
{
    /// The tier's name in reports and records.
    const NAME: &'static str;
    /// Whether URLs and absolute paths are removed as well as credentials.
    #[doc(hidden)]
    const REMOVES_LOCATIONS: bool;
}

/// The principal that launched the work: its model, its script, its host. Credentials are removed; paths and URLs
/// are the principal's own and survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SamePrincipal;

/// A person's screen, or an export beyond the launching principal. Credentials, every URL and every absolute path
/// are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Human;

impl sealed::Sealed for SamePrincipal {}
impl sealed::Sealed for Human {}

impl Tier for SamePrincipal {
    const NAME: &'static str = "same-principal";
    const REMOVES_LOCATIONS: bool = false;
}

impl Tier for Human {
    const NAME: &'static str = "human";
    const REMOVES_LOCATIONS: bool = true;
}
