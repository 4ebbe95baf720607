//! The inputs: which they are, how large, and what they must not be.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::num::NonZero;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use probity_egress::Words;

use super::{Passed, label};
use crate::cli::RedactArgs;
use crate::exit::{Code, Fatal};

/// What tells a file from every other.
pub(super) type FileId = (u64, u64);

/// The files; without any, standard input.
pub(super) fn files(args: &RedactArgs) -> Vec<PathBuf> {
    if args.files.is_empty() { vec![PathBuf::from("-")] } else { args.files.clone() }
}

/// How many are worked on at once: two that are one input, one after the other.
pub(super) fn jobs(args: &RedactArgs, files: &[PathBuf]) -> usize {
    let mut seen = HashSet::new();
    let mut ids = files.iter().filter_map(|path| metadata(path).ok().map(|data| (data.dev(), data.ino())));
    if !ids.all(|id| seen.insert(id)) {
        return 1;
    }
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok());
    jobs.map_or(1, NonZero::get).min(files.len())
}

/// How much there is to read, where that is known.
pub(super) fn total_bytes(files: &[PathBuf]) -> Option<u64> {
    let lens = files.iter().map(|path| metadata(path).ok().filter(Metadata::is_file).map(|data| data.len()));
    lens.sum()
}

/// Which regular file it is, if it is one.
pub(super) fn file_id(file: &File) -> Option<FileId> {
    file.metadata().ok().filter(Metadata::is_file).map(|data| (data.dev(), data.ino()))
}

fn metadata(path: &Path) -> io::Result<Metadata> {
    if path == Path::new("-") { open(path)?.metadata() } else { fs::metadata(path) }
}

pub(super) fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("-") {
        return Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Ok(file)
}

/// A file that is redacted onto its own end would never end.
pub(super) fn refuse_loop(input: &File, output: FileId, name: &Passed) -> Result<(), Fatal> {
    if file_id(input) != Some(output) {
        return Ok(());
    }
    let words = Words::new().text("read `").passed(name).text("`: it is also the output").done();
    let fatal = Fatal { code: Code::Usage, words, hint: None };
    Err(fatal.hint("use --in-place to replace a file"))
}

pub(super) fn refuse_same(report: &Path, files: &[PathBuf]) -> Result<(), Fatal> {
    let id = |path: &Path| fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
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
