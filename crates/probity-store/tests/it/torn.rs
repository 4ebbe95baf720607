use std::fs;

use probity_contract::{Durability, Journal as _};
use probity_store::{RunState, StoreError};
use probity_trace::FrameReader;

use crate::samples::{Place, answered, emissions, id, list, listed, write};

/// A crash at any byte: what was whole is read, the rest is said, nothing changes until the record is opened to go on.
#[tokio::test]
async fn a_record_cut_anywhere_is_read_mended_and_gone_on_with() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "whole", 1);
    let whole = fs::read(place.file("whole")).unwrap();
    let ends: Vec<usize> = FrameReader::new(&whole)
        .map(|frame| usize::try_from(frame.unwrap().offset).unwrap())
        .chain([whole.len()])
        .collect();
    for cut in (0..whole.len()).filter(|cut| *cut < 40 || cut % 7 == 0 || ends.contains(cut)) {
        let file = place.file("whole");
        fs::write(&file, &whole[..cut]).unwrap();
        let stored = store.read(&id("whole")).await.unwrap();
        let is_torn = !ends.contains(&cut);
        assert_eq!(stored.notice.is_some(), is_torn, "cut at {cut}");
        assert_eq!(fs::read(&file).unwrap(), whole[..cut], "reading changes nothing");

        let reopened = store.reopen(&id("whole")).await.unwrap();
        assert_eq!(reopened.notice, stored.notice, "cut at {cut}");
        let mut journal = reopened.journal;
        let next = reopened.record.order().next_seq();
        // Parts may stand twice; entries go on where they broke off.
        let rest: Vec<_> = emissions("whole", 1)
            .into_iter()
            .filter(
                |emission| !matches!(emission, probity_contract::Emission::Entry(entry) if entry.seq < next),
            )
            .collect();
        journal.append(&rest, Durability::Handed).unwrap();
        drop(journal);
        let stored = store.read(&id("whole")).await.unwrap();
        assert_eq!((stored.notice, stored.record.lines().len()), (None, 3), "cut at {cut}");
        assert_eq!(stored.record.summary().unwrap().answer.as_deref(), Some("forty-two"));
    }
}

#[tokio::test]
async fn repair_cuts_and_says_what_it_cut() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    assert_eq!(store.repair(&id("a")).await.unwrap(), None);
    let whole = fs::read(place.file("a")).unwrap();
    for (tail, cut) in [(&[0; 4096][..], 4096), (b"\x07\0\0", 3)] {
        fs::write(place.file("a"), [&whole, tail].concat()).unwrap();
        assert!(list(&store).await.rows[0].is_torn);
        let torn = store.repair(&id("a")).await.unwrap().unwrap();
        assert_eq!((torn.at, torn.bytes_cut), (whole.len() as u64, cut));
        assert_eq!(fs::read(place.file("a")).unwrap(), whole);
        let rows = list(&store).await.rows;
        assert_eq!((rows[0].is_torn, &rows[0].state), (false, &answered("a").1));
    }
    fs::write(place.file("a"), b"").unwrap();
    assert!(store.repair(&id("a")).await.unwrap().is_some());
    assert_eq!(store.repair(&id("a")).await.unwrap(), None, "a mended record stays mended");
}

#[tokio::test]
async fn damage_before_the_end_is_shown_and_never_mended() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    let mut bytes = fs::read(place.file("a")).unwrap();
    let last = FrameReader::new(&bytes).last().unwrap().unwrap().offset;
    bytes[usize::try_from(last).unwrap() - 3] ^= 1;
    fs::write(place.file("a"), &bytes).unwrap();

    let rows = list(&store).await.rows;
    let RunState::Unreadable { why } = &rows[0].state else { panic!("{rows:?}") };
    assert!(why.contains("does not match its checksum at byte"), "{why}");
    assert_eq!(rows[0].summary.as_ref().unwrap().title, "title of a");
    let StoreError::Record { source, .. } = store.read(&id("a")).await.unwrap_err() else {
        panic!("it is damaged")
    };
    assert_eq!(source.before.lines().len(), 1);
    assert!(store.repair(&id("a")).await.is_err() && store.reopen(&id("a")).await.is_err());
    assert_eq!(fs::read(place.file("a")).unwrap(), bytes);
    store.delete(&id("a")).await.unwrap();
    assert!(listed(&store).await.is_empty());
}
