//! Secrets from a file.

use std::path::Path;

use probity_egress::{KNOWN_SECRET_BYTES_MIN, Words, register_secret};

use super::{label, trouble};
use crate::exit::{Code, Fatal};
use crate::render::Screen;

/// Registers each line, or the value of a line `NAME=VALUE`. A line that is too short is told by its number.
pub(super) fn register(path: &Path, screen: &Screen) -> Result<(), Fatal> {
    let name = label(path);
    let bytes = std::fs::read(path).map_err(|error| trouble(Code::Usage, "read `", &name, &error))?;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let about = || Words::new().text("line ").number(number).text(" of `").passed(&name);
        let Ok(line) = str::from_utf8(line) else {
            screen.tell(&about().text("` is not UTF-8; it is not looked for").done());
            continue;
        };
        let line = line.trim();
        if line.is_empty() || line == "#" || line.starts_with("# ") {
            continue;
        }
        let taken = value(line).is_some_and(register_secret) || register_secret(line);
        if !taken {
            let least = u64::try_from(KNOWN_SECRET_BYTES_MIN).unwrap_or_default();
            let words = about().text("` is too short; nothing below ").number(least);
            screen.tell(&words.text(" bytes is looked for").done());
        }
    }
    Ok(())
}

/// The value of a line as an environment file has it.
fn value(line: &str) -> Option<&str> {
    let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let unquoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    is_name.then_some(unquoted.unwrap_or(value))
}
