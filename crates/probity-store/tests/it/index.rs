use std::fs;

use probity_store::{ListFilter, RunState, Store};

use crate::samples::{Place, answered, content, id, list, listed, write, write_part};

const INDEX_FILES: [&str; 3] = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"];

async fn three_runs(place: &Place) -> Store {
    let store = place.open().await;
    write(&store, "a", 10);
    write(&store, "c", 30);
    drop(write_part(&store, "b", 20));
    assert_eq!(listed(&store).await, expected());
    store
}

fn expected() -> [(String, RunState); 3] {
    [answered("c"), ("b".into(), RunState::BrokenOff), answered("a")]
}

#[tokio::test]
async fn a_missing_index_is_built_anew() {
    let place = Place::new();
    three_runs(&place).await.close().await;
    INDEX_FILES.iter().for_each(|name| {
        let _ = fs::remove_file(place.root.join(name));
    });
    assert_eq!(listed(&place.open().await).await, expected());
}

#[tokio::test]
async fn a_corrupt_index_is_built_anew_with_a_notice() {
    let junk = |good: &[u8]| {
        let mut torn = good.to_vec();
        torn.iter_mut().skip(100).for_each(|byte| *byte = 0xa5);
        vec![b"not a database, not even nearly".repeat(200), torn, good[..good.len() / 2].to_vec()]
    };
    let place = Place::new();
    let store = three_runs(&place).await;
    store.reindex().await.unwrap();
    store.close().await;
    let good = fs::read(place.root.join(INDEX_FILES[0])).unwrap();
    for (number, bad) in junk(&good).into_iter().enumerate() {
        INDEX_FILES.iter().skip(1).for_each(|name| {
            let _ = fs::remove_file(place.root.join(name));
        });
        fs::write(place.root.join(INDEX_FILES[0]), &bad).unwrap();
        let reader = Store::open_read_only(&place.root).await.unwrap();
        assert_eq!(listed(&reader).await, expected(), "index {number}, only read");
        reader.close().await;
        assert_eq!(fs::read(place.root.join(INDEX_FILES[0])).unwrap(), bad);
        let store = place.open().await;
        let listing = list(&store).await;
        assert!(
            listing.notices.iter().any(|notice| notice.contains("index")),
            "{number}: {:?}",
            listing.notices
        );
        assert_eq!(listed(&store).await, expected(), "index {number}");
        store.close().await;
        let store = place.open().await;
        assert_eq!(list(&store).await.notices, Vec::<String>::new(), "{number}: it was mended");
        store.close().await;
    }
}

#[tokio::test]
async fn an_index_of_another_version_is_built_anew() {
    let place = Place::new();
    three_runs(&place).await.close().await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(place.root.join(INDEX_FILES[0]));
    let pool = sqlx::sqlite::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query("PRAGMA user_version = 99").execute(&pool).await.unwrap();
    pool.close().await;
    let store = place.open().await;
    assert!(store.notices()[0].contains("another version"), "{:?}", store.notices());
    assert_eq!(listed(&store).await, expected());
}

/// What cannot be read in the index is no reason to hide a run.
#[tokio::test]
async fn a_row_that_makes_no_sense_is_read_from_its_file() {
    let place = Place::new();
    let store = three_runs(&place).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(place.root.join(INDEX_FILES[0]));
    let pool = sqlx::sqlite::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query("UPDATE runs SET digested = '{}' WHERE run = 'a'").execute(&pool).await.unwrap();
    assert_eq!(listed(&store).await, expected());
    let mended = sqlx::query("SELECT 1 FROM runs WHERE digested = '{}'").fetch_all(&pool).await.unwrap();
    assert!(mended.is_empty());
}

#[tokio::test]
async fn a_directory_in_the_place_of_the_index_costs_only_time() {
    let place = Place::new();
    three_runs(&place).await.close().await;
    INDEX_FILES.iter().for_each(|name| {
        let _ = fs::remove_file(place.root.join(name));
    });
    fs::create_dir(place.root.join(INDEX_FILES[0])).unwrap();
    let store = place.open().await;
    let listing = list(&store).await;
    assert!(
        listing.notices.iter().any(|notice| notice.contains("lists are slower")),
        "{:?}",
        listing.notices
    );
    assert_eq!(listed(&store).await, expected());
}

/// Whoever is right, it is the file.
#[tokio::test]
async fn an_index_that_is_older_than_the_files_is_corrected() {
    let place = Place::new();
    let store = three_runs(&place).await;
    let other = Place::new();
    let source = other.open().await;
    write(&source, "c", 5);
    fs::copy(other.file("c"), place.file("c")).unwrap();
    fs::remove_file(place.file("a")).unwrap();
    write(&store, "d", 15);
    let rows = list(&store).await.rows;
    let starts: Vec<_> = rows.iter().map(|row| row.summary.as_ref().unwrap().started_at_unix_ms).collect();
    assert!(
        starts.contains(&5) && !starts.contains(&30),
        "the replaced record is shown as it is: {starts:?}"
    );
    let expected = [("b".into(), RunState::BrokenOff), answered("d"), answered("c")];
    assert_eq!(listed(&store).await, expected);
}

#[tokio::test]
async fn a_finished_run_can_be_put_in_before_the_next_list() {
    let place = Place::new();
    let store = place.open().await;
    write(&store, "a", 1);
    let summary = store.read(&id("a")).await.unwrap().record.summary().unwrap();
    assert!(summary.answer.is_some());
    store.index_finished(&summary).await;
    let told = list(&store).await.rows;
    store.reindex().await.unwrap();
    assert_eq!(list(&store).await.rows, told, "what was told equals what is read");
    assert_eq!(told[0].summary.as_ref().unwrap().answer, None);
}

#[tokio::test]
async fn pages_join_to_the_whole_list() {
    let place = Place::new();
    let store = place.open().await;
    (0..25).for_each(|number| write(&store, &format!("r{number}"), 100 + number / 2));
    let whole: Vec<_> = list(&store).await.rows.into_iter().map(|row| row.run).collect();
    assert_eq!(whole.len(), 25);
    for store in [store, Store::open_read_only(&place.root).await.unwrap()] {
        let (mut paged, mut before) = (Vec::new(), None);
        loop {
            let page = store.list(ListFilter { limit: 4, before }).await.unwrap().rows;
            let Some(last) = page.last() else { break };
            before = Some(last.run.clone());
            paged.extend(page.into_iter().map(|row| row.run));
        }
        assert_eq!(paged, whole);
        let nobody = ListFilter { limit: 4, before: Some(id("nobody")) };
        assert!(store.list(nobody).await.is_err());
    }
}

#[tokio::test]
async fn two_stores_on_one_directory_agree() {
    let place = Place::new();
    let (one, two) = (place.open().await, place.open().await);
    write(&one, "a", 1);
    write(&two, "b", 2);
    let (first, second) = tokio::join!(listed(&one), listed(&two));
    assert_eq!(first, second);
    one.reindex().await.unwrap();
    write(&one, "c", 3);
    assert_eq!(listed(&two).await, [answered("c"), answered("b"), answered("a")]);
}

/// The bounds are generous for a busy machine; without the index the second list would read a thousand files again.
#[tokio::test]
async fn a_thousand_runs_are_listed() {
    let place = Place::new();
    let store = place.open().await;
    (0..1000).for_each(|number| write(&store, &format!("r{number}"), number));
    assert_eq!(list(&store).await.rows.len(), 1000);
    assert_eq!(store.list(ListFilter::default()).await.unwrap().rows.len(), 20);
    assert_eq!(content(&place.root.join("runs")).len(), 1000);
}
