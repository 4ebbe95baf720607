//! Families as they are written.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

/// What there is to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Single,
    Joint,
    Redundant,
    Absent,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    Culprit,
    Needed,
    Absent,
    Decoy,
    #[default]
    Innocent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    Context,
    Result,
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FamilyReach {
    #[default]
    Near,
    Whole,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FamilyItem {
    pub(crate) place: Place,
    #[serde(default)]
    pub(crate) role: Role,
    pub(crate) name: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    #[serde(skip)]
    pub(crate) name: String,
    #[expect(dead_code, reason = "for readers of the file")]
    about: String,
    pub(crate) kind: Kind,
    pub(crate) person: String,
    pub(crate) ask: String,
    pub(crate) others: Vec<String>,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) item: Vec<FamilyItem>,
    #[serde(default)]
    pub(crate) rules_first: String,
    pub(crate) rules: String,
    #[serde(default = "one")]
    pub(crate) turns_min: usize,
    #[serde(default)]
    pub(crate) absent_fillers: usize,
    #[serde(default)]
    pub(crate) reach: FamilyReach,
}

fn one() -> usize {
    1
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fillers {
    pub(crate) texts: Vec<String>,
    pub(crate) echoes: Vec<String>,
}

/// All families of a folder, by the name of their files.
#[derive(Debug)]
pub(crate) struct Families {
    pub(crate) list: Vec<Family>,
    pub(crate) fillers: Fillers,
}

impl Families {
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("whybench/fillers.toml");
        let fillers = toml::from_str(&std::fs::read_to_string(own)?).context("read the fillers")?;
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).with_context(|| format!("read `{}`", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                paths.push(path);
            }
        }
        paths.sort();
        let mut list = Vec::new();
        for path in paths {
            let text = std::fs::read_to_string(&path)?;
            let mut family: Family =
                toml::from_str(&text).with_context(|| format!("read `{}`", path.display()))?;
            family.name =
                path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            list.push(family);
        }
        if list.is_empty() {
            bail!("there is no family in `{}`", folder.display());
        }
        Ok(Self { list, fillers })
    }
}
