//! What the person asked for. A few commands and flags do not pay for an argument parser that would double
//! the time this package takes to compile.

use anyhow::{Result, bail};

pub(crate) const HELP: &str = "\
Automation of the workspace

Usage: cargo xtask <COMMAND>

Commands:
  test    Run everything CI runs, and install what that needs
            --fast   Only format, edges, Clippy and the tests; nothing is installed except a missing nextest
  ci      The same as `test`, with CI=true in the environment
  edges   Check the table of allowed crate edges, and the names banned per crate
  models  Install a small tool-calling model and check its digests
            --check  Install nothing; start the model on loopback and have it make a forced tool call
            --json   Print where things are as one JSON object on standard output
  agent-hooks  Install the conformance vectors of AGENT-HOOKS-0.1 and print where they are
  bench   Run every benchmark of the workspace
            [CARGO BENCH ARGUMENTS] [-- CRITERION ARGUMENTS] are passed on
  redaction-report  What the credential pass finds in the redaction corpus, beside the targets
            [--json] [--transforms] [--misses KIND]
  fuzz    Look for texts for which a promise of the redaction passes does not hold
            [text|stream|value|known…] [--seconds N] [--texts N] [--seed N] [--input FILE]
  redaction-bench   How fast the credential pass is, beside scans of the same text in the same run
            [--mb N] [--json] [INPUT]...
  agentdojo  What the gate stops of AgentDojo's attacks, with a scripted worst-case model; installs the suites
            [--policy NAME] [--suite NAME] [--way NAME] [--json] [--jobs N]; `agentdojo -- --help` tells more
  tau-bench  How many atoms of recorded answers and calls have a source, beside another task's conversation
            [--misses]
  whybench  Whether the search for causes finds those of tasks with a known cause, beside baselines and targets
            [--seeds N] [--first-seed N] [--threads N] [--families DIR]
  who-and-when  Who made the decisive mistake of a failed run, and when: a ranker without a model, beside constants
  agentrx   The same on the annotations of AgentRx
  help    Print this

Options:
  -h, --help  Print this

Environment:
  XDG_CACHE_HOME  Tools and models are installed below `$XDG_CACHE_HOME/probity` (default `~/.cache/probity`)

Exit codes:
  0  all went well
  1  a step failed; the output says which, and what to do next
  2  the command line was not understood
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Test(Test),
    Edges,
    Models(Models),
    AgentHooks,
    Bench(Vec<String>),
    RedactionReport(Vec<String>),
    Fuzz(Vec<String>),
    RedactionBench(Vec<String>),
    AgentDojo(Vec<String>),
    TauBench(Vec<String>),
    WhyBench(Vec<String>),
    WhoAndWhen,
    AgentRx,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) fast: bool,
    pub(crate) ci: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Models {
    pub(crate) check: bool,
    pub(crate) json: bool,
}

pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command> {
    let mut arguments = arguments.into_iter();
    let Some(name) = arguments.next() else { bail!("a command is missing") };
    let rest: Vec<String> = arguments.collect();
    let own = rest.iter().take_while(|argument| *argument != "--");
    if own.clone().any(|argument| matches!(argument.as_str(), "-h" | "--help")) {
        return Ok(Command::Help);
    }
    match name.as_str() {
        "-h" | "--help" | "help" => Ok(Command::Help),
        "test" => parse_test(&rest, false),
        "ci" => parse_test(&rest, true),
        "edges" => parse_flags(&rest, |_| false).map(|()| Command::Edges),
        "models" => parse_models(&rest),
        "agent-hooks" => parse_flags(&rest, |_| false).map(|()| Command::AgentHooks),
        "bench" => Ok(Command::Bench(rest)),
        "redaction-bench" => Ok(Command::RedactionBench(rest)),
        "redaction-report" => Ok(Command::RedactionReport(rest)),
        "fuzz" => Ok(Command::Fuzz(rest)),
        "agentdojo" => Ok(Command::AgentDojo(rest)),
        "tau-bench" => Ok(Command::TauBench(rest)),
        "whybench" => Ok(Command::WhyBench(rest)),
        "who-and-when" => parse_flags(&rest, |_| false).map(|()| Command::WhoAndWhen),
        "agentrx" => parse_flags(&rest, |_| false).map(|()| Command::AgentRx),
        _ => bail!("unknown command `{name}`"),
    }
}

fn parse_test(arguments: &[String], ci: bool) -> Result<Command> {
    let mut test = Test { fast: false, ci };
    parse_flags(arguments, |flag| {
        let known = flag == "--fast" && !ci;
        test.fast |= known;
        known
    })?;
    Ok(Command::Test(test))
}

fn parse_models(arguments: &[String]) -> Result<Command> {
    let mut models = Models::default();
    parse_flags(arguments, |flag| {
        match flag {
            "--check" => models.check = true,
            "--json" => models.json = true,
            _ => return false,
        }
        true
    })?;
    Ok(Command::Models(models))
}

fn parse_flags(arguments: &[String], mut take: impl FnMut(&str) -> bool) -> Result<()> {
    match arguments.iter().find(|argument| !take(argument)) {
        Some(unknown) => bail!("unexpected argument `{unknown}`"),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
