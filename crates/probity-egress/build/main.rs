//! Compiles the vocabulary: the files `vocabulary/*.toml` become static tables, so that nothing is parsed at start-up and
//! a shape that says something impossible does not build.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads files and the variables that Cargo sets"
)]

mod emit;
mod shape;
mod source;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Failure> {
    Ok(compile()?)
}

#[expect(clippy::print_stdout, reason = "how a build script speaks to Cargo")]
fn compile() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=vocabulary");
    println!("cargo::rerun-if-changed=build");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("vocabulary");
    let kinds = source::read(&folder)?;
    let vendors = fs::read_to_string(folder.join("vendors.txt"))?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("kinds.rs"), emit::kinds(&kinds)?)?;
    fs::write(out.join("vendors.rs"), emit::vendors(&vendors))?;
    Ok(())
}

/// Cargo shows what `main` returns as `Debug`; this one reads as a sentence.
struct Failure(Box<dyn Error>);

impl From<Box<dyn Error>> for Failure {
    fn from(error: Box<dyn Error>) -> Self {
        Self(error)
    }
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}
