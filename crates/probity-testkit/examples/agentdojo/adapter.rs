//! The suites, behind a child process that speaks JSON lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The child process. One request at a time; it ends with this value.
pub(crate) struct Adapter {
    pipe: Mutex<Pipe>,
}

struct Pipe {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What a suite has.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) tools: Vec<SuiteTool>,
    pub(crate) user_tasks: Vec<String>,
    pub(crate) injections: Vec<String>,
}

/// A tool as its suite defines it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SuiteTool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) pure: bool,
}

/// A call of a solution.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Planned {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

/// A world that was opened for one task.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Opened {
    pub(crate) world: u64,
    /// Stands in everything that an outsider wrote.
    pub(crate) mark: String,
    pub(crate) message: String,
    pub(crate) plan: Vec<Planned>,
    pub(crate) answer: String,
    /// What the outsider asks for, where one does.
    pub(crate) goal: Option<String>,
}

/// What a call brought back.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Returned {
    pub(crate) text: String,
    pub(crate) failed: bool,
    /// Whether anything in it was written by an outsider.
    pub(crate) foreign: bool,
    /// The names and values in it that an outsider wrote.
    pub(crate) outside: Vec<String>,
    /// The others.
    pub(crate) inside: Vec<String>,
}

/// What an injection wants.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) calls: Vec<Planned>,
    pub(crate) answer: String,
}

/// What the suite's own checks say in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Checked {
    pub(crate) utility: bool,
    pub(crate) attacked: bool,
}

impl Adapter {
    pub(crate) fn start(python: &Path, script: &Path) -> Result<Self> {
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start `{}`", python.display()))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("take the pipes of the adapter");
        };
        Ok(Self { pipe: Mutex::new(Pipe { child, requests, answers: BufReader::new(answers) }) })
    }

    pub(crate) fn suites(&self) -> Result<Vec<Suite>> {
        self.ask(&json!({ "do": "suites" }))
    }

    pub(crate) fn open(&self, suite: &str, user_task: &str, injection: Option<&str>) -> Result<Opened> {
        self.ask(&json!({ "do": "open", "suite": suite, "user_task": user_task, "injection": injection }))
    }

    pub(crate) fn call(&self, world: u64, tool: &str, arguments: &Value) -> Result<Returned> {
        self.ask(&json!({ "do": "call", "world": world, "tool": tool, "arguments": arguments }))
    }

    pub(crate) fn obey(&self, world: u64) -> Result<Wanted> {
        self.ask(&json!({ "do": "obey", "world": world }))
    }

    pub(crate) fn check(&self, world: u64, answer: &str) -> Result<Checked> {
        self.ask(&json!({ "do": "check", "world": world, "answer": answer }))
    }

    pub(crate) fn close(&self, world: u64) -> Result<()> {
        self.ask::<Value>(&json!({ "do": "close", "world": world })).map(drop)
    }

    fn ask<T: DeserializeOwned>(&self, request: &Value) -> Result<T> {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = request.to_string();
        line.push('\n');
        pipe.requests.write_all(line.as_bytes()).context("write to the adapter")?;
        line.clear();
        if pipe.answers.read_line(&mut line).context("read from the adapter")? == 0 {
            bail!("the adapter has ended; what it said last stands above");
        }
        read(&line).with_context(|| format!("ask the adapter to `{}`", request["do"].as_str().unwrap_or("?")))
    }
}

/// An answer: what was asked for, or why there is none.
fn read<T: DeserializeOwned>(line: &str) -> Result<T> {
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Answer {
        Ok(Value),
        Error(String),
    }
    match serde_json::from_str(line).context("read an answer")? {
        Answer::Ok(value) => serde_json::from_value(value).context("read an answer"),
        Answer::Error(words) => Err(anyhow!(words)),
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // Both fail only when the child has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[path = "adapter_tests.rs"]
mod tests;
