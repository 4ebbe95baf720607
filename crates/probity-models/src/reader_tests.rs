#![expect(clippy::wildcard_enum_match_arm, reason = "tests look for one variant")]

use probity_contract::{ModelErrorClass, ReplyPartKind, Stop};

use super::*;

fn read(provider: Provider, body: &str) -> Result<ModelReply, ModelError> {
    let mut reader = ReplyReader::new(provider, "test");
    reader.push(body.as_bytes())?;
    reader.finish()
}

fn stream(provider: Provider, events: &[&str]) -> Result<ModelReply, ModelError> {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    read(provider, &body)
}

fn class(outcome: Result<ModelReply, ModelError>) -> ModelErrorClass {
    outcome.unwrap_err().class
}

/// Names, ids and argument texts.
fn calls(reply: &ModelReply) -> Vec<(&str, &str, &str)> {
    let calls = reply.parts.iter().filter_map(|part| match &part.kind {
        ReplyPartKind::Call(call) => {
            Some((call.name.as_str(), call.provider_id.as_str(), call.arguments.as_str()))
        }
        _ => None,
    });
    calls.collect()
}

fn chat_call(arguments: &str, reason: &str) -> Result<ModelReply, ModelError> {
    let arguments = serde_json::Value::from(arguments);
    let delta = format!(
        r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"1","function":{{"name":"t","arguments":{arguments}}}}}]}}}}]}}"#
    );
    stream(
        Provider::OpenAiChat,
        &[&delta, &format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#)],
    )
}

#[test]
fn arguments_are_kept_letter_by_letter() {
    for text in ["{\"a\" : 1.0,\"a\":2}", "", "null", "{", "\"{}\"", "{\"n\":12345678901234567890123}"] {
        assert_eq!(calls(&chat_call(text, "tool_calls").unwrap()), [("t", "1", text)]);
    }
    let spaced = r#"{"content":[{"type":"tool_use","id":"1","name":"t","input":{"a" : 1.0, "a":2}}],"stop_reason":"tool_use"}"#;
    assert_eq!(calls(&read(Provider::Anthropic, spaced).unwrap()), [("t", "1", r#"{"a" : 1.0, "a":2}"#)]);
    let spaced = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"a" : 1e2}}}]},"finishReason":"STOP"}]}"#;
    assert_eq!(calls(&read(Provider::Gemini, spaced).unwrap()), [("t", "", r#"{"a" : 1e2}"#)]);
}

#[test]
fn a_call_halved_by_the_limit_is_never_complete() {
    assert_eq!(calls(&chat_call("{\"a\":", "length").unwrap()), [("t", "1", "{\"a\":")]);
    assert_eq!(class(chat_call("{\"a\":1}", "length")), ModelErrorClass::Truncated);
    assert_eq!(class(chat_call("{\"a\":1}", "content_filter")), ModelErrorClass::Truncated);
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"t","input":{}}}"#;
    let end = [
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let events = [&[start][..], &end].concat();
    // The block's own `{}` stands for "nothing was written yet": it must not be run as an empty object.
    assert_eq!(class(stream(Provider::Anthropic, &events)), ModelErrorClass::Truncated);
}

#[test]
fn a_block_that_was_not_closed_is_no_call() {
    let events = [
        r#"{"type":"message_start","message":{"content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"t","input":{}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    assert_eq!(class(stream(Provider::Anthropic, &events)), ModelErrorClass::Truncated);
}

#[test]
fn the_end_of_a_stream_needs_a_reason() {
    let piece = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
    assert_eq!(class(stream(Provider::OpenAiChat, &[piece])), ModelErrorClass::Truncated);
    assert_eq!(class(stream(Provider::OpenAiChat, &[piece, "[DONE]"])), ModelErrorClass::Truncated);
    let piece = r#"{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}"#;
    assert_eq!(class(stream(Provider::Gemini, &[piece])), ModelErrorClass::Truncated);
    let created = r#"{"type":"response.created","response":{"status":"in_progress","output":[]}}"#;
    assert_eq!(class(stream(Provider::OpenAi, &[created])), ModelErrorClass::Truncated);
}

#[test]
fn hosts_that_count_every_call_as_the_first_are_understood() {
    let call = |id: &str, text: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"t","arguments":"{text}"}}}}]}}}}]}}"#
        )
    };
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
    let reply =
        stream(Provider::OpenAiChat, &[&call("1", "{}"), &call("2", "{}"), &call("2", " "), end]).unwrap();
    assert_eq!(calls(&reply), [("t", "1", "{}"), ("t", "2", "{} ")]);
}

#[test]
fn a_call_without_a_name_is_not_lost() {
    let delta = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    assert_eq!(calls(&stream(Provider::OpenAiChat, &[delta]).unwrap()), [("", "", "{}")]);
}

#[test]
fn reasoning_is_kept_in_the_form_that_goes_back() {
    let events = [
        r#"{"type":"message_start","message":{"content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let reply = stream(Provider::Anthropic, &events).unwrap();
    let native = reply.parts[0].native.as_ref().unwrap();
    assert_eq!(native.value, serde_json::json!({ "type": "thinking", "thinking": "hm", "signature": "sig" }));
    assert_eq!((native.codec.as_str(), &reply.stop), ("test", &Stop::EndTurn));
    let details = [
        r#"{"choices":[{"delta":{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","index":0,"text":"a"}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","index":0,"text":"b"}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"s"}]},"finish_reason":"stop"}]}"#,
    ];
    let reply = stream(Provider::OpenAiChat, &details).unwrap();
    let expected = serde_json::json!({ "reasoning": "ab",
        "reasoning_details": [{ "type": "reasoning.text", "index": 0, "text": "ab", "signature": "s" }] });
    assert_eq!(reply.parts[0].native.as_ref().unwrap().value, expected);
}

#[test]
fn a_refused_prompt_is_a_refusal_without_content() {
    let reply = read(Provider::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#).unwrap();
    assert_eq!((reply.stop, reply.parts.len()), (Stop::Refused, 0));
    let message = r#"{"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}"#;
    assert_eq!(read(Provider::OpenAiChat, message).unwrap().stop, Stop::Refused);
}

#[test]
fn nothing_is_read_after_the_end() {
    let end = r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
    let reply = stream(Provider::OpenAiChat, &[end, "[DONE]", "not json"]).unwrap();
    assert_eq!(reply.parts.len(), 1);
}

#[test]
fn a_call_that_the_provider_marks_as_incomplete_is_never_complete() {
    let body = |arguments: &str| {
        let arguments = serde_json::Value::from(arguments);
        format!(
            r#"{{"status":"completed","output":[{{"type":"function_call","call_id":"1","name":"t","status":"incomplete","arguments":{arguments}}},{{"type":"message","content":[]}}]}}"#
        )
    };
    assert_eq!(class(read(Provider::OpenAi, &body("{}"))), ModelErrorClass::Truncated);
    assert_eq!(calls(&read(Provider::OpenAi, &body("{")).unwrap()), [("t", "1", "{")]);
}

proptest::proptest! {
    /// Damage anywhere gives a reply or an error, and no panic; the same in pieces of any size.
    #[test]
    fn damaged_replies_are_read_without_a_panic(which in 0_usize..4, at in 0_usize..900, length in 0_usize..40, piece in 1_usize..50, with in "[ -~\n\r\u{e9}]{0,6}") {
        let (provider, events) = SAMPLES[which];
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let mut bytes = body.into_bytes();
        let from = at.min(bytes.len());
        let to = (from + length).min(bytes.len());
        bytes.splice(from..to, with.bytes());
        let mut whole = ReplyReader::new(provider, "test");
        let outcome = whole.push(&bytes).and_then(|_| whole.finish());
        let mut pieces = ReplyReader::new(provider, "test");
        let in_pieces = bytes.chunks(piece).try_for_each(|piece| pieces.push(piece).map(drop));
        let in_pieces = in_pieces.and_then(|()| pieces.finish());
        proptest::prop_assert_eq!(outcome.ok(), in_pieces.ok());
    }
}

const SAMPLES: [(Provider, &[&str]); 4] = [
    (
        Provider::OpenAiChat,
        &[
            r#"{"id":"x","choices":[{"delta":{"reasoning":"hm","content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":"{\"a\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            "[DONE]",
        ],
    ),
    (
        Provider::OpenAi,
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"t"}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}"#,
            r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","name":"t","call_id":"1","arguments":"{}"}]}}"#,
        ],
    ),
    (
        Provider::Anthropic,
        &[
            r#"{"type":"message_start","message":{"id":"x","content":[],"usage":{"input_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"t","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    ),
    (
        Provider::Gemini,
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a","thoughtSignature":"s"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"a":1}}}]},"finishReason":"STOP"}]}"#,
        ],
    ),
];
