use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn every_link_on_the_way_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let at = |name: &str| top.join(name);
    fs::create_dir_all(at("rules/deep")).unwrap();
    fs::create_dir(at("work")).unwrap();
    fs::write(at("rules/deep/a.cedar"), "").unwrap();
    symlink(at("rules"), at("work/second")).unwrap();
    symlink("work/second/deep", at("first")).unwrap();

    let passed = on_the_way_to(&at("first/../deep/./a.cedar")).unwrap();
    let wanted = ["first", "work/second", "rules/deep", "rules/deep/a.cedar"].map(at);
    assert!(wanted.iter().all(|place| passed.contains(place)), "{passed:?}");
    assert_eq!(passed.last().unwrap(), &at("first/../deep/a.cedar").canonicalize().unwrap());

    let plain = on_the_way_to(&at("rules/deep/a.cedar")).unwrap();
    assert!(!plain.iter().any(|place| place.starts_with(at("work"))), "{plain:?}");
}

#[test]
fn a_way_without_an_end_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    symlink("b", dir.path().join("a")).unwrap();
    symlink("a", dir.path().join("b")).unwrap();
    assert!(on_the_way_to(&dir.path().join("a")).is_err());
    assert!(on_the_way_to(&dir.path().join("gone")).is_err());
    assert!(on_the_way_to_what_may_come(&dir.path().join("a")).is_err());
}

#[test]
fn of_what_is_not_there_it_tells_where_it_would_be() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    fs::create_dir(top.join("real")).unwrap();
    symlink("real/later", top.join("link")).unwrap();
    let passed = on_the_way_to_what_may_come(&top.join("link/deep/x")).unwrap();
    let wanted = ["link", "real", "real/later", "real/later/deep/x"].map(|name| top.join(name));
    assert!(wanted.iter().all(|place| passed.contains(place)), "{passed:?}");
}
