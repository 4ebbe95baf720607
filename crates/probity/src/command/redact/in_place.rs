//! A file is replaced by its redacted text, all at once or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use probity_egress::{Tier, Words};
use tempfile::NamedTempFile;

use super::out::Out;
use super::text::{Entry, Sink, Stop, Tally};
use super::work::Job;
use super::{Passed, stopped, trouble};
use crate::exit::{Code, Fatal};

/// Replaces what `path` leads to if anything is found in it. A link stays a link.
pub(super) fn redact<T: Tier>(
    job: &Job,
    path: &Path,
    name: &Passed,
    out: &mut Out<'_>,
) -> Result<Tally, Fatal> {
    let usage = |error: &io::Error| trouble(Code::Usage, "replace `", name, error);
    if path == Path::new("-") {
        return Err(refused(name, "`: standard input is no file"));
    }
    let path = fs::canonicalize(path).map_err(|error| usage(&error))?;
    // Asked before it is opened: opening a pipe would wait for its writer.
    if !fs::metadata(&path).map_err(|error| usage(&error))?.is_file() {
        return Err(refused(name, "`: it is not a regular file"));
    }
    let failed = |error: &io::Error| trouble(Code::Io, "replace `", name, error);
    let mut input = File::open(&path).map_err(|error| usage(&error))?;
    let before = input.metadata().map_err(|error| failed(&error))?;
    let reading = job.reading();
    match job.pass::<T>(&mut input, &reading, &mut Probe) {
        Ok(clean) if clean.total == 0 => return Ok(clean),
        Ok(_) | Err(Stop::Enough) => {}
        Err(stop) => return Err(stopped(stop, name)),
    }
    reading.again();
    let mut input = File::open(&path).map_err(|error| failed(&error))?;
    let dir = path.parent().unwrap_or(Path::new("/"));
    // Removed again wherever this function ends early.
    let temp =
        tempfile::Builder::new().prefix(".probity-").tempfile_in(dir).map_err(|error| failed(&error))?;
    let text = temp.as_file().try_clone().map_err(|error| failed(&error))?;
    let mut sink = NewFile { text, out };
    let tally = job.pass::<T>(&mut input, &reading, &mut sink).map_err(|stop| stopped(stop, name))?;
    if job.cancel.is_fired() {
        return Err(stopped(Stop::Cancelled, name));
    }
    let now = fs::metadata(&path).map_err(|error| failed(&error))?;
    if state(&before) != state(&now) {
        return Err(refused(name, "`: somebody else has changed it meanwhile").hint("try again"));
    }
    put(temp, &before, &path, dir).map_err(|error| failed(&error))?;
    if before.nlink() > 1 {
        job.screen.tell(
            &Words::new().text("`").passed(name).text("` has other names, which keep the old text").done(),
        );
    }
    Ok(tally)
}

fn refused(name: &Passed, why: &'static str) -> Fatal {
    let words = Words::new().text("replace `").passed(name).text(why).done();
    Fatal { code: Code::Usage, words, hint: None }
}

/// What changes when somebody writes.
fn state(data: &Metadata) -> (u64, u64, u64, i64, i64) {
    (data.dev(), data.ino(), data.len(), data.mtime(), data.mtime_nsec())
}

/// Gives the new file the owner and the mode of the old one, and its name.
fn put(temp: NamedTempFile, before: &Metadata, path: &Path, dir: &Path) -> io::Result<()> {
    let made = temp.as_file().metadata()?;
    if (made.uid(), made.gid()) != (before.uid(), before.gid()) {
        fchown(temp.as_file(), Some(before.uid()), Some(before.gid()))?;
    }
    temp.as_file().set_permissions(before.permissions())?;
    temp.as_file().sync_all()?;
    temp.persist(path).map_err(|error| error.error)?;
    File::open(dir)?.sync_all()
}

/// Stops at the first finding.
struct Probe;

impl Sink for Probe {
    fn text(&mut self, _: &[u8]) -> Result<(), Stop> {
        Ok(())
    }

    fn entry(&mut self, _: &Entry) -> Result<(), Stop> {
        Err(Stop::Enough)
    }
}

/// The text goes to a new file, the findings where all of them go.
struct NewFile<'a, 'b> {
    text: File,
    out: &'a mut Out<'b>,
}

impl Sink for NewFile<'_, '_> {
    fn text(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.text.write_all(bytes).map_err(Stop::Write)
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Stop> {
        self.out.entry(entry)
    }
}
