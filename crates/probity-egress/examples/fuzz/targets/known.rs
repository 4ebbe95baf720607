use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use probity_egress::{
    Human, KNOWN_SECRET_BYTES_MIN, Redactor, SamePrincipal, Tier, egress_text, register_secret,
};

use crate::draw::Draw;
use crate::encode;

/// Short and long, of words and of signs, one within another and one that another one ends with.
const SECRETS: &[&str] = &[
    "bluewhale7",
    "bluewhale7andmore",
    "morebluewhale7",
    "q1w2e3",
    "correct horse battery staple",
    "p@ss/w\"o\\r=d&1%",
    "über-geheim-漢字",
    "tab\there",
    "aaaaaaaaaaaa",
    "0123456789012345",
    "Zm9vYmFyYmF6",
    "-----=====-----",
];

pub(super) fn register() {
    for secret in SECRETS {
        register_secret(secret);
    }
}

/// Puts one of the secrets into the text, in one of its forms and at times in a piece.
pub(super) fn season(text: &mut String, draw: &mut Draw) {
    for _ in 0..=draw.below(2) {
        let at = draw.place(text);
        let secret = *draw.of(SECRETS);
        let form = match draw.below(6) {
            0 => {
                let lead = draw.below(4);
                let (lead, tail) = (draw.body(lead), draw.body(2));
                URL_SAFE_NO_PAD.encode(format!("{lead}{secret}{tail}"))
            }
            1 => {
                let lead = draw.below(4);
                STANDARD_NO_PAD.encode(format!("{}{secret}", draw.body(lead)))
            }
            2 => secret[..draw.place(secret)].to_owned(),
            _ => draw.of(&forms(secret)).clone(),
        };
        text.insert_str(at, &form);
    }
}

pub(super) fn holds(text: &str) -> Result<(), String> {
    tier_holds::<SamePrincipal>(text).and_then(|()| tier_holds::<Human>(text))
}

fn tier_holds<T: Tier>(text: &str) -> Result<(), String> {
    let out = egress_text::<T>(text);
    let mut redactor = Redactor::<T>::new();
    let mut streamed = String::new();
    for c in text.chars() {
        streamed.push_str(redactor.push(c.encode_utf8(&mut [0; 4])).as_str());
    }
    streamed.push_str(redactor.finish().as_str());
    if streamed != out.as_str() {
        return Err(format!("in single characters it gives {streamed:?}, whole {:?}", out.as_str()));
    }
    if egress_text::<T>(out.as_str()) != out {
        return Err(format!("a second pass changes {:?}", out.as_str()));
    }
    for secret in SECRETS {
        if let Some(form) = forms(secret).iter().find(|form| out.as_str().contains(form.as_str())) {
            return Err(format!("`{form}` of `{secret}` is left in {:?}", out.as_str()));
        }
    }
    Ok(())
}

/// The forms that the crate promises to find.
fn forms(secret: &str) -> Vec<String> {
    let reserved = |byte: u8| !byte.is_ascii_alphanumeric() && !b"-_.~".contains(&byte);
    let hex = encode::hex(secret.as_bytes());
    let mut forms = vec![
        secret.to_owned(),
        encode::percent(secret, reserved, true),
        encode::percent(secret, reserved, false),
        encode::json(secret),
        hex.to_uppercase(),
        hex,
    ];
    for lead in 0..3_usize {
        // Of the encoding of any text with the secret in it, the part that is the same whatever stands around it.
        let around = |filler: u8| [vec![filler; lead], secret.as_bytes().to_vec(), vec![filler; 3]].concat();
        for (one, other) in [
            (STANDARD_NO_PAD.encode(around(0)), STANDARD_NO_PAD.encode(around(0xff))),
            (URL_SAFE_NO_PAD.encode(around(0)), URL_SAFE_NO_PAD.encode(around(0xff))),
        ] {
            let same: String = one
                .chars()
                .zip(other.chars())
                .skip_while(|(a, b)| a != b)
                .take_while(|(a, b)| a == b)
                .map(|(a, _)| a)
                .collect();
            forms.extend((same.len() >= KNOWN_SECRET_BYTES_MIN).then_some(same));
        }
    }
    forms
}
