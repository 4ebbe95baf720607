//! What `shell` may do, and the environment that its programs see.

use std::path::PathBuf;

use crate::clip;
use crate::root::Root;
use crate::setup::ToolSetupError;

/// What `shell` may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellConfig {
    /// What programs may read and, where a root says so, write. The first root is the default working directory.
    pub roots: Vec<Root>,
    /// Whether programs may use TCP and UDP, to anywhere.
    pub network: bool,
    /// Names of environment variables that are taken over beside `LANG` and `TZ`. Everything else is withheld.
    pub env_names: Vec<String>,
    /// Files and directories beside the roots and the system's own that programs may read and execute, for example a
    /// toolchain.
    pub readable: Vec<PathBuf>,
    /// Open files of one process.
    pub open_files_max: u64,
    /// Bytes of one file that a program writes.
    pub file_bytes_max: u64,
    /// A newer Landlock ABI than the sandbox needs by itself. It can only ask for more.
    pub landlock_abi_min: u32,
    /// The program that lends itself as the helper, if not the running one. It must call
    /// [`crate::maybe_run_sandbox_helper`].
    pub helper: Option<PathBuf>,
}

impl ShellConfig {
    /// These roots, no network, nothing else of the environment, 1,024 open files, files up to 1 GiB.
    #[must_use]
    pub const fn new(roots: Vec<Root>) -> Self {
        Self {
            roots,
            network: false,
            env_names: Vec::new(),
            readable: Vec::new(),
            open_files_max: 1_024,
            file_bytes_max: 1024 * 1024 * 1024,
            landlock_abi_min: 0,
            helper: None,
        }
    }
}

/// Where programs are looked for when the environment does not say.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
/// Variables that the sandbox sets itself.
const OWN_NAMES: [&str; 4] = ["HOME", "PATH", "TERM", "TMPDIR"];
/// Variables that are always taken over.
const TAKEN_NAMES: [&str; 2] = ["LANG", "TZ"];

/// The environment of every program: little, and nothing that was not named.
pub(super) fn environment(names: &[String]) -> Result<Vec<(String, String)>, ToolSetupError> {
    let mut environment = vec![("TERM".to_owned(), "dumb".to_owned()), ("PATH".to_owned(), search_path())];
    for name in TAKEN_NAMES.iter().copied().chain(names.iter().map(String::as_str)) {
        if name.is_empty()
            || name.contains(['=', '\0'])
            || name.starts_with("LD_")
            || OWN_NAMES.contains(&name)
        {
            let why = format!("the environment variable `{}` cannot be taken over", clip::word(name));
            return Err(ToolSetupError::config("shell", why));
        }
        if let Ok(value) = std::env::var(name) {
            environment.push((name.to_owned(), value));
        }
    }
    Ok(environment)
}

/// The directories of the process's own search path that are there: a relative one would mean the working directory, and
/// one that may not be entered would hide that a program does not exist.
fn search_path() -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    let absolute: Vec<&str> = own
        .split(':')
        .filter(|part| part.starts_with('/') && std::fs::metadata(part).is_ok_and(|found| found.is_dir()))
        .collect();
    if absolute.is_empty() { PATH_DEFAULT.to_owned() } else { absolute.join(":") }
}

pub(super) fn real(path: &std::path::Path) -> Result<String, ToolSetupError> {
    let io =
        |error| ToolSetupError::io("shell", format!("find the readable path `{}`", path.display()), error);
    let real = std::fs::canonicalize(path).map_err(io)?;
    let text = real.to_str().map(str::to_owned);
    text.ok_or_else(|| ToolSetupError::config("shell", "a readable path is not UTF-8"))
}
