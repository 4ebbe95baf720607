//! The recorded run of a case, made by the real machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, bail};
use probity_contract::{
    Body, Effect, Emission, Entry, Fact, ItemId, Kept, Label, Limits, Model, Origin, Part, PartId, ToolOutput,
};
use probity_core::{Host, Task, run_task};
use probity_models::RulesModel;
use probity_testkit::{Acts, MemoryJournal, ScriptedPolicy, ScriptedTool, principal, run_id};
use probity_trace::{Record, encode_frame, encode_header};

use super::case::{Case, Stands};

/// Items that were there and never sent have numbers from here on.
const NEVER_SENT_FROM: u32 = 1 << 30;

/// Runs a case; its record, read back from its bytes, and the model that answered.
pub(crate) fn record(case: &Case) -> Result<(Record, Arc<RulesModel>)> {
    let model = Arc::new(RulesModel::from_toml("rules/whybench", &case.rules)?);
    let mut task = Task::new(Arc::clone(&model) as Arc<dyn Model>, principal("ada"), case.person.clone());
    let (mut pages, mut tools, mut absent) = (Vec::new(), BTreeSet::new(), Vec::new());
    for piece in &case.pieces {
        match &piece.stands {
            Stands::Context(name) => task = task.context(name.clone(), &piece.text, Label::untrusted()),
            Stands::Absent(name) => absent.push((name.clone(), piece.text.clone())),
            Stands::Page { tool, .. } => {
                tools.insert(tool.clone());
                pages.push(piece.text.clone());
            }
        }
    }
    let pages = Arc::new(pages);
    // Something that a family's rules may call in the reply that is asked about.
    tools.insert("send".to_owned());
    for tool in tools {
        let pages = Arc::clone(&pages);
        let reads = ScriptedTool::by(&tool, Effect::Pure, move |call| {
            let page = call.arguments().to_value().get("page").and_then(serde_json::Value::as_u64);
            let page = page.and_then(|page| usize::try_from(page).ok()?.checked_sub(1));
            let text = page.and_then(|page| pages.get(page)).cloned().unwrap_or_else(|| "done".to_owned());
            Acts::Returns(ToolOutput::text(text))
        });
        task = task.tool(Arc::new(reads));
    }
    let task = task.policy(Arc::new(ScriptedPolicy::allowing())).limits(Limits::default());
    let journal = MemoryJournal::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime
        .block_on(run_task(task, run_id("whybench"), Host::new(Box::new(journal.clone()))))
        .map_err(|error| anyhow::anyhow!("run the task: {error}"))?;
    let record = read(journal.lines(), &absent)?;
    let calls = record.facts().filter(|(_, fact)| matches!(fact, Fact::ModelCalled { .. })).count();
    if calls < case.turns {
        bail!("the run ended before the call asked about");
    }
    Ok((record, model))
}

/// The machine sends all that it was given, so what was never sent is entered behind the start, as a runtime that leaves something out
/// enters it.
fn read(lines: Vec<Emission>, absent: &[(String, String)]) -> Result<Record> {
    let mut all = Vec::with_capacity(lines.len() + 2 * absent.len());
    for line in lines {
        let start = match &line {
            Emission::Entry(Entry { at_ms, fact: Fact::RunStarted(_), .. }) => Some(*at_ms),
            _ => None,
        };
        all.push(line);
        let Some(at_ms) = start else { continue };
        for (number, (name, text)) in (NEVER_SENT_FROM..).zip(absent) {
            let id = PartId::of(text);
            all.push(Emission::Part(Part { id, kept: Kept::Full(text.as_str().into()) }));
            let body = Body::Context { name: name.clone(), text: id };
            let (item, origin, label) = (ItemId(number), Origin::Task, Label::untrusted());
            let fact = Fact::ItemAdded { item, origin, label, body };
            all.push(Emission::Entry(Entry { seq: 0, at_ms, fact }));
        }
    }
    let (mut bytes, mut seq) = (Vec::new(), 0);
    encode_header(&mut bytes);
    for mut line in all {
        if let Emission::Entry(entry) = &mut line {
            entry.seq = seq;
            seq += 1;
        }
        encode_frame(&line, &mut bytes)?;
    }
    Ok(Record::read(&bytes).map_err(|error| anyhow::anyhow!("read the record: {error}"))?.record)
}
