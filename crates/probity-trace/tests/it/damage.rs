use probity_contract::{Emission, Entry, Fact, Kept, LimitKind, Part, PartId};
use probity_trace::{
    FRAME_BYTES_MAX, FrameError, FrameReader, OrderError, Record, RecordErrorKind, TornTail,
};
use proptest::prelude::*;

use crate::samples::{Script, bytes_of, emissions, raw_frame, raw_frame_of_length, run_started};

type Owned = (u64, u8, Vec<u8>);

/// Every frame that can still be read, and how reading ended.
fn frames(bytes: &[u8]) -> (Vec<Owned>, Option<FrameError>) {
    let (mut read, mut error) = (Vec::new(), None);
    for frame in FrameReader::new(bytes) {
        match frame {
            Ok(frame) => read.push((frame.offset, frame.kind, frame.payload.to_vec())),
            Err(stop) => error = Some(stop),
        }
    }
    (read, error)
}

fn script() -> Script {
    let mut script = Script::started();
    script.part("a text");
    script.fact(Fact::LimitHit { limit: LimitKind::Turns });
    script
}

#[test]
fn no_changed_bit_is_taken_for_content() {
    let bytes = script().bytes();
    let (whole, _) = frames(&bytes);
    let last = usize::try_from(whole.last().unwrap().0).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let (read, error) = frames(&changed);
            assert!(whole.starts_with(&read), "byte {at} bit {bit}: altered content");
            let hit = whole.iter().rposition(|(offset, ..)| *offset <= at as u64).unwrap_or(0);
            assert_eq!(read.len(), hit, "byte {at} bit {bit}: frames before the change");
            let is_torn = matches!(error, Some(FrameError::Torn(_)));
            assert!(error.is_some() && (!is_torn || at >= last), "byte {at} bit {bit}: {error:?}");
        }
    }
}

#[test]
fn what_stands_before_damage_is_returned() {
    let mut bytes = script().bytes();
    let (whole, _) = frames(&bytes);
    let second = usize::try_from(whole[1].0).unwrap();
    bytes[second + 20] ^= 1;
    let error = Record::read(&bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("read the record: a frame does not match its checksum at byte {second}")
    );
    assert_eq!(error.before.lines().len(), 1);
    assert_eq!(error.before.summary().unwrap().title, "check the expense");
}

#[test]
fn zeros_at_the_end_are_a_torn_tail() {
    let bytes = script().bytes();
    let (whole, _) = frames(&bytes);
    let last = usize::try_from(whole.last().unwrap().0).unwrap();
    // The end of the file stays, and from some byte of the last frame on nothing but zeros reached the medium.
    for from in last..bytes.len() {
        for more in [0, 1, 5000] {
            let mut zeroed = bytes[..from].to_vec();
            zeroed.resize(bytes.len() + more, 0);
            let (read, error) = frames(&zeroed);
            let torn = TornTail { at: last as u64, bytes_cut: (zeroed.len() - last) as u64 };
            assert_eq!(
                (read.len(), error),
                (2, Some(FrameError::Torn(torn))),
                "zeros from {from}, {more} more"
            );
        }
    }
    let mut longer = bytes.clone();
    longer.resize(bytes.len() + 4096, 0);
    let torn = TornTail { at: bytes.len() as u64, bytes_cut: 4096 };
    assert_eq!(frames(&longer), (whole, Some(FrameError::Torn(torn))));
    for length in [1, 16, 4096] {
        let torn = TornTail { at: 0, bytes_cut: length };
        assert_eq!(frames(&vec![0; length as usize]), (vec![], Some(FrameError::Torn(torn))));
    }
}

#[test]
fn an_empty_file_is_a_record_of_nothing_that_broke_off() {
    let read = Record::read(&[]).unwrap();
    assert_eq!(read.notice, Some(TornTail { at: 0, bytes_cut: 0 }));
    assert!(read.record.lines().is_empty() && read.record.summary().is_none());
}

#[test]
fn other_files_are_no_records() {
    for bytes in
        [&b"{\"a\":1}\n"[..], b"SQLite format 3\0 and so on and on", b"\x89PROB\n\x1a and so on and on"]
    {
        assert_eq!(frames(bytes), (vec![], Some(FrameError::NotARecord)));
    }
}

#[test]
fn a_stated_length_costs_nothing_until_it_is_there() {
    let header = bytes_of(&[]);
    let huge = raw_frame_of_length(u32::MAX, 1, b"x");
    let (_, error) = frames(&[header.clone(), huge].concat());
    assert_eq!(error, Some(FrameError::Corrupt { at: 16, what: "a frame is longer than a frame may be" }));

    let longest = raw_frame_of_length(u32::try_from(FRAME_BYTES_MAX).unwrap(), 1, b"x");
    let (_, error) = frames(&[header, longest].concat());
    assert_eq!(error, Some(FrameError::Torn(TornTail { at: 16, bytes_cut: 14 })));
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_some_end(tail in proptest::collection::vec(any::<u8>(), 0..200), with_header in any::<bool>()) {
        let mut bytes = if with_header { bytes_of(&[]) } else { Vec::new() };
        bytes.extend(&tail);
        let _ = Record::read(&bytes);
        let (read, _) = frames(&bytes);
        prop_assert!(read.len() <= bytes.len() / 13);
    }

    #[test]
    fn any_change_is_noticed(emissions in emissions(), at in any::<prop::sample::Index>(), mask in 1_u8..) {
        let mut bytes = bytes_of(&emissions);
        let (whole, _) = frames(&bytes);
        let at = at.index(bytes.len());
        bytes[at] ^= mask;
        let (read, error) = frames(&bytes);
        prop_assert!(whole.starts_with(&read) && read.len() < whole.len() && error.is_some());
    }

    #[test]
    fn any_payload_with_a_right_checksum_is_read_to_some_end(payload in "[\\[\\]{}\":,a-z0-9]{0,60}", kind in 0_u8..4) {
        let bytes = [bytes_of(&Script::started().emissions), raw_frame(kind, payload.as_bytes())].concat();
        if let Err(error) = Record::read(&bytes) {
            prop_assert_eq!(error.before.lines().len(), 1);
        }
    }
}

/// What somebody does to a record who mends every checksum afterwards.
#[derive(Debug, Clone, Copy)]
enum Tampering {
    Deletes,
    Repeats,
    Exchanges,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Entries that are deleted, repeated or put into another order, under right checksums, are noticed where the first of
    /// them should have stood. That entries are cut off at the end is told by the missing end of the run, and an entry that
    /// was rewritten is not noticed: that takes a signed head.
    #[test]
    fn i41_entries_deleted_repeated_or_exchanged_are_noticed(
        emissions in emissions(),
        at in any::<prop::sample::Index>(),
        tampering in prop::sample::select(vec![Tampering::Deletes, Tampering::Repeats, Tampering::Exchanges]),
    ) {
        let places: Vec<usize> = (0..emissions.len())
            .filter(|place| matches!(emissions[*place], Emission::Entry(_)))
            .collect();
        prop_assume!(places.len() >= 2);
        // Not the last: nothing stands behind it that could be out of place.
        let nth = at.index(places.len() - 1);
        let mut changed = emissions.clone();
        match tampering {
            Tampering::Deletes => {
                changed.remove(places[nth]);
            }
            Tampering::Repeats => changed.insert(places[nth], emissions[places[nth]].clone()),
            Tampering::Exchanges => changed.swap(places[nth], places[nth + 1]),
        }
        let whole = Record::read(&bytes_of(&emissions)).unwrap().record;
        let error = Record::read(&bytes_of(&changed)).unwrap_err();
        prop_assert!(error.before.lines().len() <= nth + 1);
        prop_assert!(whole.lines().starts_with(error.before.lines()) || nth == 0);
    }

    #[test]
    fn i41_a_record_that_was_cut_is_not_one_that_ended(emissions in emissions(), cut in any::<prop::sample::Index>()) {
        let mut script = emissions.clone();
        let entries = script.iter().filter(|line| matches!(line, Emission::Entry(_))).count() as u64;
        let at_ms = script.iter().rev().find_map(|line| match line {
            Emission::Entry(entry) => Some(entry.at_ms),
            Emission::Part(_) => None,
        });
        script.retain(|line| !matches!(line, Emission::Entry(Entry { fact: Fact::Ended { .. }, .. })));
        prop_assume!(script.len() == emissions.len());
        let fact = Fact::Ended {
            ending: probity_contract::Ending::Answered,
            answer: None,
            usage: probity_contract::Usage::default(),
            cost_usd: None,
        };
        script.push(Emission::Entry(Entry { seq: entries, at_ms: at_ms.unwrap_or(0), fact }));
        let bytes = bytes_of(&script);
        let read = Record::read(&bytes).unwrap();
        prop_assert!(read.record.summary().is_some_and(|summary| summary.ending.is_some()));
        let kept = cut.index(bytes.len());
        let read = Record::read(&bytes[..kept]).unwrap();
        prop_assert!(read.record.summary().is_none_or(|summary| summary.ending.is_none()));
    }
}

fn refusal(emissions: &[Emission]) -> RecordErrorKind {
    Record::read(&bytes_of(emissions)).unwrap_err().cause
}

fn limit_hit(seq: u64, at_ms: u64) -> Emission {
    Emission::Entry(Entry { seq, at_ms, fact: Fact::LimitHit { limit: LimitKind::Turns } })
}

#[test]
fn entries_keep_their_order() {
    let start = Emission::Entry(Entry { seq: 0, at_ms: 5, fact: run_started() });
    let at = bytes_of(std::slice::from_ref(&start)).len() as u64;
    let order = |order| RecordErrorKind::Order { at, order };
    let gap = OrderError::Gap { expected: 1, found: 2 };
    assert_eq!(refusal(&[start.clone(), limit_hit(2, 9)]), order(gap));
    let twice = OrderError::Gap { expected: 1, found: 0 };
    assert_eq!(refusal(&[start.clone(), start.clone()]), order(twice));
    let back = OrderError::Back { seq: 1, last_ms: 5, found_ms: 4 };
    assert_eq!(refusal(&[start.clone(), limit_hit(1, 4)]), order(back));
    Record::read(&bytes_of(&[start, limit_hit(1, 5)])).unwrap();
    assert_eq!(refusal(&[limit_hit(0, 0)]), RecordErrorKind::NoStart { at: 16 });
}

#[test]
fn a_text_under_a_wrong_digest_is_damage() {
    let part = |kept| Emission::Part(Part { id: PartId::of("right"), kept });
    let start = Emission::Entry(Entry { seq: 0, at_ms: 0, fact: run_started() });
    let at = bytes_of(std::slice::from_ref(&start)).len() as u64;
    let wrong = [start.clone(), part(Kept::Full("wrong".into()))];
    assert_eq!(refusal(&wrong), RecordErrorKind::WrongText { at });
    for kept in [Kept::Full("right".into()), Kept::Redacted("r***".into()), Kept::Length(5)] {
        Record::read(&bytes_of(&[start.clone(), part(kept)])).unwrap();
    }
}
