//! AgentDojo with a scripted worst-case model. The program stands beside the testkit; here is what it needs: the suites, in a
//! virtual environment of their own, and the adapter that speaks for them.

use anyhow::{Context as _, Result};

use crate::process;
use crate::python::Venv;
use crate::workspace;

/// The suites and what they import, but for clients of language models: the adapter puts empty ones in their place.
const REQUIREMENTS: &str = include_str!("../requirements/agentdojo.txt");
const VENV: &str = "agentdojo";

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let arguments = arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments);
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--package", "probity-testkit", "--example", "agentdojo", "--"]);
    if !arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        let venv = Venv::ensure(VENV, REQUIREMENTS).context(
            "the suites come as ready packages for Linux and Python 3.11 to 3.13, over the network: \
             with one of these as `python3`, and the network, try again",
        )?;
        command.arg("--python").arg(venv.bin("python"));
        command.arg("--script").arg(workspace::root().join("xtask/agentdojo/serve.py"));
    }
    process::run(command.args(arguments))
}
