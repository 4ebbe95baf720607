//! The texts that are measured, all made here from word lists and templates: nothing is read and nothing looks issued.

/// Each text with its name, about `bytes` long.
pub(crate) fn all(bytes: usize) -> Vec<(&'static str, String)> {
    let mut texts = vec![
        ("prose", fill(bytes, prose)),
        ("mix", fill(bytes, mix)),
        ("json-lines", fill(bytes, json_line)),
        ("dense-secrets", fill(bytes, secret_line)),
    ];
    let hostile: [(&'static str, &str); 17] = [
        ("hostile-prefixes", "sk-sk-sk-AES-AES-"),
        ("hostile-jwt", "eyJ0eyJ0."),
        ("hostile-key-blocks", "-----BEGIN PRIVATE "),
        ("hostile-quotes", "\\\"'`\\\\\""),
        ("hostile-names", "key=key:key=\"key\","),
        ("hostile-passwords", "password= password:"),
        ("hostile-operators", "=:=:=:::"),
        ("hostile-zero-width", "a\u{200b}b\u{200b}\u{200b}"),
        ("hostile-colours", "a\u{1b}[31mb\u{1b}[0m"),
        ("hostile-percent", "%25%25%3D%20"),
        ("hostile-entities", "&amp;&amp;quot;&#61;"),
        ("hostile-digits", "0123456789"),
        ("hostile-hex", "0a1b2c3d4e5f"),
        ("hostile-words", "a1 b2 c3 token d4 "),
        ("hostile-authorities", "a://b:c@d:e"),
        ("hostile-flags", "--a --b -c "),
        ("hostile-base64", "QUFBQTEyMzQ1Njc4OTBB"),
    ];
    texts.extend(hostile.map(|(name, piece)| (name, piece.repeat(bytes / piece.len()))));
    texts
}

fn fill(bytes: usize, line: fn(&mut Draw) -> String) -> String {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let mut text = String::with_capacity(bytes + 4096);
    while text.len() < bytes {
        text.push_str(&line(&mut draw));
    }
    text
}

/// Numbers that look random and are the same in every run (xorshift, Marsaglia 2003).
pub(crate) struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap_or_default()
    }

    fn of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn chars(&mut self, alphabet: &str, len: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..len).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }
}

const WORDS: &[&str] = &[
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "was",
    "on",
    "are",
    "as",
    "with",
    "his",
    "they",
    "at",
    "be",
    "this",
    "have",
    "from",
    "or",
    "one",
    "had",
    "by",
    "word",
    "but",
    "not",
    "what",
    "all",
    "were",
    "we",
    "when",
    "your",
    "can",
    "said",
    "there",
    "use",
    "an",
    "each",
    "which",
    "she",
    "do",
    "how",
    "their",
    "if",
    "will",
    "up",
    "other",
    "about",
    "out",
    "many",
    "then",
    "them",
    "these",
    "so",
    "some",
    "her",
    "would",
    "make",
    "like",
    "him",
    "into",
    "time",
    "has",
    "look",
    "two",
    "more",
    "write",
    "go",
    "see",
    "number",
    "no",
    "way",
    "could",
    "people",
    "my",
    "than",
    "first",
    "water",
    "been",
    "call",
    "who",
    "oil",
    "its",
    "now",
    "find",
    "long",
    "down",
    "day",
    "did",
    "get",
    "come",
    "made",
    "may",
    "part",
    "token",
    "key",
    "secret",
    "history",
    "government",
    "between",
    "national",
    "language",
    "different",
    "evening",
    "remember",
    "question",
    "although",
    "mountain",
    "together",
    "children",
    "important",
    "password",
    "authority",
];

fn prose(draw: &mut Draw) -> String {
    let mut line = String::new();
    let words = 6 + draw.below(18);
    for index in 0..words {
        if index > 0 {
            line.push_str(if draw.below(12) == 0 { ", " } else { " " });
        }
        let word = draw.of(WORDS);
        if index == 0 {
            line.push_str(&word[..1].to_uppercase());
            line.push_str(&word[1..]);
        } else {
            line.push_str(word);
        }
    }
    line.push_str(draw.of(&[". ", ". ", ".\n", "? ", "; see below: ", ".\n\n"]));
    line
}

const ALNUM: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

fn mix(draw: &mut Draw) -> String {
    let (a, b, c) = (draw.of(WORDS), draw.of(WORDS), draw.of(WORDS));
    let (n, m) = (draw.below(100_000), draw.below(60));
    // One secret in about 32 kB, at some seventy bytes a line.
    if draw.below(460) == 0 {
        return secret_line(draw);
    }
    match draw.below(14) {
        0 => format!(
            "2026-11-30T08:{m:02}:17.{n:06}Z INFO {a}::{b} {c} finished in {n} ms request_id={}\n",
            draw.chars("0123456789abcdef", 16)
        ),
        1 => format!(
            "2026-11-30 08:{m:02}:17,123 WARN [{a}-{n}] com.{b}.{c}.Handler - {a} {b} {c} retry={m}\n"
        ),
        2 => format!(
            "{{\"level\":\"info\",\"ts\":{n}.{m},\"caller\":\"{a}/{b}.go:{m}\",\"msg\":\"{c} {a}\",\"{b}\":{n}}}\n"
        ),
        3 => format!("    let {a}_{b} = self.{c}.get(&{a}_id).ok_or(Error::{b}({n}))?;\n"),
        4 => format!("        if {a}.{b}({c}, {n}) != None and {c}[{m}] == \"{a}\":\n"),
        5 => format!("pub fn {a}_{b}({c}: &str, token_count: usize) -> Result<Vec<{a}>, Error> {{\n"),
        6 => format!("  const {a} = await fetch(`/api/v1/{b}/${{{c}.id}}`, {{ method: 'GET' }});\n"),
        7 => format!("  {a}: {b}\n  {c}_url: https://{a}.example.org/{b}/{c}?page={m}&sort={b}\n"),
        8 => format!(
            "10.0.{m}.{m} - - [30/Nov/2026:08:{m:02}:17 +0000] \"GET /{a}/{b}/{n} HTTP/1.1\" 200 {n}\n"
        ),
        9 => format!("    at {a}.{b}.{c}({b}.java:{m})\n"),
        10 => format!("// {a} {b} {c} {a} {b}: {c} the {a} of {b}, and {c}.\n"),
        11 => format!("+    {a}({b}, {c})\n-    {a}({c})\n"),
        12 => "}\n\n".to_owned(),
        _ => format!("commit {}\nAuthor: {a} <{b}@example.org>\n", draw.chars("0123456789abcdef", 40)),
    }
}

fn json_line(draw: &mut Draw) -> String {
    let (a, b, c) = (draw.of(WORDS), draw.of(WORDS), draw.of(WORDS));
    let n = draw.below(1_000_000);
    format!(
        "{{\"time\":\"2026-11-30T08:00:17Z\",\"level\":\"{a}\",\"message\":\"{a} {b} {c} {b}\",\"user_id\":{n},\"path\":\"/{b}/{c}\",\"tags\":[\"{a}\",\"{c}\"],\"trace_id\":\"{}\",\"nested\":{{\"{a}\":{{\"{b}\":null,\"ok\":true}}}}}}\n",
        draw.chars("0123456789abcdef", 32)
    )
}

fn secret_line(draw: &mut Draw) -> String {
    match draw.below(6) {
        0 => format!("token: ghp_{}\n", draw.chars(ALNUM, 36)),
        1 => format!("DB_PASSWORD={}\n", draw.chars(ALNUM, 20)),
        2 => format!("postgres://app:{}@db.internal:5432/app\n", draw.chars(ALNUM, 16)),
        3 => format!("Authorization: Bearer {}\n", draw.chars(ALNUM, 40)),
        4 => format!("{{\"api_key\": \"{}\"}}\n", draw.chars(ALNUM, 32)),
        _ => format!("AKIA{}\n", draw.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    }
}
