//! What is planted, and how it is looked for.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use probity_egress::{SamePrincipal, egress_text};
use probity_testkit::{corpus, fake_token};
use serde_json::Value;

/// Bytes of a planted text that must not come out in a row, in whatever form.
const PIECE: usize = 16;
/// Secrets of the corpus that are planted.
const OF_THE_CORPUS: usize = 12;

/// A planted text, and all the forms in which a piece of it would be of use.
#[derive(Clone)]
pub(crate) struct Canary {
    pub(crate) text: String,
    pieces: BTreeSet<String>,
}

impl Canary {
    pub(crate) fn new(text: &str) -> Self {
        assert!(text.is_ascii() && text.len() >= PIECE, "`{text}` is too short or not in ASCII");
        // Plain at every place; in other forms at every fourth, so that nineteen letters of one are always seen.
        let forms = forms(text);
        let pieces = forms.iter().enumerate();
        let pieces =
            pieces.flat_map(|(index, form)| pieces_of(form, if index == 0 { 1 } else { 4 })).collect();
        Self { text: text.to_owned(), pieces }
    }

    /// The first piece of it that stands in the text, in the form in which it stands there.
    pub(crate) fn found_in(&self, all: &str) -> Option<&str> {
        self.pieces.iter().find(|piece| all.contains(piece.as_str())).map(String::as_str)
    }

    /// Finds no piece of it.
    pub(crate) fn is_silent_in(&self, all: &str) {
        if let Some(piece) = self.found_in(all) {
            let start = all.find(piece).unwrap();
            let around = all.floor_char_boundary(start.saturating_sub(200));
            let end = all.ceil_char_boundary((start + 200).min(all.len()));
            panic!("`{piece}` of `{}` came out: …{}…", self.text, all.get(around..end).unwrap());
        }
    }
}

fn pieces_of(form: &str, step: usize) -> Vec<String> {
    let windows = form.as_bytes().windows(PIECE).step_by(step);
    windows.map(|piece| String::from_utf8(piece.to_vec()).unwrap()).collect()
}

/// The text as it is, in JSON once and twice, percent-encoded in both ways, in base64 wherever it begins, and in hexadecimals.
fn forms(text: &str) -> Vec<String> {
    let json = |text: &str| Value::from(text).to_string().trim_matches('"').to_owned();
    let (once, twice) = (json(text), json(&json(text)));
    let percent = |keep: fn(&u8) -> bool, lower: bool| -> String {
        let bytes = text.bytes().map(|byte| match byte {
            byte if keep(&byte) => char::from(byte).to_string(),
            byte if lower => format!("%{byte:02x}"),
            byte => format!("%{byte:02X}"),
        });
        bytes.collect()
    };
    let mut forms = vec![text.to_owned(), once, twice];
    for lower in [false, true] {
        forms.push(percent(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte), lower));
        forms.push(percent(|_| false, lower));
    }
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.push(hex.to_uppercase());
    forms.push(hex);
    for before in 0..3 {
        let standard = base64(text.as_bytes(), before);
        forms.push(standard.replace('+', "-").replace('/', "_"));
        forms.push(standard);
    }
    forms
}

/// The characters of base64 that a text alone decides, where so many bytes come before it.
fn base64(text: &[u8], before: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let first = (3 - before) % 3;
    let whole = text.get(first..).unwrap_or_default().chunks_exact(3);
    let letters = whole.flat_map(|bytes| {
        let bits = bytes.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift) & 63]))
    });
    letters.collect()
}

/// Made-up secrets of many shapes and, where the corpora are, published ones; all of them such that the pass knows them by
/// themselves, in the middle of a sentence. One line each.
pub(crate) fn canaries() -> Vec<Canary> {
    let made_up = made_up();
    for canary in &made_up {
        assert!(is_known(&canary.text), "the pass does not know `{}`", canary.text);
    }
    let mut all = made_up;
    all.extend(published());
    all
}

/// All of them in one text, a line each.
pub(crate) fn told(canaries: &[Canary]) -> String {
    canaries.iter().map(|canary| format!("{}\n", sentence(&canary.text))).collect()
}

fn sentence(secret: &str) -> String {
    format!("somebody left {secret} in here")
}

/// Whether the pass by itself takes it out of a sentence.
fn is_known(text: &str) -> bool {
    let passed = egress_text::<SamePrincipal>(&sentence(text));
    let canary = Canary::new(text);
    canary.found_in(passed.as_str()).is_none()
}

/// Put together here, so that nothing in the source looks like a credential.
fn made_up() -> Vec<Canary> {
    let random = |seed: u64, len: usize| -> String {
        let letters = (0..4).map(|more| fake_token(seed * 10 + more).chars().skip(4).collect::<String>());
        letters.collect::<String>().chars().take(len).collect()
    };
    let upper = |seed: u64, len: usize| -> String {
        random(seed, len)
            .bytes()
            .map(|byte| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[usize::from(byte % 32)]))
            .collect()
    };
    let digits = |seed: u64, len: usize| -> String {
        random(seed, len).bytes().map(|byte| char::from(b'1' + byte % 9)).collect()
    };
    let jwt = || {
        let part = |text: &str| base64(text.as_bytes(), 0);
        let head = part(r#"{"alg":"HS256","typ":"JWT"}  "#);
        format!(
            "{head}.{}.{}",
            part(&format!(r#"{{"sub":"{}","iat":1516239022}} "#, random(8, 9))),
            random(9, 43)
        )
    };
    let texts = [
        fake_token(70),
        ["glp", "at-", &random(1, 20)].concat(),
        ["xo", "xb-", &digits(2, 12), "-", &digits(3, 12), "-", &random(4, 24)].concat(),
        ["sk_", "live_", &random(5, 24)].concat(),
        ["AK", "IA", &upper(6, 15), "7"].concat(),
        ["np", "m_", &random(7, 36)].concat(),
        jwt(),
    ];
    texts.iter().map(|text| Canary::new(text)).collect()
}

/// Realistic secrets of the corpus, spread over it; none where it is not.
fn published() -> Vec<Canary> {
    let Some(path) = corpus("redaction/dev.jsonl.gz") else { return Vec::new() };
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    let secrets = lines.flat_map(|line| {
        let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let realistic = row["label"] == "secret" && row["strength"] == "realistic";
        let secrets = row["secrets"].as_array().filter(|_| realistic).cloned().unwrap_or_default();
        secrets.into_iter().filter_map(|secret| secret.as_str().map(str::to_owned))
    });
    // A bare one of a few dozen letters fits wherever one of ours does: into a header, an argument, the name of a file. One
    // with a name and a sign in it is known by them, and no longer where it is taken apart.
    let fits = |secret: &String| {
        let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+~".contains(&byte);
        (24..120).contains(&secret.len()) && secret.bytes().all(bare)
    };
    let known: BTreeSet<String> = secrets.filter(fits).filter(|secret| is_known(secret)).collect();
    assert!(known.len() > 100, "{} of the corpus are known by themselves", known.len());
    let step = known.len() / OF_THE_CORPUS;
    known.iter().step_by(step).take(OF_THE_CORPUS).map(|secret| Canary::new(secret)).collect()
}

#[test]
fn a_canary_is_found_in_every_form_and_by_a_part_of_it() {
    let canary = Canary::new(&made_up_with_signs());
    for form in forms(&canary.text) {
        for text in [form.clone(), format!("xx{form}yy"), form.get(..PIECE).unwrap().to_owned()] {
            assert!(canary.found_in(&text).is_some(), "{text}");
        }
    }
    let all = forms(&canary.text);
    for (index, form) in all.iter().enumerate() {
        assert!(all.iter().skip(index + 1).all(|other| other != form), "`{form}` is no form of its own");
    }
    // Real encoders, so that the forms are not only consistent with themselves.
    assert_eq!(base64(b"Many hands", 0), "TWFueSBoYW5k");
    assert_eq!(base64(b"any hands", 1), "eSBoYW5k");
    assert_eq!(base64(b"ny hands make", 2), "eSBoYW5kcyBtYWtl");
    assert_eq!(canary.found_in("nothing of it is in here, and [REDACTED:token] is none"), None);
}

/// With signs that every encoding writes in a way of its own.
fn made_up_with_signs() -> String {
    format!("{}\"?>~\\{}>>??~~", fake_token(1), fake_token(2))
}
