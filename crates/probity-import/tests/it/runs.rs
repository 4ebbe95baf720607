//! How windows, calls, runs within runs and what has no place come out.

use probity_contract::{Ending, Fact, ForeignTo};
use probity_import::{ChatRole, ImportedRun, exchanges, messages};
use serde_json::{Value, json};

use crate::support::{check, imported, part_text};

fn one(value: &Value) -> ImportedRun {
    let (_, mut runs) = imported(value.to_string().as_bytes());
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn lines(values: &[Value]) -> Vec<ImportedRun> {
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    imported(text.as_bytes()).1
}

/// The items that each model call saw.
fn windows(run: &ImportedRun) -> Vec<Vec<u32>> {
    let record = check(run);
    record.windows_all().map(|(_, window)| window.unwrap().iter().map(|item| item.0).collect()).collect()
}

fn generation(id: &str, at: u32, input: Value, output: Value) -> Value {
    json!({"id": id, "traceId": "t", "type": "GENERATION", "name": "chat", "parentObservationId": null,
           "startTime": format!("2025-01-01T00:00:{at:02}Z"), "input": input, "output": output})
}

fn trace(observations: Vec<Value>) -> ImportedRun {
    one(&json!({"trace": {"id": "t"}, "observations": observations}))
}

fn said(role: &str, words: &str) -> Value {
    json!({"role": role, "content": words})
}

#[test]
fn a_conversation_that_shrinks_is_a_window_that_keeps_less() {
    let run = trace(vec![
        generation("a", 1, json!([said("system", "s"), said("user", "one")]), said("assistant", "1")),
        generation(
            "b",
            2,
            json!([said("system", "s"), said("user", "one"), said("assistant", "1"), said("user", "two")]),
            said("assistant", "2"),
        ),
        generation("c", 3, json!([said("system", "s"), said("user", "two")]), said("assistant", "3")),
    ]);
    assert_eq!(windows(&run), [vec![1, 2], vec![1, 2, 3, 4], vec![1, 4]]);
}

#[test]
fn equal_messages_of_one_window_are_different_items_and_the_same_ones_later() {
    let window = json!([said("user", "again"), said("user", "again")]);
    let run = trace(vec![
        generation("a", 1, window.clone(), said("assistant", "x")),
        generation("b", 2, window, said("assistant", "x")),
    ]);
    assert_eq!(windows(&run), [[1, 2], [1, 2]]);
    assert_eq!(messages(&run).len(), 4);
}

#[test]
fn a_reply_that_only_a_later_window_tells_belongs_to_the_call_that_saw_what_is_before_it() {
    let run = trace(vec![
        generation("a", 1, json!([said("user", "one")]), Value::Null),
        generation(
            "b",
            2,
            json!([said("user", "one"), said("assistant", "1"), said("user", "two")]),
            Value::Null,
        ),
        generation(
            "c",
            3,
            json!([said("user", "one"), said("assistant", "1"), said("user", "two"), said("assistant", "2")]),
            said("assistant", "3"),
        ),
    ]);
    assert_eq!(windows(&run), [vec![1], vec![1, 2, 3], vec![1, 2, 3, 4]]);
    let replied: Vec<(u32, u32)> = check(&run)
        .facts()
        .filter_map(|(_, fact)| match fact {
            Fact::ModelReplied { call, item, .. } => Some((call.0, item.0)),
            _ => None,
        })
        .collect();
    assert_eq!(replied, [(1, 2), (2, 4), (3, 5)]);
}

#[test]
fn a_reply_whose_call_was_not_traced_gets_one_that_is_marked() {
    let run = trace(vec![generation(
        "a",
        1,
        json!([said("user", "one"), said("assistant", "1"), said("user", "two")]),
        said("assistant", "2"),
    )]);
    assert_eq!(windows(&run), [vec![1], vec![1, 2, 3]]);
    let record = check(&run);
    let guessed = record.facts().any(|(_, fact)| {
        matches!(fact, Fact::Foreign { about: ForeignTo::ModelCall(call), at, .. } if at == "/guessed" && call.0 == 1)
    });
    assert!(guessed);
    assert!(run.notices.iter().any(|words| words.contains("what stood before")), "{:?}", run.notices);
}

#[test]
fn what_the_outermost_span_says_came_out_is_the_reply_of_the_last_call() {
    let root = json!({"id": "r", "traceId": "t", "type": "SPAN", "name": "desk", "startTime": "2025-01-01T00:00:00Z",
                      "input": "how much?", "output": {"role": "assistant", "content": "It is 400."}});
    let run = trace(vec![root, generation("a", 1, Value::Null, Value::Null)]);
    assert_eq!(windows(&run), [[1]]);
    let told: Vec<String> = messages(&run).into_iter().map(|message| message.content).collect();
    assert_eq!(told, ["how much?", "It is 400."]);
    assert!(run.notices.iter().any(|words| words.contains("outermost span")), "{:?}", run.notices);
}

#[test]
fn results_without_ids_go_to_calls_by_name_and_order() {
    let call = |name: &str| json!({"function": {"name": name, "arguments": "{}"}});
    let run = one(&json!([
        said("user", "go"),
        {"role": "assistant", "tool_calls": [call("a"), call("b"), call("a")]},
        {"role": "tool", "name": "b", "content": "of b"},
        {"role": "tool", "name": "a", "content": "of the first a"},
        {"role": "tool", "content": "of what is left"},
        {"role": "tool", "content": "of nobody"},
    ]));
    let record = check(&run);
    let results: Vec<(u32, String)> = record
        .facts()
        .filter_map(|(_, fact)| match fact {
            Fact::ToolFinished { call, output, .. } => Some((call.0, part_text(&record, *output))),
            _ => None,
        })
        .collect();
    let expected = [(2, "of b"), (1, "of the first a"), (3, "of what is left"), (4, "of nobody")];
    assert_eq!(results, expected.map(|(call, words)| (call, words.to_owned())));
    assert!(run.notices.iter().any(|words| words.contains("does not tell of")), "{:?}", run.notices);
}

#[test]
fn what_has_no_place_is_kept_beside_what_it_belongs_to() {
    let run = one(&json!({
        "messages": [{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}], "mood": "good"}, {"role": "assistant", "content": "seen"}],
        "scenario": {"name": "desk"}
    }));
    let record = check(&run);
    let kept: Vec<(ForeignTo, String, String)> = record
        .facts()
        .filter_map(|(_, fact)| match fact {
            Fact::Foreign { about, at, json } => Some((*about, at.clone(), part_text(&record, *json))),
            _ => None,
        })
        .collect();
    let has = |about: ForeignTo, at: &str, part: &str| {
        kept.iter().any(|(of, name, json)| *of == about && name == at && json.contains(part))
    };
    let item = ForeignTo::Item(probity_contract::ItemId(1));
    assert!(has(ForeignTo::Run, "/scenario", "desk"), "{kept:?}");
    assert!(has(item, "", r#"{"mood":"good"}"#) && has(item, "/content/1", "image_url"), "{kept:?}");
}

#[test]
fn an_agent_below_a_tool_is_a_run_that_the_call_has_started() {
    let span = |id: &str, parent: &str, at: u32, attributes: Value| {
        json!({"name": id, "context": {"trace_id": "t", "span_id": id}, "parent_id": parent,
               "start_time": format!("2025-01-01T00:00:{at:02}Z"), "end_time": format!("2025-01-01T00:00:{at:02}Z"), "attributes": attributes})
    };
    let chat = |input: Value, output: Value| json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": input, "gen_ai.output.messages": [output]});
    let asks = json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "scout", "arguments": "{}"}}]});
    let found = json!({"role": "tool", "tool_call_id": "c1", "content": "400"});
    let spans = json!([
        span("root", "", 0, json!({"gen_ai.operation.name": "invoke_agent"})),
        span("m1", "root", 1, chat(json!([said("user", "go")]), asks.clone())),
        span(
            "tool",
            "root",
            2,
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "scout", "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "400"})
        ),
        span("agent", "tool", 3, json!({"gen_ai.operation.name": "invoke_agent"})),
        span("m2", "agent", 4, chat(json!([said("user", "scout it")]), said("assistant", "400"))),
        span(
            "m3",
            "root",
            5,
            chat(json!([said("user", "go"), asks, found]), said("assistant", "It is 400."))
        ),
    ]);
    let (_, runs) = imported(spans.to_string().as_bytes());
    let [above, below] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    assert_eq!((messages(above).len(), messages(below).len()), (4, 2));
    let record = check(below);
    let Some((_, Fact::RunStarted(started))) = record.facts().next() else { panic!() };
    let parent = started.parent.as_ref().unwrap();
    assert_eq!((&parent.run, parent.call.0), (&above.run, 1));
    let ended = check(above).facts().any(|(_, fact)| {
        matches!(fact, Fact::ChildEnded { call, run, ending: Some(Ending::Answered), .. } if call.0 == 1 && *run == below.run)
    });
    assert!(ended);
}

#[test]
fn a_side_chain_is_a_run_of_the_call_whose_prompt_it_begins_with() {
    let line = |kind: &str, uuid: &str, above: Option<&str>, side: bool, message: Value| json!({"type": kind, "uuid": uuid, "parentUuid": above, "sessionId": "s", "isSidechain": side, "message": message});
    let reply = |id: &str, part: Value| json!({"id": id, "role": "assistant", "content": [part]});
    let runs = lines(&[
        line("user", "1", None, false, said("user", "go")),
        line(
            "assistant",
            "2",
            Some("1"),
            false,
            reply(
                "m1",
                json!({"type": "tool_use", "id": "c1", "name": "Task", "input": {"prompt": "scout it"}}),
            ),
        ),
        line("user", "3", None, true, said("user", "scout it")),
        line("assistant", "4", Some("3"), true, reply("m2", json!({"type": "text", "text": "400"}))),
        line(
            "user",
            "5",
            Some("2"),
            false,
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "400"}]}),
        ),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "6", "sessionId": "s"}),
        line("user", "7", Some("5"), false, said("user", "We looked up a limit of 400.")),
        line("assistant", "8", Some("7"), false, reply("m3", json!({"type": "text", "text": "Yes."}))),
    ]);
    let [above, below] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    assert_eq!(messages(below).last().unwrap().content, "400");
    let record = check(below);
    let Some((_, Fact::RunStarted(started))) = record.facts().next() else { panic!() };
    assert_eq!(started.parent.as_ref().map(|parent| &parent.run), Some(&above.run));
    // After the boundary, only what came after it was seen.
    assert_eq!(windows(above), [vec![1], vec![4]]);
}

#[test]
fn a_trajectory_within_another_is_a_run_of_the_call_that_refers_to_it() {
    let run = json!({
        "schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "go"},
            {"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c1", "function_name": "scout", "arguments": {}}],
             "observation": {"results": [{"source_call_id": "c1", "content": "400", "subagent_trajectory_ref": [{"trajectory_id": "x"}]}]}},
        ],
        "subagent_trajectories": [{"trajectory_id": "x", "agent": {"name": "b", "version": "1"}, "steps": [
            {"step_id": 1, "source": "user", "message": "scout it"}, {"step_id": 2, "source": "agent", "message": "400"}]}]
    });
    let (_, runs) = imported(run.to_string().as_bytes());
    let record = check(&runs[1]);
    let Some((_, Fact::RunStarted(started))) = record.facts().next() else { panic!() };
    assert_eq!(started.parent.as_ref().map(|parent| &parent.run), Some(&runs[0].run));
}

#[test]
fn a_rollout_that_was_summed_up_sees_what_is_told_in_its_place() {
    let line = |kind: &str, payload: Value| json!({"timestamp": "2025-01-01T00:00:00Z", "type": kind, "payload": payload});
    let message = |role: &str, words: &str| {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        line(
            "response_item",
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": words}]}),
        )
    };
    let runs = lines(&[
        line("session_meta", json!({"id": "s"})),
        message("user", "one"),
        message("assistant", "1"),
        line("compacted", json!({"message": "one was asked, and 1 was the answer"})),
        message("user", "two"),
        message("assistant", "2"),
    ]);
    assert_eq!(windows(&runs[0]), [vec![1], vec![3, 4]]);
}

#[test]
fn a_stream_of_events_is_the_reply_that_it_amounts_to() {
    let request = json!({"model": "m", "stream": true, "messages": [said("user", "go")]});
    let chunks = [
        json!({"choices": [{"delta": {"role": "assistant", "content": "It is "}}]}),
        json!({"choices": [{"delta": {"content": "400."}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "look", "arguments": "{\"a\""}}]}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}, "finish_reason": "tool_calls"}]}),
    ];
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let cassette = json!({"interactions": [{"request": {"uri": "http://localhost/v1/chat/completions", "body": request.to_string()},
        "response": {"status": {"code": 200}, "body": {"string": format!("{body}data: [DONE]\n\n")}}}]});
    let run = one(&cassette);
    let reply = messages(&run).pop().unwrap();
    assert_eq!((reply.role, reply.content.as_str()), (ChatRole::Assistant, "It is 400."));
    assert_eq!(
        (reply.tool_calls[0].name.as_str(), reply.tool_calls[0].arguments.as_str()),
        ("look", "{\"a\":1}")
    );
}

#[test]
fn a_conversation_that_the_provider_keeps_goes_on_from_its_last_reply() {
    let exchange = |above: Option<&str>, id: &str, words: &str| {
        let request = json!({"model": "m", "previous_response_id": above, "input": [said("user", words)]});
        let reply =
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": id}]});
        json!({"request": {"uri": "http://localhost/v1/responses", "body": request.to_string()},
               "response": {"status": {"code": 200}, "body": {"string": json!({"id": id, "output": [reply]}).to_string()}}})
    };
    let run = one(
        &json!({"interactions": [exchange(None, "r1", "one"), exchange(Some("r1"), "r2", "two"), exchange(None, "r3", "three")]}),
    );
    assert_eq!(windows(&run), [vec![1], vec![1, 2, 3], vec![5]]);
}

#[test]
fn an_error_of_a_provider_is_a_call_that_failed() {
    let cassette = json!({"interactions": [{"request": {"uri": "http://localhost/v1/chat/completions", "body": json!({"messages": [said("user", "go")]}).to_string()},
        "response": {"status": {"code": 429}, "body": {"string": "{\"error\": {\"message\": \"too many\"}}"}}}]});
    let record = check(&one(&cassette));
    let ending = record.summary().unwrap().ending;
    assert!(matches!(ending, Some(Ending::ModelFailed { error, .. }) if error == "too many"));
}

#[test]
fn literals_of_python_are_read_where_json_was_meant() {
    let input = "[{'role': 'user', 'content': \"it's \\u00e9\", 'name': None, 'cached': False}]";
    let run = trace(vec![generation("a", 1, json!(input), json!("'not a message"))]);
    let told: Vec<String> = messages(&run).into_iter().map(|message| message.content).collect();
    assert_eq!(told, ["it's é", "'not a message"]);
    assert_eq!(exchanges(&run)[0].source, "a");
}
