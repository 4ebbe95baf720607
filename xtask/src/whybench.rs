//! Tasks with a known cause, asked why. The program belongs to the crate of the search; thousands of cases want it optimised.

use anyhow::Result;

use crate::process;
use crate::workspace;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--release", "--package", "probity-why", "--example", "whybench", "--"]);
    process::run(command.args(arguments))
}
