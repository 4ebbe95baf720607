//! What a call touches, as the resources that policies are asked about.
//!
//! Cedar has no way to say "every path of the call": a set can be asked for equal elements only. So each thing that the
//! call touches is a resource and is judged by itself, a path that leads elsewhere in both its forms. A permit then has to
//! hold for all of them and a forbid for one, without the policy saying so.

use std::collections::{HashMap, HashSet};

use cedar_policy::{Entity, RestrictedExpression};
use probity_contract::{Access, Effect, FrozenCall, Target};

use crate::limits::RESOURCES_MAX;
use crate::vocabulary::{Kind, Vocabulary, access_word, effect_word};

/// Characters up to which a reason quotes what it speaks of.
const QUOTED_CHARS_MAX: usize = 120;

/// One resource of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource<'a> {
    kind: Kind,
    id: String,
    facts: Facts<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Facts<'a> {
    Path { root: &'a str, path: &'a str, access: Access },
    Url { url: &'a str, host: &'a str, port: u16, method: &'a str },
    Command { argv: &'a [String] },
    Other { what: &'a str, value: &'a str },
    Tool { name: &'a str, effect: Effect },
}

/// The resources of a call: one for each thing that it touches, or the tool where it touches nothing.
pub(crate) fn resources(call: &FrozenCall, effect: Effect) -> Result<Vec<Resource<'_>>, String> {
    let mut resources = Vec::new();
    for target in call.targets() {
        match target {
            Target::Path { root, path, resolved, access, recursive } => {
                let kind = if *recursive { Kind::Tree } else { Kind::Path };
                let in_form = |path| Resource {
                    kind,
                    id: format!("{root}/{path}"),
                    facts: Facts::Path { root, path, access: *access },
                };
                resources.push(in_form(path));
                if resolved != path {
                    resources.push(in_form(resolved));
                }
            }
            Target::Url { url, host, port, method } => {
                let facts = Facts::Url { url, host, port: *port, method };
                resources.push(Resource { kind: Kind::Url, id: url.clone(), facts });
            }
            Target::Command { argv } => {
                resources.push(Resource {
                    kind: Kind::Command,
                    id: line(argv),
                    facts: Facts::Command { argv },
                });
            }
            Target::Other { what, value } => {
                let id = format!("{what}:{value}");
                resources.push(Resource { kind: Kind::Other, id, facts: Facts::Other { what, value } });
            }
        }
    }
    if resources.len() > RESOURCES_MAX {
        return Err(format!("the call touches more than {RESOURCES_MAX} things, too many to judge"));
    }
    if resources.is_empty() {
        let name = call.tool().as_str();
        resources.push(Resource {
            kind: Kind::Tool,
            id: name.to_owned(),
            facts: Facts::Tool { name, effect },
        });
    }
    Ok(resources)
}

impl Resource<'_> {
    /// The resource with its attributes.
    pub(crate) fn entity(&self, vocabulary: &Vocabulary) -> Result<Entity, String> {
        let text = |text: &str| RestrictedExpression::new_string(text.to_owned());
        let attributes = match self.facts {
            Facts::Path { root, path, access } => vec![
                ("root", text(root)),
                ("path", text(path)),
                ("access", vocabulary.word(Kind::Access, access_word(access))?),
            ],
            Facts::Url { url, host, port, method } => vec![
                ("url", text(url)),
                ("scheme", text(url.split_once(':').map_or("", |(scheme, _)| scheme))),
                ("host", text(host)),
                ("port", RestrictedExpression::new_long(port.into())),
                ("method", text(method)),
            ],
            Facts::Command { argv } => vec![
                ("program", text(argv.first().map_or("", String::as_str))),
                ("line", text(&self.id)),
                ("words", RestrictedExpression::new_set(argv.iter().skip(1).map(|word| text(word)))),
            ],
            Facts::Other { what, value } => vec![("what", text(what)), ("value", text(value))],
            Facts::Tool { name, effect } => {
                vec![("name", text(name)), ("effect", vocabulary.word(Kind::Effect, effect_word(effect))?)]
            }
        };
        let attributes: HashMap<String, RestrictedExpression> =
            attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let uid = vocabulary.entity(self.kind, &self.id)?;
        Entity::new(uid, attributes, HashSet::new()).map_err(|error| error.to_string())
    }

    /// What a reason calls it; nothing for the tool, which is what the reason is about anyhow.
    pub(crate) fn shown(&self) -> Option<String> {
        let (word, quoted) = match self.facts {
            Facts::Tool { .. } => return None,
            Facts::Path { .. } => ("path", self.id.as_str()),
            Facts::Url { url, .. } => ("address", url),
            Facts::Command { .. } => ("command", self.id.as_str()),
            Facts::Other { what, value } if what.len() < QUOTED_CHARS_MAX => (what, value),
            Facts::Other { value, .. } => ("target", value),
        };
        // Whole or not at all, for half a credential is none that a pass knows.
        if quoted.chars().count() > QUOTED_CHARS_MAX {
            return Some(format!("a {word} of {} bytes", quoted.len()));
        }
        Some(format!("the {word} `{quoted}`"))
    }
}

/// The words of a command as a shell would have to be given them: no two commands have the same line, and a space outside
/// quotes stands between two words and nowhere else.
fn line(argv: &[String]) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&b);
    let quoted = |word: &String| match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    argv.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "resource_tests.rs"]
mod tests;
