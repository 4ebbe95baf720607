//! `probity redact`: strips credentials from a stream or from files.

mod bytes;
mod in_place;
mod inputs;
mod jsonl;
mod known;
mod out;
mod progress;
mod text;
mod work;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use probity_contract::Cancel;
use probity_egress::{Egress, Human, SamePrincipal, Words, egress_text, one_line_untrusted};

use crate::cli::{Cli, RedactArgs, TierName};
use crate::exit::{Code, Fatal};
use crate::interrupt;
use crate::render::Screen;
use crate::render::screen::{is_out_terminal, raw_out};
use out::{Outputs, ReportFile, Turns};
use progress::Progress;
use text::Stop;
use work::{Job, Outcome};

type Passed = Egress<SamePrincipal>;

/// Code points of a path in a message.
const PATH_CHARS_MAX: usize = 500;

pub(crate) fn run(cli: &Cli, args: &RedactArgs, screen: &Arc<Screen>) -> Result<Code, Fatal> {
    let quiet_out = args.check || args.in_place;
    if cli.json && !quiet_out {
        return Err(Fatal::new(Code::Usage, "print JSON: standard output is for the redacted text")
            .hint("use --json with --check or --in-place; findings as JSON lines come with --report"));
    }
    let to_out = args.report.as_deref() == Some(Path::new("-"));
    if cli.json && to_out {
        return Err(Fatal::new(Code::Usage, "print JSON and the report on one standard output")
            .hint("name a file with --report"));
    }
    if let Some(path) = &args.known {
        known::register(path, screen)?;
    }
    if let Some(path) = args.report.as_ref().filter(|_| !to_out) {
        inputs::refuse_same(path, &args.files)?;
    }
    let report = args.report.as_deref().map(|path| ReportFile::open(path, quiet_out)).transpose()?;
    let text = if quiet_out { Ok(None) } else { raw_out().map(Some) };
    let text = text.map_err(|error| Fatal::of(Code::Io, &error))?;
    let files = inputs::files(args);
    let is_shown = !args.quiet && !to_out && (quiet_out || !is_out_terminal());
    let progress = Progress::new(is_shown.then(|| Arc::clone(screen)), inputs::total_bytes(&files));
    let job = Job {
        files,
        format: args.format,
        in_place: args.in_place,
        key: random_key()?,
        cancel: Cancel::new(),
        screen: Arc::clone(screen),
        progress,
        turns: Turns::new(Outputs { text, report }),
    };
    if args.in_place {
        // A new file that is half written must go; without one, a signal may end the program at once.
        interrupt::watch(job.cancel.clone(), Arc::clone(screen));
    }
    let outcome = Outcome::new(args, cli.json, job.files.len());
    let jobs = inputs::jobs(args, &job.files);
    match args.tier {
        TierName::SamePrincipal => work::all::<SamePrincipal>(job, outcome, jobs),
        TierName::Human => work::all::<Human>(job, outcome, jobs),
    }
}

/// What every way to stop is called.
fn stopped(stop: Stop, name: &Passed) -> Fatal {
    match stop {
        Stop::Read(error) => trouble(Code::Io, "read `", name, &error),
        Stop::Write(error) => trouble(Code::Io, "write the text of `", name, &error),
        Stop::Report(error) => trouble(Code::Io, "write the report on `", name, &error),
        Stop::LongLine(number) => {
            let bytes = u64::try_from(jsonl::LINE_BYTES_MAX).unwrap_or_default();
            let words = Words::new().text("read line ").number(number).text(" of `").passed(name);
            let words = words.text("` as JSON: it is longer than ").number(bytes).text(" bytes").done();
            Fatal { code: Code::Io, words, hint: None }.hint("--format text takes lines of any length")
        }
        Stop::Cancelled | Stop::Enough => {
            Fatal { code: Code::Cancelled, words: quoted("finish `", name), hint: None }
        }
    }
}

fn quoted(words: &'static str, name: &Passed) -> Passed {
    Words::new().text(words).passed(name).text("`").done()
}

fn trouble(code: Code, words: &'static str, name: &Passed, error: &io::Error) -> Fatal {
    let why = egress_text(&error.to_string());
    let words = Words::new().text(words).passed(name).text("`: ").passed(&why).done();
    Fatal { code, words, hint: None }
}

fn label(path: &Path) -> Passed {
    one_line_untrusted(&path.to_string_lossy(), PATH_CHARS_MAX)
}

/// Known to nobody, and gone when the program ends: fingerprints compare within one report.
fn random_key() -> Result<[u8; 32], Fatal> {
    let mut key = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut key));
    read.map_err(|error| Fatal::of(Code::Failed, &error))?;
    Ok(key)
}
