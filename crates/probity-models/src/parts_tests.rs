use probity_contract::ModelErrorClass;

use super::*;

fn reply(stop: Stop, arguments: &str) -> Result<ModelReply, ModelError> {
    let mut parts = Parts::default();
    let mut events = Vec::new();
    let kind = DraftKind::Call { id: "1".to_owned(), name: "fs_write".to_owned() };
    let at = parts.open(kind, &mut events);
    parts.grow(at, arguments, &mut events);
    finished(&parts, "test", &Ending { stop: Some(stop), ..Ending::default() })
}

#[test]
fn a_call_that_a_limit_may_have_halved_never_looks_complete() {
    for stop in [Stop::MaxTokens, Stop::Refused, Stop::Other("eos?".to_owned())] {
        let error = reply(stop.clone(), r#"{"path":"/"}"#).unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Truncated, "{stop:?}");
        let half = reply(stop, r#"{"path":"/"#).unwrap();
        assert!(
            matches!(&half.parts[0].kind, ReplyPartKind::Call(call) if call.arguments == r#"{"path":"/"#)
        );
    }
}

#[test]
fn a_call_before_another_part_is_complete() {
    let mut parts = Parts::default();
    let mut events = Vec::new();
    for (name, text) in [("a", "{}"), ("b", "{\"x\":")] {
        let at = parts.open(DraftKind::Call { id: String::new(), name: name.to_owned() }, &mut events);
        parts.grow(at, text, &mut events);
    }
    let ending = Ending { stop: Some(Stop::MaxTokens), ..Ending::default() };
    assert_eq!(finished(&parts, "test", &ending).unwrap().parts.len(), 2);
}

#[test]
fn a_clean_end_with_calls_is_a_wish_for_tools() {
    assert_eq!(reply(Stop::EndTurn, "{}").unwrap().stop, Stop::ToolCalls);
    let parts = Parts::default();
    let ending = Ending { stop: Some(Stop::EndTurn), ..Ending::default() };
    assert_eq!(finished(&parts, "test", &ending).unwrap().stop, Stop::EndTurn);
}

#[test]
fn no_reason_is_no_end() {
    let error = finished(&Parts::default(), "test", &Ending::default()).unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Truncated);
}
