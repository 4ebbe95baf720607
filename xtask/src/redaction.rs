//! What the redaction pass finds, and how fast. The programs belong to the crates, since the automation uses none of
//! them.

use anyhow::Result;

use crate::process;
use crate::workspace;

/// The pass over the redaction corpus, beside the targets.
pub(crate) fn report(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--package", "probity-testkit", "--example", "redaction-report", "--"]);
    process::run(command.args(arguments))
}

/// The speed of the pass, beside scans of the same text.
pub(crate) fn bench(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["bench", "--quiet", "--package", "probity-egress", "--bench", "throughput", "--", "table"]);
    process::run(command.args(arguments))
}
