//! The form in which reasoning goes back to the host that wrote it.
//!
//! There is no standard: the text stands in `reasoning_content` or in `reasoning`, and routers add `reasoning_details`
//! with signatures. The form kept is a message's members under the names in which they came.

use serde_json::{Value, json};

/// Adds a piece of reasoning: the member's name and its text, and details.
pub(super) fn keep_native(native: &mut Value, named: Option<(&str, &str)>, details: &[Value]) {
    let Value::Object(members) = native else { return };
    if let Some((name, text)) = named {
        match members.get_mut(name) {
            Some(Value::String(sofar)) => sofar.push_str(text),
            _ => drop(members.insert(name.to_owned(), Value::from(text))),
        }
    }
    if !details.is_empty() {
        let list = members.entry("reasoning_details").or_insert_with(|| json!([]));
        details.iter().for_each(|detail| add_detail(list, detail));
    }
}

/// Details of reasoning come in pieces with an index; texts of one index are joined.
fn add_detail(list: &mut Value, detail: &Value) {
    let Value::Array(list) = list else { return };
    let key = |detail: &Value| (detail.get("index").cloned(), detail.get("type").cloned());
    let known =
        list.iter_mut().rev().find(|known| detail.get("index").is_some() && key(known) == key(detail));
    let (Some(Value::Object(known)), Value::Object(detail)) = (known, detail) else {
        return list.push(detail.clone());
    };
    for (name, value) in detail.iter().filter(|(_, value)| !value.is_null()) {
        match (known.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary" | "data") =>
            {
                text.push_str(more);
            }
            _ => drop(known.insert(name.clone(), value.clone())),
        }
    }
}
