//! The files of rules that judge a task, and where they may lie.

use std::io;
use std::path::{Path, PathBuf};

use probity_core::{RuleFile, RuleLayer, RuleSource};

use super::places;
use super::trust::TrustList;
use crate::exit::{Code, Fatal};
use crate::settings;
use crate::task_file::{RootEntry, TaskFile, read_text_said};

/// Bytes of one file of rules, and of the list of trusted folders.
pub(crate) const RULE_FILE_BYTES_MAX: u64 = 1024 * 1024;

const HINT: &str =
    "the form of a file of rules stands in docs/rules.md; `probity policy check FILE` checks one";

/// Where a folder has its rules.
pub(crate) fn in_folder(folder: &Path) -> PathBuf {
    folder.join(".probity/rules.toml")
}

/// Reads a file of rules by itself.
pub(crate) fn read(path: &Path, said: &str) -> Result<RuleFile, Fatal> {
    parse(&read_text_said(path, said, RULE_FILE_BYTES_MAX)?, said)
}

/// Reads the text of a file of rules.
pub(crate) fn parse(text: &str, said: &str) -> Result<RuleFile, Fatal> {
    toml::from_str(text)
        .map_err(|error| Fatal::new(Code::Usage, &format!("read the rules `{said}`: {error}")).hint(HINT))
}

/// The files that are there for a task: the organisation's, the user's, the project's, and those that the task names. Also
/// tells what a person should know of them.
pub(super) fn layers(task: &TaskFile) -> Result<(Vec<RuleLayer>, Vec<String>), Fatal> {
    let (mut layers, mut notices) = (Vec::new(), Vec::new());
    let roots = &task.tools.roots;
    let Some(folder) = &task.policy.folder else { return Ok((layers, notices)) };
    let fixed = [
        Some((RuleSource::Organisation, PathBuf::from(settings::ORGANISATION_RULES))),
        settings::config_dir().map(|dir| (RuleSource::User, dir.join("rules.toml"))),
    ];
    let named = settings::organisation_rules_named().map(|path| (RuleSource::Organisation, path, true));
    let fixed = fixed.into_iter().flatten().map(|(source, path)| (source, path, false));
    for (source, path, must_be_there) in named.into_iter().chain(fixed) {
        let said = path.display().to_string();
        // Also where it is not there yet: a tool could write the rules of the next run.
        would_be_out_of_reach(&format!("the {source} rules `{said}`"), &path, roots)?;
        if must_be_there || is_there(&path) {
            layers.push(RuleLayer { source, file: read(&path, &said)?, file_name: said, may_widen: true });
        }
    }
    let project = in_folder(folder);
    if is_there(&project) {
        if let Some(list) = TrustList::path() {
            would_be_out_of_reach("the list of trusted folders", &list, roots)?;
        }
        let said = project.display().to_string();
        is_out_of_reach(&format!("the project's rules `{said}`"), &project, roots)?;
        let text = read_text_said(&project, &said, RULE_FILE_BYTES_MAX)?;
        let may_widen = TrustList::load()?.has(folder, &text);
        let file = parse(&text, &said)?;
        if !may_widen && !file.allow.is_empty() {
            notices.push(format!(
                "the project's rules `{said}` are not trusted: what they ask and deny counts, what they allow does not; \
                 look at them, and then `probity policy trust {}`",
                folder.display()
            ));
        }
        layers.push(RuleLayer { source: RuleSource::Project, file, file_name: said, may_widen });
    }
    for name in &task.policy.rules {
        layers.push(of_task(name, folder, roots)?);
    }
    Ok((layers, notices))
}

/// Whether something is there. What cannot be looked at counts as there, so that reading it fails.
fn is_there(path: &Path) -> bool {
    !path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// A file that the task names.
pub(super) fn of_task(name: &str, folder: &Path, roots: &[RootEntry]) -> Result<RuleLayer, Fatal> {
    let path = folder.join(name);
    let file = read(&path, name)?;
    if file.is_empty() {
        return Err(
            Fatal::new(Code::Usage, &format!("use the rules `{name}`: the file states nothing")).hint(HINT)
        );
    }
    is_out_of_reach(&format!("the rules `{name}`"), &path, roots)?;
    Ok(RuleLayer { source: RuleSource::Task, file, file_name: name.to_owned(), may_widen: true })
}

/// Refuses a file that a tool could change: the next run would be judged by what this one wrote.
pub(crate) fn is_out_of_reach(what: &str, path: &Path, roots: &[RootEntry]) -> Result<(), Fatal> {
    are_out_of_reach(what, path, places::on_the_way_to(path), roots)
}

/// The same of a file that may not be there yet.
fn would_be_out_of_reach(what: &str, path: &Path, roots: &[RootEntry]) -> Result<(), Fatal> {
    are_out_of_reach(what, path, places::on_the_way_to_what_may_come(path), roots)
}

fn are_out_of_reach(
    what: &str,
    path: &Path,
    places: io::Result<Vec<PathBuf>>,
    roots: &[RootEntry],
) -> Result<(), Fatal> {
    let failed = |path: &Path, error: io::Error| {
        Fatal::new(Code::Usage, &format!("find out where {what} lie: `{}`: {error}", path.display()))
    };
    let places = places.map_err(|error| failed(path, error))?;
    for root in roots.iter().filter(|root| root.write) {
        let top = root.path.canonicalize().map_err(|error| failed(&root.path, error))?;
        if places.iter().any(|place| place.starts_with(&top) && *place != top) {
            let words = format!("use {what}: they lie in the root `{}`, which tools may write", root.name);
            return Err(Fatal::new(Code::Usage, &words)
                .hint("move the file, and every link to it, out of all roots that tools may write"));
        }
    }
    Ok(())
}
