//! Recorded answers of providers, read in place.

#![expect(clippy::wildcard_enum_match_arm, reason = "values of foreign types")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use probity_models::Provider;
use serde_json::Value;

/// One recorded answer.
pub(crate) struct Recording {
    /// The file's path in the folder, with the number of the exchange where it holds several.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// What an answer is, told by the path or address alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    /// Something that no model call of ours brings back.
    Other(&'static str),
}

impl Kind {
    /// A provider that speaks the format, for the reader.
    pub(crate) fn provider(self) -> Option<Provider> {
        match self {
            Self::Chat => Some(Provider::OpenAiChat),
            Self::Responses => Some(Provider::OpenAi),
            Self::Anthropic => Some(Provider::Anthropic),
            Self::Gemini => Some(Provider::Gemini),
            Self::Other(_) => None,
        }
    }
}

/// All recordings, or `None` where the folder is not there.
pub(crate) fn recordings() -> Option<Vec<Recording>> {
    let folder = folder()?;
    let mut all = Vec::new();
    for path in files(&folder) {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        if name.starts_with("pydantic-ai/") {
            cassette(&name, &text, &mut all);
        } else {
            file(name, &text, &mut all);
        }
    }
    Some(all)
}

/// The one place that says what is read, by path for files and by address for exchanges.
fn kind(place: &str) -> Kind {
    const OTHER: [(&str, &str); 33] = [
        ("/skills/", "skills"),
        ("/interactions/", "Interactions API"),
        ("/speech-translation/", "live speech"),
        ("transcription", "transcription"),
        ("/image/", "images"),
        ("openai/completion/", "legacy completions"),
        ("amazon-bedrock/", "Bedrock Converse API"),
        ("/converse", "Bedrock Converse API"),
        ("count-tokens", "token counting"),
        ("count_tokens", "token counting"),
        (":countTokens", "token counting"),
        ("/input_tokens", "token counting"),
        ("cohere/", "Cohere's own API"),
        ("api.cohere.com", "Cohere's own API"),
        ("/responses/compact", "compaction"),
        ("DELETE ", "deletion"),
        ("/conversations", "conversation store"),
        ("/files", "files"),
        ("/vector_stores", "files"),
        ("fileSearchStores", "files"),
        ("oauth2.googleapis.com", "sign-in"),
        ("huggingface.co/api/models", "model catalogue"),
        ("ft3.ftcdn.net", "fetched media"),
        ("t3.ftcdn.net", "fetched media"),
        ("data.grepit.app", "fetched media"),
        ("raw.githubusercontent.com", "fetched media"),
        ("example-files.online-convert.com", "fetched media"),
        ("www.w3.org", "fetched media"),
        ("grpc:", "xAI's gRPC API"),
        ("GET https://api.openai.com/v1/responses/", "a stored response read again"),
        ("test_stream_close/grpc", "xAI's gRPC API"),
        ("test_xai/grpc", "xAI's gRPC API"),
        ("embeddings", "embeddings"),
    ];
    const READ: [(&str, Kind); 14] = [
        ("/chat/completions", Kind::Chat),
        ("/v1/responses", Kind::Responses),
        ("/v1/messages", Kind::Anthropic),
        // Bedrock's `invoke` answers in the body format of the model's maker.
        ("/invoke", Kind::Anthropic),
        ("enerateContent", Kind::Gemini),
        ("vercel-ai/anthropic/", Kind::Anthropic),
        ("vercel-ai/google/", Kind::Gemini),
        ("/responses/", Kind::Responses),
        ("vercel-ai/openai/chat/", Kind::Chat),
        ("vercel-ai/openai-compatible/chat/", Kind::Chat),
        ("vercel-ai/deepseek/chat/", Kind::Chat),
        ("vercel-ai/groq/", Kind::Chat),
        ("vercel-ai/mistral/", Kind::Chat),
        ("vercel-ai/xai/", Kind::Chat),
    ];
    let other = OTHER.iter().find(|(part, _)| place.contains(part)).map(|(_, what)| Kind::Other(what));
    let read = || READ.iter().find(|(part, _)| place.contains(part)).map(|(_, kind)| *kind);
    other.or_else(read).unwrap_or(Kind::Other("unknown"))
}

/// A recorded file: a body, a stream, or the data of streams' events, one a line.
fn file(name: String, text: &str, all: &mut Vec<Recording>) {
    let kind = kind(&name);
    if !name.ends_with(".chunks.txt") {
        let body = text.as_bytes().to_vec();
        return all.push(Recording { name, kind, status: 200, body });
    }
    // Some files hold the replies of several calls: a new one begins after a line that ended one.
    let is_end = |line: &str| {
        line.contains(r#""type":"message_stop""#) || line.contains(r#""type":"response.completed""#)
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut streams = vec![String::new()];
    let mut has_ended = false;
    for line in lines {
        if std::mem::replace(&mut has_ended, is_end(line)) {
            streams.push(String::new());
        }
        *streams.last_mut().unwrap() += &format!("data: {line}\n\n");
    }
    for (number, stream) in streams.into_iter().enumerate() {
        let name = if number == 0 { name.clone() } else { format!("{name}#{number}") };
        all.push(Recording { name, kind, status: 200, body: stream.into_bytes() });
    }
}

fn cassette(name: &str, text: &str, all: &mut Vec<Recording>) {
    let cassette: Value = match serde_yaml_ng::from_str(text) {
        Ok(cassette) => cassette,
        // Media that was fetched stands in some as tagged binary, which has no JSON form.
        Err(error) => {
            let cassette: serde_yaml_ng::Value =
                serde_yaml_ng::from_str(text).unwrap_or_else(|_| panic!("{name}: {error}"));
            untagged(cassette)
        }
    };
    for (number, exchange) in cassette["interactions"].as_array().into_iter().flatten().enumerate() {
        let name = format!("{name}#{number}");
        let Some(address) = exchange["request"]["uri"].as_str() else {
            let kind = kind("grpc:");
            all.push(Recording { name, kind, status: 200, body: Vec::new() });
            continue;
        };
        let kind =
            kind(&format!("{} {address}", exchange["request"]["method"].as_str().unwrap().to_uppercase()));
        let response = &exchange["response"];
        let status = u16::try_from(response["status"]["code"].as_u64().unwrap()).unwrap();
        let body = match (&response["parsed_body"], &response["body"]["string"]) {
            (Value::Null, Value::String(text)) => text.as_bytes().to_vec(),
            (parsed, _) => parsed.to_string().into_bytes(),
        };
        all.push(Recording { name, kind, status, body });
    }
}

/// A YAML value as JSON, without its tags.
fn untagged(value: serde_yaml_ng::Value) -> Value {
    use serde_yaml_ng::Value as Yaml;
    match value {
        Yaml::Tagged(tagged) => untagged(tagged.value),
        Yaml::Sequence(items) => items.into_iter().map(untagged).collect(),
        Yaml::Mapping(members) => {
            let name = |key: Yaml| match key {
                Yaml::String(text) => text,
                other => format!("{other:?}"),
            };
            Value::Object(members.into_iter().map(|(key, value)| (name(key), untagged(value))).collect())
        }
        plain => serde_json::to_value(plain).unwrap(),
    }
}

fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("PROBITY_CORPORA").map(PathBuf::from);
    let is_given = given.is_some();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = given.unwrap_or_else(|| root.join("../shared/corpora")).join("providers");
    if folder.is_dir() {
        return Some(folder);
    }
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!is_ci || is_given, "the corpora are missing: set PROBITY_CORPORA");
    None
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if ["json", "txt", "sse", "yaml"]
            .iter()
            .any(|end| path.extension().is_some_and(|own| own == *end))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The lines of a list of exceptions: a name and the reason.
pub(crate) fn exceptions(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").expect("a name, a colon and a reason")).collect()
}
