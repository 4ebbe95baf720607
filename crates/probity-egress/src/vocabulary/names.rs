/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// The value is a credential of this kind.
    Credential(&'static str, Strength),
    /// A header that carries a scheme and credentials.
    Authorization,
    /// A header that carries pairs.
    Cookie,
}

/// How much the name alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// Any value is one.
    Password,
    /// A value that is not plainly a word is one.
    Secret,
    /// A common word (`key`, `token`): the value must look drawn.
    Key,
}

/// Words at the end of a name that say which of several, not what.
const WHICH: &[&str] = &[
    "prod",
    "production",
    "dev",
    "development",
    "test",
    "testing",
    "staging",
    "stage",
    "live",
    "sandbox",
    "base",
    "value",
    "val",
    "raw",
    "plain",
    "plaintext",
    "old",
    "new",
    "current",
    "default",
    "base64",
    "b64",
    "encoded",
    "str",
    "primary",
    "secondary",
    "main",
    "admin",
    "master",
    "root",
    "env",
    "var",
    "override",
    "v1",
    "v2",
    "v3",
    "a",
    "b",
    "is",
];

/// Endings of the name's letters, with what they say.
const ENDINGS: &[(&str, &str, Strength)] = &[
    ("password", "password", Strength::Password),
    ("passwd", "password", Strength::Password),
    ("passphrase", "password", Strength::Password),
    ("passcode", "password", Strength::Password),
    ("passwort", "password", Strength::Password),
    ("userpass", "password", Strength::Password),
    ("dbpass", "password", Strength::Password),
    ("rootpass", "password", Strength::Password),
    ("mysqlpwd", "password", Strength::Password),
    ("accesskey", "api-key", Strength::Secret),
    ("accountkey", "api-key", Strength::Secret),
    ("apikey", "api-key", Strength::Secret),
    ("authkey", "api-key", Strength::Secret),
    ("deploykey", "api-key", Strength::Secret),
    ("encryptionkey", "secret", Strength::Secret),
    ("licensekey", "api-key", Strength::Secret),
    ("masterkey", "secret", Strength::Secret),
    ("privatekey", "private-key", Strength::Secret),
    ("secretkey", "secret", Strength::Secret),
    ("servicekey", "api-key", Strength::Secret),
    ("sessionkey", "secret", Strength::Secret),
    ("sharedkey", "secret", Strength::Secret),
    ("presharedkey", "secret", Strength::Secret),
    ("signingkey", "secret", Strength::Secret),
    ("storagekey", "api-key", Strength::Secret),
    ("subscriptionkey", "api-key", Strength::Secret),
    ("integrationkey", "api-key", Strength::Secret),
    ("routingkey", "api-key", Strength::Secret),
    ("consumerkey", "api-key", Strength::Secret),
    ("accesstoken", "token", Strength::Secret),
    ("apitoken", "token", Strength::Secret),
    ("authtoken", "token", Strength::Secret),
    ("bearertoken", "token", Strength::Secret),
    ("bottoken", "token", Strength::Secret),
    ("refreshtoken", "token", Strength::Secret),
    ("securitytoken", "token", Strength::Secret),
    ("sessiontoken", "token", Strength::Secret),
    ("sastoken", "token", Strength::Secret),
    ("secret", "secret", Strength::Secret),
    ("credential", "credential", Strength::Secret),
    ("credentials", "credential", Strength::Secret),
    ("connectionstring", "connection-string", Strength::Secret),
    ("token", "token", Strength::Key),
];

/// Whole last words, with what they say.
const WORDS: &[(&str, &str, Strength)] = &[
    ("pass", "password", Strength::Password),
    ("pwd", "password", Strength::Password),
    ("pw", "password", Strength::Password),
    ("pswd", "password", Strength::Password),
    ("auth", "credential", Strength::Key),
    ("bearer", "token", Strength::Key),
    ("basic", "token", Strength::Key),
    ("cred", "credential", Strength::Secret),
    ("creds", "credential", Strength::Secret),
    ("key", "api-key", Strength::Key),
    ("access", "token", Strength::Key),
    ("oauth", "token", Strength::Key),
    ("otp", "password", Strength::Key),
    ("pat", "token", Strength::Key),
    ("salt", "secret", Strength::Key),
    ("nonce", "secret", Strength::Key),
    ("sig", "signature", Strength::Secret),
    ("signature", "signature", Strength::Key),
];

/// Words that make a `key` or `token` something else.
const NEGATIVE: &[&str] = &[
    "public",
    "pub",
    "max",
    "min",
    "num",
    "count",
    "total",
    "await",
    "start",
    "end",
    "next",
    "prev",
    "previous",
    "page",
    "continuation",
    "eof",
    "eos",
    "bos",
    "pad",
    "unk",
    "mask",
    "sep",
    "stop",
    "special",
    "syntax",
    "trivia",
    "lex",
    "input",
    "output",
    "prompt",
    "completion",
    "cache",
    "foreign",
    "partition",
    "sort",
    "map",
    "dict",
    "object",
    "row",
    "group",
    "index",
    "route",
    "cancel",
    "cancellation",
    "cancelation",
    "idempotency",
    "hot",
    "integrity",
    "checksum",
    "digest",
    "hash",
    "sha",
    "commit",
    "resolved",
    "etag",
    "translation",
    "i18n",
    "query",
    "lookup",
    "shift",
    "ctrl",
];

/// What the name of a value says, `None` for nearly all names.
///
/// Letter case, and whether words are glued, hyphenated or in humps, make no difference.
pub(crate) fn classify_name(name: &str) -> Option<Name> {
    let words = words_of(name);
    let mut words: &[String] = &words;
    while let Some((last, before)) = words.split_last()
        && !before.is_empty()
        && (WHICH.contains(&last.as_str()) || last.bytes().all(|b| b.is_ascii_digit()))
    {
        words = before;
    }
    let last = words.last()?.trim_end_matches(|c: char| c.is_ascii_digit());
    let joined: String = words.concat();
    let joined = joined.trim_end_matches(|c: char| c.is_ascii_digit());
    match joined {
        "authorization" | "proxyauthorization" => return Some(Name::Authorization),
        "cookie" | "setcookie" => return Some(Name::Cookie),
        _ => {}
    }
    let found = ENDINGS
        .iter()
        .filter(|(ending, _, _)| joined.ends_with(ending))
        .max_by_key(|(ending, _, _)| ending.len())
        .or_else(|| WORDS.iter().find(|(word, _, _)| *word == last))?;
    let (_, kind, strength) = *found;
    let negated = words.iter().any(|word| NEGATIVE.contains(&word.as_str()));
    (strength == Strength::Password || !negated).then_some(Name::Credential(kind, strength))
}

/// The words of a name in lower case: split at signs, at humps, and between a digit and a capital.
fn words_of(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = name.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(char::is_ascii_lowercase);
        let hump = c.is_ascii_uppercase()
            && (last.is_ascii_lowercase()
                || last.is_ascii_digit()
                || (last.is_ascii_uppercase() && next_is_lower));
        if (hump || !c.is_ascii_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        last = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
