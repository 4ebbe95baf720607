use std::collections::BTreeSet;

use probity_contract::{Emission, Entry, Kept, Part, PartId};
use probity_trace::{
    FRAME_BYTES_MAX, FrameError, FrameReader, KIND_ENTRY, KIND_PART, Noted, Record, TornTail, encode_frame,
};
use proptest::prelude::*;

use crate::samples::{Script, bytes_of, emissions};

fn decode(bytes: &[u8]) -> (Vec<Emission>, Option<FrameError>) {
    let (mut read, mut error) = (Vec::new(), None);
    for frame in FrameReader::new(bytes) {
        match frame {
            Ok(frame) if frame.kind == KIND_PART => {
                read.push(Emission::Part(serde_json::from_slice::<Part>(frame.payload).unwrap()));
            }
            Ok(frame) => {
                assert_eq!(frame.kind, KIND_ENTRY);
                read.push(Emission::Entry(serde_json::from_slice::<Entry>(frame.payload).unwrap()));
            }
            Err(stop) => error = Some(stop),
        }
    }
    (read, error)
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_written(emissions in emissions()) {
        let bytes = bytes_of(&emissions);
        prop_assert_eq!(decode(&bytes), (emissions.clone(), None));

        let read = Record::read(&bytes).unwrap();
        prop_assert_eq!(read.notice, None);
        let facts: Vec<_> = read.record.lines().iter().map(|line| line.fact.clone()).collect();
        let written = emissions.into_iter().filter_map(|emission| match emission {
            Emission::Entry(entry) => Some(Noted::Known(entry.fact)),
            Emission::Part(_) => None,
        });
        prop_assert_eq!(facts, written.collect::<Vec<_>>());
    }

    #[test]
    fn appends_in_any_batches_give_the_same_bytes(emissions in emissions(), at in any::<prop::sample::Index>()) {
        let (first, second) = emissions.split_at(at.index(emissions.len()));
        let mut bytes = bytes_of(first);
        second.iter().for_each(|emission| encode_frame(emission, &mut bytes).unwrap());
        prop_assert_eq!(bytes, bytes_of(&emissions));
    }

    #[test]
    fn views_take_any_record(emissions in emissions()) {
        let record = Record::read(&bytes_of(&emissions)).unwrap().record;
        prop_assert_eq!(record.timeline().len(), record.lines().len());
        let summary = record.summary().unwrap();
        prop_assert!(summary.tool_calls.run >= summary.tool_calls.failed + summary.tool_calls.unknown);
        for story in record.calls() {
            prop_assert_eq!(record.call(story.call), Some(story));
        }
        for item in record.items() {
            prop_assert!(record.item_text(item.item).is_some());
        }
        // The two ways to a window agree; an id that stands twice means its first.
        let mut seen = BTreeSet::new();
        for (call, window) in record.windows_all().filter(|(call, _)| seen.insert(*call)) {
            prop_assert_eq!(record.window(call), window);
        }
    }
}

#[test]
fn a_cut_leaves_exactly_the_frames_before_it() {
    let mut script = Script::started();
    script.part("some text");
    let emissions = script.emissions.clone();
    let bytes = script.bytes();
    let ends: Vec<usize> = (0..=emissions.len()).map(|count| bytes_of(&emissions[..count]).len()).collect();
    for cut in 0..bytes.len() {
        let (read, error) = decode(&bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
        assert_eq!(read, emissions[..whole], "cut at {cut}");
        let at = if ends[0] <= cut { ends[whole] } else { 0 };
        let torn = TornTail { at: at as u64, bytes_cut: (cut - at) as u64 };
        let expected = if ends.contains(&cut) { None } else { Some(FrameError::Torn(torn)) };
        assert_eq!(error, expected, "cut at {cut}");

        let record = Record::read(&bytes[..cut]).unwrap();
        assert_eq!(record.notice.is_some(), expected.is_some(), "cut at {cut}");
    }
}

#[test]
fn a_line_over_the_limit_is_refused_and_leaves_no_trace() {
    // A control character takes six bytes of JSON.
    let text = "\u{1}".repeat(FRAME_BYTES_MAX / 6 + 1);
    let part = Part { id: PartId::of(""), kept: Kept::Full(text.into()) };
    let mut bytes = b"before".to_vec();
    let error = encode_frame(&Emission::Part(part), &mut bytes).unwrap_err();
    assert!(error.to_string().ends_with("over the limit of 67108864"), "{error}");
    assert_eq!(bytes, b"before");
}
