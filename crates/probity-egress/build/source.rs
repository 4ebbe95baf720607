use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::shape::{self, Shape};

/// A kind of credential, read and checked.
pub(crate) struct Kind {
    pub(crate) entry: Entry,
    pub(crate) shapes: Vec<Shape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<Entry>,
}

/// A kind as the file has it; `vocabulary/README.md` explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) kind: String,
    shapes: Vec<String>,
    #[serde(default)]
    pub(crate) glue: bool,
    #[serde(default)]
    pub(crate) confidence: Confidence,
    #[serde(default)]
    pub(crate) checks: Vec<Check>,
    #[serde(default)]
    pub(crate) secret_chars: usize,
    pub(crate) examples: Vec<String>,
    pub(crate) counterexamples: Vec<String>,
    source: String,
}

#[derive(Deserialize, Clone, Copy, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Confidence {
    Medium,
    #[default]
    High,
}

/// What of the token's inside is verified; named as the enum of the library.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Check {
    Crc32Base62,
    Crc32Hex,
    JwtHeader,
}

/// Reads every file of the folder, in the order of their names.
pub(crate) fn read(folder: &Path) -> Result<Vec<Kind>, Box<dyn Error>> {
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Box<dyn Error>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut ids = BTreeSet::new();
    let mut kinds = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().display().to_string();
        let file: File =
            toml::from_str(&fs::read_to_string(&path)?).map_err(|error| format!("{name}: {error}"))?;
        for entry in file.kind {
            let id = entry.id.clone();
            let kind = check(entry).map_err(|error| format!("{name}: `{id}`: {error}"))?;
            if !ids.insert(id.clone()) {
                return Err(format!("{name}: `{id}`: there is another kind of this id").into());
            }
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

fn check(entry: Entry) -> Result<Kind, String> {
    let is_name = |name: &str| {
        name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && (1..=40).contains(&name.len())
    };
    if !is_name(&entry.id) || !is_name(&entry.kind) {
        return Err("id and kind are at most 40 of a-z, 0-9 and `-`".to_owned());
    }
    if entry.examples.is_empty() || entry.counterexamples.is_empty() {
        return Err("a kind has examples and counterexamples".to_owned());
    }
    if !is_page(&entry.source) {
        return Err(format!("the source `{}` is not the address of a public page", entry.source));
    }
    let parse = |text: &String| shape::parse(text).map_err(|error| format!("`{text}`: {error}"));
    let shapes: Vec<Shape> = entry.shapes.iter().map(parse).collect::<Result<_, _>>()?;
    if shapes.is_empty() {
        return Err("a kind has shapes".to_owned());
    }
    // Four fixed characters in front, or a sign no word has within it, or the token must begin a word.
    let is_plain = |shape: &Shape| !shape.anchor.texts.iter().all(|text| text.contains('~'));
    if entry.glue && shapes.iter().any(|shape| shape.fixed_start() < 4 && is_plain(shape)) {
        return Err("glue needs four fixed characters in front, or `~` in the fixed text".to_owned());
    }
    Ok(Kind { entry, shapes })
}

/// `https://`, a host with a dot, no space.
fn is_page(source: &str) -> bool {
    source.strip_prefix("https://").is_some_and(|rest| {
        let host = rest.split_once('/').map_or(rest, |(host, _)| host);
        host.contains('.') && !rest.contains(char::is_whitespace)
    })
}
