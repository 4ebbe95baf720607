//! Automation of the workspace: `cargo xtask --help`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool reports by printing")]

mod agent_hooks;
mod agentdojo;
mod attribution;
mod bench;
mod checks;
mod cli;
mod edges;
mod examples;
mod models;
mod nextest;
mod process;
mod python;
mod redaction;
mod steps;
mod tau_bench;
mod whybench;
mod workspace;

use std::process::ExitCode;

use cli::Command;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error:#}\n\nSee `cargo xtask --help`.");
            return ExitCode::from(2);
        }
    };
    match run(command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Help => print!("{}", cli::HELP),
        Command::Test(options) => return checks::run(options),
        Command::Edges => edges::run()?,
        Command::Models(options) => models::run(options)?,
        Command::AgentHooks => return agent_hooks::run(),
        Command::Bench(arguments) => bench::run(&arguments)?,
        Command::RedactionBench(arguments) => redaction::bench(&arguments)?,
        Command::RedactionReport(arguments) => redaction::report(&arguments)?,
        Command::Fuzz(arguments) => redaction::fuzz(&arguments)?,
        Command::AgentDojo(arguments) => agentdojo::run(&arguments)?,
        Command::TauBench(arguments) => tau_bench::report(&arguments)?,
        Command::WhyBench(arguments) => whybench::run(&arguments)?,
        Command::WhoAndWhen => attribution::report("who-and-when")?,
        Command::AgentRx => attribution::report("agentrx")?,
    }
    Ok(ExitCode::SUCCESS)
}
