//! `probity import`: traces of other frameworks, read into the store as runs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use probity_contract::{Clock as _, Durability, Journal as _, RunId};
use probity_core::SystemClock;
use probity_egress::{Egress, SamePrincipal, Words, egress_text, egress_value, one_line_untrusted};
use probity_import::{FILE_BYTES_MAX, Format, ImportOptions, ImportedRun, import};
use probity_store::{Store, StoreError};
use probity_trace::Record;
use serde::Serialize;
use serde_json::json;

use crate::cli::{Cli, ImportArgs};
use crate::command::run::{open_store, store_failed};
use crate::exit::{Code, Fatal};
use crate::render::Screen;
use crate::settings;

/// Code points of one notice.
const NOTICE_CHARS_MAX: usize = 400;

/// What became of one run of a file.
#[derive(Debug, Serialize)]
struct Stored {
    run: RunId,
    file: String,
    format: &'static str,
    /// Whether it was there already, from the same file.
    was_there: bool,
    notices: Vec<String>,
    notices_left_out: usize,
}

pub(crate) async fn run(cli: &Cli, args: &ImportArgs, screen: &Screen) -> Result<Code, Fatal> {
    let format = format(&args.format)?;
    let options =
        ImportOptions { principal: settings::principal()?, started_at_unix_ms: SystemClock::new().unix_ms() };
    // All are read before anything is kept: a file that is refused leaves nothing behind.
    let mut read = Vec::new();
    for file in &args.files {
        let bytes = bytes_of(file)?;
        let runs = import(&bytes, format, &options).map_err(|error| {
            let fatal = Fatal::new(Code::Usage, &format!("import `{}`: {error}", file.display()));
            match error.hint() {
                Some(hint) => fatal.hint(hint),
                None => fatal,
            }
        })?;
        read.push((file, runs));
    }
    let store = open_store(&settings::data_dir(cli.data_dir.clone())?, screen).await?;
    let mut stored = Vec::new();
    for (file, runs) in read {
        for run in runs {
            let one = keep(&store, file, run).await?;
            if !cli.json {
                tell(&one, screen);
            }
            stored.push(one);
        }
    }
    if cli.json {
        screen.json(&egress_value(&json!({ "runs": stored })));
    }
    Ok(Code::Ok)
}

fn format(name: &str) -> Result<Option<Format>, Fatal> {
    if name == "auto" {
        return Ok(None);
    }
    name.parse().map(Some).map_err(|error: probity_import::FormatError| Fatal::of(Code::Usage, &error))
}

/// The bytes of a file, one more than may be at most: then the importer says that it is too large.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Fatal> {
    let mut bytes = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map(drop));
    read.map_err(|error| Fatal::new(Code::Io, &format!("read `{}`: {error}", path.display())))?;
    Ok(bytes)
}

async fn keep(store: &Store, file: &Path, run: ImportedRun) -> Result<Stored, Fatal> {
    let ImportedRun { run, format, lines, notices, notices_over } = run;
    let mut stored = Stored {
        run,
        file: file.display().to_string(),
        format: format.name(),
        was_there: false,
        notices,
        notices_left_out: notices_over,
    };
    let mut journal = match store.begin(&stored.run) {
        Ok(journal) => journal,
        Err(StoreError::Exists(_)) => {
            stored.was_there = true;
            return Ok(stored);
        }
        Err(error) => return Err(store_failed(&error)),
    };
    if let Err(error) = journal.append(&lines, Durability::Durable) {
        drop(journal);
        let _gone = store.delete(&stored.run).await;
        return Err(Fatal::of(Code::Store, &error));
    }
    drop(journal);
    let record: Option<Record> = store.read(&stored.run).await.ok().map(|stored| stored.record);
    if let Some(summary) = record.and_then(|record| record.summary()) {
        store.index_finished(&summary).await;
    }
    Ok(stored)
}

fn tell(stored: &Stored, screen: &Screen) {
    let run = egress_text::<SamePrincipal>(stored.run.as_str());
    let words = Words::new().passed(&run).text("  ").text(stored.format).text("  ");
    let words = words.passed(&one_line_untrusted(&stored.file, NOTICE_CHARS_MAX));
    screen.out(&if stored.was_there { words.text("  (was there already)").done() } else { words.done() });
    for notice in &stored.notices {
        let notice: Egress<SamePrincipal> = one_line_untrusted(notice, NOTICE_CHARS_MAX);
        screen.tell(&Words::new().passed(&run).text(": ").passed(&notice).done());
    }
    if stored.notices_left_out > 0 {
        let words = Words::new().passed(&run).text(": and ").number(stored.notices_left_out as u64);
        screen.tell(&words.text(" more notices").done());
    }
}
