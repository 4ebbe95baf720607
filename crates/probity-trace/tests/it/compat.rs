//! What `docs/design/record.md` promises of records and programs of different versions.

use probity_contract::{Ending, Fact, Usage};
use probity_trace::{FrameError, FrameReader, Noted, Record, RecordErrorKind};
use serde_json::{Value, json};

use crate::samples::{Script, bytes_of, raw_frame, run_started};

fn entry(seq: u64, fact: &Value) -> Vec<u8> {
    raw_frame(2, json!({"seq": seq, "at_ms": seq, "fact": fact}).to_string().as_bytes())
}

fn start_with(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut fact = serde_json::to_value(run_started()).unwrap();
    change(&mut fact);
    entry(0, &fact)
}

fn ended(seq: u64) -> Vec<u8> {
    let fact =
        Fact::Ended { ending: Ending::Answered, answer: None, usage: Usage::default(), cost_usd: None };
    entry(seq, &serde_json::to_value(fact).unwrap())
}

fn read(frames: &[Vec<u8>]) -> Record {
    Record::read(&[bytes_of(&[]), frames.concat()].concat()).unwrap().record
}

fn kinds_not_understood(record: &Record) -> Vec<&str> {
    let opaque = record.lines().iter().filter_map(|line| match &line.fact {
        Noted::Opaque { kind, .. } => Some(kind.as_str()),
        Noted::Known(_) => None,
    });
    opaque.collect()
}

/// The bytes of the header are written out: a change of the layout must change this test.
#[test]
fn the_header_is_sixteen_known_bytes() {
    let header = bytes_of(&[]);
    assert_eq!(header[..12], *b"\x89PROB\r\n\x1a\x01\0\0\0");
    assert_eq!(header[12..], crc32fast::hash(&header[..12]).to_le_bytes());
}

/// So are those of a frame.
#[test]
fn a_frame_is_thirteen_known_bytes_and_its_json() {
    let mut script = Script::default();
    script.part("a");
    let bytes = script.bytes();
    let payload =
        br#"{"id":"17762fddd969a453925d65717ac3eea21320b66b54342fde15128d6caf21215f","kept":{"full":"a"}}"#;
    assert_eq!(bytes[16..], raw_frame(1, payload));
}

#[test]
fn a_later_format_version_is_refused() {
    let mut header = b"\x89PROB\r\n\x1a\x02\0\0\0".to_vec();
    header.extend(crc32fast::hash(&header).to_le_bytes());
    header.extend(b"a layout that nobody here knows");
    let error = Record::read(&header).unwrap_err();
    assert_eq!(error.cause, RecordErrorKind::Frame(FrameError::LaterFormat { found: 2 }));
    assert_eq!(error.to_string(), "read the record: it has format version 2, and this program reads up to 1");
}

#[test]
fn a_later_version_of_the_facts_is_refused_whatever_else_it_says() {
    let later = entry(0, &json!({"kind": "run_started", "version": 2, "run": ["of", "another", "form"]}));
    let bytes = [bytes_of(&[]), later].concat();
    let error = Record::read(&bytes).unwrap_err();
    assert_eq!(error.cause, RecordErrorKind::LaterVersion { found: 2 });
    assert!(error.before.lines().is_empty());
}

#[test]
fn an_unknown_field_of_a_known_fact_is_passed_over() {
    let record = read(&[start_with(|fact| fact["mood"] = json!("good")), ended(1)]);
    assert_eq!(record.not_understood(), 0);
    assert_eq!(record.lines()[0].fact, Noted::Known(run_started()));
}

#[test]
fn an_unknown_fact_is_kept_whole_and_the_rest_is_read() {
    let unknown = json!({"kind": "item_dropped", "item": 4});
    let record = read(&[start_with(|_| ()), entry(1, &unknown), ended(2)]);
    assert_eq!(kinds_not_understood(&record), ["item_dropped"]);
    let Noted::Opaque { json, .. } = &record.lines()[1].fact else { panic!("it is not known") };
    assert_eq!(serde_json::from_str::<Value>(json).unwrap()["fact"], unknown);
    let summary = record.summary().unwrap();
    assert_eq!((summary.ending, summary.not_understood), (Some(Ending::Answered), 1));
}

#[test]
fn an_unknown_value_in_a_known_fact_makes_it_opaque_and_never_another_value() {
    let strange = json!({"kind": "limit_hit", "limit": "patience"});
    let record = read(&[start_with(|_| ()), entry(1, &strange), ended(2)]);
    assert_eq!(kinds_not_understood(&record), ["limit_hit"]);
}

#[test]
fn a_run_that_ended_in_a_new_way_has_ended() {
    let strange = json!({"kind": "ended", "ending": {"ending": "handed_over"}, "usage": {}});
    let summary = read(&[start_with(|_| ()), entry(1, &strange)]).summary().unwrap();
    assert_eq!((summary.ended, summary.ending), (true, None));
}

#[test]
fn a_new_limit_or_content_setting_does_not_hide_which_run_it_is() {
    let start = start_with(|fact| {
        fact["limits"]["naps_max"] = json!(3);
        fact["content"] = json!("sealed");
    });
    let record = read(&[start, ended(1)]);
    assert_eq!(kinds_not_understood(&record), ["run_started"]);
    let start = record.start().unwrap();
    assert_eq!((start.run.as_str(), start.content), ("run-1", None));
    assert_eq!(record.summary().unwrap().title, "check the expense");
}

#[test]
fn an_unknown_kind_of_frame_is_counted_and_passed_over() {
    let record = read(&[raw_frame(9, b"\xff\0 no JSON"), start_with(|_| ()), raw_frame(3, b""), ended(1)]);
    assert_eq!((record.lines().len(), record.not_understood()), (2, 2));
}

#[test]
fn an_entry_without_place_or_name_is_damage() {
    for json in
        ["{}", "[1]", r#"{"seq":1,"at_ms":1,"fact":{}}"#, r#"{"seq":1,"fact":{"kind":"ended"}}"#, "\u{fffd}"]
    {
        let good = [bytes_of(&[]), start_with(|_| ())].concat();
        let bytes = [good.clone(), raw_frame(2, json.as_bytes()), ended(1)].concat();
        let error = Record::read(&bytes).unwrap_err();
        let RecordErrorKind::Malformed { at, .. } = error.cause else { panic!("{json}: {}", error.cause) };
        assert_eq!((at, error.before.lines().len()), (good.len() as u64, 1), "{json}");
    }
}

/// A copy of the frames is a copy of the record, what this program does not understand included.
#[test]
fn frames_can_be_passed_on_unread() {
    let bytes = [bytes_of(&[]), start_with(|_| ()), raw_frame(9, b"later"), ended(1)].concat();
    let mut copy = bytes_of(&[]);
    for frame in FrameReader::new(&bytes) {
        let frame = frame.unwrap();
        copy.extend(raw_frame(frame.kind, frame.payload));
    }
    assert_eq!(copy, bytes);
}
