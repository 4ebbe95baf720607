//! `probity why`: where an answer, or a part of a run, came from.

mod confirm;
mod judge;

use std::sync::Arc;

use probity_contract::{Cancel, Fact, RunId};
use probity_egress::{Egress, Human, SamePrincipal, Tier, Words, egress_value};
use probity_store::{Store, StoredRecord};
use probity_trace::{Graph, Record};
use probity_why::{AskError, Asking, Why};

use crate::cli::{Cli, PageArgs, TierName, WhyArgs};
use crate::command::run::store_failed;
use crate::command::runs::{find, open};
use crate::exit::{Code, Fatal};
use crate::html::{self, why_page};
use crate::interrupt;
use crate::render::{Screen, confirmed_lines, why_lines};
use crate::why::{ShownConfirmed, ShownWhy};
pub(crate) use confirm::{Plan, Tested, confirm, fork_failed, model_of};
pub(crate) use judge::pattern;

/// Tasks that were started by calls whose records are read beside that of the run.
const CHILDREN_MAX: usize = 64;

pub(crate) async fn run(cli: &Cli, args: &WhyArgs, screen: &Arc<Screen>) -> Result<Code, Fatal> {
    let store = open(cli, screen).await?;
    let (store, run) = find(store.as_ref(), &args.run).await?;
    let records = family(store, &run, screen).await?;
    let records: Vec<&Record> = records.iter().collect();
    let graph = Graph::of(&records);
    let why = Why::of(&graph, &asking(args)).map_err(|error| failed(&error))?;
    let mut tested = None;
    if let (true, Some(record)) = (args.confirm, records.first()) {
        let cancel = Cancel::new();
        interrupt::watch(cancel.clone(), Arc::clone(screen));
        tested = Some(confirm(record, &why, &Plan::of(record, args)?, cancel, screen).await?);
    }
    let tested = tested.as_ref();
    // Before anything is told: where the page cannot be written, that is the outcome.
    write_page(&args.page, || match args.page.tier {
        TierName::SamePrincipal => why_page(&shown::<SamePrincipal>(&graph, &why, tested)),
        TierName::Human => why_page(&shown::<Human>(&graph, &why, tested)),
    })?;
    tell(&shown(&graph, &why, tested), cli.json, screen);
    Ok(tested.map_or(Code::Ok, confirm::code))
}

/// Tells a report.
pub(crate) fn tell(shown: &ShownWhy<SamePrincipal>, json: bool, screen: &Screen) {
    if json {
        screen.json(&egress_value(shown));
        return;
    }
    why_lines(shown).iter().for_each(|line| screen.out(line));
    for confirmed in shown.tests() {
        screen.out(&Egress::fixed(""));
        confirmed_lines(confirmed).iter().for_each(|line| screen.out(line));
    }
}

/// A report with what its test came to.
pub(crate) fn shown<T: Tier>(graph: &Graph<'_>, why: &Why, tested: Option<&Tested>) -> ShownWhy<T> {
    let mut shown = ShownWhy::of(graph, why);
    if let Some(Tested { steps, model, alpha }) = tested {
        shown.tell_tested(steps.iter().map(|step| ShownConfirmed::of(graph, step, model, *alpha)).collect());
    }
    shown
}

fn asking(args: &WhyArgs) -> Asking {
    match (&args.text, args.call, &args.pointer) {
        (Some(text), _, _) => Asking::Text(text.clone()),
        (None, Some(call), Some(pointer)) => Asking::CallPointer(call, pointer.clone()),
        (None, Some(call), None) => Asking::Call(call),
        (None, None, Some(pointer)) => Asking::Pointer(pointer.clone()),
        (None, None, None) => Asking::Answer,
    }
}

fn failed(error: &AskError) -> Fatal {
    let code = match error {
        AskError::Empty | AskError::NoAnswer => Code::Failed,
        AskError::NotSaid | AskError::NoCall(_) | AskError::NoValue => Code::Usage,
    };
    Fatal::of(code, error).hint(error.hint())
}

/// The record of a run, and those of the tasks that its calls have started, as far as they are there.
pub(crate) async fn family(store: &Store, run: &RunId, screen: &Screen) -> Result<Vec<Record>, Fatal> {
    let mut records = vec![read(store, run, screen).await?];
    let mut at = 0;
    while let Some(record) = records.get(at) {
        let children: Vec<RunId> = record
            .facts()
            .filter_map(|(_, fact)| {
                let Fact::ChildEnded { run, .. } = fact else { return None };
                Some(run.clone())
            })
            .collect();
        for child in children {
            if records.len() > CHILDREN_MAX {
                break;
            }
            // One that is gone, or cannot be read, is an unknown node of the graph.
            if let Ok(stored) = store.read(&child).await {
                records.push(stored.record);
            }
        }
        at += 1;
    }
    Ok(records)
}

/// The record of a run. What was cut off at its end is said.
pub(crate) async fn read(store: &Store, run: &RunId, screen: &Screen) -> Result<Record, Fatal> {
    let StoredRecord { record, notice, .. } = store.read(run).await.map_err(|error| store_failed(&error))?;
    if let Some(torn) = notice {
        let words = Words::<SamePrincipal>::new().text("the last write broke off; ").number(torn.bytes_cut);
        screen.tell(&words.text(" bytes are left out").done());
    }
    Ok(record)
}

/// Writes a page where one is asked for.
pub(crate) fn write_page(args: &PageArgs, page: impl FnOnce() -> String) -> Result<(), Fatal> {
    args.html.as_ref().map_or(Ok(()), |path| html::write(path, &page(), args.force))
}
