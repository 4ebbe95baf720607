//! Annotated runs, read from their records.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use probity_contract::{Emission, Fact, ForeignTo, ItemId, Kept, PartId, PrincipalId};
use probity_import::{ChatRole, Format, ImportOptions, ImportedRun, import, messages};
use probity_trace::{Author, Follow, Graph, Record};
use serde_json::Value;

pub(crate) type Fallible<T> = Result<T, Box<dyn Error>>;

/// A part of a corpus that is trained on and tested as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    AlgorithmGenerated,
    HandCrafted,
    TauRetail,
    MagenticOne,
}

impl Half {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AlgorithmGenerated => "algorithm-generated",
            Self::HandCrafted => "hand-crafted",
            Self::TauRetail => "tau retail",
            Self::MagenticOne => "magentic-one",
        }
    }
}

/// One annotated run.
#[derive(Debug)]
pub(crate) struct Case {
    /// Runs of one group are about the same thing, and never stand on both sides of a split.
    pub(crate) group: String,
    pub(crate) turns: Turns,
    /// The decisive turn, counted from 0.
    pub(crate) step: usize,
    /// Who is to blame, in lower case. Not always the one whose turn it is.
    pub(crate) agent: String,
}

/// What there is to judge by. No annotation gets here.
#[derive(Debug, PartialEq)]
pub(crate) struct Turns {
    /// The question, where the log does not begin with it.
    pub(crate) before: String,
    pub(crate) list: Vec<Turn>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Turn {
    /// In lower case.
    pub(crate) speaker: String,
    /// The role as the log has it, where it says more than the speaker.
    pub(crate) role: String,
    /// Text, and calls as name and arguments.
    pub(crate) text: String,
    pub(crate) calls: usize,
    pub(crate) is_error: bool,
    pub(crate) wrote: Wrote,
    /// Whether the last reply hangs on it, by the edges of the record.
    pub(crate) is_in_slice: bool,
}

/// At the end of the chain of who wrote a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrote {
    Model,
    Person,
    Tool,
    Other,
}

/// What an import keeps beside the facts.
struct Foreign {
    run: HashMap<String, Value>,
    /// What is said of an item beside its body.
    items: HashMap<ItemId, Value>,
}

impl Foreign {
    fn of(lines: &[Emission]) -> Self {
        let mut texts: HashMap<PartId, &str> = HashMap::new();
        let mut foreign = Self { run: HashMap::new(), items: HashMap::new() };
        for line in lines {
            match line {
                Emission::Part(part) => {
                    if let Kept::Full(text) = &part.kept {
                        texts.insert(part.id, text.as_ref());
                    }
                }
                Emission::Entry(entry) => {
                    let Fact::Foreign { about, at, json } = &entry.fact else { continue };
                    let text = texts.get(json).copied().unwrap_or_default();
                    let value: Value = serde_json::from_str(text).unwrap_or_default();
                    match about {
                        ForeignTo::Run => drop(foreign.run.insert(at.clone(), value)),
                        ForeignTo::Item(item) if at.is_empty() => drop(foreign.items.insert(*item, value)),
                        ForeignTo::Item(_) | ForeignTo::ModelCall(_) | ForeignTo::Call(_) => {}
                    }
                }
            }
        }
        foreign
    }

    fn run(&self, at: &str) -> &Value {
        self.run.get(at).unwrap_or(&Value::Null)
    }

    fn item(&self, item: Option<ItemId>, at: &str) -> &Value {
        item.and_then(|item| self.items.get(&item)?.get(at)).unwrap_or(&Value::Null)
    }
}

/// The turns of a run. Those of a log that counts them are the counted ones; else every message is one.
fn turns(run: &ImportedRun, foreign: &Foreign) -> Fallible<Turns> {
    let record = Record::read(&run.encoded()?)?.record;
    let graph = Graph::of(&[&record]);
    let at = graph.runs().next().ok_or("no run")?;
    let said = messages(run);
    let last = said.iter().rev().find(|message| message.role == ChatRole::Assistant);
    let answer = last.and_then(|message| graph.item(at, message.item?));
    let slice = graph.backward(answer, Follow::Data);
    let counts = run.format == Format::WhoAndWhen;
    let mut turns = Turns { before: String::new(), list: Vec::new() };
    for message in &said {
        let node = message.item.and_then(|item| graph.item(at, item));
        let mut text = message.content.clone();
        for call in &message.tool_calls {
            text.push_str(&format!("\n{}({})", call.name, call.arguments));
        }
        if counts && foreign.item(message.item, "step").as_u64() != Some(turns.list.len() as u64) {
            turns.before = text;
            continue;
        }
        let plain = match message.role {
            ChatRole::System => "system",
            ChatRole::User => "user",
            ChatRole::Assistant => "assistant",
            ChatRole::Tool => "tool",
        };
        let speaker = if counts { message.name.as_deref().unwrap_or(plain) } else { plain };
        let wrote = match message.item.and_then(|item| graph.author_of(at, item)) {
            Some(Author::Model { .. }) => Wrote::Model,
            Some(Author::Principal(_) | Author::Person(_)) => Wrote::Person,
            Some(Author::Tool { .. }) => Wrote::Tool,
            Some(Author::Task | Author::Interceptors(_) | Author::Policies(_) | Author::Engine) | None => {
                Wrote::Other
            }
        };
        turns.list.push(Turn {
            speaker: speaker.to_lowercase(),
            role: foreign.item(message.item, "role").as_str().unwrap_or_default().to_lowercase(),
            text,
            calls: message.tool_calls.len(),
            is_error: message.is_error,
            wrote,
            is_in_slice: node.is_some_and(|node| slice.contains(node)),
        });
    }
    Ok(turns)
}

fn imported(bytes: &[u8], format: Format) -> Fallible<Vec<ImportedRun>> {
    let options = ImportOptions { principal: PrincipalId::new("reader")?, started_at_unix_ms: 0 };
    Ok(import(bytes, Some(format), &options)?)
}

fn bytes_of(path: &Path) -> Fallible<Vec<u8>> {
    Ok(std::fs::read(path)?)
}

fn json(path: &Path) -> Fallible<Vec<Value>> {
    Ok(serde_json::from_slice(&bytes_of(path)?)?)
}

/// The turns of one log of several agents.
#[cfg(test)]
pub(crate) fn turns_of_log(bytes: &[u8]) -> Fallible<Turns> {
    let runs = imported(bytes, Format::WhoAndWhen)?;
    let run = runs.first().ok_or("no run")?;
    turns(run, &Foreign::of(&run.lines))
}

/// Both halves of Who&When. `folder` holds one folder for each.
pub(crate) fn who_and_when(folder: &Path) -> Fallible<[Vec<Case>; 2]> {
    Ok([logs(&folder.join("Algorithm-Generated"))?, logs(&folder.join("Hand-Crafted"))?])
}

fn logs(folder: &Path) -> Fallible<Vec<Case>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|file| file.map(|file| file.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(|path| log(path)).collect()
}

fn log(path: &Path) -> Fallible<Case> {
    let runs = imported(&bytes_of(path)?, Format::WhoAndWhen)?;
    let run = runs.first().ok_or("no run")?;
    let foreign = Foreign::of(&run.lines);
    let step = whole(foreign.run("/mistake_step")).ok_or("no `mistake_step`")?;
    let agent = foreign.run("/mistake_agent").as_str().ok_or("no `mistake_agent`")?.to_lowercase();
    // One question is asked of several systems.
    let group = foreign.run("/question_ID").as_str().ok_or("no `question_ID`")?.to_owned();
    Ok(Case { group, turns: turns(run, &foreign)?, step, agent })
}

/// The annotations of AgentRx: on retail conversations, and on the hand-crafted logs of Who&When that it annotated anew.
/// Its steps count from 1.
pub(crate) fn agent_rx(folder: &Path, hand_crafted: &Path) -> Fallible<[Vec<Case>; 2]> {
    let truths = json(&folder.join("ground_truth/tau_ground_truth.json"))?;
    let runs = imported(&bytes_of(&folder.join("tau_retail/tau_dataset_failed.json"))?, Format::TauBench)?;
    let mut retail = Vec::new();
    for run in &runs {
        let foreign = Foreign::of(&run.lines);
        let key = as_key(foreign.run("/task_id"));
        let Some((step, agent)) = truths.iter().find(|truth| is_of(truth, &key)).and_then(root) else {
            continue;
        };
        // The same customer comes with the same orders, and often with the same wish.
        let customer = foreign.run("/info").pointer("/task/user_id").and_then(Value::as_str);
        let group = customer.unwrap_or(&key).to_owned();
        retail.push(Case { group, turns: turns(run, &foreign)?, step, agent });
    }
    let truths = json(&folder.join("ground_truth/magentic_one_ground_truth.json"))?;
    let mut again = Vec::new();
    for case in logs(hand_crafted)? {
        if let Some((step, agent)) = truths.iter().find(|truth| is_of(truth, &case.group)).and_then(root) {
            again.push(Case { step, agent, ..case });
        }
    }
    Ok([retail, again])
}

fn is_of(truth: &Value, key: &str) -> bool {
    truth.get("trajectory_id").map(as_key).as_deref() == Some(key)
}

/// The failure that is called the root, as the turn counted from 0 and the agent.
fn root(truth: &Value) -> Option<(usize, String)> {
    let id = as_key(truth.pointer("/root_cause/failure_id")?);
    let failures = truth.get("failures")?.as_array()?;
    let root = failures.iter().find(|failure| failure.get("failure_id").map(as_key).as_ref() == Some(&id))?;
    let step = whole(root.get("step_number")?)?.checked_sub(1)?;
    Some((step, root.get("failed_agent")?.as_str()?.to_lowercase()))
}

fn as_key(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn whole(value: &Value) -> Option<usize> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    usize::try_from(number).ok()
}
