//! Classes of bytes, for what is asked of every byte of a text.

/// Visible characters of their own: ASCII but for the beginning of a control sequence.
pub(super) const PLAIN: u8 = 1;
/// Letters, digits, and the signs that values have.
pub(super) const RUN: u8 = 1 << 1;
/// What names are written with.
pub(super) const NAME: u8 = 1 << 2;
/// What may stand between a name and its value, or at the end of a name.
pub(super) const BETWEEN: u8 = 1 << 3;
/// What noted passwords are written with.
pub(super) const NOTE: u8 = 1 << 4;
/// What the fields of a password file are written with.
pub(super) const FIELD: u8 = 1 << 5;
/// What may be of a value without quotes that follows a blank; whatever is not ASCII may.
pub(super) const BARE: u8 = 1 << 6;

/// Whether a byte is of one of these classes.
pub(super) fn is(byte: u8, classes: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|of| of & classes != 0)
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler; an index out of range does not compile"
)]
static CLASSES: [u8; 256] = {
    let mut classes = [BARE; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = of(byte);
        byte += 1;
    }
    classes
};

const fn of(byte: u8) -> u8 {
    let word = byte.is_ascii_alphanumeric();
    let quote = matches!(byte, b'"' | b'\'' | b'`');
    let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut of = 0;
    if byte != 0x1b {
        of |= PLAIN;
    }
    if word || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'~') {
        of |= RUN;
    }
    if word || matches!(byte, b'_' | b'-' | b'.') {
        of |= NAME;
    }
    let sign = matches!(
        byte,
        b'=' | b':' | b'?' | b'+' | b'.' | b'|' | b'!' | b'~' | b'<' | b'>' | b'\\' | b'-' | b','
    );
    if blank || quote || sign {
        of |= BETWEEN;
    }
    if word
        || matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'?' | b'+' | b'~' | b'-' | b'_')
    {
        of |= NOTE;
    }
    if word || matches!(byte, b'_' | b'-' | b'.' | b'@' | b'*') {
        of |= FIELD;
    }
    if !byte.is_ascii_whitespace() && !quote && !matches!(byte, b'<' | b'|' | b'=' | b':') {
        of |= BARE;
    }
    of
}
