//! A small conversation in every format: a question, a call, its result, an answer.

use serde_json::{Value, json};

pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) format: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Whether the file is one JSON value a line.
    pub(crate) is_lines: bool,
}

fn whole(name: &'static str, format: &'static str, value: &Value) -> Sample {
    Sample { name, format, bytes: value.to_string().into_bytes(), is_lines: false }
}

fn lines(name: &'static str, format: &'static str, values: &[Value]) -> Sample {
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    Sample { name, format, bytes: text.into_bytes(), is_lines: true }
}

const ASKED: &str = "How high is the limit?";
const FOUND: &str = "limit: 400 EUR";
const ANSWER: &str = "The limit is 400 EUR.";

pub(crate) fn chat() -> Value {
    json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{\"key\":\"limit\"}"}}
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": FOUND},
        {"role": "assistant", "content": ANSWER}
    ])
}

fn anthropic() -> Value {
    json!({
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"key": "limit"}}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": FOUND}]}
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}
        ]
    })
}

fn gemini() -> Value {
    json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": ASKED}]},
            {"role": "model", "parts": [{"functionCall": {"id": "call_1", "name": "look_up", "args": {"key": "limit"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "call_1", "name": "look_up", "response": FOUND}}]},
            {"role": "model", "parts": [{"text": ANSWER}]}
        ]
    })
}

fn responses() -> Value {
    json!({
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": ASKED}]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "look it up"}]},
            {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": "{\"key\":\"limit\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": FOUND},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
        ]
    })
}

fn otel_messages() -> (Value, Value, Value, Value) {
    let asked = json!({"role": "user", "parts": [{"type": "text", "content": ASKED}]});
    let called = json!({"role": "assistant", "finish_reason": "tool_call", "parts": [
        {"type": "tool_call", "id": "call_1", "name": "look_up", "arguments": {"key": "limit"}}
    ]});
    let found =
        json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": FOUND}]});
    let answer = json!({"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]});
    (asked, called, found, answer)
}

fn attribute(key: &str, value: impl Into<String>) -> Value {
    json!({"key": key, "value": {"stringValue": value.into()}})
}

fn otlp_span(id: &str, parent: &str, at: u64, name: &str, attributes: Vec<Value>) -> Value {
    json!({
        "traceId": "t1", "spanId": id, "parentSpanId": parent, "name": name,
        "startTimeUnixNano": format!("170000000000{at}000000"), "endTimeUnixNano": format!("170000000000{at}500000"),
        "attributes": attributes
    })
}

fn otlp(spans: Vec<Value>) -> Value {
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": spans}]}]})
}

fn otel() -> Value {
    let (asked, called, found, answer) = otel_messages();
    let system = json!([{"type": "text", "content": "Be brief."}]).to_string();
    let chat = |id: &str, at: u64, input: Value, output: &Value| {
        let attributes = vec![
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.request.model", "m"),
            attribute("gen_ai.system_instructions", system.clone()),
            attribute("gen_ai.input.messages", input.to_string()),
            attribute("gen_ai.output.messages", json!([output]).to_string()),
        ];
        otlp_span(id, "a", at, "chat m", attributes)
    };
    let tool = vec![
        attribute("gen_ai.operation.name", "execute_tool"),
        attribute("gen_ai.tool.name", "look_up"),
        attribute("gen_ai.tool.call.id", "call_1"),
        attribute("gen_ai.tool.call.result", FOUND),
    ];
    otlp(vec![
        otlp_span("a", "", 1, "invoke_agent desk", vec![attribute("gen_ai.operation.name", "invoke_agent")]),
        chat("b", 2, json!([asked]), &called),
        otlp_span("c", "a", 3, "execute_tool look_up", tool),
        chat("d", 4, json!([asked, called, found]), &answer),
    ])
}

fn otel_events() -> Value {
    let event = |name: &str, body: Value| {
        let attributes: Vec<Value> = body
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| {
                attribute(key, value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect();
        json!({"name": name, "timeUnixNano": "1", "attributes": attributes})
    };
    let call = json!([{"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": {"key": "limit"}}}]);
    let system = event("gen_ai.system.message", json!({"content": "Be brief."}));
    let asked = event("gen_ai.user.message", json!({"content": ASKED}));
    let mut first = otlp_span("b", "", 2, "chat m", vec![attribute("gen_ai.request.model", "m")]);
    first["events"] = json!([
        system,
        asked,
        event("gen_ai.choice", json!({"index": "0", "message": {"role": "assistant", "tool_calls": call}})),
    ]);
    let mut second = otlp_span("d", "", 4, "chat m", vec![attribute("gen_ai.request.model", "m")]);
    second["events"] = json!([
        system,
        asked,
        event("gen_ai.assistant.message", json!({"tool_calls": call})),
        event("gen_ai.tool.message", json!({"id": "call_1", "tool_call_id": "call_1", "content": FOUND})),
        event("gen_ai.choice", json!({"index": "0", "message": {"role": "assistant", "content": ANSWER}})),
    ]);
    otlp(vec![first, second])
}

/// Events as log records, which name the span that they belong to.
fn otel_logs() -> Value {
    let record = |span: &str, name: &str, body: &[(&str, Value)]| {
        let members: Vec<Value> =
            body.iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
        json!({"spanId": span, "eventName": name, "body": {"kvlistValue": {"values": members}}})
    };
    let text = |words: &str| json!({ "stringValue": words });
    let members = |pairs: Vec<(&str, Value)>| {
        let values: Vec<Value> =
            pairs.into_iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
        json!({"kvlistValue": {"values": values}})
    };
    let function = members(vec![("name", text("look_up")), ("arguments", text("{\"key\":\"limit\"}"))]);
    let call = members(vec![("id", text("call_1")), ("type", text("function")), ("function", function)]);
    let calls = json!({"arrayValue": {"values": [call]}});
    let system = |span| record(span, "gen_ai.system.message", &[("content", text("Be brief."))]);
    let asked = |span| record(span, "gen_ai.user.message", &[("content", text(ASKED))]);
    let choice = |span, message| {
        record(span, "gen_ai.choice", &[("index", json!({"intValue": "0"})), ("message", members(message))])
    };
    let chat =
        |id: &str, at: u64| otlp_span(id, "", at, "chat m", vec![attribute("gen_ai.operation.name", "chat")]);
    let mut whole = otlp(vec![chat("b", 2), chat("d", 4)]);
    whole["resourceLogs"] = json!([{"scopeLogs": [{"logRecords": [
        system("b"), asked("b"),
        choice("b", vec![("role", text("assistant")), ("tool_calls", calls.clone())]),
        system("d"), asked("d"),
        record("d", "gen_ai.assistant.message", &[("tool_calls", calls)]),
        record("d", "gen_ai.tool.message", &[("id", text("call_1")), ("content", text(FOUND))]),
        choice("d", vec![("role", text("assistant")), ("content", text(ANSWER))]),
    ]}]}]);
    whole
}

/// Spans of the Vercel AI SDK: what is around the calls repeats them.
fn vercel() -> Value {
    let span = |id: &str, parent: Option<&str>, at: u64, attributes: Value| {
        json!({"name": id, "spanContext": {"traceId": "t", "spanId": id}, "parentSpanContext": parent.map(|parent| json!({"spanId": parent})),
               "startTime": [1_700_000_000 + at, 0], "endTime": [1_700_000_000 + at, 5], "attributes": attributes})
    };
    let call = json!([{"type": "tool-call", "toolCallId": "call_1", "toolName": "look_up", "input": {"key": "limit"}}]);
    let asked = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": ASKED}]}]);
    let mut then = asked.as_array().unwrap().clone();
    then.push(json!({"role": "assistant", "content": call}));
    then.push(json!({"role": "tool", "content": [{"type": "tool-result", "toolCallId": "call_1", "toolName": "look_up", "output": {"type": "text", "value": FOUND}}]}));
    json!([
        span(
            "a",
            None,
            0,
            json!({"ai.operationId": "ai.generateText", "ai.prompt": json!({"prompt": ASKED}).to_string(), "ai.response.text": ANSWER})
        ),
        span(
            "b",
            Some("a"),
            1,
            json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": asked.to_string(), "ai.response.toolCalls": call.to_string()})
        ),
        span(
            "c",
            Some("a"),
            2,
            json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "look_up", "ai.toolCall.id": "call_1", "ai.toolCall.result": json!(FOUND).to_string()})
        ),
        span(
            "d",
            Some("a"),
            3,
            json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": Value::from(then).to_string(), "ai.response.text": ANSWER})
        ),
    ])
}

/// As LangChain serializes messages, in lists of lists.
fn langchain() -> Value {
    let message = |class: &str, kwargs: Value| json!({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", class], "kwargs": kwargs});
    json!({"messages": [[
        message("SystemMessage", json!({"content": "Be brief."})),
        message("HumanMessage", json!({"content": ASKED, "additional_kwargs": {}})),
        message("AIMessage", json!({"content": "", "tool_calls": [{"id": "call_1", "name": "look_up", "args": {"key": "limit"}, "type": "tool_call"}],
            "additional_kwargs": {"tool_calls": [{"id": "call_1", "function": {"name": "look_up", "arguments": "{\"key\":\"limit\"}"}}]}})),
        message("ToolMessage", json!({"content": FOUND, "tool_call_id": "call_1", "name": "look_up"})),
        message("AIMessageChunk", json!({"content": [{"type": "text", "text": ANSWER}]})),
    ]]})
}

/// As Bedrock's Converse has them.
fn bedrock() -> Value {
    json!({"system": [{"text": "Be brief."}], "messages": [
        {"role": "user", "content": [{"text": ASKED}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "call_1", "name": "look_up", "input": {"key": "limit"}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "call_1", "content": [{"text": FOUND}], "status": "success"}}]},
        {"role": "assistant", "content": [{"text": ANSWER}]}
    ]})
}

fn openinference() -> Value {
    let span = |id: &str, at: u64, attributes: Value| {
        json!({"name": "llm", "context": {"trace_id": "t", "span_id": id}, "parent_id": null, "span_kind": "LLM",
               "start_time": format!("2025-01-01T00:00:0{at}+00:00"), "attributes": attributes})
    };
    json!([
        span(
            "b",
            1,
            json!({
                "llm.model_name": "m",
                "llm.input_messages.0.message.role": "system",
                "llm.input_messages.0.message.content": "Be brief.",
                "llm.input_messages.1.message.role": "user",
                "llm.input_messages.1.message.contents.0.message_content.type": "text",
                "llm.input_messages.1.message.contents.0.message_content.text": ASKED,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.tool_calls.0.tool_call.id": "call_1",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look_up",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{\"key\":\"limit\"}"
            })
        ),
        span(
            "d",
            2,
            json!({"llm": {
                "model_name": "m",
                "input_messages": [
                    {"message": {"role": "system", "content": "Be brief."}},
                    {"message": {"role": "user", "content": ASKED}},
                    {"message": {"role": "assistant", "tool_calls": [{"tool_call": {
                        "id": "call_1", "function": {"name": "look_up", "arguments": "{\"key\":\"limit\"}"}}}]}},
                    {"message": {"role": "tool", "tool_call_id": "call_1", "content": FOUND}}
                ],
                "output_messages": [{"message": {"role": "assistant", "content": ANSWER}}]
            }})
        )
    ])
}

fn langfuse() -> Value {
    let chat = chat();
    let messages = chat.as_array().unwrap();
    let observation = |id: &str, kind: &str, at: u64, input: Value, output: Value| {
        json!({"id": id, "traceId": "t", "type": kind, "name": "look_up", "model": "m", "parentObservationId": null,
               "startTime": format!("2025-01-01T00:00:0{at}Z"), "input": input, "output": output})
    };
    json!({"trace": {"id": "t", "name": "desk"}, "observations": [
        observation("b", "GENERATION", 1, json!(messages[..2]), messages[2].clone()),
        observation("c", "TOOL", 2, json!({"key": "limit"}), json!(FOUND)),
        observation("d", "GENERATION", 3, json!({"messages": messages[..4]}).to_string().into(), messages[4].clone()),
    ]})
}

fn claude_code() -> Vec<Value> {
    let line = |kind: &str, uuid: &str, request: Option<&str>, message: Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "s", "isSidechain": false, "cwd": "/",
               "timestamp": "2025-01-01T00:00:00Z", "requestId": request, "message": message})
    };
    let reply =
        |id: &str, part: Value| json!({"id": id, "role": "assistant", "model": "m", "content": [part]});
    vec![
        json!({"type": "summary", "summary": "limits", "leafUuid": "u5"}),
        line("user", "u1", None, json!({"role": "user", "content": ASKED})),
        line(
            "assistant",
            "u2",
            Some("r1"),
            reply("m1", json!({"type": "thinking", "thinking": "look it up"})),
        ),
        line(
            "assistant",
            "u3",
            Some("r1"),
            reply(
                "m1",
                json!({"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"key": "limit"}}),
            ),
        ),
        line(
            "user",
            "u4",
            None,
            json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": FOUND}]}),
        ),
        line("assistant", "u5", Some("r2"), reply("m2", json!({"type": "text", "text": ANSWER}))),
    ]
}

fn codex() -> Vec<Value> {
    let line = |kind: &str, payload: Value| json!({"timestamp": "2025-01-01T00:00:00Z", "type": kind, "payload": payload});
    let item = |payload: Value| line("response_item", payload);
    vec![
        line(
            "session_meta",
            json!({"id": "s", "timestamp": "2025-01-01T00:00:00Z", "instructions": "Be brief."}),
        ),
        line("turn_context", json!({"model": "m"})),
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]})),
        line("event_msg", json!({"type": "user_message", "message": ASKED})),
        item(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "look it up"}]})),
        item(
            json!({"type": "function_call", "name": "look_up", "arguments": "{\"key\":\"limit\"}", "call_id": "call_1"}),
        ),
        item(json!({"type": "function_call_output", "call_id": "call_1", "output": FOUND})),
        item(
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}),
        ),
        line(
            "event_msg",
            json!({"type": "token_count", "info": {"last_token_usage": {"input_tokens": 7, "output_tokens": 3}}}),
        ),
    ]
}

fn swe_agent() -> Value {
    json!({"environment": "desk", "trajectory": [], "info": {"exit_status": "submitted"}, "history": chat()})
}

fn openhands() -> Vec<Value> {
    vec![
        json!({"id": 0, "source": "agent", "action": "system", "args": {"content": "Be brief."}}),
        json!({"id": 1, "source": "user", "action": "message", "args": {"content": ASKED}}),
        json!({"id": 2, "source": "agent", "action": "run", "args": {"key": "limit", "thought": ""},
               "tool_call_metadata": {"tool_call_id": "call_1", "function_name": "look_up"}}),
        json!({"id": 3, "source": "agent", "cause": 2, "observation": "run", "content": FOUND,
               "tool_call_metadata": {"tool_call_id": "call_1", "function_name": "look_up"}}),
        json!({"id": 4, "source": "agent", "action": "message", "args": {"content": ANSWER}}),
    ]
}

pub(crate) fn inspect_sample() -> Value {
    let chat = chat();
    let output =
        |index: usize| json!({"model": "m", "choices": [{"message": chat[index], "stop_reason": "stop"}]});
    json!({
        "id": 1, "epoch": 1, "messages": chat, "attachments": {"a1": ASKED},
        "message_pool": [chat[0], {"role": "user", "content": "attachment://a1"}, chat[2], chat[3]],
        "events": [
            {"event": "model", "model": "m", "uuid": "e1", "input": [], "input_refs": [[0, 2]], "output": output(2)},
            {"event": "tool", "id": "call_1", "function": "look_up", "arguments": {"key": "limit"}, "result": FOUND},
            {"event": "model", "model": "m", "uuid": "e2", "input": [], "input_refs": [[0, 3], [3, 4]], "output": output(4)},
        ]
    })
}

fn inspect() -> Value {
    json!({"version": 2, "status": "success", "eval": {"task": "desk", "model": "m"}, "plan": {}, "samples": [inspect_sample()]})
}

fn atif() -> Value {
    json!({
        "schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "desk", "version": "1", "model_name": "m"},
        "steps": [
            {"step_id": 1, "source": "system", "message": "Be brief."},
            {"step_id": 2, "source": "user", "message": ASKED},
            {"step_id": 3, "source": "agent", "message": "",
             "tool_calls": [{"tool_call_id": "call_1", "function_name": "look_up", "arguments": {"key": "limit"}}],
             "observation": {"results": [{"source_call_id": "call_1", "content": FOUND}]},
             "metrics": {"prompt_tokens": 7, "completion_tokens": 3}},
            {"step_id": 4, "source": "agent", "message": ANSWER}
        ]
    })
}

fn who_and_when() -> Value {
    json!({
        "question": ASKED, "mistake_agent": "Clerk", "mistake_step": "1", "ground_truth": "400",
        "history": [
            {"role": "human", "content": ASKED},
            {"role": "Orchestrator (-> Clerk)", "content": "Look it up."},
            {"role": "Clerk", "content": ANSWER}
        ]
    })
}

fn vcr() -> Sample {
    let chat = chat();
    let exchange = |until: usize| {
        let messages: Vec<&Value> = chat.as_array().unwrap()[..until].iter().collect();
        let request = json!({"model": "m", "messages": messages}).to_string();
        let response = json!({"id": "r", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": chat[until]}]});
        format!(
            "- request:\n    method: POST\n    uri: http://localhost/v1/chat/completions\n    body: '{}'\n  response:\n    body:\n      string: '{}'\n    status:\n      code: 200\n",
            request.replace('\'', "''"),
            response.to_string().replace('\'', "''")
        )
    };
    let text = format!("interactions:\n{}{}version: 1\n", exchange(2), exchange(4));
    Sample { name: "vcr", format: "vcr", bytes: text.into_bytes(), is_lines: false }
}

fn tau_bench() -> Value {
    json!([{"task_id": 0, "reward": 1.0, "trial": 0, "info": {"task": {}}, "traj": chat()}])
}

/// All of them.
pub(crate) fn all() -> Vec<Sample> {
    vec![
        whole("list", "messages", &chat()),
        whole("anthropic", "messages", &anthropic()),
        whole("gemini", "messages", &gemini()),
        whole("responses", "messages", &responses()),
        lines(
            "request lines",
            "messages",
            &[json!({"messages": chat()}), json!({"messages": chat(), "id": 7})],
        ),
        whole("otel", "spans", &otel()),
        whole("otel events", "spans", &otel_events()),
        whole("otel logs", "spans", &otel_logs()),
        whole("vercel", "spans", &vercel()),
        whole("langchain", "messages", &langchain()),
        whole("bedrock", "messages", &bedrock()),
        whole("openinference", "spans", &openinference()),
        whole("langfuse", "langfuse", &langfuse()),
        lines("claude code", "claude-code", &claude_code()),
        lines("codex", "codex", &codex()),
        whole("swe-agent", "swe-agent", &swe_agent()),
        lines("openhands lines", "openhands", &openhands()),
        whole("openhands", "openhands", &json!({"history": openhands(), "instance_id": "x"})),
        whole("inspect", "inspect", &inspect()),
        whole("atif", "atif", &atif()),
        whole("who and when", "who-and-when", &who_and_when()),
        vcr(),
        whole("tau-bench", "tau-bench", &tau_bench()),
    ]
}
