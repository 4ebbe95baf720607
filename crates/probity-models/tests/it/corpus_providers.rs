//! Recorded answers of providers decode to what they say, and a stream that is cut says nothing.

#![expect(clippy::print_stdout, reason = "the figures are part of what is shown")]

use std::collections::BTreeMap;

use probity_contract::{ModelErrorClass, ModelReply, ReplyPartKind, Stop};
use probity_models::{ReplyReader, refusal};

use crate::corpus::{Kind, Recording, exceptions, recordings};
use crate::naive::{self, Said};

const EXCEPTIONS: &str = include_str!("corpus_exceptions.txt");

/// Of a hundred answers, at least so many decode as they say.
const AGREE_PERCENT_MIN: usize = 99;

#[test]
fn corpus_providers_answers_decode_as_they_say() {
    let Some(recordings) = recordings() else { return skipped("answers") };
    let exceptions = exceptions(EXCEPTIONS);
    let (mut agreed, mut refused, mut wrong) = (0_usize, 0_usize, Vec::new());
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unused = exceptions.clone();
    for recording in &recordings {
        if let Kind::Other(what) = recording.kind {
            *skipped.entry(what).or_default() += 1;
            continue;
        }
        if recording.status >= 400 {
            check_refusal(recording);
        }
        if naive::is_no_answer(&recording.body) {
            check_no_reply(recording);
            refused += 1;
            continue;
        }
        match (difference(recording), unused.remove(recording.name.as_str())) {
            (None, None) => agreed += 1,
            (Some(_), Some(_)) => {}
            (None, Some(reason)) => {
                wrong.push(format!("{}: agrees now, take it off the list ({reason})", recording.name))
            }
            (Some(difference), None) => wrong.push(format!("{}: {difference}", recording.name)),
        }
    }
    wrong.extend(unused.keys().map(|name| format!("{name}: on the list, but not there")));
    let decoded = agreed + exceptions.len();
    println!(
        "{decoded} decoded, {agreed} agree, {} exceptions, {refused} are no answers, {} skipped: {skipped:?}",
        exceptions.len(),
        skipped.values().sum::<usize>()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!skipped.contains_key("unknown"), "every recording has a kind");
    assert!(agreed * 100 >= decoded * AGREE_PERCENT_MIN && agreed > 0);
}

#[test]
fn corpus_providers_streams_cut_at_every_byte_run_nothing() {
    let Some(recordings) = recordings() else { return skipped("streams") };
    let exceptions = exceptions(EXCEPTIONS);
    let mut cuts = 0_usize;
    for recording in recordings.iter().filter(|recording| recording.kind.provider().is_some()) {
        if !exceptions.contains_key(recording.name.as_str()) && !naive::is_no_answer(&recording.body) {
            cuts += check_cuts(recording);
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 0);
}

fn reader(recording: &Recording) -> ReplyReader {
    ReplyReader::new(recording.kind.provider().unwrap(), "test")
}

/// How the reply differs from what a second reading of the same bytes says; `None` if it does not.
fn difference(recording: &Recording) -> Option<String> {
    let mut reader = reader(recording);
    let reply = match reader.push(&recording.body).and_then(|_| reader.finish()) {
        Ok(reply) => reply,
        Err(error) => return Some(format!("{:?} {error}", error.class)),
    };
    let (mut said, expected) = (said(&reply), naive::read(recording.kind, &recording.body));
    let body = std::str::from_utf8(&recording.body).unwrap();
    for (call, expected) in said.calls.iter_mut().zip(&expected.calls) {
        // Where the format has arguments as a value, their text must be a piece of the body.
        if expected.text.is_none() {
            let text = call.text.take().unwrap();
            let is_left_out = text == "{}" && expected.value == serde_json::json!({});
            if !is_left_out && !body.contains(&text) {
                return Some(format!("the arguments `{text}` do not stand in the body"));
            }
        }
    }
    (said != expected).then(|| format!("\n  is       {said:?}\n  should be {expected:?}"))
}

fn said(reply: &ModelReply) -> Said {
    let mut said = Said {
        stop: match &reply.stop {
            Stop::EndTurn => "end",
            Stop::ToolCalls => "tools",
            Stop::MaxTokens => "limit",
            Stop::StopSequence => "sequence",
            Stop::Refused => "refused",
            Stop::Paused => "paused",
            Stop::Other(word) => word,
        }
        .to_owned(),
        input: reply.usage.input,
        output: reply.usage.output,
        cached: reply.usage.cached_input,
        reasoning: reply.usage.reasoning,
        ..Said::default()
    };
    for part in &reply.parts {
        match &part.kind {
            ReplyPartKind::Text(text) => said.text += text,
            ReplyPartKind::Call(call) => said.calls.push(naive::Call::of_text(&call.name, &call.arguments)),
            ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => {}
        }
    }
    said
}

fn check_refusal(recording: &Recording) {
    let body = std::str::from_utf8(&recording.body).unwrap();
    let error = refusal(recording.status, body);
    let expected = match recording.status {
        401 | 403 => ModelErrorClass::Auth,
        404 => ModelErrorClass::NotFound,
        429 => ModelErrorClass::RateLimited,
        500.. => ModelErrorClass::ServerError,
        _ => ModelErrorClass::BadRequest,
    };
    assert_eq!(error.class, expected, "{}: {error}", recording.name);
    assert!(
        error.message.contains(&recording.status.to_string()) && error.hint.is_some(),
        "{}",
        recording.name
    );
}

/// Error bodies and errors in the middle of a stream are errors, whatever the status was.
fn check_no_reply(recording: &Recording) {
    let mut reader = reader(recording);
    let reply = reader.push(&recording.body).and_then(|_| reader.finish());
    let error = reply.expect_err(&recording.name);
    let is_sensible = !matches!(error.class, ModelErrorClass::Malformed | ModelErrorClass::Cancelled);
    assert!(is_sensible && error.hint.is_some(), "{}: {:?} {error}", recording.name, error.class);
    println!("{}: {:?} {error}", recording.name, error.class);
}

/// Feeds a recording byte by byte and asks after each byte what it would be if nothing more came.
///
/// Every byte of every recording, streams and bodies alike: a reader that is asked in between costs next to nothing,
/// since it looks closer only where a JSON value could be complete.
fn check_cuts(recording: &Recording) -> usize {
    let mut reader = reader(recording);
    let mut early = Vec::new();
    for (at, byte) in recording.body.iter().enumerate() {
        match reader.finish() {
            Ok(reply) => early.push((at, reply)),
            Err(error) => assert!(
                matches!(error.class, ModelErrorClass::Truncated | ModelErrorClass::Malformed),
                "{} cut at {at}: {error}",
                recording.name
            ),
        }
        reader
            .push(std::slice::from_ref(byte))
            .unwrap_or_else(|error| panic!("{} at {at}: {error}", recording.name));
    }
    let whole = reader.finish().unwrap();
    let mut at_once = self::reader(recording);
    at_once.push(&recording.body).unwrap();
    assert_eq!(at_once.finish().unwrap(), whole, "{}: bytes one by one are the same bytes", recording.name);
    for (at, reply) in early {
        // Only what follows the provider's end may be missing: counts and the marker of the stream's end.
        let (parts, stop) = (&reply.parts, &reply.stop);
        assert_eq!((parts, stop), (&whole.parts, &whole.stop), "{} cut at {at}", recording.name);
    }
    recording.body.len()
}

fn skipped(what: &str) {
    println!("skipped: the folder `providers` of the corpora is missing, so no {what} were read");
}
