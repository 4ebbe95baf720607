use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::exit::{Code, Fatal};

/// Writes a page into a file that only its owner can read, all at once or not at all. Where something of this name is there, it is left
/// alone, or, with `force`, replaced; a link is replaced and not followed.
pub(crate) fn write(path: &Path, html: &str, force: bool) -> Result<(), Fatal> {
    let named =
        |error: &dyn std::fmt::Display| Fatal::new(Code::Io, &format!("write `{}`: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Readable by nobody else from the first moment on.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| named(&error))?;
    file.write_all(html.as_bytes()).map_err(|error| named(&error))?;
    let kept = if force { file.persist(path) } else { file.persist_noclobber(path) };
    kept.map(drop).map_err(|error| {
        if error.error.kind() == ErrorKind::AlreadyExists {
            let words = format!("write `{}`: it is there already", path.display());
            return Fatal::new(Code::Usage, &words).hint("choose another name, or replace it with --force");
        }
        named(&error.error)
    })
}
