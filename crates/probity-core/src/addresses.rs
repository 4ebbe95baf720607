//! Links, mail addresses and account numbers in a text: where something goes, whatever the rest of the text says.

/// Characters from which on a word of capitals and digits may be the number of an account.
const ACCOUNT_CHARS_MIN: usize = 10;
/// How many of them are digits.
const ACCOUNT_DIGITS_MIN: usize = 8;

/// The words of a text that are links, mail addresses or look like account numbers, without the marks around them.
///
/// One that is written with blanks in between, or in words (`bob at x dot test`), is not found.
pub(crate) fn addresses(text: &str) -> Vec<&str> {
    let words =
        text.split(|c: char| c.is_whitespace() || c.is_control() || "'\"()[]{}<>,;|`“”„’‘".contains(c));
    let bare = words.map(|word| word.trim_matches(|c: char| ".!?:*_".contains(c)));
    bare.filter(|word| is_address(word)).collect()
}

fn is_address(word: &str) -> bool {
    is_link(word) || is_mail(word) || is_account(word)
}

/// An address with a scheme, or a host with something behind it: `x.test/a`.
fn is_link(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_path = |(host, _): (&str, &str)| is_host(host);
    lower.contains("://") || lower.starts_with("www.") || word.split_once(['/', '?']).is_some_and(is_path)
}

fn is_mail(word: &str) -> bool {
    let is_mailbox = |(name, host): (&str, &str)| !name.is_empty() && host.contains('.');
    word.rsplit_once('@').is_some_and(is_mailbox)
}

fn is_host(host: &str) -> bool {
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let is_top = |label: &str| label.chars().count() > 1 && label.chars().all(char::is_alphabetic);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    host.rsplit_once('.').is_some_and(|(rest, top)| is_top(top) && rest.split('.').all(is_label))
}

fn is_account(word: &str) -> bool {
    let mut chars = word.bytes().filter(|b| *b != b'-');
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_long = chars.clone().count() >= ACCOUNT_CHARS_MIN && digits >= ACCOUNT_DIGITS_MIN;
    is_long && chars.all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;
