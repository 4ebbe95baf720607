use serde_json::Value;

use crate::draft::Draft;
use crate::error::ImportError;
use crate::json::{as_text, take};
use crate::messages::{Side, read as read_messages};

/// Reads one run: its messages stand in `traj`; what the task was and how it was scored is kept.
pub(super) fn read(value: Value, place: String) -> Result<Vec<Draft>, ImportError> {
    let Value::Object(mut object) = value else { return Err(ImportError::at(place, "expected a run")) };
    let names = ["traj", "messages", "trajectory"];
    let list = names.iter().find_map(|name| take(&mut object, name)).unwrap_or_default();
    let pointer = format!("{place}/traj");
    let said = list.as_array().and_then(|_| read_messages(&list, Side::Input));
    let said = said.ok_or_else(|| ImportError::at(pointer, "expected a list of messages"))?;
    let task = object.get("task_id").map(as_text).unwrap_or_default();
    let trial = object.get("trial").map(|trial| format!(", trial {}", as_text(trial))).unwrap_or_default();
    let title = if task.is_empty() { String::new() } else { format!("task {task}{trial}") };
    let mut draft = Draft { place, title, tools: said.tools, ..Draft::default() };
    said.messages.into_iter().for_each(|message| draft.said(message));
    for (name, value) in object {
        draft.keep(format!("/{name}"), value);
    }
    Ok(vec![draft])
}
