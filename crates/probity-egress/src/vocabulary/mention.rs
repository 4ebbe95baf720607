use std::collections::HashMap;
use std::sync::LazyLock;

use super::vendors;

/// What a word before a value says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mention {
    /// A service whose name means nothing else.
    Service,
    /// A service whose name is also a word.
    Word,
    /// A credential.
    Credential,
    /// Nothing in itself: it stands between names and values.
    Filler,
    /// That the value is something else.
    Not,
    Unknown,
}

/// Words for credentials.
const CREDENTIALS: &[&str] = &[
    "access",
    "apikey",
    "apikeys",
    "auth",
    "bearer",
    "cred",
    "credential",
    "credentials",
    "key",
    "keys",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "private",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
];

/// Words between names and values.
const FILLERS: &[&str] = &[
    "a",
    "account",
    "admin",
    "an",
    "api",
    "app",
    "client",
    "config",
    "const",
    "current",
    "customer",
    "default",
    "dev",
    "env",
    "export",
    "for",
    "global",
    "integration",
    "is",
    "let",
    "live",
    "master",
    "my",
    "new",
    "oauth",
    "of",
    "org",
    "our",
    "params",
    "personal",
    "prod",
    "production",
    "project",
    "read",
    "rest",
    "sandbox",
    "server",
    "service",
    "set",
    "sk",
    "staging",
    "str",
    "string",
    "team",
    "test",
    "the",
    "user",
    "v1",
    "v2",
    "v3",
    "val",
    "value",
    "var",
    "webhook",
    "with",
    "write",
    "x",
    "your",
];

/// Words that make a drawn value something else than a credential.
const NOT: &[&str] = &[
    "blob",
    "build",
    "cache",
    "checksum",
    "commit",
    "correlation",
    "digest",
    "etag",
    "event",
    "file",
    "fingerprint",
    "guid",
    "hash",
    "id",
    "image",
    "integrity",
    "layer",
    "md5",
    "object",
    "pub",
    "public",
    "ref",
    "request",
    "rev",
    "revision",
    "sha",
    "sha1",
    "sha256",
    "sha512",
    "span",
    "tag",
    "trace",
    "transaction",
    "tree",
    "uuid",
    "version",
];

/// The shortest name of a service that is found at the end of a longer word.
const GLUED_BYTES_MIN: usize = 6;

/// The shortest name of a service that is found at the beginning of a longer word.
const NAME_BYTES_MIN: usize = 4;

/// What a word in small letters says: as it is, or behind which words for credentials are glued (`acmeapikey`).
pub(crate) fn mention(word: &str) -> Mention {
    if word.bytes().all(|b| b.is_ascii_digit()) {
        return Mention::Filler;
    }
    let whole = one(word);
    if whole != Mention::Unknown {
        return whole;
    }
    // `key2`: which of several.
    let mut rest = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let unnumbered = if rest.len() >= 3 { one(rest) } else { Mention::Unknown };
    if rest.len() < word.len() && unnumbered == Mention::Credential {
        return unnumbered;
    }
    let mut credential = false;
    while let Some((shorter, is_credential)) = without_ending(rest) {
        rest = shorter;
        credential |= is_credential;
        match one(rest) {
            Mention::Unknown => {}
            Mention::Credential | Mention::Filler => return Mention::Credential,
            Mention::Word if credential => return Mention::Service,
            other @ (Mention::Service | Mention::Word | Mention::Not) => return other,
        }
    }
    let (services, _) = vendors();
    let glued = (1..rest.len().saturating_sub(GLUED_BYTES_MIN - 1))
        .filter_map(|at| rest.get(at..))
        .any(|ending| services.binary_search(&ending).is_ok());
    match (glued || names_both(word), credential) {
        (true, _) => Mention::Service,
        (false, true) => Mention::Credential,
        (false, false) => Mention::Unknown,
    }
}

/// Whether a service's name begins a word and one for a credential is further on in it: `acmeSecretTest`.
fn names_both(word: &str) -> bool {
    const WITHIN: [&str; 5] = ["secret", "token", "private", "access", "apikey"];
    let Some(to) = WITHIN.iter().filter_map(|within| word.find(within)).min() else { return false };
    let (services, words) = vendors();
    let is_service = |name: &str| services.binary_search(&name).is_ok() || words.binary_search(&name).is_ok();
    (NAME_BYTES_MIN..=to).filter_map(|len| word.get(..len)).any(is_service)
}

fn one(word: &str) -> Mention {
    MENTIONS.get(word).copied().unwrap_or(Mention::Unknown)
}

/// All the words; where a word is in several lists, the last one here counts.
static MENTIONS: LazyLock<HashMap<&str, Mention>> = LazyLock::new(|| {
    let (services, words) = vendors();
    [
        (words, Mention::Word),
        (services, Mention::Service),
        (NOT, Mention::Not),
        (FILLERS, Mention::Filler),
        (CREDENTIALS, Mention::Credential),
    ]
    .into_iter()
    .flat_map(|(list, mention)| list.iter().map(move |word| (*word, mention)))
    .collect()
});

/// The word without one glued word at its end, and whether that was one for a credential.
fn without_ending(word: &str) -> Option<(&str, bool)> {
    let shorter = |ending: &&str| word.strip_suffix(*ending).filter(|rest| rest.len() >= 2);
    let credential = CREDENTIALS.iter().find_map(shorter).map(|rest| (rest, true));
    credential.or_else(|| {
        let fillers = ["api", "client", "app", "oauth", "user", "account", "service", "id"];
        fillers.iter().find_map(shorter).map(|rest| (rest, false))
    })
}

#[cfg(test)]
#[path = "mention_tests.rs"]
mod tests;
