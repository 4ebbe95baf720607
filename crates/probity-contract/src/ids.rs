//! Names and numbers with a meaning, each its own type.
//!
//! Names that come from outside (tools, policies, principals, runs) are validated once, in their constructor and in
//! `Deserialize`. Numbers that the run machine counts out (items, calls, model calls) are plain newtypes: the machine
//! never takes an id from a model, because two hostile calls may carry the same one.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Bytes of a refused text up to which an error quotes it.
const QUOTED_BYTES_MAX: usize = 4 * 1024;

/// Why a name was refused. `Display` quotes the text; it is redacted before it leaves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("use `{value}` as a {what}: {rule}")]
pub struct NameError {
    what: &'static str,
    rule: &'static str,
    value: String,
}

fn checked(what: &'static str, rule: &'static str, value: &str, ok: bool) -> Result<Arc<str>, NameError> {
    if ok { Ok(Arc::from(value)) } else { Err(NameError { what, rule, value: quoted(value) }) }
}

/// A refused text as an error quotes it: whole or not at all, for half a credential is none that a pass knows.
fn quoted(value: &str) -> String {
    if value.len() > QUOTED_BYTES_MAX {
        return format!("[a text of {} bytes]", value.len());
    }
    value.chars().filter(|c| !c.is_control()).collect()
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and keeps the name.
            ///
            /// # Errors
            /// When the text does not follow the type's rule.
            pub fn new(value: impl AsRef<str>) -> Result<Self, NameError> {
                let value = value.as_ref();
                let check: fn(&str) -> bool = $check;
                checked($what, $rule, value, check(value)).map(Self)
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(value: String) -> Result<Self, NameError> {
                Self::new(value)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), &self.0)
            }
        }
    };
}

fn is_slug(text: &str, chars_max: usize) -> bool {
    !text.is_empty()
        && text.len() <= chars_max
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

fn is_plain_line(text: &str, chars_max: usize) -> bool {
    !text.trim().is_empty() && text.chars().count() <= chars_max && text.chars().all(|c| !c.is_control())
}

name_type!(
    /// The id of one run: 1 to 64 ASCII letters, digits, `_` or `-`, safe as a file name.
    RunId, "run id", "1 to 64 ASCII letters, digits, `_` or `-`", |t| is_slug(t, 64)
);
name_type!(
    /// A tool's name: 1 to 64 ASCII letters, digits, `_` or `-`, the rule every provider accepts.
    ToolName, "tool name", "1 to 64 ASCII letters, digits, `_` or `-`", |t| is_slug(t, 64)
);
name_type!(
    /// A policy's name, one line of at most 128 characters.
    PolicyName, "policy name", "one line of 1 to 128 characters", |t| is_plain_line(t, 128)
);
name_type!(
    /// An interceptor's name, one line of at most 128 characters.
    InterceptorName, "interceptor name", "one line of 1 to 128 characters", |t| is_plain_line(t, 128)
);
name_type!(
    /// Who launched the work, one line of at most 256 characters.
    PrincipalId, "principal", "one line of 1 to 256 characters", |t| is_plain_line(t, 256)
);
name_type!(
    /// A model as people name it: `provider/model`, one line of at most 256 characters.
    ModelName, "model name", "one line of 1 to 256 characters", |t| is_plain_line(t, 256)
);

macro_rules! counted_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                let number = text.strip_prefix($prefix).and_then(|n| n.parse().ok());
                number.map(Self).ok_or_else(|| NameError {
                    what: stringify!($name),
                    rule: concat!("`", $prefix, "` and a number"),
                    value: quoted(text),
                })
            }
        }
    };
}

counted_type!(
    /// A context item of one run, counted from 1 in the order of arrival. Shown as `i7`.
    ItemId, "i"
);
counted_type!(
    /// A tool call of one run, counted from 1 in the order of proposal. Shown as `c3`.
    CallId, "c"
);
counted_type!(
    /// A model call of one run, counted from 1. Shown as `m2`.
    ModelCallId, "m"
);

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
