use probity_contract::{
    CallId, ContentSetting, Entry, Fact, ModelName, PartId, PrincipalId, RECORD_VERSION, RunId,
};
use serde::Deserialize;

use crate::facts::{kind_of, parts_of};
use crate::frame::Frame;
use crate::record::RecordErrorKind;
use crate::story::call_of;

/// An entry and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Counted from 0 without a gap.
    pub seq: u64,
    /// Milliseconds since the run started; never goes back.
    pub at_ms: u64,
    /// Where its frame begins, in bytes from the start of the record.
    pub offset: u64,
    /// What happened.
    pub fact: Noted,
}

impl Line {
    /// The texts that the entry refers to, in the order in which it names them; of an entry that is not understood, none.
    #[must_use]
    pub fn texts(&self) -> &[PartId] {
        match &self.fact {
            Noted::Known(fact) => parts_of(fact),
            Noted::Opaque { .. } => &[],
        }
    }

    /// The name of its fact, as it stands in the record.
    #[must_use]
    pub fn kind(&self) -> &str {
        match &self.fact {
            Noted::Known(fact) => kind_of(fact),
            Noted::Opaque { kind, .. } => kind,
        }
    }

    /// The tool call that it is about; of an entry that is not understood, none.
    #[must_use]
    pub const fn call(&self) -> Option<CallId> {
        match &self.fact {
            Noted::Known(fact) => call_of(fact),
            Noted::Opaque { .. } => None,
        }
    }
}

/// A fact, or what a later writer wrote in its place.
#[derive(Debug, Clone, PartialEq)]
pub enum Noted {
    /// A fact that this program knows.
    Known(Fact),
    /// A whole and checked entry whose fact this program does not understand: another kind, or a value that is new to
    /// it. It is kept as it was written; nothing is computed from it.
    Opaque {
        /// The name of the fact.
        kind: String,
        /// The entry as JSON.
        json: String,
    },
}

/// What the first entry says of the run, as far as every version says it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Start {
    /// The version of the facts.
    pub version: u32,
    /// The run.
    pub run: RunId,
    /// A few words that tell people which run this is.
    pub title: String,
    /// For whom it acts.
    pub principal: PrincipalId,
    /// The model.
    pub model: ModelName,
    /// How much content is kept; `None` for a setting of a later version.
    #[serde(default, deserialize_with = "known_or_none")]
    pub content: Option<ContentSetting>,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_unix_ms: u64,
}

#[derive(Deserialize)]
struct Outline {
    seq: u64,
    at_ms: u64,
    fact: Kind,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

#[derive(Deserialize)]
struct Versioned {
    fact: Version,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
struct Started {
    fact: Start,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum KnownOr<T> {
    Known(T),
    Other(serde::de::IgnoredAny),
}

fn known_or_none<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<ContentSetting>, D::Error> {
    KnownOr::deserialize(from).map(|setting| match setting {
        KnownOr::Known(setting) => Some(setting),
        KnownOr::Other(_) => None,
    })
}

pub(crate) fn malformed(frame: Frame<'_>, error: &serde_json::Error) -> RecordErrorKind {
    RecordErrorKind::Malformed { at: frame.offset, why: error.to_string() }
}

pub(crate) fn read_line(frame: Frame<'_>) -> Result<Line, RecordErrorKind> {
    let offset = frame.offset;
    if let Ok(entry) = serde_json::from_slice::<Entry>(frame.payload) {
        let fact = Noted::Known(entry.fact);
        return Ok(Line { seq: entry.seq, at_ms: entry.at_ms, offset, fact });
    }
    let outline: Outline = serde_json::from_slice(frame.payload).map_err(|error| malformed(frame, &error))?;
    let json = String::from_utf8_lossy(frame.payload).into_owned();
    let fact = Noted::Opaque { kind: outline.fact.kind, json };
    Ok(Line { seq: outline.seq, at_ms: outline.at_ms, offset, fact })
}

/// Reads the version alone first: a later version may have changed everything else.
pub(crate) fn read_start(frame: Frame<'_>, line: &Line) -> Result<Start, RecordErrorKind> {
    let no_start = RecordErrorKind::NoStart { at: frame.offset };
    let is_start = match &line.fact {
        Noted::Known(fact) => matches!(fact, Fact::RunStarted(_)),
        Noted::Opaque { kind, .. } => kind == "run_started",
    };
    let version = serde_json::from_slice::<Versioned>(frame.payload);
    match version {
        Ok(Versioned { fact: Version { version } }) if is_start && version > RECORD_VERSION => {
            Err(RecordErrorKind::LaterVersion { found: version })
        }
        Ok(_) if is_start => {
            let started: Result<Started, _> = serde_json::from_slice(frame.payload);
            started.map(|started| started.fact).map_err(|_| no_start)
        }
        Ok(_) | Err(_) => Err(no_start),
    }
}
