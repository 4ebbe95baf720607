use std::sync::LazyLock;

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
    ("passphrase", "password", Strength::Password),
    ("passcode", "password", Strength::Password),
    ("passwort", "password", Strength::Password),
    ("kennwort", "password", Strength::Password),
    ("motdepasse", "password", Strength::Password),
    ("contrasena", "password", Strength::Password),
    ("contraseña", "password", Strength::Password),
    ("senha", "password", Strength::Password),
    ("пароль", "password", Strength::Password),
    ("密码", "password", Strength::Password),
    ("密碼", "password", Strength::Password),
    ("パスワード", "password", Strength::Password),
    ("비밀번호", "password", Strength::Password),
    ("패스워드", "password", Strength::Password),
    ("비번", "password", Strength::Password),
    ("암호", "password", Strength::Password),
    ("pasword", "password", Strength::Password),
    ("passwrd", "password", Strength::Password),
    ("passord", "password", Strength::Password),
    ("passwd", "password", Strength::Password),
    ("passw", "password", Strength::Password),
    ("paswrd", "password", Strength::Password),
    ("paswd", "password", Strength::Password),
    ("psswd", "password", Strength::Password),
    ("psswrd", "password", Strength::Password),
    ("pssword", "password", Strength::Password),
    ("psword", "password", Strength::Password),
    ("pswrd", "password", Strength::Password),
    ("pswd", "password", Strength::Password),
    ("userpwd", "password", Strength::Password),
    ("dbpwd", "password", Strength::Password),
    ("userpw", "password", Strength::Password),
    ("authpass", "password", Strength::Password),
    ("adminpass", "password", Strength::Password),
    ("keystorepass", "password", Strength::Password),
    ("storepass", "password", Strength::Password),
    ("keypass", "password", Strength::Password),
    ("smtppass", "password", Strength::Password),
    ("userpass", "password", Strength::Password),
    ("dbpass", "password", Strength::Password),
    ("rootpass", "password", Strength::Password),
    ("mysqlpwd", "password", Strength::Password),
    ("accesskey", "api-key", Strength::Secret),
    ("accountkey", "api-key", Strength::Secret),
    ("apikey", "api-key", Strength::Secret),
    ("authkey", "api-key", Strength::Secret),
    ("deploykey", "api-key", Strength::Secret),
    ("aeskey", "secret", Strength::Secret),
    ("hmackey", "secret", Strength::Secret),
    ("cipherkey", "secret", Strength::Secret),
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
    ("idtoken", "token", Strength::Secret),
    ("usertoken", "token", Strength::Secret),
    ("servicetoken", "token", Strength::Secret),
    ("deploytoken", "token", Strength::Secret),
    ("webhooksecret", "secret", Strength::Secret),
    ("signingsecret", "secret", Strength::Secret),
    ("secret", "secret", Strength::Secret),
    ("secrete", "secret", Strength::Secret),
    ("secretaccesskey", "secret", Strength::Secret),
    ("sonarlogin", "token", Strength::Key),
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
    ("auth", "credential", Strength::Key),
    ("authentication", "credential", Strength::Key),
    ("crumb", "token", Strength::Key),
    ("bearer", "token", Strength::Key),
    ("basic", "token", Strength::Key),
    ("cred", "credential", Strength::Secret),
    ("creds", "credential", Strength::Secret),
    ("key", "api-key", Strength::Key),
    ("api", "api-key", Strength::Key),
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

/// Letters that say it wherever a word of the name begins with them.
const WITHIN: &[(&str, &str, Strength)] = &[
    ("password", "password", Strength::Password),
    ("passwd", "password", Strength::Password),
    ("passphrase", "password", Strength::Password),
    ("passcode", "password", Strength::Password),
    ("passwort", "password", Strength::Password),
    ("kennwort", "password", Strength::Password),
    ("dbpass", "password", Strength::Password),
    ("пароль", "password", Strength::Password),
    ("密码", "password", Strength::Password),
    ("密碼", "password", Strength::Password),
    ("パスワード", "password", Strength::Password),
    ("비밀번호", "password", Strength::Password),
    ("패스워드", "password", Strength::Password),
    ("암호", "password", Strength::Password),
    ("accesskey", "api-key", Strength::Secret),
    ("accesstoken", "token", Strength::Secret),
    ("apikey", "api-key", Strength::Secret),
    ("apisecret", "secret", Strength::Secret),
    ("apitoken", "token", Strength::Secret),
    ("authtoken", "token", Strength::Secret),
    ("clientsecret", "secret", Strength::Secret),
    ("privatekey", "private-key", Strength::Secret),
    ("refreshtoken", "token", Strength::Secret),
    ("secretkey", "secret", Strength::Secret),
    ("secret", "secret", Strength::Secret),
];

/// Whole words that say it wherever they stand.
const WORDS_WITHIN: &[(&str, &str, Strength)] = &[
    ("pass", "password", Strength::Password),
    ("pwd", "password", Strength::Password),
    ("pw", "password", Strength::Password),
];

/// Words behind a credential's, for which the value is something about it and not itself.
const ABOUT: &[&str] = &[
    "age",
    "algorithm",
    "allowed",
    "arn",
    "attempts",
    "attribute",
    "bits",
    "button",
    "bytes",
    "callback",
    "char",
    "chars",
    "class",
    "column",
    "confirm",
    "count",
    "created",
    "date",
    "desc",
    "description",
    "digest",
    "disabled",
    "enabled",
    "encoder",
    "encoding",
    "error",
    "errors",
    "exists",
    "expired",
    "expires",
    "expiry",
    "field",
    "fields",
    "form",
    "format",
    "function",
    "generator",
    "handler",
    "hash",
    "hashed",
    "hasher",
    "help",
    "hint",
    "history",
    "id",
    "ids",
    "index",
    "info",
    "input",
    "invalid",
    "is",
    "item",
    "label",
    "last",
    "len",
    "length",
    "level",
    "limit",
    "list",
    "lock",
    "manager",
    "match",
    "max",
    "message",
    "method",
    "min",
    "mode",
    "msg",
    "name",
    "names",
    "namespace",
    "number",
    "object",
    "op",
    "option",
    "options",
    "pattern",
    "placeholder",
    "policy",
    "prefix",
    "prompt",
    "property",
    "provider",
    "ref",
    "reference",
    "regex",
    "region",
    "required",
    "requirements",
    "reset",
    "resolver",
    "result",
    "rotation",
    "rule",
    "rules",
    "scope",
    "selector",
    "service",
    "set",
    "show",
    "size",
    "state",
    "status",
    "store",
    "strength",
    "suffix",
    "support",
    "text",
    "title",
    "toggle",
    "ttl",
    "type",
    "types",
    "updated",
    "usage",
    "validator",
    "verify",
    "version",
    "view",
    "visible",
];

/// Words behind a credential's that name a place: the value is one unless it looks drawn.
const PLACE: &[&str] = &[
    "path",
    "file",
    "filename",
    "dir",
    "directory",
    "folder",
    "url",
    "uri",
    "link",
    "endpoint",
    "host",
    "location",
    "key",
    "source",
    "server",
    "command",
    "cmd",
];

/// How many bytes of a name are looked at, from its end.
const NAME_BYTES_MAX: usize = 120;
const WORDS_MAX: usize = 24;

/// What the name of a value says, `None` for nearly all names.
///
/// Letter case, and whether words are glued, hyphenated or in humps, make no difference. A name that says nothing costs
/// one pass over its bytes.
pub(crate) fn classify_name(name: &str) -> Option<Name> {
    if !may_say(name) {
        return None;
    }
    let mut letters = [0; NAME_BYTES_MAX];
    let words = Words::of(name, &mut letters);
    let all = words.count;
    let mut count = all;
    while count > 1 && (WHICH.contains(&words.get(count - 1)) || is_number(words.get(count - 1))) {
        count -= 1;
    }
    let last = words.get(count.checked_sub(1)?).trim_end_matches(|c: char| c.is_ascii_digit());
    let joined = words.joined(count).trim_end_matches(|c: char| c.is_ascii_digit());
    match joined {
        "authorization" | "proxyauthorization" => return Some(Name::Authorization),
        "cookie" | "setcookie" => return Some(Name::Cookie),
        _ => {}
    }
    let negated = || (0..count).any(|at| NEGATIVE.contains(&words.get(at)));
    let at_end = entries(&ENDINGS_BY_LAST, joined.as_bytes().last())
        .find(|(ending, _, _)| joined.ends_with(ending))
        .or_else(|| WORDS.iter().find(|(word, _, _)| *word == last));
    if let Some((_, kind, strength)) = at_end.copied() {
        let said = strength == Strength::Password || !negated();
        // `key` behind a stronger word says less than that word.
        if said && (strength != Strength::Key || words.within(count - 1).is_none()) {
            return Some(Name::Credential(kind, strength));
        }
        if !said {
            return None;
        }
    }
    let (at, kind, strength) = words.within(count)?;
    let mut behind = (at + 1..count).map(|at| words.get(at));
    if behind.clone().any(|word| ABOUT.contains(&word)) || strength != Strength::Password && negated() {
        return None;
    }
    let place = behind.any(|word| PLACE.contains(&word));
    Some(Name::Credential(kind, if place { Strength::Key } else { strength }))
}

/// Whether a name has the word `key`, with one behind it that says neither which nor what about it: `key_alice`.
pub(crate) fn speaks_of_key(name: &str) -> bool {
    let bytes = name.as_bytes();
    if !bytes.windows(3).any(|three| three.eq_ignore_ascii_case(b"key")) {
        return false;
    }
    let mut letters = [0; NAME_BYTES_MAX];
    let words = Words::of(name, &mut letters);
    let all = || (0..words.count).map(|at| words.get(at).trim_end_matches(|c: char| c.is_ascii_digit()));
    all().any(|word| word == "key")
        && !all().any(|word| {
            ABOUT.contains(&word) || NEGATIVE.contains(&word) || word != "key" && PLACE.contains(&word)
        })
}

type Entry = (&'static str, &'static str, Strength);

/// The entries of a table by one of their bytes.
type ByByte = LazyLock<[Vec<&'static Entry>; 256]>;

/// The longest first.
static ENDINGS_BY_LAST: ByByte = LazyLock::new(|| {
    let mut all = by_byte(ENDINGS, |letters| letters.last());
    for of in &mut all {
        of.sort_by_key(|(ending, _, _)| std::cmp::Reverse(ending.len()));
    }
    all
});
static WITHIN_BY_FIRST: ByByte = LazyLock::new(|| by_byte(WITHIN, |letters| letters.first()));

fn by_byte(table: &'static [Entry], byte: fn(&[u8]) -> Option<&u8>) -> [Vec<&'static Entry>; 256] {
    let mut all = [const { Vec::new() }; 256];
    for entry in table {
        if let Some(of) = byte(entry.0.as_bytes()).and_then(|byte| all.get_mut(usize::from(*byte))) {
            of.push(entry);
        }
    }
    all
}

fn entries(table: &'static ByByte, byte: Option<&u8>) -> impl Iterator<Item = &'static Entry> {
    let of = byte.and_then(|byte| table.get(usize::from(*byte)));
    of.map_or(&[][..], Vec::as_slice).iter().copied()
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether three letters anywhere in the name are of an entry of a table, as a name must have that says something.
fn may_say(name: &str) -> bool {
    let mut letters = LettersBackwards::default();
    name.bytes().rev().any(|byte| !byte.is_ascii() || letters.add(byte)) || letters.begin()
}

/// The letters of a name, read from its end: three of them anywhere begin an entry of a table, or the name says nothing.
#[derive(Debug, Default)]
pub(crate) struct LettersBackwards {
    /// The first three letters so far, five bits each.
    window: usize,
}

impl LettersBackwards {
    /// Takes the byte before, and says whether the letters from it on are of an entry.
    pub(crate) fn add(&mut self, byte: u8) -> bool {
        if !byte.is_ascii_alphanumeric() {
            return false;
        }
        self.window = self.window >> 5 | usize::from(byte & 31) << 10;
        begins(self.window)
    }

    /// Whether the first two letters are of an entry, when nothing stands before.
    pub(crate) fn begin(&self) -> bool {
        begins(self.window >> 5)
    }
}

fn begins(window: usize) -> bool {
    BEGINNINGS.get(window >> 6).is_some_and(|bits| bits >> (window & 63) & 1 != 0)
}

/// Three letters of every entry, five bits each; of an entry of two letters, with any before.
static BEGINNINGS: [u64; 512] = {
    let mut bits = [0; 512];
    bits = with_beginnings(bits, ENDINGS);
    bits = with_beginnings(bits, WORDS);
    bits = with_beginnings(bits, WITHIN);
    bits = with_beginnings(bits, WORDS_WITHIN);
    with_beginnings(
        bits,
        &[("authorization", "", Strength::Key), ("proxy", "", Strength::Key), ("cookie", "", Strength::Key)],
    )
};

/// Where in an entry three letters begin that few other words have, or else its beginning.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler; an index out of range does not compile"
)]
const fn telling(entry: &[u8]) -> usize {
    const TELLING: [&[u8; 3]; 8] = [b"key", b"tok", b"pas", b"pwd", b"sec", b"psw", b"nst", b"riz"];
    let mut at = 0;
    while at + 2 < entry.len() {
        let mut one = 0;
        while one < TELLING.len() {
            let [first, second, third] = *TELLING[one];
            if entry[at] == first && entry[at + 1] == second && entry[at + 2] == third {
                return at;
            }
            one += 1;
        }
        at += 1;
    }
    0
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler; an index out of range does not compile"
)]
const fn with_beginnings(mut bits: [u64; 512], table: &[(&str, &str, Strength)]) -> [u64; 512] {
    let mut at = 0;
    while at < table.len() {
        let entry = table[at].0.as_bytes();
        if entry.len() == 2 {
            let mut before = 0;
            while before < 32 {
                let window = before << 10 | ((entry[0] & 31) as usize) << 5 | (entry[1] & 31) as usize;
                bits[window >> 6] |= 1 << (window & 63);
                before += 1;
            }
        } else {
            let at = telling(entry);
            let window = ((entry[at] & 31) as usize) << 10
                | ((entry[at + 1] & 31) as usize) << 5
                | (entry[at + 2] & 31) as usize;
            bits[window >> 6] |= 1 << (window & 63);
        }
        at += 1;
    }
    bits
}

/// The words of a name in lower case: split at signs, at humps, and between a digit and a capital.
#[derive(Debug)]
struct Words<'a> {
    letters: &'a str,
    starts: [usize; WORDS_MAX],
    count: usize,
}

impl<'a> Words<'a> {
    fn of(name: &str, letters: &'a mut [u8; NAME_BYTES_MAX]) -> Self {
        let from = name.len().saturating_sub(NAME_BYTES_MAX);
        let from = (from..=name.len()).find(|at| name.is_char_boundary(*at)).unwrap_or_default();
        let mut starts = [0; WORDS_MAX];
        let tail = name.as_bytes().get(from..).unwrap_or_default();
        if tail.is_ascii() {
            return Self::of_ascii(tail, letters);
        }
        let (mut count, mut len, mut in_word, mut last) = (0, 0, false, ' ');
        let mut chars = name.get(from..).unwrap_or_default().chars().peekable();
        while let Some(c) = chars.next() {
            let next_is_lower = chars.peek().is_some_and(char::is_ascii_lowercase);
            // A capital behind letters of another script is one as well: `密码DB`.
            let hump = c.is_ascii_uppercase()
                && (last.is_ascii_lowercase()
                    || last.is_ascii_digit()
                    || !last.is_ascii() && last.is_alphabetic()
                    || (last.is_ascii_uppercase() && next_is_lower));
            last = c;
            if !c.is_alphanumeric() {
                in_word = false;
                continue;
            }
            if (hump || !in_word)
                && let Some(start) = starts.get_mut(count)
            {
                *start = len;
                count += 1;
            }
            in_word = true;
            let lower = c.to_lowercase().next().unwrap_or(c);
            let Some(room) = letters.get_mut(len..len + lower.len_utf8()) else { break };
            len += lower.encode_utf8(room).len();
        }
        let letters = letters.get(..len).and_then(|letters| std::str::from_utf8(letters).ok());
        Self { letters: letters.unwrap_or_default(), starts, count }
    }

    /// The same for nearly all names.
    fn of_ascii(name: &[u8], letters: &'a mut [u8; NAME_BYTES_MAX]) -> Self {
        let mut starts = [0; WORDS_MAX];
        let (mut count, mut len, mut in_word, mut last) = (0, 0, false, b' ');
        for (at, byte) in name.iter().enumerate() {
            if !byte.is_ascii_alphanumeric() {
                (last, in_word) = (*byte, false);
                continue;
            }
            let hump = byte.is_ascii_uppercase()
                && (last.is_ascii_lowercase()
                    || last.is_ascii_digit()
                    || last.is_ascii_uppercase() && name.get(at + 1).is_some_and(u8::is_ascii_lowercase));
            last = *byte;
            if (hump || !in_word)
                && let Some(start) = starts.get_mut(count)
            {
                *start = len;
                count += 1;
            }
            in_word = true;
            if let Some(letter) = letters.get_mut(len) {
                *letter = byte.to_ascii_lowercase();
                len += 1;
            }
        }
        let letters = letters.get(..len).and_then(|letters| std::str::from_utf8(letters).ok());
        Self { letters: letters.unwrap_or_default(), starts, count }
    }

    fn start(&self, at: usize) -> usize {
        if at < self.count { self.starts.get(at).copied().unwrap_or_default() } else { self.letters.len() }
    }

    fn get(&self, at: usize) -> &str {
        self.letters.get(self.start(at)..self.start(at + 1)).unwrap_or_default()
    }

    /// The first `count` words as one.
    fn joined(&self, count: usize) -> &str {
        self.letters.get(..self.start(count)).unwrap_or_default()
    }

    /// The last of the first `count` words with which a credential's letters end, and what they say.
    fn within(&self, count: usize) -> Option<(usize, &'static str, Strength)> {
        (0..count).rev().find_map(|at| {
            let rest = self.letters.get(self.start(at)..self.start(count)).unwrap_or_default();
            let glued = entries(&WITHIN_BY_FIRST, rest.as_bytes().first())
                .find(|(letters, _, _)| rest.starts_with(letters));
            let whole = || WORDS_WITHIN.iter().find(|(word, _, _)| *word == self.get(at));
            let (letters, kind, strength) = *glued.or_else(whole)?;
            let end = self.start(at) + letters.len();
            let last = (at..count).find(|at| self.start(at + 1) >= end)?;
            // `passwordless`, `secretary`: a longer word is another word.
            (self.start(last + 1) == end).then_some((last, kind, strength))
        })
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
