//! Where the atoms of recorded conversations come from. The program belongs to the crate, since the automation uses none.

use anyhow::Result;

use crate::process;
use crate::workspace;

pub(crate) fn report(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo();
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "probity-trace",
        "--example",
        "tau-bench",
        "--",
    ]);
    process::run(command.args(arguments))
}
