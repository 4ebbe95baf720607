//! What a child gets of its surroundings: a program that is there, and the variables that were named.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Where a program lies. A name without `/` is looked for in the process's own search path, any other one from `directory`.
///
/// Found once, before the run: a program that is put into the search path later is not it.
pub(super) fn find(program: &str, directory: &Path) -> io::Result<PathBuf> {
    if program.contains('/') {
        let path = std::path::absolute(directory.join(program))?;
        return is_program(&path)
            .and_then(|is| if is { Ok(path) } else { Err(io::ErrorKind::PermissionDenied.into()) });
    }
    let search =
        std::env::var_os("PATH").unwrap_or_else(|| OsStr::new("/usr/local/bin:/usr/bin:/bin").to_owned());
    // A relative entry would mean the working directory.
    let mut places = std::env::split_paths(&search).filter(|place| place.is_absolute());
    let found = places.find_map(|place| {
        let path = place.join(program);
        is_program(&path).is_ok_and(|is| is).then_some(path)
    });
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn is_program(path: &Path) -> io::Result<bool> {
    let found = std::fs::metadata(path)?;
    Ok(found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The named variables that are set, with their values. Nothing else of the environment is handed on.
pub(super) fn named(names: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut environment = Vec::new();
    for name in names {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!(
                "`{}` cannot be the name of an environment variable",
                crate::clip::word(name)
            ));
        }
        match std::env::var(name) {
            Ok(value) => environment.push((name.clone(), value)),
            Err(std::env::VarError::NotPresent) => {}
            Err(std::env::VarError::NotUnicode(_)) => {
                return Err(format!("the environment variable `{name}` is not UTF-8"));
            }
        }
    }
    Ok(environment)
}
