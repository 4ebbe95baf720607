use std::collections::HashMap;

use probity_contract::{Digest, Emission, Entry, Fact, ParentCall, PrincipalId, RunId};
use probity_trace::{EncodeError, encode_frame, encode_header};

use crate::draft::Draft;
use crate::error::{ImportError, Place};
use crate::format::Format;
use crate::limits::{FILE_BYTES_MAX, MESSAGES_MAX, RUNS_MAX};
use crate::write::{Child, Given, Writer, Written, started};
use crate::{detect, formats};

/// A run that was read from a trace of another framework.
#[derive(Debug, Clone)]
pub struct ImportedRun {
    /// Its id: made from the file's digest and its place in it, so that the same file gives the same ids.
    pub run: RunId,
    /// The format that it was read as.
    pub format: Format,
    /// The lines of its record: texts before the facts that refer to them, entries counted from 0, time that never goes
    /// back. Everything in it is inferred, and `run_started` says so.
    pub lines: Vec<Emission>,
    /// What was left out or guessed, for people.
    pub notices: Vec<String>,
    /// Notices that are not in `notices`, because there were too many.
    pub notices_over: usize,
}

/// What an import is told beside the bytes.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// For whom the runs are said to have acted.
    pub principal: PrincipalId,
    /// When a run is said to have started whose trace does not tell, in milliseconds since 1970 UTC.
    pub started_at_unix_ms: u64,
}

impl ImportedRun {
    /// The bytes of the record, as a store keeps them.
    ///
    /// # Errors
    /// When one text is larger than a frame may be.
    pub fn encoded(&self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::new();
        encode_header(&mut bytes);
        for line in &self.lines {
            encode_frame(line, &mut bytes)?;
        }
        Ok(bytes)
    }
}

/// Reads the runs of a trace. With no `format`, its content tells which one it is.
///
/// Memory and time grow with the file and not faster. The runs come in the order of the file; one that a call of another
/// has started comes after it and names it.
///
/// # Errors
/// When the format is not known, when the file is cut off or wrong (with the line, byte or JSON pointer), when there is no
/// conversation in it, or when it is over a limit. Nothing is imported then.
pub fn import(
    bytes: &[u8],
    format: Option<Format>,
    options: &ImportOptions,
) -> Result<Vec<ImportedRun>, ImportError> {
    let whole = || Place::Pointer(String::new());
    if bytes.len() > FILE_BYTES_MAX {
        return Err(ImportError::TooMuch { place: whole(), what: "bytes", max: FILE_BYTES_MAX as u64 });
    }
    let source = detect::open(bytes, format)?;
    let format = match format {
        Some(format) => format,
        None => detect::format_of(&source)?,
    };
    let drafts: Vec<Draft> = formats::read(format, source)?;
    let drafts: Vec<_> = drafts.into_iter().filter(|draft| !draft.steps.is_empty()).collect();
    if drafts.is_empty() {
        return Err(ImportError::Empty { format });
    }
    if drafts.len() > RUNS_MAX {
        return Err(ImportError::TooMuch { place: whole(), what: "runs", max: RUNS_MAX as u64 });
    }
    if drafts.iter().map(|draft| draft.steps.len()).sum::<usize>() > MESSAGES_MAX {
        return Err(ImportError::TooMuch { place: whole(), what: "messages", max: MESSAGES_MAX as u64 });
    }
    Ok(write(drafts, format, Digest::of_content(bytes), options))
}

/// Writes the last run first: what a run that was started by another came to is part of the other one's record.
fn write(drafts: Vec<Draft>, format: Format, file: Digest, options: &ImportOptions) -> Vec<ImportedRun> {
    let run_of = |index: usize| {
        // Letters, digits and `-`, at most 64 of them.
        let name = format!("import-{}-{}", file.short(), index + 1);
        #[expect(clippy::expect_used, reason = "such a name is an id")]
        RunId::new(name).expect("an id")
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        places.entry(draft.key.clone()).or_insert(index);
    }
    let mut children: HashMap<usize, HashMap<String, Vec<Child>>> = HashMap::new();
    let mut runs: Vec<ImportedRun> = Vec::with_capacity(drafts.len());
    let mut parents: HashMap<RunId, ParentCall> = HashMap::new();
    for (index, mut draft) in drafts.into_iter().enumerate().rev() {
        let run = run_of(index);
        let started_at_unix_ms = draft.started_at_unix_ms.unwrap_or(options.started_at_unix_ms);
        let own = children.remove(&index).unwrap_or_default();
        let given = Given {
            run: run.clone(),
            principal: &options.principal,
            format,
            file,
            parent: None,
            started_at_unix_ms,
        };
        let mut writer = Writer::new(started(&mut draft, given), own);
        draft.steps.into_iter().for_each(|step| writer.step(step));
        let Written { lines, notices, notices_over, ending, spent, placed } = writer.finish();
        for (child, call) in placed {
            parents.insert(child, ParentCall { run: run.clone(), call });
        }
        let notices = draft.notices.into_iter().chain(notices).collect();
        if let Some((above, call)) = draft.parent
            && let Some(above) = places.get(&above).filter(|above| **above < index)
        {
            let child = Child { run: run.clone(), ending, spent };
            children.entry(*above).or_default().entry(call).or_default().push(child);
        }
        runs.push(ImportedRun { run, format, lines, notices, notices_over });
    }
    runs.reverse();
    for run in &mut runs {
        if let Some(Emission::Entry(Entry { fact: Fact::RunStarted(started), .. })) = run.lines.first_mut() {
            started.parent = parents.remove(&run.run);
        }
    }
    runs
}
