//! What the person asked for.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use super::policies::Setting;
use super::trial::Way;

pub(crate) const HELP: &str = "\
AgentDojo with a scripted worst-case model: what the gate stops, with no model in the loop

Usage: cargo xtask agentdojo [OPTIONS]

Options:
  --policy NAME  Only these rules, and again for more: none, tool-list, strict, message, engine, values, output, asked, person
  --suite NAME   Only this suite, and again for more: workspace, travel, banking, slack
  --way NAME     `straight` (the default); `child`: what an injection wants is handed to a task below;
                 or `resumed`: the process ends right after an injection was read, and another goes on
  --json         Print one JSON object, with the tasks that were not done and the attacks that succeeded
  --jobs N       Adapter processes (default 2)
  -h, --help     Print this
";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) python: PathBuf,
    pub(crate) script: PathBuf,
    pub(crate) settings: Vec<Setting>,
    /// All of them where none is named.
    pub(crate) suites: Vec<String>,
    pub(crate) way: Way,
    pub(crate) json: bool,
    pub(crate) jobs: usize,
}

/// `None` where help is wanted.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Options>> {
    let mut arguments = arguments.into_iter();
    let (mut python, mut script) = (None, None);
    let mut options = Options {
        python: PathBuf::new(),
        script: PathBuf::new(),
        settings: Vec::new(),
        suites: Vec::new(),
        way: Way::Straight,
        json: false,
        jobs: 2,
    };
    while let Some(flag) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("`{flag}` needs a value"));
        match flag.as_str() {
            "-h" | "--help" => return Ok(None),
            "--json" => options.json = true,
            "--python" => python = Some(PathBuf::from(value()?)),
            "--script" => script = Some(PathBuf::from(value()?)),
            "--suite" => options.suites.push(value()?),
            "--policy" => {
                let name = value()?;
                options.settings.push(Setting::parse(&name).with_context(|| format!("no policy `{name}`"))?);
            }
            "--way" => {
                options.way = match value()?.as_str() {
                    "straight" => Way::Straight,
                    "child" => Way::Child,
                    "resumed" => Way::Resumed,
                    other => bail!("no way `{other}`"),
                }
            }
            "--jobs" => {
                let jobs = value()?.parse().ok().filter(|jobs| (1..=16).contains(jobs));
                options.jobs = jobs.context("`--jobs` is a number from 1 to 16")?;
            }
            _ => bail!("unexpected argument `{flag}`"),
        }
    }
    if options.settings.is_empty() {
        options.settings = Setting::ALL.to_vec();
    }
    options.python = python.context("`--python` is missing: start this with `cargo xtask agentdojo`")?;
    options.script = script.context("`--script` is missing: start this with `cargo xtask agentdojo`")?;
    Ok(Some(options))
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
