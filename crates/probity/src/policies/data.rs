//! The data directory stands apart from all that tools may touch: it has the records, the checkpoints and their key.

use std::path::{Path, PathBuf};

use super::places;
use crate::exit::{Code, Fatal};
use crate::task_file::ToolsTable;

/// Refuses a data directory that a tool could look into, or change. What a tool returns goes to the model as it is, and with
/// the key every checkpoint can be opened.
pub(crate) fn is_apart(data_dir: &Path, tools: &ToolsTable) -> Result<(), Fatal> {
    let failed = |path: &Path, error: &std::io::Error| {
        let words = format!("open the store `{}`: {error}", path.display());
        Fatal::new(Code::Store, &words).hint("choose another directory with --data-dir")
    };
    let on_the_way =
        places::on_the_way_to_what_may_come(data_dir).map_err(|error| failed(data_dir, &error))?;
    let roots = tools.roots.iter().map(|root| (format!("the root `{}`", root.name), &root.path));
    let readable = tools.shell.readable.iter().map(|path| (format!("`{}`", path.display()), path));
    for (what, path) in roots.chain(readable) {
        // One that cannot be opened is refused by the tools themselves.
        let Ok(top) = path.canonicalize() else { continue };
        let is_within = |place: &PathBuf| place.starts_with(&top);
        let holds = on_the_way.last().is_some_and(|end| top.starts_with(end));
        if on_the_way.iter().any(is_within) || holds {
            let words =
                format!("keep the data directory `{}`: tools may look into {what}", data_dir.display());
            return Err(Fatal::new(Code::Usage, &words)
                .hint("choose another directory with --data-dir, or a root that does not hold it"));
        }
    }
    Ok(())
}
