//! What is cut off, changed or made to hurt: an error with a place, or a run that keeps all promises. Never a panic.

use probity_contract::{Emission, Entry, Fact};
use probity_import::{Format, ImportError, ImportOptions, ImportedRun, Place, import};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::samples::{self, Sample};
use crate::support::{check, options, read};
use crate::zips::zip_of;

/// Reads bytes as any format; a run that comes out must be whole, and an error must say something.
fn holds(bytes: &[u8]) {
    for format in [None].into_iter().chain(Format::ALL.map(Some)) {
        match import(bytes, format, &options()) {
            Ok(runs) => runs.iter().for_each(|run| drop(check(run))),
            Err(error) => assert!(!error.to_string().is_empty() && error.hint().is_some()),
        }
    }
}

fn place_of(error: &ImportError) -> Option<&Place> {
    match error {
        ImportError::Malformed { place, .. } | ImportError::TooMuch { place, .. } => Some(place),
        _ => None,
    }
}

#[test]
fn a_file_that_is_cut_off_is_an_error_with_its_line() {
    for Sample { name, bytes, is_lines, .. } in samples::all() {
        if name == "vcr" {
            continue;
        }
        let text = String::from_utf8(bytes).unwrap();
        for end in (1..text.trim_end().len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
            let cut = &text[..end];
            let found = read(cut.as_bytes());
            let is_between_lines = is_lines && (cut.ends_with('\n') || text[end..].starts_with('\n'));
            if is_between_lines {
                continue;
            }
            let error = found.expect_err(name);
            let line = cut.lines().count();
            match place_of(&error) {
                Some(Place::Line { line: found, .. }) => assert_eq!(*found, line, "{name} at {end}: {error}"),
                other => panic!("{name} at {end}: {other:?} {error}"),
            }
        }
    }
}

#[test]
fn a_cassette_that_is_cut_off_does_not_harm() {
    let sample = samples::all().into_iter().find(|sample| sample.name == "vcr").unwrap();
    (0..sample.bytes.len()).step_by(5).for_each(|end| holds(&sample.bytes[..end]));
}

#[test]
fn what_is_of_no_known_format_is_told_what_is_known() {
    for bytes in ["", " \n", "hello", "{}", "[]", "[1,2]", r#"{"a":1}"#, "\"text\"", "null", "a: b\n"] {
        let error = read(bytes.as_bytes()).unwrap_err();
        assert!(matches!(error, ImportError::Unknown { .. }), "{bytes}: {error}");
        assert!(error.to_string().contains("langfuse"), "{error}");
    }
    let error = read(b"{\"a\":\xff}").unwrap_err();
    assert_eq!(place_of(&error), Some(&Place::Byte(5)));
}

#[test]
fn json_that_is_too_deep_is_an_error_with_its_line() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = read(deep.as_bytes()).unwrap_err();
    assert!(matches!(place_of(&error), Some(Place::Line { line: 1, .. })), "{error}");
}

/// Texts in texts: each is as deep as the parser lets through, and holds the next.
#[test]
fn texts_within_texts_do_not_end_the_stack() {
    let mut inner = Value::from("end");
    for _ in 0..12 {
        let mut value = inner;
        for _ in 0..40 {
            value = json!({ "messages": value });
        }
        inner = value.to_string().into();
    }
    holds(json!({ "messages": inner }).to_string().as_bytes());
    let mut wrapped = json!({"role": "user", "content": "x"});
    for _ in 0..60 {
        wrapped = json!({ "message": wrapped });
    }
    holds(json!([wrapped]).to_string().as_bytes());
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused() {
    let blanks = vec![b' '; 16 * 1024 * 1024];
    let archive = zip_of(&[("header.json", b"{}"), ("samples/1_epoch_1.json", &blanks)], None);
    assert!(matches!(read(&archive), Err(ImportError::TooMuch { .. } | ImportError::Malformed { .. })));
    // The same, with a directory that plays it down.
    let archive = zip_of(&[("samples/1_epoch_1.json", &blanks)], Some(10));
    assert!(read(&archive).is_err());
}

#[test]
fn a_packed_log_imports_and_every_cut_of_it_is_an_error() {
    let sample = samples::inspect_sample().to_string();
    let header = json!({"version": 2, "eval": {"task": "desk", "model": "m"}}).to_string();
    let archive =
        zip_of(&[("header.json", header.as_bytes()), ("samples/1_epoch_1.json", sample.as_bytes())], None);
    let runs = read(&archive).unwrap();
    assert_eq!(probity_import::messages(&runs[0]).len(), 5);
    // The last two bytes are the length of a comment that nobody reads.
    for end in (0..archive.len() - 2).step_by(3) {
        let error = read(&archive[..end]).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}

/// Aliases that name a large text often, and aliases of aliases.
#[test]
fn aliases_of_a_cassette_are_not_written_out_without_limit() {
    let large = "x".repeat(4 * 1024 * 1024);
    let many = "- *a\n".repeat(1000);
    let error = read(format!("interactions:\n- &a {large}\n{many}").as_bytes()).unwrap_err();
    assert!(matches!(error, ImportError::TooMuch { .. }), "{error}");
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let above = format!("*a{}", level - 1);
        laughs.push_str(&format!("a{level}: &a{level} [{}]\n", [above.as_str(); 10].join(", ")));
    }
    assert!(read(format!("{laughs}interactions:\n- *a11\n").as_bytes()).is_err());
}

#[test]
fn tags_and_names_of_any_kind_are_read() {
    let cassette = "version: 1\n1: one\nnull: none\ninteractions:\n- request:\n    uri: &u http://localhost/v1/chat/completions\n    raw: !!binary |\n      AAAA\n    own: !mine {a: 1}\n    parsed_body:\n      messages:\n      - role: user\n        content: !!str 400\n  response:\n    parsed_body:\n      choices:\n      - message: {role: assistant, content: *u}\n";
    let runs = read(cassette.as_bytes()).unwrap();
    let told: Vec<String> =
        probity_import::messages(&runs[0]).into_iter().map(|message| message.content).collect();
    assert_eq!(told, ["400", "http://localhost/v1/chat/completions"]);
}

/// Spans whose parents go round in a circle, or down ten thousand levels of tools.
#[test]
fn spans_may_hang_together_in_any_way() {
    let span = |id: String, parent: String, kind: &str| {
        json!({"name": id, "context": {"trace_id": "t", "span_id": id}, "parent_id": parent, "span_kind": kind,
               "start_time": 1_700_000_000, "attributes": {"llm.output_messages": [{"message": {"role": "assistant", "content": id}}]}})
    };
    let count = 3_000_u32;
    let round: Vec<Value> =
        (0..count).map(|at| span(at.to_string(), ((at + 1) % count).to_string(), "TOOL")).collect();
    holds(json!(round).to_string().as_bytes());
    let kind = |at: u32| if at.is_multiple_of(2) { "TOOL" } else { "LLM" };
    let deep: Vec<Value> =
        (0..count).map(|at| span(at.to_string(), at.wrapping_sub(1).to_string(), kind(at))).collect();
    let runs = read(json!(deep).to_string().as_bytes()).unwrap();
    runs.iter().for_each(|run| drop(check(run)));
    let itself =
        vec![span("x".to_owned(), "x".to_owned(), "LLM"), span("y".to_owned(), "z".to_owned(), "TOOL")];
    holds(json!(itself).to_string().as_bytes());
}

/// A small sample that names one large text a thousand times.
#[test]
fn texts_that_stand_apart_are_not_put_back_without_limit() {
    let large = "x".repeat(1024 * 1024);
    let windows: Vec<Value> = (0..1000).map(|_| json!([0, 1])).collect();
    let log = json!({"version": 2, "eval": {}, "plan": {}, "samples": [{
        "id": 1, "messages": [], "attachments": {"a": large},
        "message_pool": [{"role": "user", "content": "attachment://a"}],
        "events": [{"event": "model", "input": [], "input_refs": windows, "output": {}}]
    }]});
    let error = read(log.to_string().as_bytes()).unwrap_err();
    assert!(matches!(error, ImportError::TooMuch { .. }), "{error}");
}

/// What is written of a turn does not grow with the turns before it.
#[test]
fn long_conversations_take_time_with_their_length() {
    let turns = 5_000_u32;
    let turn = |index: u32| {
        [
            json!({"role": "user", "content": format!("question {index}")}),
            json!({"role": "assistant", "content": "", "tool_calls": [
                {"id": "", "function": {"name": "look", "arguments": "{}"}}]}),
            json!({"role": "tool", "content": "same"}),
            json!({"role": "assistant", "content": "same"}),
        ]
    };
    let list: Vec<Value> = (0..turns).flat_map(turn).collect();
    let bytes = json!(list).to_string();
    let runs = read(bytes.as_bytes()).unwrap();
    let items = 4 * turns as usize;
    assert_eq!(probity_import::messages(&runs[0]).len(), items);
    assert!(items_written(&runs[0]) <= items);
    // The same as one window, all of whose replies are guessed.
    let exchange = json!({"request": {"messages": list}, "response": {"choices": [{"message": {"role": "assistant", "content": "end"}}]}});
    let runs = read(exchange.to_string().as_bytes()).unwrap();
    assert_eq!(probity_import::messages(&runs[0]).len(), items + 1);
    assert!(items_written(&runs[0]) <= items);
}

/// The items in the differences of all windows together.
fn items_written(run: &ImportedRun) -> usize {
    let added = run.lines.iter().filter_map(|line| match line {
        Emission::Entry(Entry { fact: Fact::ModelCalled { window, .. }, .. }) => Some(window.added.len()),
        _ => None,
    });
    added.sum()
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(nodes).sum(),
        Value::Object(object) => object.values().map(nodes).sum(),
        _ => 0,
    }
}

/// Puts something else in place of the node that is `at` nodes into the value.
fn replace(value: &mut Value, at: &mut usize, with: &Value) {
    if *at == 0 {
        *value = with.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        _ if *at > usize::MAX / 2 => {}
        Value::Array(list) => list.iter_mut().for_each(|value| replace(value, at, with)),
        Value::Object(object) => object.values_mut().for_each(|value| replace(value, at, with)),
        _ => {}
    }
}

fn stranger() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[], {}, null, "x", 7])),
        Just(json!({"role": "assistant", "content": [{"type": "tool_use", "name": "x"}]})),
        Just(json!({"role": "tool", "content": "of nobody"})),
        Just(json!("{\"messages\": [1]}")),
        Just(samples::chat()),
    ]
}

/// `PROPTEST_CASES` makes it more.
fn many() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(500), ..config }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn any_node_may_be_anything(which in any::<prop::sample::Index>(), places in prop::collection::vec((any::<prop::sample::Index>(), stranger()), 1..4)) {
        let all = samples::all();
        let sample = which.get(&all);
        if sample.name == "vcr" {
            return Ok(());
        }
        let text = std::str::from_utf8(&sample.bytes).unwrap();
        let mut values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (place, with) in &places {
            let line = place.index(values.len());
            let mut at = place.index(nodes(&values[line]));
            replace(&mut values[line], &mut at, with);
        }
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        holds(text.as_bytes());
    }

    #[test]
    fn any_byte_may_be_any_other(which in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let all = samples::all();
        let mut bytes = which.get(&all).bytes.clone();
        for (place, byte) in changes {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        holds(&bytes);
    }

    #[test]
    fn any_bytes_are_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        holds(&bytes);
        let packed = [b"PK\x03\x04".to_vec(), bytes].concat();
        holds(&packed);
    }

    #[test]
    fn any_byte_of_an_archive_may_be_any_other(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let sample = samples::inspect_sample().to_string();
        let mut archive = zip_of(&[("header.json", b"{}"), ("samples/1_epoch_1.json", sample.as_bytes())], None);
        for (place, byte) in changes {
            let at = place.index(archive.len());
            archive[at] = byte;
        }
        holds(&archive);
    }
}

#[test]
fn the_same_bytes_give_the_same_records() {
    for sample in samples::all() {
        let again = |options: &ImportOptions| {
            let runs = import(&sample.bytes, None, options).unwrap();
            runs.iter().map(|run| run.encoded().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(again(&options()), again(&options()), "{}", sample.name);
    }
}
