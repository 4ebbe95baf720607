//! A rule file as it is written, before anything in it is checked beyond its shape.

use probity_contract::{ModelErrorClass, Stop};
use serde::Deserialize;
use toml::Spanned;

use super::condition::Take;
use super::window::Kind;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFile {
    pub(crate) rule: Vec<Spanned<RawRule>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRule {
    pub(crate) name: Spanned<String>,
    #[serde(default)]
    pub(crate) when: Vec<Spanned<RawCondition>>,
    #[serde(default)]
    pub(crate) any: Vec<Spanned<RawCondition>>,
    #[serde(default)]
    pub(crate) unless: Vec<Spanned<RawCondition>>,
    #[serde(default, rename = "let")]
    pub(crate) lets: Vec<Spanned<String>>,
    #[serde(default, rename = "check")]
    pub(crate) checks: Vec<Spanned<String>>,
    pub(crate) reasoning: Option<Spanned<String>>,
    pub(crate) text: Option<Spanned<String>>,
    pub(crate) json: Option<Spanned<toml::Value>>,
    #[serde(default)]
    pub(crate) call: Vec<Spanned<RawCall>>,
    pub(crate) error: Option<Spanned<ModelErrorClass>>,
    pub(crate) message: Option<Spanned<String>>,
    pub(crate) stop: Option<Spanned<Stop>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCondition {
    pub(crate) kind: Kind,
    pub(crate) name: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) is_error: Option<bool>,
    pub(crate) since: Option<Kind>,
    #[serde(rename = "match")]
    pub(crate) pattern: Option<Spanned<String>>,
    pub(crate) take: Option<Take>,
    pub(crate) join: Option<String>,
    pub(crate) at_least: Option<usize>,
    pub(crate) at_most: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCall {
    pub(crate) tool: String,
    pub(crate) arguments: Option<Spanned<toml::Table>>,
    pub(crate) raw_arguments: Option<String>,
}

/// The rule in which a place of a file lies, for errors of files whose shape is wrong.
pub(crate) fn rule_around(text: &str, at: usize) -> Option<String> {
    #[derive(Deserialize)]
    struct Loose {
        rule: Vec<Spanned<LooseRule>>,
    }
    #[derive(Deserialize)]
    struct LooseRule {
        name: Option<String>,
    }
    let loose: Loose = toml::from_str(text).ok()?;
    let before = loose.rule.into_iter().take_while(|rule| rule.span().start <= at);
    before.last().and_then(|rule| rule.into_inner().name)
}
