//! The decisive mistake of annotated runs, guessed without a model. The program belongs to the crate that reads such runs.

use anyhow::Result;

use crate::process;
use crate::workspace;

pub(crate) fn report(corpus: &str) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--release", "--package", "probity-import", "--example", "attribution"]);
    process::run(command.args(["--", corpus]))
}
