//! A call written down by a person: as an example of a rule, or as a case of a test.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use probity_contract::{
    Access, ArgumentSource, Arguments, CallFacts, CallId, Digest, FrozenCall, Integrity, Label, PrincipalId,
    RunId, Target, ToolName, ToolSpec,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use url::Url;

use super::needs::{pointer_of, values_below};
use super::shell::command_targets;

/// A call with what it would touch, without its tool being asked.
///
/// Short: `tool`, or `tool(what it touches)`: `fs_read(work/docs/a.md)` a path as `root/path`, `shell(git log | head)` a
/// command line, `http_get(https://example.org/a)` an address that is read, `pay(to=ACME-1, amount=5)` named arguments. What
/// has `://` is an address, what begins with `name=` arguments, what `shell` takes or has a blank a command line, what has a
/// `/` or belongs to a tool `fs_…` a path, anything else a program.
///
/// Long, for what the short form cannot say: a table with `tool` and any of `arguments`, `path` with `resolved`, `write` and
/// `recursive`, `command` (a line, or a list of words), `url` with `method`, `other` with `what` and `value`; and `integrity`, how far
/// all that the model had read may be believed, with `arguments_integrity` for single arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct CallExample {
    said: String,
    tool: ToolName,
    arguments: Map<String, Value>,
    targets: Vec<Target>,
    integrity: Integrity,
    arguments_integrity: BTreeMap<String, Integrity>,
}

/// Why an example cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the call `{call}`: {why}")]
pub struct ExampleError {
    call: String,
    why: String,
}

impl CallExample {
    /// The call as it would be judged; after the model has read somebody else's words, if it does not say otherwise.
    ///
    /// # Errors
    /// When it cannot be frozen: its arguments have no canonical form, or one that it tells of is not there.
    pub fn freeze(&self, tools: &[ToolSpec]) -> Result<FrozenCall, ExampleError> {
        let fail =
            |error: &dyn fmt::Display| ExampleError { call: self.said.clone(), why: error.to_string() };
        let known = tools.iter().find(|spec| spec.name == self.tool);
        let arguments = Value::Object(self.arguments.clone());
        let arguments_from = self.sources(&arguments).map_err(|error| fail(&error))?;
        let facts = CallFacts {
            run: RunId::new("example").map_err(|error| fail(&error))?,
            call: CallId(1),
            principal: PrincipalId::new("example").map_err(|error| fail(&error))?,
            tool: self.tool.clone(),
            tool_digest: known.map_or_else(|| Digest::of("probity.no-tool.v1", &[]), ToolSpec::digest),
            arguments: Arguments::from_value(&arguments).map_err(|error| fail(&error))?,
            targets: self.targets.clone(),
            operands: Vec::new(),
            arguments_from,
            label: Label::of(self.integrity),
        };
        FrozenCall::freeze(facts).map_err(|error| fail(&error))
    }

    /// Every value of the arguments that it tells of by itself.
    fn sources(&self, arguments: &Value) -> Result<Vec<ArgumentSource>, String> {
        let mut sources = Vec::new();
        for (name, integrity) in &self.arguments_integrity {
            let at = pointer_of(arguments, name).ok_or_else(|| format!("it has no argument `{name}`"))?;
            let source = |at| ArgumentSource { at, integrity: *integrity, item: None, part: None };
            sources.extend(values_below(arguments, &at).into_iter().map(source));
        }
        Ok(sources)
    }

    fn short(said: &str) -> Result<Self, String> {
        let (tool, what) = match said.trim().split_once('(') {
            None => (said.trim(), None),
            Some((tool, rest)) => {
                let what = rest.strip_suffix(')').ok_or("the bracket is not closed")?.trim();
                (
                    tool.trim_end(),
                    Some(what)
                        .filter(|what| !what.is_empty())
                        .map_or(Err("the brackets are empty"), |w| Ok(Some(w)))?,
                )
            }
        };
        let tool = ToolName::new(tool).map_err(|error| error.to_string())?;
        let mut example = Self {
            said: said.to_owned(),
            tool,
            arguments: Map::new(),
            targets: Vec::new(),
            integrity: Integrity::Untrusted,
            arguments_integrity: BTreeMap::new(),
        };
        let Some(what) = what else { return Ok(example) };
        let is_path = example.tool.as_str().starts_with("fs_");
        let is_command = example.tool.as_str() == "shell" || what.contains(char::is_whitespace);
        if what.contains("://") {
            example.targets.push(url(what, "GET")?);
        } else if !is_path && begins_with_a_name(what) {
            example.arguments = named(what)?;
        } else if !is_path && (is_command || !what.contains('/')) {
            example.targets = command_targets(what);
        } else {
            example.targets.push(path(what, None, Access::Read, false));
        }
        Ok(example)
    }

    fn long(table: Table) -> Result<Self, String> {
        let Table {
            tool,
            arguments,
            path: at,
            resolved,
            write,
            recursive,
            command,
            url: address,
            method,
            other,
            integrity,
            arguments_integrity,
        } = table;
        let said = format!("a table for {tool}");
        let access = if write { Access::Write } else { Access::Read };
        if at.is_none() && (resolved.is_some() || write || recursive) {
            return Err("`resolved`, `write` and `recursive` belong to a `path`".to_owned());
        }
        if address.is_none() && method.is_some() {
            return Err("`method` belongs to a `url`".to_owned());
        }
        let mut targets = match command {
            None => Vec::new(),
            Some(CommandText::Line(line)) => command_targets(&line),
            Some(CommandText::Words(argv)) => vec![Target::Command { argv }],
        };
        targets.extend(at.map(|at| path(&at, resolved.as_deref(), access, recursive)));
        if let Some(address) = address {
            targets.push(url(&address, method.as_deref().unwrap_or("GET"))?);
        }
        targets.extend(other.map(|other| Target::Other { what: other.what, value: other.value }));
        let integrity = integrity.unwrap_or(Integrity::Untrusted);
        Ok(Self { said, tool, arguments, targets, integrity, arguments_integrity })
    }
}

impl fmt::Display for CallExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl FromStr for CallExample {
    type Err = ExampleError;

    fn from_str(said: &str) -> Result<Self, ExampleError> {
        Self::short(said).map_err(|why| ExampleError { call: said.to_owned(), why })
    }
}

fn begins_with_a_name(what: &str) -> bool {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    what.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(is_name))
}

/// `a=x, b=5`: what reads as JSON is that, anything else a string.
fn named(what: &str) -> Result<Map<String, Value>, String> {
    let argument = |part: &str| {
        let (name, value) = part.split_once('=').ok_or_else(|| {
            format!("`{}` is not `name=value`; an argument with a comma needs a table", part.trim())
        })?;
        let value = value.trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        Ok((name.trim().to_owned(), value))
    };
    what.split(',').map(argument).collect()
}

fn path(at: &str, resolved: Option<&str>, access: Access, recursive: bool) -> Target {
    let (root, path) = at.split_once('/').unwrap_or((at, "."));
    let within = |resolved: &str| match resolved.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) => rest.to_owned(),
        None => resolved.to_owned(),
    };
    let resolved = resolved.map_or_else(|| path.to_owned(), within);
    Target::Path { root: root.to_owned(), path: path.to_owned(), resolved, access, recursive }
}

fn url(address: &str, method: &str) -> Result<Target, String> {
    let mut url = Url::parse(address).map_err(|error| error.to_string())?;
    url.set_fragment(None);
    let host = url.host_str().ok_or("the address has no host")?.to_owned();
    let port = url.port_or_known_default().ok_or("the address has no port")?;
    Ok(Target::Url { url: url.into(), host, port, method: method.to_ascii_uppercase() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    tool: ToolName,
    #[serde(default)]
    arguments: Map<String, Value>,
    path: Option<String>,
    resolved: Option<String>,
    #[serde(default)]
    write: bool,
    #[serde(default)]
    recursive: bool,
    command: Option<CommandText>,
    url: Option<String>,
    method: Option<String>,
    other: Option<OtherTable>,
    integrity: Option<Integrity>,
    #[serde(default)]
    arguments_integrity: BTreeMap<String, Integrity>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a command line, or a list of words")]
enum CommandText {
    Line(String),
    Words(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherTable {
    what: String,
    value: String,
}

impl<'de> Deserialize<'de> for CallExample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExampleVisitor)
    }
}

struct ExampleVisitor;

impl<'de> Visitor<'de> for ExampleVisitor {
    type Value = CallExample;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a call as `tool(what it touches)`, or a table with `tool`")
    }

    fn visit_str<E: Error>(self, said: &str) -> Result<CallExample, E> {
        said.parse().map_err(E::custom)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<CallExample, M::Error> {
        CallExample::long(Table::deserialize(MapAccessDeserializer::new(map))?).map_err(M::Error::custom)
    }
}
