//! Rows of our record as the records of the specification.

use probity_contract::{
    Composition, Entry, Fact, HookDecision, HookVerdict, HookWarning, Intercepted, Profile,
};
use serde_json::{Map, Value, json};

/// The records of a run, in order.
pub(super) fn records(entries: &[Entry], session: &str, declaration: Option<&str>) -> Vec<Value> {
    let rows = entries.iter().filter_map(|entry| match &entry.fact {
        Fact::Intercepted(row) => Some((entry.at_ms, row)),
        _ => None,
    });
    rows.map(|(at_ms, row)| record(row, at_ms, session, declaration)).collect()
}

fn record(row: &Intercepted, at_ms: u64, session: &str, declaration: Option<&str>) -> Value {
    let mut record = json!({
        "interception_point": row.point,
        "mode": row.mode,
        "verdict": verdict(&row.verdict),
        "input_identity": row.input_identity,
        "enforced_identity": row.enforced_identity,
        "identity_provider": row.identity_provider,
        "session_id": session,
        "sequence": row.sequence,
        "timestamp": format!("{at_ms} ms after the start"),
        "decided_by": row.decided_by,
        "composition": composition(row.composition),
        "verdicts": row.verdicts.iter().map(|said| present([
            ("index", Some(json!(said.index))),
            ("decision", Some(json!(said.decision))),
            ("reason", said.reason.as_ref().map(|reason| json!(reason))),
            ("name", Some(json!(said.interceptor))),
        ])).collect::<Vec<_>>(),
        "interceptors_registered": row.registered,
    });
    let optional = present([
        ("declaration", declaration.map(|declaration| json!(declaration))),
        ("fold_truncated", row.truncated.map(|truncated| json!(truncated))),
        ("resolved_by", row.resolved_by.map(|resolved| json!(resolved))),
    ]);
    record.as_object_mut().unwrap().extend(optional);
    record
}

fn verdict(verdict: &HookVerdict) -> Value {
    let transform = match verdict.decision() {
        HookDecision::Transform { path, value } => {
            assert!(value.is_null(), "a row holds nothing that was put in place");
            Some(json!({ "path": path }))
        }
        HookDecision::Allow | HookDecision::Deny { .. } => None,
    };
    let list = |list: Vec<Value>| (!list.is_empty()).then(|| json!(list));
    let warning = |warning: &HookWarning| json!(warning);
    present([
        ("decision", Some(json!(verdict.decision().name()))),
        ("reason", verdict.reason().map(|reason| json!(reason))),
        ("message", verdict.message().map(|message| json!(message))),
        ("approval", verdict.is_approvable().then(|| json!({}))),
        ("transform", transform),
        ("evidence", verdict.evidence().cloned()),
        ("warnings", list(verdict.warnings().iter().map(warning).collect())),
        ("result_labels", list(verdict.result_labels().iter().map(|label| json!(label)).collect())),
    ])
    .into()
}

/// The profile and the knobs that it consults.
fn composition(composition: Composition) -> Value {
    let profile = composition.profile;
    let knob = |of: Profile, value: Value| (profile == of).then_some(value);
    present([
        ("profile", Some(json!(profile))),
        ("on_approval", knob(Profile::FirstDeny, json!(composition.on_approval))),
        ("on_disagreement", knob(Profile::Unanimous, json!(composition.on_disagreement))),
        ("on_transform_conflict", knob(Profile::Strictest, json!(composition.on_transform_conflict))),
    ])
    .into()
}

fn present<const N: usize>(members: [(&str, Option<Value>); N]) -> Map<String, Value> {
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
