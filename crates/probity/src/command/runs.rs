//! `probity runs`: looks at the records of runs.

use probity_contract::RunId;
use probity_egress::{Egress, SamePrincipal, Words, egress_text, egress_value, one_line_untrusted};
use probity_store::{ListFilter, Listing, RunRow, RunState, Store, StoreError};
use probity_trace::{Moment, RunSummary};
use serde_json::json;
use time::OffsetDateTime;
use time::macros::format_description;

use crate::cli::{Cli, ListArgs, ShowArgs};
use crate::command::run::store_failed;
use crate::exit::{Code, Fatal};
use crate::render::{Screen, count_words, ending_words};
use crate::settings;

type Passed = Egress<SamePrincipal>;

/// What the newest run can be called. No id begins like this: `l` is no character of one.
const LAST: &str = "last";

/// Code points of a title in a list.
const TITLE_CHARS_MAX: usize = 60;

/// The store, or `None` where nothing was ever stored.
pub(crate) async fn open(cli: &Cli, screen: &Screen) -> Result<Option<Store>, Fatal> {
    let dir = settings::data_dir(cli.data_dir.clone())?;
    if matches!(dir.try_exists(), Ok(false)) {
        return Ok(None);
    }
    let store = Store::open_read_only(&dir).await.map_err(|error| store_failed(&error))?;
    store.notices().iter().for_each(|notice| screen.tell(&egress_text(notice)));
    Ok(Some(store))
}

pub(crate) async fn list(cli: &Cli, args: &ListArgs, screen: &Screen) -> Result<Code, Fatal> {
    let store = open(cli, screen).await?;
    let before = match &args.before {
        None => None,
        Some(prefix) => Some(find(store.as_ref(), prefix).await?.1),
    };
    let filter = ListFilter { limit: args.limit, before };
    let listing = match &store {
        None => Listing { rows: Vec::new(), notices: Vec::new() },
        Some(store) => store.list(filter).await.map_err(|error| store_failed(&error))?,
    };
    listing.notices.iter().for_each(|notice| screen.tell(&egress_text(notice)));
    if cli.json {
        screen.json(&egress_value(&json!({ "runs": listing.rows })));
    } else if listing.rows.is_empty() {
        screen.tell(&Egress::fixed("no runs yet; `probity demo` makes one"));
    } else {
        listing.rows.iter().for_each(|row| screen.out(&row_line(row)));
    }
    Ok(Code::Ok)
}

/// The run that is called, or begins like, this; `last` is the newest.
pub(crate) async fn find<'a>(store: Option<&'a Store>, prefix: &str) -> Result<(&'a Store, RunId), Fatal> {
    let store = store.ok_or_else(|| not_found(&StoreError::NotFound(prefix.to_owned())))?;
    if prefix == LAST {
        let filter = ListFilter { limit: 1, before: None };
        let listing = store.list(filter).await.map_err(|error| store_failed(&error))?;
        let newest = listing.rows.into_iter().next().map(|row| row.run);
        return newest
            .map(|run| (store, run))
            .ok_or_else(|| not_found(&StoreError::NotFound(prefix.to_owned())));
    }
    let run = store.find(prefix).await.map_err(|error| not_found(&error))?;
    Ok((store, run))
}

pub(crate) fn not_found(error: &StoreError) -> Fatal {
    let fatal = store_failed(error);
    match error {
        StoreError::NotFound(_) | StoreError::Ambiguous { .. } => Fatal { code: Code::NotFound, ..fatal },
        StoreError::Io { .. }
        | StoreError::NotOwnerOnly { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Exists(_)
        | StoreError::Running(_)
        | StoreError::TooLarge { .. }
        | StoreError::Record { .. } => fatal,
    }
}

fn row_line(row: &RunRow) -> Passed {
    let run = egress_text::<SamePrincipal>(row.run.as_str());
    let state: Passed = match &row.state {
        RunState::Running => Egress::fixed("running"),
        RunState::AtRest => Egress::fixed("at rest: probity approve, or probity resume"),
        RunState::BrokenOff => Egress::fixed("broken off"),
        RunState::Ended { ending: Some(ending) } => ending_words(ending),
        RunState::Ended { ending: None } => Egress::fixed("ended"),
        RunState::Unreadable { .. } => Egress::fixed("unreadable"),
    };
    let words = Words::new().passed(&run);
    let Some(summary) = &row.summary else { return words.text("  ").passed(&state).done() };
    let title = one_line_untrusted(&summary.title, TITLE_CHARS_MAX);
    let words = words.text("  ").passed(&when(summary.started_at_unix_ms)).text("  ").passed(&title);
    words.text("  [").passed(&state).text("]").done()
}

/// A moment in UTC, to the second.
fn when(unix_ms: u64) -> Passed {
    let format = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]Z");
    let moment =
        i64::try_from(unix_ms / 1_000).ok().and_then(|s| OffsetDateTime::from_unix_timestamp(s).ok());
    let text = moment.and_then(|moment| moment.format(&format).ok());
    egress_text(&text.unwrap_or_else(|| "at an unknown time".to_owned()))
}

pub(crate) async fn show(cli: &Cli, args: &ShowArgs, screen: &Screen) -> Result<Code, Fatal> {
    let store = open(cli, screen).await?;
    let (store, run) = find(store.as_ref(), &args.run).await?;
    let stored = store.read(&run).await.map_err(|error| store_failed(&error))?;
    if let Some(torn) = &stored.notice {
        screen.tell(
            &Words::new()
                .text("the last write broke off; ")
                .number(torn.bytes_cut)
                .text(" bytes are left out")
                .done(),
        );
    }
    let summary = stored.record.summary();
    let timeline = stored.record.timeline();
    if cli.json {
        let calls = stored.record.calls();
        let value = json!({ "summary": summary, "timeline": timeline, "calls": calls });
        screen.json(&egress_value(&value));
        return Ok(Code::Ok);
    }
    if let Some(summary) = &summary {
        head(summary, screen);
    }
    timeline.iter().for_each(|moment| screen.out(&moment_line(moment)));
    if let Some(answer) = summary.and_then(|summary| summary.answer) {
        screen.out(&Egress::fixed(""));
        screen.out(&egress_text(&answer));
    }
    Ok(Code::Ok)
}

fn head(summary: &RunSummary, screen: &Screen) {
    let line = |label: &'static str, value: &Passed| {
        screen.out(&Words::new().text(label).passed(value).done());
    };
    line("run        ", &egress_text(summary.run.as_str()));
    line("title      ", &one_line_untrusted(&summary.title, TITLE_CHARS_MAX * 2));
    line("model      ", &egress_text(summary.model.as_str()));
    line("principal  ", &one_line_untrusted(summary.principal.as_str(), TITLE_CHARS_MAX * 2));
    line("started    ", &when(summary.started_at_unix_ms));
    let ending =
        summary.ending.as_ref().map_or_else(|| Egress::fixed("not ended, or broken off"), ending_words);
    line("ended      ", &ending);
    line("spent      ", &count_words(summary));
    screen.out(&Egress::fixed(""));
}

/// What happened, on one line: when, what, to which call, model call or item, and in which words.
fn moment_line(moment: &Moment) -> Passed {
    let words = one_line_untrusted::<SamePrincipal>(&moment.words, probity_trace::MOMENT_CHARS_MAX);
    let ids = [
        moment.model_call.map(|id| id.to_string()),
        moment.call.map(|id| id.to_string()),
        moment.item.map(|id| id.to_string()),
    ];
    let ids = ids.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let start = egress_text::<SamePrincipal>(&format!("{:<16} {ids:<8} ", moment.kind.replace('_', " ")));
    Words::new().passed(&clock(moment.at_ms)).text("  ").passed(&start).passed(&words).done()
}

fn clock(at_ms: u64) -> Passed {
    egress_text(&format!("{:>5}.{:03}", at_ms / 1_000, at_ms % 1_000))
}
