use serde_json::json;

use super::*;

#[test]
fn benchmarks_are_named_with_their_packages() {
    let metadata = json!({ "packages": [
        { "name": "a", "targets": [{ "kind": ["lib"], "name": "a" }, { "kind": ["bench"], "name": "speed" }] },
        { "name": "b", "targets": [{ "kind": ["bin"], "name": "b" }] },
    ]});
    assert_eq!(selection(&metadata), ["--package", "a", "--bench", "speed"]);
}

#[test]
fn a_selection_of_the_person_is_kept() {
    let selects = |line: &str| selects(&line.split_whitespace().map(String::from).collect::<Vec<_>>());
    assert!(
        selects("-p probity-core") && selects("--bench=speed") && selects("--quiet --package x -- --quick")
    );
    assert!(!selects("") && !selects("-- --bench speed") && !selects("--profile bench"));
}
