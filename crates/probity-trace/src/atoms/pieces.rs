//! Pieces that are told by the characters around and inside them: URLs, addresses, paths, ids and quotes.

use std::ops::Range;

use super::chars::{char_at, char_before, words};
use super::lexicon::is_common;
use super::{AtomKind, Unit};

/// The longest quoted phrase; longer quotes are texts of their own.
const QUOTE_BYTES_MAX: usize = 160;

/// The longest URL, path, address or id.
const PIECE_BYTES_MAX: usize = 2048;

/// More words in capitals than this, one behind the other, are a raised voice and no codes.
const CODES_IN_A_ROW_MAX: usize = 3;

pub(crate) struct Piece {
    pub(crate) kind: AtomKind,
    pub(crate) range: Range<usize>,
}

/// URLs, e-mail addresses, paths and ids, first to last.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut codes = Vec::new();
    for chunk in chunks(text, 0..text.len(), ends_chunk) {
        if chunk.len() > PIECE_BYTES_MAX {
            continue;
        }
        match whole(text, &chunk) {
            Some(piece) => found.push(piece),
            None => {
                for part in chunks(text, chunk.clone(), ends_part) {
                    let part = trimmed(text, part);
                    match id(text, &part) {
                        Some(IdForm::Certain) => found.push(Piece { kind: AtomKind::Id, range: part }),
                        Some(IdForm::Code) => codes.push(part),
                        None => found.extend(sub_ids(text, part)),
                    }
                }
            }
        }
    }
    found.extend(not_shouted(text, codes).into_iter().map(|range| Piece { kind: AtomKind::Id, range }));
    found.sort_by_key(|piece| piece.range.start);
    found
}

/// What lies between the characters that end a piece.
fn chunks(text: &str, within: Range<usize>, ends: fn(char) -> bool) -> impl Iterator<Item = Range<usize>> {
    let part = text.get(within.clone()).unwrap_or_default();
    let base = within.start;
    let mut start = 0;
    part.char_indices()
        .map(move |(at, character)| (at, character, character.len_utf8()))
        .chain([(part.len(), ' ', 0)])
        .filter_map(move |(at, character, length)| {
            if !ends(character) {
                return None;
            }
            let chunk = base + start..base + at;
            start = at + length;
            (!chunk.is_empty()).then_some(chunk)
        })
}

fn ends_chunk(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '"' | '<' | '>' | '`' | '{' | '}' | '|' | '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}'
        )
}

fn ends_part(character: char) -> bool {
    let inside = matches!(character, '_' | '-' | '.' | '\'' | '\u{2019}');
    !character.is_alphanumeric() && !inside
}

/// Without the punctuation around it, and without `'s`.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let bare = part.trim_start_matches(|first: char| !first.is_alphanumeric());
    let start = range.start + (part.len() - bare.len());
    let bare = bare.trim_end_matches(|last: char| !last.is_alphanumeric());
    let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("\u{2019}s")).unwrap_or(bare);
    start..start + bare.len()
}

/// A URL, an address or a path.
fn whole(text: &str, chunk: &Range<usize>) -> Option<Piece> {
    let part = text.get(chunk.clone())?;
    if let Some(at) = part.find("://") {
        let scheme = part
            .get(..at)?
            .bytes()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
            .count();
        let url = part.get(at - scheme..)?;
        let url = url.trim_end_matches(|last: char| {
            matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | ']')
        });
        let url = if url.contains('(') { url } else { url.trim_end_matches(')') };
        let start = chunk.start + at - scheme;
        let follows_word = char_before(text, start).is_some_and(char::is_alphanumeric);
        let begins = !follows_word && url.starts_with(|first: char| first.is_ascii_alphabetic());
        return (begins && scheme > 0 && url.len() > scheme + 3)
            .then(|| Piece { kind: AtomKind::Url, range: start..start + url.len() });
    }
    if let Some(range) = email(part) {
        return Some(Piece {
            kind: AtomKind::Email,
            range: chunk.start + range.start..chunk.start + range.end,
        });
    }
    path(part).map(|range| Piece {
        kind: AtomKind::Path,
        range: chunk.start + range.start..chunk.start + range.end,
    })
}

fn email(part: &str) -> Option<Range<usize>> {
    let at = part.find('@')?;
    let (local, domain) = (part.get(..at)?, part.get(at + 1..)?);
    let is_local =
        |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '%' | '+' | '-');
    let start = local.trim_end_matches(is_local).len();
    let is_domain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-');
    let domain =
        domain.get(..domain.len() - domain.trim_start_matches(is_domain).len())?.trim_end_matches(['.', '-']);
    let has_dot = domain.find('.').is_some_and(|dot| dot > 0);
    (start < at && has_dot && domain.contains(char::is_alphabetic)).then(|| start..at + 1 + domain.len())
}

/// An absolute path, one with two slashes, or the name of a file with a usual ending.
fn path(part: &str) -> Option<Range<usize>> {
    let start = part.find(|first: char| first.is_alphanumeric() || matches!(first, '/' | '.' | '~'))?;
    let bare = part.get(start..)?;
    let bare = bare.trim_end_matches(|last: char| !last.is_alphanumeric() && last != '/' && last != '_');
    let bare = bare.get(..bare.find(['(', ')', ',', ';', '=', '*', '[', ']']).unwrap_or(bare.len()))?;
    let is_drive = bare.get(1..3) == Some(":\\");
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| bare.starts_with(root));
    let slashes = bare.matches('/').count();
    let name = bare.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    let is_file =
        stem.is_some_and(|(_, ending)| FILE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str()));
    let has_letters = bare.bytes().filter(u8::is_ascii_alphabetic).count() >= 2;
    let is_path = is_drive
        || (is_rooted && bare.len() > 2 && slashes > 0)
        || (slashes >= 2 && !bare.contains("//"))
        || is_file;
    (is_path && has_letters).then(|| start..start + bare.len())
}

const FILE_ENDINGS: [&str; 48] = [
    "txt", "md", "pdf", "doc", "docx", "xls", "xlsx", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml",
    "xml", "html", "htm", "css", "js", "ts", "tsx", "jsx", "py", "rs", "go", "java", "c", "h", "cpp", "hpp",
    "rb", "php", "sh", "sql", "log", "ini", "cfg", "conf", "lock", "png", "jpg", "jpeg", "gif", "svg", "zip",
    "gz", "ipynb", "parquet",
];

enum IdForm {
    Certain,
    /// Nothing but a few capitals.
    Code,
}

/// Whether a run without spaces is an id by its form.
fn id(text: &str, range: &Range<usize>) -> Option<IdForm> {
    let part = text.get(range.clone())?;
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.chars().filter(|character| character.is_alphabetic()).count();
    let is_run = digits + letters == part.chars().count();
    if part.contains('\'') || part.contains('\u{2019}') {
        return None;
    }
    if is_run && letters == 0 {
        let is_marked = char_before(text, range.start) == Some('#');
        let is_id = digits > 1 && (part.starts_with('0') || is_marked || digits >= 9);
        return is_id.then_some(IdForm::Certain);
    }
    if is_run && digits == 0 {
        let is_code = (2..=6).contains(&letters) && part.bytes().all(|byte| byte.is_ascii_uppercase());
        return is_code.then_some(IdForm::Code);
    }
    if is_run {
        return is_mixed(part).then_some(IdForm::Certain);
    }
    let chain: Vec<&str> = words(part).filter_map(|word| part.get(word)).collect();
    let is_identifier = part.contains('_') && letters > 0 && chain.len() > 1;
    let small = part.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_coded =
        part.contains('-') && digits > 0 && letters > 0 && (!small || (is_hex && part.len() >= 12));
    let is_version = part.contains('.')
        && digits > 0
        && chain.len() > 2
        && chain.iter().skip(1).all(|link| is_number(link))
        && !part.contains('-');
    (is_identifier || is_coded || is_version).then_some(IdForm::Certain)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Letters and digits in one run that is no number with its unit: `HAT136`, `4b2c`; not `24h`, `3rd`, `7pm`.
fn is_mixed(run: &str) -> bool {
    let digits_before = run.bytes().take_while(u8::is_ascii_digit).count();
    let behind = run.get(digits_before..).unwrap_or_default();
    let is_counted = digits_before > 0 && !behind.bytes().any(|byte| byte.is_ascii_digit());
    run.len() > 2
        && (!is_counted
            || behind.len() > 4
            || behind.bytes().all(|byte| byte.is_ascii_uppercase()) && behind.len() > 2)
}

/// The ids between the hyphens and points of a run that is no id as a whole.
fn sub_ids(text: &str, part: Range<usize>) -> Vec<Piece> {
    let ends = |character: char| !character.is_alphanumeric() && character != '_';
    let is_split = text.get(part.clone()).is_some_and(|part| part.contains(ends));
    if !is_split {
        return Vec::new();
    }
    let links = chunks(text, part, ends).map(|link| trimmed(text, link));
    links
        .filter(|link| match id(text, link) {
            Some(IdForm::Certain) => text.get(link.clone()).is_some_and(|link| !is_number(link)),
            Some(IdForm::Code) => !is_common_code(text, link),
            None => false,
        })
        .map(|range| Piece { kind: AtomKind::Id, range })
        .collect()
}

fn is_common_code(text: &str, code: &Range<usize>) -> bool {
    text.get(code.clone()).is_some_and(|code| is_common(code) || Unit::named(code).is_some())
}

/// Codes of capitals without those that stand in a row of them.
fn not_shouted(text: &str, codes: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut kept = Vec::new();
    let mut row: Vec<Range<usize>> = Vec::new();
    let mut end = |row: &mut Vec<Range<usize>>| {
        if row.len() <= CODES_IN_A_ROW_MAX {
            kept.extend(row.drain(..).filter(|code| !is_common_code(text, code)));
        }
        row.clear();
    };
    for code in codes {
        let follows =
            row.last().and_then(|last| text.get(last.end..code.start)).is_some_and(|between| between == " ");
        if !follows {
            end(&mut row);
        }
        row.push(code);
    }
    end(&mut row);
    kept
}

/// Quoted phrases of at most 160 bytes on one line; the ranges are without the quotes.
pub(crate) fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut skip_to = 0;
    for (at, opening) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        let closing = match opening {
            '"' => '"',
            '`' => '`',
            '\u{201c}' | '\u{201e}' => '\u{201d}',
            '\u{ab}' => '\u{bb}',
            '\u{2018}' => '\u{2019}',
            '\'' if char_before(text, at).is_none_or(|before| !before.is_alphanumeric()) => '\'',
            _ => continue,
        };
        let start = at + opening.len_utf8();
        if let Some(length) = quote_length(text, start, closing) {
            found.push(start..start + length);
            skip_to = start + length + closing.len_utf8();
        }
    }
    found
}

fn quote_length(text: &str, start: usize, closing: char) -> Option<usize> {
    let mut previous = None;
    for (length, character) in
        text.get(start..)?.char_indices().take_while(|(length, _)| *length <= QUOTE_BYTES_MAX)
    {
        let ends_word =
            closing != '\'' || char_at(text, start + length + 1).is_none_or(|next| !next.is_alphanumeric());
        let is_closing = character == closing || (closing == '\u{201d}' && character == '\u{201c}');
        if is_closing && ends_word {
            return (length > 0 && previous != Some(' ')).then_some(length);
        }
        if character == '\n' || (length == 0 && character.is_whitespace()) {
            return None;
        }
        previous = Some(character);
    }
    None
}
