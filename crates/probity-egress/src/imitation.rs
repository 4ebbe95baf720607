use unicode_normalization::UnicodeNormalization;

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
/// How far a frame's name is read.
const FRAME_CHARS_MAX: usize = 48;

/// Makes imitations of frames inert: their opening sign becomes one that opens nothing.
///
/// Covered in any case, spacing and width: code fences, tags of known names, `<|…|>`, `<<SYS>>`, `[INST]`. Text that only
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
            _ => out.push(c),
        }
        rest = rest.get(read..).unwrap_or_default();
    }
    out
}

/// A character as a careless reader sees it: compatibility forms and brackets of other scripts as ASCII.
fn plain(c: char) -> char {
    match c {
        '\u{3008}' | '\u{2329}' | '⟨' | '❮' | '❰' | '˂' | '﹤' | '＜' | '≪' | '«' | '⟪' | '《' | '⋘' => {
            '<'
        }
        '【' | '〔' | '［' | '⟦' => '[',
        'ˋ' | '｀' => '`',
        '∼' | '～' | '˜' | '〜' => '~',
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
    for c in text.chars().map(plain).skip(1).take(FRAME_CHARS_MAX) {
        match c {
            '<' | '[' | '/' | '|' | '!' | '\\' | ':' | '-' | '_' | '.' | '‐'..='―' if name.is_empty() => {
                barred |= c == '|'
            }
            '-' | '_' | ':' | '.' | '‐'..='―' => {}
            c if c.is_whitespace() => {}
            c if c.is_alphanumeric() => name.extend(latin(c).to_lowercase()),
            _ => break,
        }
        if known(&name, sign) {
            return true;
        }
    }
    // `<|anything` is how special tokens are written.
    barred && !name.is_empty()
}

fn known(name: &str, sign: char) -> bool {
    if sign == '[' {
        return matches!(name, "inst" | "sys" | "system" | "toolcalls" | "toolresults" | "availabletools");
    }
    FRAME_NAMES.contains(&name)
}

/// Letters of other scripts that look like Latin ones in these names.
fn latin(c: char) -> char {
    match c {
        'а' => 'a',
        'е' => 'e',
        'і' => 'i',
        'о' => 'o',
        'р' => 'p',
        'с' => 'c',
        'ѕ' => 's',
        'т' => 't',
        'у' => 'y',
        'х' => 'x',
        'ɑ' => 'a',
        'ı' => 'i',
        c => c,
    }
}
