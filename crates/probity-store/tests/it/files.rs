use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use probity_contract::{CallId, ChildJournals as _, Durability, Journal as _, ParentCall};
use probity_store::{ListFilter, RECORD_BYTES_MAX, RunState, Store, StoreError};

use crate::samples::{Place, answered, content, emissions, id, list, listed, write, write_part};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn everything_is_made_for_its_owner_only() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    let _live = write_part(&store, "b", 2);
    list(&store).await;
    assert_eq!((mode(&place.root), mode(&place.root.join("runs"))), (0o700, 0o700));
    let files = content(&place.root);
    assert!(files.len() >= 3);
    for (path, _) in files {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

/// The record of a task that a call has started is a run's like any other, and there is one of it.
#[tokio::test]
async fn the_record_of_a_started_task_is_a_file_of_its_own() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    let parent = ParentCall { run: id("a"), call: CallId(1) };
    let mut journal = store.children().begin(&id("b"), &parent).unwrap();
    journal.append(&emissions("b", 1), Durability::Durable).unwrap();
    let again = store.children().begin(&id("b"), &parent).err().unwrap();
    assert!(again.message.contains("there is one already"), "{}", again.message);
    drop(journal);
    assert_eq!(listed(&store).await.len(), 2);
}

#[tokio::test]
async fn a_store_that_others_may_look_into_is_closed_to_them() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    store.close().await;
    for dir in [place.root.clone(), place.root.join("runs")] {
        set_mode(&dir, 0o755);
    }
    set_mode(&place.root.join("index.sqlite"), 0o644);
    let store = place.open().await;
    assert_eq!((mode(&place.root), mode(&place.root.join("runs"))), (0o700, 0o700));
    assert_eq!(mode(&place.root.join("index.sqlite")), 0o600);
    assert!(store.notices()[0].contains("(mode 755); now only you can"), "{:?}", store.notices());
    assert_eq!(listed(&store).await, [answered("a")]);
}

#[tokio::test]
async fn a_directory_that_is_no_store_keeps_its_rights() {
    let place = Place::new();
    fs::create_dir(&place.root).unwrap();
    fs::write(place.root.join("holiday.txt"), "sun").unwrap();
    set_mode(&place.root, 0o755);
    let error = Store::open(&place.root).await.unwrap_err();
    assert!(matches!(error, StoreError::NotOwnerOnly { mode: 0o755, .. }), "{error}");
    assert!(error.hint().unwrap().contains("chmod 700"));
    assert_eq!(mode(&place.root), 0o755);
    assert!(!place.root.join("runs").exists());
}

#[tokio::test]
async fn a_file_in_the_way_is_an_error_with_a_hint() {
    let place = Place::new();
    fs::write(place.parent.path().join("file"), "").unwrap();
    for path in ["file", "file/store"] {
        let error = Store::open(&place.parent.path().join(path)).await.unwrap_err();
        assert!(error.hint().unwrap().starts_with("choose another directory"), "{path}: {error:?}");
    }
}

#[tokio::test]
async fn a_run_has_one_record() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    let before = content(&place.root.join("runs"));
    assert!(matches!(store.begin(&id("a")), Err(StoreError::Exists(_))));
    assert_eq!(content(&place.root.join("runs")), before);
}

#[test]
fn of_many_that_begin_one_run_one_succeeds() {
    let place = Place::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = runtime.block_on(place.open());
    let begun = std::thread::scope(|scope| {
        let begin = || scope.spawn(|| store.begin(&id("a")).is_ok());
        let threads: Vec<_> = std::iter::repeat_with(begin).take(16).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!(begun, 1);
}

#[tokio::test]
async fn a_live_run_is_running_and_one_that_was_dropped_broke_off() {
    let place = Place::new();
    let store = place.open().await;
    let live = write_part(&store, "a", 1);
    assert_eq!(listed(&store).await, [("a".into(), RunState::Running)]);
    assert!(store.read(&id("a")).await.unwrap().is_running);
    assert!(matches!(store.delete(&id("a")).await, Err(StoreError::Running(_))));
    assert!(matches!(store.repair(&id("a")).await, Err(StoreError::Running(_))));
    assert!(matches!(store.reopen(&id("a")).await, Err(StoreError::Running(_))));
    drop(live);
    assert_eq!(listed(&store).await, [("a".into(), RunState::BrokenOff)]);
}

#[tokio::test]
async fn a_run_that_broke_off_can_be_gone_on_with() {
    let place = Place::new();
    let store = place.open().await;
    drop(write_part(&store, "a", 1));
    let mut reopened = store.reopen(&id("a")).await.unwrap();
    assert_eq!((reopened.record.lines().len(), reopened.notice), (2, None));
    assert_eq!(listed(&store).await, [("a".into(), RunState::Running)]);
    let last = emissions("a", 1).split_off(3);
    let error = reopened.journal.append(&emissions("a", 1)[..1], Durability::Durable).unwrap_err();
    assert!(error.to_string().contains("entry 0 stands where entry 2 belongs"), "{error}");
    drop(reopened);
    let mut reopened = store.reopen(&id("a")).await.unwrap();
    reopened.journal.append(&last, Durability::Durable).unwrap();
    drop(reopened);
    assert_eq!(listed(&store).await, [answered("a")]);
    let stored = store.read(&id("a")).await.unwrap();
    assert_eq!(stored.record.summary().unwrap().answer.as_deref(), Some("forty-two"));
}

#[tokio::test]
async fn runs_are_found_by_the_beginning_of_their_id() {
    let place = Place::new();
    let store = place.open().await;
    ["abc", "abcd", "abx", "z"].iter().for_each(|run| write(&store, run, 1));
    assert_eq!(store.find("z").await.unwrap(), id("z"));
    assert_eq!(store.find("abcd").await.unwrap(), id("abcd"));
    assert_eq!(store.find("abc").await.unwrap(), id("abc"), "a whole id is never ambiguous");
    let error = store.find("ab").await.unwrap_err();
    assert_eq!(error.to_string(), "find run `ab`: 3 runs begin like that: `abc`, `abcd`, `abx`");
    assert_eq!(store.find("../z").await.unwrap_err().to_string(), "find run `../z`: there is none");
}

#[tokio::test]
async fn what_is_deleted_is_gone() {
    let place = Place::new();
    let store = place.open().await;
    ["a", "b"].iter().for_each(|run| write(&store, run, 1));
    list(&store).await;
    store.delete(&id("a")).await.unwrap();
    assert_eq!(listed(&store).await, [answered("b")]);
    assert!(matches!(store.delete(&id("a")).await, Err(StoreError::NotFound(_))));
    assert!(matches!(store.read(&id("a")).await, Err(StoreError::NotFound(_))));
}

#[tokio::test]
async fn strange_files_are_passed_over_with_a_notice() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    let runs = place.root.join("runs");
    fs::write(runs.join("\u{1b}[2J\n.prob"), "").unwrap();
    fs::write(runs.join("notes.txt"), "").unwrap();
    fs::create_dir(runs.join("dir.prob")).unwrap();
    symlink("/etc/hostname", runs.join("link.prob")).unwrap();
    let pipe = runs.join("pipe.prob");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let listing = list(&store).await;
    assert_eq!(listing.rows.len(), 1);
    assert_eq!(listing.notices.len(), 5, "{:?}", listing.notices);
    assert!(listing.notices.iter().all(|notice| !notice.contains(char::is_control)));
    for run in ["link", "pipe", "dir"] {
        let error = store.read(&id(run)).await.unwrap_err();
        assert!(matches!(error, StoreError::Io { .. }), "{run}: {error}");
    }
}

#[tokio::test]
async fn a_record_over_the_limit_is_not_read() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    fs::File::options().write(true).open(place.file("a")).unwrap().set_len(RECORD_BYTES_MAX + 1).unwrap();
    assert!(matches!(store.read(&id("a")).await, Err(StoreError::TooLarge { .. })));
    assert!(matches!(&listed(&store).await[..], [(_, RunState::Unreadable { .. })]));
}

#[tokio::test]
async fn a_store_that_is_only_read_is_not_touched() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    list(&store).await;
    write(&store, "b", 2);
    drop(write_part(&store, "c", 3));
    store.close().await;
    let before = content(&place.root);
    let store = Store::open_read_only(&place.root).await.unwrap();
    let expected = [("c".into(), RunState::BrokenOff), answered("b"), answered("a")];
    assert_eq!(listed(&store).await, expected);
    let older = store.list(ListFilter { limit: 1, before: Some(id("c")) }).await.unwrap();
    assert_eq!(older.rows[0].run, id("b"));
    assert!(matches!(store.begin(&id("d")), Err(StoreError::ReadOnly { .. })));
    assert!(matches!(store.delete(&id("a")).await, Err(StoreError::ReadOnly { .. })));
    assert!(matches!(store.repair(&id("c")).await, Err(StoreError::ReadOnly { .. })));
    assert!(store.reindex().await.is_err());
    assert_eq!(content(&place.root), before);

    fs::remove_dir_all(&place.root).unwrap();
    fs::create_dir(&place.root).unwrap();
    let empty = Store::open_read_only(&place.root).await.unwrap();
    assert!(listed(&empty).await.is_empty());
    assert!(Store::open_read_only(&place.root.join("nowhere")).await.is_err());
}
