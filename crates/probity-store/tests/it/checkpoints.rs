use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::{Arc, Barrier};

use probity_contract::{Digest, Durability, RedeemError, Redeemer as _};
use probity_store::{RunState, StoreError};

use crate::samples::{Place, id, list, write, write_part};

#[tokio::test]
async fn the_last_checkpoint_is_there_whole_with_its_number() {
    let place = Place::new();
    let checkpoints = place.open().await.checkpoints().unwrap();
    assert!(checkpoints.read(&id("a")).unwrap().is_none());
    assert!(!checkpoints.has(&id("a")));
    for (generation, sealed) in [(1, "first"), (2, "the second is longer"), (3, "third")] {
        for durability in [Durability::Handed, Durability::Durable] {
            checkpoints.keep(&id("a"), generation, sealed.as_bytes(), durability).unwrap();
            let kept = checkpoints.read(&id("a")).unwrap().unwrap();
            assert_eq!((kept.sealed.as_slice(), kept.generation), (sealed.as_bytes(), generation));
        }
    }
    assert!(checkpoints.read(&id("b")).unwrap().is_none());
    for entry in fs::read_dir(place.root.join("checkpoints")).unwrap() {
        let found = entry.unwrap().metadata().unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn i28_a_copy_of_an_older_checkpoint_is_known_by_the_number_of_the_last() {
    let place = Place::new();
    let checkpoints = place.open().await.checkpoints().unwrap();
    let file = place.root.join("checkpoints/a.sealed");
    checkpoints.keep(&id("a"), 1, b"first", Durability::Durable).unwrap();
    let copy = fs::read(&file).unwrap();
    checkpoints.keep(&id("a"), 2, b"second", Durability::Durable).unwrap();
    fs::write(&file, &copy).unwrap();
    assert_eq!(checkpoints.read(&id("a")).unwrap().unwrap().generation, 2);
    // Nor is it good again when the run has ended.
    checkpoints.remove(&id("a")).unwrap();
    assert!(checkpoints.read(&id("a")).unwrap().is_none());
    checkpoints.remove(&id("a")).unwrap();
    fs::write(&file, &copy).unwrap();
    assert_eq!(checkpoints.read(&id("a")).unwrap().unwrap().generation, 2);
}

#[tokio::test]
async fn a_number_that_cannot_be_read_is_no_zero() {
    let place = Place::new();
    let checkpoints = place.open().await.checkpoints().unwrap();
    let last = place.root.join("checkpoints/a.last");
    checkpoints.keep(&id("a"), 7, b"sealed", Durability::Durable).unwrap();
    for text in ["", "7\n", "0000000000000000000x\n", "00000000000000000007", "00000000000000000007\n\n"] {
        fs::write(&last, text).unwrap();
        let refused = checkpoints.read(&id("a")).unwrap_err();
        assert!(matches!(refused, StoreError::Io { .. }), "{text:?}");
    }
}

#[tokio::test]
async fn neither_links_nor_anything_else_is_taken_for_a_checkpoint() {
    let place = Place::new();
    let checkpoints = place.open().await.checkpoints().unwrap();
    let elsewhere = place.parent.path().join("elsewhere");
    fs::write(&elsewhere, "foreign").unwrap();
    let file = place.root.join("checkpoints/a.sealed");
    symlink(&elsewhere, &file).unwrap();
    assert!(checkpoints.read(&id("a")).is_err());
    // What is kept takes the place of the link, and what it led to stays.
    checkpoints.keep(&id("a"), 1, b"ours", Durability::Durable).unwrap();
    assert_eq!(fs::read(&elsewhere).unwrap(), b"foreign");
    assert_eq!(checkpoints.read(&id("a")).unwrap().unwrap().sealed, b"ours");
    fs::create_dir(place.root.join("checkpoints/b.sealed")).unwrap();
    assert!(checkpoints.read(&id("b")).is_err());
}

#[tokio::test]
async fn i20_of_all_who_use_an_approval_one_is_first() {
    const PROCESSES: usize = 16;
    let place = Place::new();
    // A store each, as processes have.
    let mut redeemers = Vec::new();
    for _ in 0..PROCESSES {
        redeemers.push(place.open().await.redeemer().unwrap());
    }
    for round in 0..20_u8 {
        let binding = Digest::of("test", &[&[round]]);
        let at_once = Arc::new(Barrier::new(PROCESSES));
        let threads: Vec<_> = redeemers
            .iter()
            .cloned()
            .map(|redeemer| {
                let at_once = Arc::clone(&at_once);
                std::thread::spawn(move || {
                    at_once.wait();
                    redeemer.redeem(&id("a"), binding)
                })
            })
            .collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(RedeemError::Used))));
        // Another run, and another question, are others.
        assert!(redeemers.first().unwrap().redeem(&id("b"), binding).is_ok());
    }
}

#[tokio::test]
async fn i07_an_approval_that_cannot_be_written_down_was_not_used_by_us() {
    let place = Place::new();
    let redeemer = place.open().await.redeemer().unwrap();
    fs::remove_dir(place.root.join("approvals")).unwrap();
    let refused = redeemer.redeem(&id("a"), Digest::of("test", &[b"1"])).unwrap_err();
    assert!(matches!(refused, RedeemError::Failed(_)), "{refused}");
}

#[tokio::test]
async fn a_store_with_checkpoints_is_known_as_one() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    store.checkpoints().unwrap().keep(&id("a"), 1, b"x", Durability::Durable).unwrap();
    store.redeemer().unwrap();
    store.close().await;
    fs::set_permissions(&place.root, fs::Permissions::from_mode(0o755)).unwrap();
    let notices = place.open().await.notices().len();
    assert_eq!((notices, fs::metadata(&place.root).unwrap().permissions().mode() & 0o777), (1, 0o700));
}

#[tokio::test]
async fn a_run_at_rest_is_told_apart_from_one_that_broke_off() {
    let place = Place::new();
    let store = place.open().await;
    drop(write_part(&store, "a", 1));
    drop(write_part(&store, "b", 2));
    store.checkpoints().unwrap().keep(&id("a"), 1, b"x", Durability::Durable).unwrap();
    let states: Vec<RunState> = list(&store).await.rows.into_iter().map(|row| row.state).collect();
    assert_eq!(states, [RunState::BrokenOff, RunState::AtRest]);
    store.delete(&id("a")).await.unwrap();
    assert!(!store.kept_checkpoints().has(&id("a")));
}
