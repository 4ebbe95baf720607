//! `probity replay`: a run again from its record, or forked with other context.

use std::sync::Arc;

use probity_contract::{Cancel, Effect, Emission, Entry, Part, RunId};
use probity_core::{ReplayError, replay};
use probity_egress::{
    Egress, SamePrincipal, Words, egress_text, egress_value, fenced_for_human, one_line_untrusted,
};
use probity_trace::{Noted, Record, atoms_of_text};
use probity_why::{
    Asked, Fork, ForkChange, ForkEnd, Kept, LiveReader, MODEL_TIMEOUT, Recorded, Target, play, text_of,
    words_of,
};
use serde_json::json;

use super::live_reads::TaskReader;
use crate::cli::{Cli, ReplayArgs};
use crate::command::run::open_store;
use crate::command::runs::{find, open};
use crate::command::why::{fork_failed, model_of, read};
use crate::exit::{Code, Fatal};
use crate::policies::data;
use crate::render::Screen;
use crate::task_file::TaskFile;
use crate::{interrupt, settings, wire};

/// Code points of an answer.
const ANSWER_CHARS_MAX: usize = 8_000;

/// Code points of a model's failure.
const FAILURE_CHARS_MAX: usize = 200;

pub(crate) async fn run(cli: &Cli, args: &ReplayArgs, screen: &Arc<Screen>) -> Result<Code, Fatal> {
    let store = open(cli, screen).await?;
    let (store, run) = find(store.as_ref(), &args.run).await?;
    let record = read(store, &run, screen).await?;
    if args.without.is_empty() && args.with.is_empty() {
        return again(cli, &record, screen);
    }
    forked(cli, args, &run, &record, screen).await
}

/// Plays the run again: no model, no tool, no person.
fn again(cli: &Cli, record: &Record, screen: &Screen) -> Result<Code, Fatal> {
    let lines = lines(record).ok_or_else(|| {
        let words = "replay the run: its record was written by a later program";
        Fatal::new(Code::Failed, words).hint("use that program")
    })?;
    let entries = record.lines().len() as u64;
    match replay(&lines) {
        Ok(_written) => {
            if cli.json {
                screen.json(&egress_value(&json!({ "is_same": true, "entries": entries })));
            } else {
                let words = Words::new().text("the same, byte for byte: ").number(entries);
                screen.out(&words.text(" entries follow from what came from outside").done());
            }
            Ok(Code::Ok)
        }
        Err(ReplayError::Differs { seq }) => {
            if cli.json {
                screen
                    .json(&egress_value(&json!({ "is_same": false, "entries": entries, "differs_at": seq })));
            } else {
                let words = Words::new().text("not the same: from entry ").number(seq);
                screen.out(&words.text(" on this program would have written something else").done());
            }
            Ok(Code::Failed)
        }
        Err(error) => {
            let hint = "`probity why` and `probity runs show` read such a record all the same";
            Err(Fatal::of(Code::Failed, &error).hint(hint))
        }
    }
}

/// The lines of a record; `None` where it holds some that this program does not understand.
fn lines(record: &Record) -> Option<Vec<Emission>> {
    let parts = record.parts().map(|(id, kept)| Emission::Part(Part { id, kept: kept.clone() }));
    let mut lines: Vec<Emission> = parts.collect();
    for line in record.lines() {
        let Noted::Known(fact) = &line.fact else { return None };
        lines.push(Emission::Entry(Entry { seq: line.seq, at_ms: line.at_ms, fact: fact.clone() }));
    }
    Some(lines)
}

/// Forks the run at the first model call that saw a change, up to its answer.
async fn forked(
    cli: &Cli,
    args: &ReplayArgs,
    run: &RunId,
    record: &Record,
    screen: &Arc<Screen>,
) -> Result<Code, Fatal> {
    let recorded = Recorded::of(record).map_err(|error| fork_failed(&error))?;
    let mut changes: Vec<ForkChange> =
        args.without.iter().map(|item| ForkChange::StandIn(Target::Item(*item))).collect();
    for (item, file) in &args.with {
        let text = std::fs::read_to_string(file).map_err(|error| {
            let words = format!("read `{}`: {error}", file.display());
            Fatal::new(Code::Usage, &words)
        })?;
        changes.push(ForkChange::Replace(*item, text.into()));
    }
    let changed = args.without.iter().chain(args.with.iter().map(|(item, _)| item));
    let first = changed.filter_map(|item| recorded.first_seen(*item)).min();
    let last = recorded.model_calls().saturating_sub(1);
    let Some(from) = first else {
        let words = "fork the run: none of these items was ever sent to the model";
        return Err(Fatal::new(Code::Usage, words).hint("`probity runs show RUN` lists the items of a run"));
    };
    let before = recorded.reply(last).map(text_of).unwrap_or_default();
    let atoms = atoms_of_text(&before);
    let kept = if atoms.is_empty() { Kept::Words(before.clone()) } else { Kept::Atoms(atoms) };
    let mut fork = Fork::begin(&recorded, from, &changes, Asked::Reply(last), kept)
        .map_err(|error| fork_failed(&error))?;
    let model = model_of(record, args.model.as_deref())?;
    let cancel = Cancel::new();
    interrupt::watch(cancel.clone(), Arc::clone(screen));
    let mut reader = None;
    if let Some(path) = &args.live_reads {
        let file = TaskFile::load(path)?;
        let data_dir = settings::data_dir(cli.data_dir.clone())?;
        data::is_apart(&data_dir, &file.tools)?;
        let store = open_store(&data_dir, screen).await?;
        let tools = wire::tools(&file.tools)?;
        let reads = tools.iter().map(|tool| tool.spec()).filter(|spec| spec.effect == Effect::Pure);
        fork = fork.with_live_reads(reads.map(|spec| spec.name.clone()));
        reader = Some(TaskReader::new(file, store, cancel.clone(), Arc::clone(screen), run));
    }
    screen.busy("asking the model");
    let reads = reader.as_ref().map(|reader| reader as &dyn LiveReader);
    let (end, failure) = play(&mut fork, &model, reads, MODEL_TIMEOUT, &cancel).await;
    let made = reader.map(|reader| reader.made()).unwrap_or_default();
    screen.idle();
    let after = words_of(fork.last_reply());
    let code = if end == (ForkEnd::Came { is_kept: true }) { Code::Ok } else { Code::Failed };
    if cli.json {
        screen.json(&egress_value(&json!({
            "forked_at": from.saturating_add(1),
            "model_calls": fork.turns(),
            "ended": ended(&end),
            "is_kept": end == (ForkEnd::Came { is_kept: true }),
            "answer_before": before,
            "answer": after,
            "failure": failure.map(|error| error.to_string()),
            "live_reads": made,
        })));
        return Ok(code);
    }
    let words = Words::new().text("forked at model call ").number(from.saturating_add(1) as u64).text(": ");
    screen.out(&words.text(ended(&end)).done());
    if !made.is_empty() {
        let runs = made.iter().map(|run| egress_text(run.as_str()));
        let words = Words::new()
            .number(made.len() as u64)
            .text(" reads of the world as it is now, not as it was, in the runs ");
        screen.out(&words.passed(&Egress::join(runs, ", ")).done());
    }
    if let ForkEnd::Diverged { tool, arguments } = &end {
        let call = egress_text::<SamePrincipal>(&format!("{tool} {arguments}"));
        let call = fenced_for_human::<SamePrincipal>(
            "a call that was never made, and was not made now",
            call.as_str(),
            400,
        );
        screen.out(&call);
    }
    if let Some(error) = failure {
        let error = one_line_untrusted(&error.to_string(), FAILURE_CHARS_MAX);
        screen.out(&Words::new().text("the model failed: ").passed(&error).done());
    }
    screen.out(&fenced_for_human("the recorded answer", &before, ANSWER_CHARS_MAX));
    if !after.is_empty() {
        screen.out(&Egress::fixed(""));
        screen.out(&fenced_for_human("the answer of the fork", &after, ANSWER_CHARS_MAX));
    }
    Ok(code)
}

const fn ended(end: &ForkEnd) -> &'static str {
    match end {
        ForkEnd::Came { is_kept: true } => "the answer stays",
        ForkEnd::Came { is_kept: false } => "the answer is another one",
        ForkEnd::Diverged { .. } => "diverged",
        ForkEnd::Failed(_) => "no answer",
        ForkEnd::Unjudged(_) => "it could not be told",
        ForkEnd::TurnsOver => "it went on without an answer",
    }
}
