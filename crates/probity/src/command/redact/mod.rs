//! `probity redact`: strips credentials from a stream or from files.

mod bytes;
mod in_place;
mod known;
mod out;
mod text;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use probity_contract::Cancel;
use probity_egress::{
    Egress, Human, SamePrincipal, Tier, Words, egress_text, egress_value, one_line_untrusted,
};
use serde_json::{Value, json};

use crate::cli::{Cli, RedactArgs, TierName};
use crate::exit::{Code, Fatal};
use crate::interrupt;
use crate::render::Screen;
use out::{Out, ReportFile};
use text::{Stop, Tally};

type Passed = Egress<SamePrincipal>;

/// Code points of a path in a message.
const PATH_CHARS_MAX: usize = 500;

/// What all inputs share.
struct Job<'a> {
    args: &'a RedactArgs,
    key: [u8; 32],
    cancel: Cancel,
    report: Option<ReportFile>,
    screen: &'a Screen,
}

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
        refuse_same(path, &args.files)?;
    }
    let report = args.report.as_deref().map(|path| ReportFile::open(path, quiet_out)).transpose()?;
    let mut job = Job { args, key: random_key()?, cancel: Cancel::new(), report, screen };
    if args.in_place {
        // A new file that is half written must go; without one, a signal may end the program at once.
        interrupt::watch(job.cancel.clone(), Arc::clone(screen));
    }
    match args.tier {
        TierName::SamePrincipal => all::<SamePrincipal>(&mut job, cli.json),
        TierName::Human => all::<Human>(&mut job, cli.json),
    }
}

/// Every file in turn. One that fails is told and does not keep the others from their turn; the code is the first one's.
fn all<T: Tier>(job: &mut Job<'_>, json: bool) -> Result<Code, Fatal> {
    let stdin = [PathBuf::from("-")];
    let files = if job.args.files.is_empty() { &stdin } else { job.args.files.as_slice() };
    let (mut failed, mut found, mut told) = (None, false, Vec::new());
    for path in files {
        let name = label(path);
        match one::<T>(job, path, &name) {
            Ok(tally) => {
                found |= tally.total > 0;
                if json {
                    told.push(document(&name, &tally));
                } else if tally.total > 0 && !job.args.quiet && (job.args.check || job.args.in_place) {
                    job.screen.tell(&line(&name, &tally));
                }
            }
            Err(Failure::ReaderGone) => return Ok(Code::Ok),
            Err(Failure::Fatal(fatal)) if fatal.code == Code::Cancelled || (files.len() == 1 && !json) => {
                return Err(fatal);
            }
            Err(Failure::Fatal(fatal)) => {
                if json {
                    told.push(json!({ "file": name, "error": fatal.words, "hint": fatal.hint }));
                } else {
                    crate::fail(&fatal, false, job.screen);
                }
                failed = failed.or(Some(fatal.code));
            }
        }
    }
    if json {
        job.screen.json(&egress_value(&json!({ "found": found, "files": told })));
    }
    Ok(failed.unwrap_or(if found && job.args.check { Code::Failed } else { Code::Ok }))
}

/// Why an input was given up.
enum Failure {
    Fatal(Fatal),
    /// Nobody reads the output any more, which is no error.
    ReaderGone,
}

fn one<T: Tier>(job: &mut Job<'_>, path: &Path, name: &Passed) -> Result<Tally, Failure> {
    let fatal =
        |code, words: &'static str, error: &io::Error| Failure::Fatal(trouble(code, words, name, error));
    if job.args.in_place {
        return in_place::redact::<T>(job, path, name).map_err(Failure::Fatal);
    }
    let mut input = open(path).map_err(|error| fatal(Code::Usage, "read `", &error))?;
    let stdout = if job.args.check { None } else { Some(standard_output()?) };
    if let Some(stdout) = &stdout {
        refuse_loop(&input, stdout, name)?;
    }
    let mut sink = Out { text: stdout, report: job.report.as_mut(), name };
    text::pass::<T>(&mut input, job.key, &job.cancel, &mut sink).map_err(|stop| match stop {
        Stop::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => Failure::ReaderGone,
        Stop::Write(error) => fatal(Code::Io, "write the text of `", &error),
        stop @ (Stop::Read(_) | Stop::Report(_) | Stop::Cancelled | Stop::Enough) => {
            Failure::Fatal(stopped(stop, name))
        }
    })
}

/// What every way to stop is called, writing aside.
fn stopped(stop: Stop, name: &Passed) -> Fatal {
    match stop {
        Stop::Read(error) => trouble(Code::Io, "read `", name, &error),
        Stop::Write(error) => trouble(Code::Io, "write `", name, &error),
        Stop::Report(error) => trouble(Code::Io, "write the report on `", name, &error),
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

fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("-") {
        return Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Ok(file)
}

// Not `Stdout`, which keeps the end of a line back.
fn standard_output() -> Result<File, Failure> {
    let fd = io::stdout().as_fd().try_clone_to_owned();
    fd.map(File::from).map_err(|error| Failure::Fatal(Fatal::of(Code::Io, &error)))
}

/// A file that is redacted onto its own end would never end.
fn refuse_loop(input: &File, output: &File, name: &Passed) -> Result<(), Failure> {
    let (Ok(from), Ok(to)) = (input.metadata(), output.metadata()) else { return Ok(()) };
    if !to.is_file() || (from.dev(), from.ino()) != (to.dev(), to.ino()) {
        return Ok(());
    }
    let words = Words::new().text("read `").passed(name).text("`: it is also the output").done();
    let fatal = Fatal { code: Code::Usage, words, hint: None };
    Err(Failure::Fatal(fatal.hint("use --in-place to replace a file")))
}

fn refuse_same(report: &Path, files: &[PathBuf]) -> Result<(), Fatal> {
    let id = |path: &Path| std::fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
    let Some(report_id) = id(report) else { return Ok(()) };
    if files.iter().all(|file| id(file) != Some(report_id)) {
        return Ok(());
    }
    let words = Words::new()
        .text("write the report to `")
        .passed(&label(report))
        .text("`: it is also an input")
        .done();
    Err(Fatal { code: Code::Usage, words, hint: None })
}

/// Known to nobody, and gone when the program ends: fingerprints compare within one report.
fn random_key() -> Result<[u8; 32], Fatal> {
    let mut key = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut key));
    read.map_err(|error| Fatal::of(Code::Failed, &error))?;
    Ok(key)
}

/// `path: 3 redacted: 2 github-token, 1 jwt`.
fn line(name: &Passed, tally: &Tally) -> Passed {
    let mut words = Words::new().passed(name).text(": ").number(tally.total).text(" redacted");
    for (index, (kind, count)) in tally.by_kind.iter().enumerate() {
        words = words.text(if index == 0 { ": " } else { ", " }).number(*count).text(" ").text(kind);
    }
    words.done()
}

// Kinds are values and not member names: `password` as a member's name would hide its count.
fn document(name: &Passed, tally: &Tally) -> Value {
    let kinds: Vec<Value> =
        tally.by_kind.iter().map(|(kind, count)| json!({ "kind": kind, "count": count })).collect();
    json!({ "file": name, "redacted": tally.total, "kinds": kinds })
}
