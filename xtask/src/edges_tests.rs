use super::*;

#[test]
fn the_workspace_keeps_the_table() {
    assert_eq!(violations().unwrap(), Vec::<String>::new());
}

#[test]
fn reachable_sees_through_other_crates() {
    let names = reachable(table::CORE).unwrap();
    assert!(names.contains("probity-egress") && names.contains("serde"), "{names:?}");
}
