use serde_json::{Map, Number, Value};

/// What a snapshot is made of: like [`Value`], but members stay in the order they came in, and none replaces another.
#[derive(Debug, Default)]
pub(crate) enum Tree {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    /// What was removed whole, by its kind.
    Marker(&'static str),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// Takes the value and leaves nothing.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(crate) fn as_array_mut(&mut self) -> Option<&mut [Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }
}

/// Of two members with one name the later stays.
impl From<Tree> for Value {
    fn from(tree: Tree) -> Self {
        match tree {
            Tree::Null => Self::Null,
            Tree::Bool(truth) => Self::Bool(truth),
            Tree::Number(number) => Self::Number(number),
            Tree::String(text) => Self::String(text),
            Tree::Marker(kind) => Self::String(marker(kind)),
            Tree::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Tree::Object(members) => {
                let members = members.into_iter().map(|(name, value)| (name, Self::from(value)));
                Self::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

/// The text of a marker.
pub(crate) fn marker(kind: &'static str) -> String {
    format!("[REDACTED:{kind}]")
}
