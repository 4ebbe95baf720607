use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::clean::marker_len;

/// Names that frames around a model's conversation are known by. Compared without case, blanks, signs and width.
const FRAME_NAMES: &[&str] = &[
    "systemreminder",
    "antml",
    "system",
    "assistant",
    "user",
    "human",
    "developer",
    "toolresult",
    "toolresults",
    "tooluse",
    "toolcall",
    "toolcalls",
    "tooloutput",
    "tool",
    "functioncalls",
    "functioncall",
    "functionresult",
    "functionresults",
    "function",
    "invoke",
    "parameter",
    "result",
    "results",
    "output",
    "instruction",
    "instructions",
    "inst",
    "sys",
    "prompt",
    "imstart",
    "imend",
    "imsep",
    "endoftext",
    "endofturn",
    "startofturn",
    "startheaderid",
    "endheaderid",
    "eotid",
    "eomid",
    "beginoftext",
    "context",
    "document",
    "documents",
    "message",
    "thinking",
    "reasoning",
    "answer",
    "untrusted",
    "trusted",
    "tasknotification",
    "commandmessage",
    "commandname",
    "localcommandstdout",
    "search",
    "searchresults",
    "policy",
];
/// How far a frame's name is read, blanks and signs included.
const FRAME_CHARS_MAX: usize = 256;
/// How many letters a frame's name has at most.
const NAME_CHARS_MAX: usize = 48;

/// Makes imitations of frames inert: their opening sign becomes one that opens nothing.
///
/// Covered in any case, spacing, width and with letters and brackets that only look like Latin ones: code fences, tags of
/// known names, `<|…|>`, `<<SYS>>`, `[INST]`, the first and last line of our own fence. Text that only
/// talks about such frames loses a sign and stays readable. It does not promise to know every model's frames; that
/// foreign text stands inside a fence that it cannot close is what protects, see [`fenced_for_human`].
///
/// [`fenced_for_human`]: crate::fenced_for_human
pub(crate) fn neutralise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(len) = marker_len(rest) {
            out.push_str(rest.get(..len).unwrap_or_default());
            rest = rest.get(len..).unwrap_or_default();
            continue;
        }
        let plain = plain(c);
        let mut read = c.len_utf8();
        match plain {
            '`' | '~' => {
                let run = rest.chars().take_while(|next| self::plain(*next) == plain);
                let (count, len) = run.fold((0, 0), |(count, len), next| (count + 1, len + next.len_utf8()));
                if count >= 3 {
                    out.push(if plain == '`' { '\u{2032}' } else { '\u{2053}' });
                } else {
                    out.push_str(rest.get(..len).unwrap_or_default());
                }
                read = len;
            }
            '<' if opens_frame(rest, plain) => out.push('\u{2039}'),
            '[' if opens_frame(rest, plain) => out.push('('),
            '┌' if opens_frame(rest, plain) => out.push('+'),
            _ => out.push(c),
        }
        rest = rest.get(read..).unwrap_or_default();
    }
    out
}

/// A sign as a careless reader sees it: compatibility forms and brackets of other scripts as ASCII, box corners as one.
fn plain(c: char) -> char {
    match c {
        '\u{3008}' | '\u{2329}' | '⟨' | '❬' | '❮' | '❰' | '˂' | '﹤' | '＜' | '≪' | '«' | '⟪' | '《'
        | '⋘' | 'ᐸ' | 'ᚲ' | '⋖' | '≺' | '⦑' | '⧼' | '⪡' | '\u{1d236}' => '<',
        '【' | '〔' | '［' | '⟦' | '〖' | '〚' | '❲' | '⁅' | '⦋' | '﹝' => '[',
        'ˋ' | '｀' | '‵' | '՝' => '`',
        '∼' | '～' | '˜' | '〜' | '∽' => '~',
        '∣' | '│' | 'ǀ' | '❘' | '┃' | '￨' => '|',
        '┌' | '└' | '┏' | '┗' | '╔' | '╚' | '╒' | '╘' | '╓' | '╙' | '╭' | '╰' => '┌',
        c if c.is_ascii() => c,
        c => {
            let mut forms = std::iter::once(c).nfkc();
            match (forms.next(), forms.next()) {
                (Some(form), None) => form,
                _ => c,
            }
        }
    }
}

/// Whether a frame's opening stands here: the sign, then blanks, slashes and bars, then a known name.
fn opens_frame(text: &str, sign: char) -> bool {
    let mut name = String::new();
    let mut barred = false;
    for c in text.chars().skip(1).take(FRAME_CHARS_MAX) {
        match plain(c) {
            '<' | '[' | '/' | '|' | '!' | '\\' | '?' | '=' | '#' | '*' | '$' if name.is_empty() => {
                barred |= plain(c) == '|'
            }
            '-' | '_' | ':' | '.' | '‐'..='―' | '─' | '━' | '═' => {}
            sign if sign.is_whitespace() => {}
            _ if is_combining_mark(c) => {}
            _ => {
                let letters = name.len();
                name.extend(letters_of(c));
                if name.len() == letters || letters > NAME_CHARS_MAX {
                    break;
                }
            }
        }
        if known(&name, sign) {
            return true;
        }
    }
    // `<|anything` is how special tokens are written.
    barred && sign != '┌' && !name.is_empty()
}

fn known(name: &str, sign: char) -> bool {
    match sign {
        '[' => matches!(
            name,
            "inst" | "sys" | "system" | "assistant" | "toolcall" | "toolresult" | "availabletools"
        ),
        '┌' => matches!(name, "untrusted" | "endofuntrusted"),
        _ => FRAME_NAMES.contains(&name),
    }
}

/// A character as the small Latin letters and digits that a careless reader takes it for; nothing for a sign.
fn letters_of(c: char) -> impl Iterator<Item = char> {
    std::iter::once(enclosed(c))
        .nfkd()
        .flat_map(char::to_lowercase)
        .map(latin)
        .nfkd()
        .filter(|c| c.is_alphanumeric())
}

/// Letters in black circles and squares, which have no compatibility form.
pub(crate) fn enclosed(c: char) -> char {
    let from = match c {
        '\u{1f150}'..='\u{1f169}' => 0x1_f150,
        '\u{1f170}'..='\u{1f189}' => 0x1_f170,
        '\u{1f1e6}'..='\u{1f1ff}' => 0x1_f1e6,
        _ => return c,
    };
    char::from_u32(u32::from(c) - from + u32::from('a')).unwrap_or(c)
}

/// Small letters of other scripts that look like Latin ones (Unicode's table of confusables, the letters of frames' names).
pub(crate) fn latin(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' | 'ᴀ' | 'ａ' => 'a',
        'ʙ' | 'ь' | 'Ƅ' => 'b',
        'с' | 'ϲ' | 'ᴄ' | 'ⲥ' => 'c',
        'ԁ' | 'ᴅ' => 'd',
        'е' | 'ε' | 'ҽ' | 'ᴇ' | '℮' | 'є' => 'e',
        'ғ' | 'ꜰ' | 'ƒ' | 'ϝ' => 'f',
        'ɡ' | 'ɢ' | 'ց' => 'g',
        'һ' | 'ʜ' | 'հ' | 'н' => 'h',
        'і' | 'ı' | 'ι' | 'ɩ' | 'ɪ' | 'ӏ' => 'i',
        'ј' | 'ϳ' | 'ᴊ' => 'j',
        'κ' | 'к' | 'ᴋ' => 'k',
        'ʟ' => 'l',
        'м' | 'ᴍ' | 'μ' => 'm',
        'ո' | 'η' | 'ɴ' | 'п' => 'n',
        'о' | 'ο' | 'օ' | 'ᴏ' | 'σ' => 'o',
        'р' | 'ρ' | 'ᴘ' => 'p',
        'ԛ' => 'q',
        'ʀ' | 'г' => 'r',
        'ѕ' | 'ꜱ' | 'ƽ' => 's',
        'т' | 'τ' | 'ᴛ' => 't',
        'υ' | 'ս' | 'ᴜ' | 'ʋ' => 'u',
        'ν' | 'ѵ' | 'ᴠ' => 'v',
        'ԝ' | 'ѡ' | 'ᴡ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' | 'ʏ' | 'ү' | 'ყ' => 'y',
        'ᴢ' => 'z',
        c => c,
    }
}
