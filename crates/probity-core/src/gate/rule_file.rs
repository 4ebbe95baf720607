//! A file of rules, as people write it.

use std::collections::BTreeMap;
use std::fmt;

use probity_contract::Integrity;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::example::CallExample;
use super::mode::Mode;

/// Rules with their reasons and examples. Unknown keys are refused.
///
/// ```toml
/// mode = "deny"
/// allow = ["fs_list", { rule = "fs_read(work/docs/**)", match = ["fs_read(work/docs/a.md)"] }]
/// deny = [{ rule = "shell(rm *)", reason = "nothing is removed", match = ["shell(env rm x)"], not_match = ["shell(ls form)"] }]
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleFile {
    /// What follows where these rules are silent, and whether only reads may run; unstated where it is missing.
    pub mode: Mode,
    /// Calls that may run.
    pub allow: Vec<RuleEntry>,
    /// Calls about which a person is asked.
    pub ask: Vec<RuleEntry>,
    /// Calls that must not run.
    pub deny: Vec<RuleEntry>,
}

/// One rule: its text, or a table with its reason and with examples that are checked when it is loaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleEntry {
    /// `tool` or `tool(pattern)`.
    pub rule: String,
    /// Why it is there; the model and the person who is asked read it.
    pub reason: Option<String>,
    /// How far all that the model has read must be believed: less, and an allow rule does not match, and an ask or deny rule
    /// only then.
    pub needs: Option<Integrity>,
    /// The same of single arguments, by name.
    pub arguments: BTreeMap<String, Integrity>,
    /// Calls that the rule must match, read as its list is read: strictly to allow, loosely to ask and deny.
    pub matches: Vec<CallExample>,
    /// Calls that it must not match.
    pub not_match: Vec<CallExample>,
}

impl RuleFile {
    /// Whether it states nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<String> for RuleEntry {
    fn from(rule: String) -> Self {
        Self { rule, ..Self::default() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    rule: String,
    reason: Option<String>,
    needs: Option<Integrity>,
    #[serde(default)]
    arguments: BTreeMap<String, Integrity>,
    #[serde(default, rename = "match")]
    matches: Vec<CallExample>,
    #[serde(default)]
    not_match: Vec<CallExample>,
}

impl<'de> Deserialize<'de> for RuleEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

/// An untagged enum lost: it would say that nothing fits where one key is misspelt.
struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = RuleEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule, or a table with `rule`")
    }

    fn visit_str<E: Error>(self, rule: &str) -> Result<RuleEntry, E> {
        Ok(rule.to_owned().into())
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<RuleEntry, M::Error> {
        let Table { rule, reason, needs, arguments, matches, not_match } =
            Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(RuleEntry { rule, reason, needs, arguments, matches, not_match })
    }
}
