//! The cells of approval binding: which repair is enough on which way.

use probity_bindings::{Action, Door, Outcome, Repair, Topology, consume, reached};
use probity_testkit::ScenarioRow;

/// Reads `… topology NAME (mutable edges: A, B); protection: REPAIR`.
fn cell(row: &ScenarioRow) -> (Topology, Repair) {
    let words = row.policies().join("; ");
    let between = |before: &str, after: &str| {
        let rest = words.split_once(before).map(|(_, rest)| rest);
        let found = rest.map(|rest| rest.split_once(after).map_or(rest, |(found, _)| found).trim());
        found.unwrap_or_else(|| panic!("no `{before}` in `{words}`")).to_owned()
    };
    let edges = between("mutable edges:", ")");
    let edges: Vec<&str> = edges.split(',').map(str::trim).collect();
    let repair = between("protection:", ";");
    let repair = Repair::named(&repair).unwrap_or_else(|| panic!("there is no repair `{repair}`"));
    (Topology::new(&between("topology ", " "), &edges), repair)
}

pub(super) fn check(row: &ScenarioRow) {
    let (topology, repair) = cell(row);
    let arguments = row.arguments();
    let argument = |name: &str| arguments[name].as_str().unwrap_or("x").to_owned();
    let action = Action::write(&argument("path"), &argument("content"));
    let alone = reached(&topology, repair, Door::Open, &action).unwrap();
    let expected = row.expected("decision").unwrap();
    match expected.split_once(':').map_or(expected, |(kind, _)| kind) {
        "sufficient" => assert!(alone.is_empty(), "{alone:?}"),
        "insufficient" => assert!(!alone.is_empty(), "nothing is reached"),
        other => panic!("nobody reads the decision `{other}`"),
    }
    assert!(reached(&topology, repair, Door::Gate, &action).unwrap().is_empty(), "behind the gate");
    assert!(row.expected("control").is_some_and(|control| control.contains("still execute")));
    for door in [Door::Open, Door::Gate] {
        for reordered in [false, true] {
            let outcome = consume(&topology, repair, door, &action, None, reordered).unwrap();
            assert_eq!(outcome, Outcome::Approved, "the control must run");
        }
    }
}
