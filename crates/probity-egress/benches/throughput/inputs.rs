//! Texts that are generated: the same for the same size, and of nobody's making.

use std::fmt::Write as _;

/// A text to measure, and what is asked of the pass over it.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    pub(crate) make: fn(usize) -> String,
    /// Megabytes a second, at least.
    pub(crate) target: Option<f64>,
    /// Whether somebody might send it to make the pass slow.
    pub(crate) is_hostile: bool,
}

const HOSTILE_TARGET: f64 = 50.0;

pub(crate) const INPUTS: &[Input] = &[
    ordinary("prose", prose, Some(600.0)),
    ordinary("log-and-code", log_and_code, Some(120.0)),
    ordinary("json-lines", json_lines, None),
    ordinary("dense-secrets", dense_secrets, None),
    hostile("one-long-line", |size| log_and_code(size).replace('\n', " ")),
    hostile("prefix-aes", |size| repeat("AES-", size)),
    hostile("prefix-sk", |size| repeat("sk-", size)),
    hostile("prefix-eyj", |size| repeat("eyJ", size)),
    hostile("quotes", |size| repeat("\"'\\\"\\\\\"`", size)),
    hostile("backslashes", |size| repeat("\\", size)),
    hostile("almost-key-blocks", |size| repeat("-----BEGIN ", size)),
    hostile("zero-widths", |size| repeat("\u{200b}", size)),
    hostile("zero-widths-in-a-token", |size| repeat("g\u{200b}h\u{200b}p\u{200b}_\u{200b}", size)),
    hostile("colours", |size| repeat("\u{1b}[31m", size)),
    hostile("open-colour", |size| repeat("\u{1b}[", size)),
    hostile("names", |size| repeat("password=", size)),
    hostile("names-and-quotes", |size| repeat("password=\"", size)),
    hostile("json-names", |size| repeat("\"token\":", size)),
    hostile("one-long-name", |size| repeat("my_api_key_", size)),
    hostile("colons", |size| repeat(":", size)),
    hostile("equals", |size| repeat("=", size)),
    hostile("spaces", |size| repeat(" ", size)),
    hostile("line-breaks", |size| repeat("\n", size)),
    hostile("percent", |size| repeat("%25", size)),
    hostile("entities", |size| repeat("&amp;", size)),
    hostile("unicode-escapes", |size| repeat("\\u005c", size)),
    hostile("digits", |size| repeat("0123456789", size)),
    hostile("hex", |size| random_run(b"0123456789abcdef", size)),
    hostile("base64", |size| {
        random_run(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", size)
    }),
    hostile("base64-lines", base64_lines),
    hostile("authorities", |size| repeat("https://a:", size)),
    hostile("at-signs", |size| repeat("://@", size)),
    hostile("markers", |size| repeat("[REDACTED:", size)),
    hostile("ideographs", |size| repeat("漢字", size)),
];

const fn ordinary(name: &'static str, make: fn(usize) -> String, target: Option<f64>) -> Input {
    Input { name, make, target, is_hostile: false }
}

const fn hostile(name: &'static str, make: fn(usize) -> String) -> Input {
    Input { name, make, target: Some(HOSTILE_TARGET), is_hostile: true }
}

/// Chance that is the same every time (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap_or_default()
    }

    fn of<'item, T: ?Sized>(&mut self, items: &[&'item T]) -> &'item T {
        items[self.below(items.len())]
    }

    fn run(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }
}

const HEX: &[u8] = b"0123456789abcdef";
const BASE62: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Pieces of `make` until the size is reached, cut to it.
fn fill(size: usize, mut make: impl FnMut(&mut String)) -> String {
    let mut text = String::with_capacity(size + 4_096);
    while text.len() < size {
        make(&mut text);
    }
    text.truncate(text.floor_char_boundary(size));
    text
}

fn repeat(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

fn random_run(alphabet: &[u8], size: usize) -> String {
    Chance(3).run(alphabet, size)
}

fn base64_lines(size: usize) -> String {
    let mut chance = Chance(4);
    fill(size, |text| {
        text.push_str(&chance.run(BASE62, 64));
        text.push('\n');
    })
}

/// Common words first; those that credentials are called by are among them, as in prose about software.
const WORDS: &[&str] = &[
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "that",
    "is",
    "was",
    "it",
    "for",
    "with",
    "as",
    "on",
    "be",
    "at",
    "by",
    "this",
    "had",
    "not",
    "are",
    "but",
    "from",
    "or",
    "have",
    "an",
    "they",
    "which",
    "one",
    "you",
    "were",
    "all",
    "her",
    "she",
    "there",
    "would",
    "their",
    "we",
    "him",
    "been",
    "has",
    "when",
    "who",
    "will",
    "no",
    "more",
    "if",
    "out",
    "so",
    "said",
    "what",
    "up",
    "its",
    "about",
    "into",
    "than",
    "them",
    "can",
    "only",
    "other",
    "time",
    "new",
    "some",
    "could",
    "these",
    "two",
    "may",
    "first",
    "then",
    "do",
    "any",
    "like",
    "now",
    "over",
    "such",
    "our",
    "man",
    "even",
    "most",
    "made",
    "after",
    "also",
    "well",
    "way",
    "down",
    "through",
    "each",
    "river",
    "weather",
    "letter",
    "garden",
    "machine",
    "reader",
    "model",
    "answer",
    "question",
    "evening",
    "history",
    "measure",
    "morning",
    "language",
    "country",
    "key",
    "token",
    "secret",
    "password",
    "account",
    "session",
    "author",
    "basic",
    "bearer",
    "server",
    "window",
    "kettle",
    "mountain",
    "passage",
    "village",
    "neighbour",
    "authority",
    "certificate",
    "careful",
    "signature",
    "sentence",
    "paragraph",
    "understanding",
    "circumstances",
    "nevertheless",
    "particularly",
    "translation",
];

fn word(chance: &mut Chance) -> &'static str {
    let rank = chance.below(WORDS.len()).min(chance.below(WORDS.len())).min(chance.below(WORDS.len()));
    WORDS[rank]
}

fn prose(size: usize) -> String {
    let (mut chance, mut column) = (Chance(1), 0);
    fill(size, |text| {
        let first = word(&mut chance);
        let mut sentence = first[..1].to_uppercase() + &first[1..];
        for _ in 0..4 + chance.below(18) {
            let comma = ["", "", "", "", "", "", "", ",", ",", ";", " (in part)"];
            sentence.push_str(chance.of(&comma));
            sentence.push(' ');
            sentence.push_str(word(&mut chance));
        }
        sentence.push_str(chance.of(&[
            ".",
            ".",
            ".",
            ".",
            "?",
            ": so it was said.",
            "!",
            ", “he wrote”.",
            "…",
        ]));
        for word in sentence.split(' ') {
            column += word.len() + 1;
            text.push_str(word);
            text.push(if column > 90 { '\n' } else { ' ' });
            column = if column > 90 { 0 } else { column };
        }
        if chance.below(8) == 0 {
            text.push_str("\n\n");
            column = 0;
        }
    })
}

/// A credential of a common shape, drawn here and issued by nobody.
fn secret(chance: &mut Chance) -> String {
    match chance.below(8) {
        0 => format!("ghp_{}", chance.run(BASE62, 36)),
        1 => format!("AKIA{}", chance.run(UPPER, 16)),
        2 => format!("DB_PASSWORD={}", chance.run(BASE62, 18)),
        3 => format!("Authorization: Bearer {}", chance.run(BASE62, 40)),
        4 => format!("postgres://app:{}@db.internal:5432/app", chance.run(BASE62, 16)),
        5 => format!("xoxb-{}-{}", chance.run(b"0123456789", 12), chance.run(BASE62, 24)),
        6 => format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", chance.run(BASE62, 60), chance.run(BASE62, 43)),
        _ => format!("\"api_key\": \"{}\"", chance.run(BASE62, 32)),
    }
}

fn log_and_code(size: usize) -> String {
    const SECRET_EVERY: usize = 32 * 1024;
    let (mut chance, mut due) = (Chance(2), SECRET_EVERY);
    fill(size, |text| {
        if text.len() >= due {
            let _ = writeln!(text, "loaded {}", secret(&mut chance));
            due += SECRET_EVERY;
        }
        match chance.below(10) {
            0..=4 => log_line(text, &mut chance),
            5 => json_line(text, &mut chance),
            6 => stack_trace(text, &mut chance),
            _ => code(text, &mut chance),
        }
    })
}

fn json_lines(size: usize) -> String {
    let mut chance = Chance(5);
    fill(size, |text| json_line(text, &mut chance))
}

fn dense_secrets(size: usize) -> String {
    let mut chance = Chance(6);
    fill(size, |text| {
        let _ = writeln!(text, "{}", secret(&mut chance));
    })
}

fn log_line(text: &mut String, chance: &mut Chance) {
    let (hour, minute, second) = (chance.below(24), chance.below(60), chance.below(60));
    let level = chance.of(&["INFO", "DEBUG", "WARN", "ERROR", "TRACE"]);
    let module = chance.of(&["http::server", "store", "scheduler", "auth.session", "worker-7", "gc"]);
    let _ = write!(
        text,
        "2026-03-{:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z {level:<5} {module}: ",
        1 + chance.below(28),
        chance.below(1_000)
    );
    for _ in 0..3 + chance.below(6) {
        text.push_str(word(chance));
        text.push(' ');
    }
    for _ in 0..chance.below(5) {
        let _ = match chance.below(7) {
            0 => write!(text, "status={} ", chance.below(600)),
            1 => write!(text, "elapsed={}ms ", chance.below(10_000)),
            2 => write!(text, "request_id={} ", chance.run(HEX, 32)),
            3 => write!(text, "path=/v1/items/{} ", chance.below(100_000)),
            4 => write!(text, "token_count={} ", chance.below(100_000)),
            5 => write!(
                text,
                "peer=10.0.{}.{}:{} ",
                chance.below(256),
                chance.below(256),
                chance.below(65_536)
            ),
            _ => write!(text, "commit={} ", chance.run(HEX, 40)),
        };
    }
    text.push('\n');
}

fn json_line(text: &mut String, chance: &mut Chance) {
    let _ = write!(
        text,
        r#"{{"id":"{}","ts":{},"user":{{"name":"{} {}","active":{}}},"message":""#,
        chance.run(HEX, 24),
        1_700_000_000_u64 + chance.next() % 100_000_000,
        word(chance),
        word(chance),
        chance.below(2) == 0
    );
    for _ in 0..4 + chance.below(16) {
        text.push_str(word(chance));
        text.push_str(chance.of(&[" ", " ", " ", " ", "\\n", ", ", " \\\"x\\\" "]));
    }
    let _ = writeln!(
        text,
        r#"","tags":["{}","{}"],"url":"https://example.org/{}/{}?page={}","digest":"sha256:{}"}}"#,
        word(chance),
        word(chance),
        word(chance),
        chance.run(BASE62, 12),
        chance.below(100),
        chance.run(HEX, 64)
    );
}

fn stack_trace(text: &mut String, chance: &mut Chance) {
    let _ = writeln!(text, "Traceback (most recent call last):");
    for _ in 0..2 + chance.below(5) {
        let (file, function) = (word(chance), word(chance));
        let _ = writeln!(
            text,
            "  File \"/srv/app/{file}/{function}.py\", line {}, in {function}_{file}",
            chance.below(900)
        );
        let _ = writeln!(text, "    return self.{function}(request, key={file}.key, timeout=30)");
    }
    let _ = writeln!(text, "ValueError: cannot read {}: expected {}", word(chance), word(chance));
}

fn code(text: &mut String, chance: &mut Chance) {
    let (one, two, three) = (word(chance), word(chance), word(chance));
    let number = chance.below(10_000);
    let _ = match chance.below(4) {
        0 => writeln!(
            text,
            "    pub(crate) fn {one}_{two}(&self, {three}: &str) -> Result<Option<u64>, Error> {{\n        \
             let {one} = self.{two}.get({three}).map(|found| found + {number});\n        \
             match {one} {{ Some(0) => Ok(None), other => Ok(other) }}\n    }}\n"
        ),
        1 => writeln!(
            text,
            "def {one}_{two}({three}, *, limit={number}):\n    \
             \"\"\"Returns the {two} of {three}.\"\"\"\n    \
             items = [item for item in {three} if item.{one} != \"{two}\"]\n    \
             return {{\"{one}\": items[:limit], \"{two}\": len(items)}}\n"
        ),
        2 => writeln!(
            text,
            "export const {one}{number} = async ({{ {two}, {three} }}: Props): Promise<void> => {{\n  \
             const token = await next({two} ?? '{three}');\n  if (token === null) throw new Error(`no ${{{two}}}`);\n}};\n"
        ),
        _ => writeln!(
            text,
            "{one}:\n  - name: {two}-{number}\n    image: registry.example.org/{two}/{three}@sha256:{}\n    \
             env:\n      - name: {three}\n        value: \"{number}\"\n",
            chance.run(HEX, 64)
        ),
    };
}
