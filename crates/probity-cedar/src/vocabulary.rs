//! The names of Probity's types in Cedar, parsed once.

use std::str::FromStr;

use cedar_policy::{EntityId, EntityTypeName, EntityUid, RestrictedExpression};
use probity_contract::{Access, Effect};

use crate::error::CedarError;

pub(crate) const NAMESPACE: &str = "Probity";
pub(crate) const ACTION: &str = "Action";

/// A type of entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// For whom a call would act.
    Principal,
    /// A file or directory that a call touches.
    Path,
    /// A directory with everything below it.
    Tree,
    /// A network address.
    Url,
    /// A program that is run.
    Command,
    /// Any other thing that a tool names.
    Other,
    /// The tool, where a call touches nothing.
    Tool,
    /// What is done to a path.
    Access,
    /// What a repetition would do.
    Effect,
    /// How far the words behind a call may be believed.
    Integrity,
    /// Where in its way a call is judged.
    Seat,
}

impl Kind {
    pub(crate) const ALL: [Self; 11] = [
        Self::Principal,
        Self::Path,
        Self::Tree,
        Self::Url,
        Self::Command,
        Self::Other,
        Self::Tool,
        Self::Access,
        Self::Effect,
        Self::Integrity,
        Self::Seat,
    ];

    /// The kinds that a policy can meet as a resource.
    pub(crate) const RESOURCES: [Self; 6] =
        [Self::Command, Self::Other, Self::Path, Self::Tool, Self::Tree, Self::Url];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Principal => "Principal",
            Self::Path => "Path",
            Self::Tree => "Tree",
            Self::Url => "Url",
            Self::Command => "Command",
            Self::Other => "Other",
            Self::Tool => "Tool",
            Self::Access => "Access",
            Self::Effect => "Effect",
            Self::Integrity => "Integrity",
            Self::Seat => "Seat",
        }
    }
}

/// The parsed names.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    // INVARIANT: in the order of `Kind::ALL`.
    kinds: Vec<EntityTypeName>,
    action: EntityTypeName,
}

impl Vocabulary {
    pub(crate) fn new() -> Result<Self, CedarError> {
        let parse = |name: &str| {
            EntityTypeName::from_str(&format!("{NAMESPACE}::{name}"))
                .map_err(|error| CedarError::schema(&error))
        };
        let kinds: Result<_, _> = Kind::ALL.into_iter().map(|kind| parse(kind.name())).collect();
        Ok(Self { kinds: kinds?, action: parse(ACTION)? })
    }

    /// An entity of a kind. The id is taken as it is, whatever characters it has.
    pub(crate) fn entity(&self, kind: Kind, id: &str) -> Result<EntityUid, String> {
        let name = self.kinds.get(kind as usize).ok_or("a kind of entity has no name")?;
        Ok(EntityUid::from_type_name_and_id(name.clone(), EntityId::new(id)))
    }

    pub(crate) fn action(&self, tool: &str) -> EntityUid {
        EntityUid::from_type_name_and_id(self.action.clone(), EntityId::new(tool))
    }

    /// One word of a closed vocabulary, as a value.
    pub(crate) fn word(&self, kind: Kind, word: &str) -> Result<RestrictedExpression, String> {
        self.entity(kind, word).map(RestrictedExpression::new_entity_uid)
    }
}

pub(crate) const fn access_word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

pub(crate) const fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Pure => "pure",
        Effect::Idempotent => "idempotent",
        Effect::Reconcile => "reconcile",
        Effect::Once => "once",
    }
}
