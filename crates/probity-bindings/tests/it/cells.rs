//! What each repair alone is worth on each way: found out by running it, compared with what the corpus expects.

use probity_bindings::{Action, Attack, Door, Moment, Outcome, Repair, Topology, consume};
use probity_testkit::{ScenarioRow, scenario_rows};

/// The ways on which something else than what was approved is executed: edge and field, by name.
fn reached(topology: &Topology, repair: Repair, door: Door) -> Vec<String> {
    let action = Action::write("a.txt", "hello");
    let is_reached = |(edge, field): &(usize, _)| {
        let attack = |moment| Attack { edge: *edge, field: *field, moment };
        Moment::ALL.into_iter().any(|moment| {
            let outcome = consume(topology, repair, door, &action, Some(attack(moment)), false).unwrap();
            outcome == Outcome::Reached
        })
    };
    let reached = topology.replaceable().filter(is_reached);
    reached.map(|(edge, field)| format!("{}.{}", topology.edges[edge].name, field.name())).collect()
}

/// Reads `… topology NAME (mutable edges: A, B); protection: REPAIR`.
fn cell(row: &ScenarioRow) -> (Topology, Repair) {
    let words = row.policies().join("; ");
    let between = |before: &str, after: &str| {
        let rest = words.split_once(before).map(|(_, rest)| rest);
        let found = rest.map(|rest| rest.split_once(after).map_or(rest, |(found, _)| found).trim());
        found.unwrap_or_else(|| panic!("{}: no `{before}` in `{words}`", row.id)).to_owned()
    };
    let edges = between("mutable edges:", ")");
    let edges: Vec<&str> = edges.split(',').map(str::trim).collect();
    let repair = between("protection:", ";");
    let repair = Repair::named(&repair).unwrap_or_else(|| panic!("{}: no repair `{repair}`", row.id));
    (Topology::new(&between("topology ", " "), &edges), repair)
}

fn check(row: &ScenarioRow) -> (String, bool) {
    let (topology, repair) = cell(row);
    let reached_alone = reached(&topology, repair, Door::Open);
    let expected = row.expected("decision").unwrap();
    match expected.split_once(':').map_or(expected, |(kind, _)| kind) {
        "sufficient" => assert!(reached_alone.is_empty(), "{}: {reached_alone:?}", row.id),
        "insufficient" => assert!(!reached_alone.is_empty(), "{}: nothing is reached", row.id),
        other => panic!("{}: what is `{other}`?", row.id),
    }
    assert_eq!(reached(&topology, repair, Door::Gate), [""; 0], "{}: with the gate", row.id);
    let action = Action::write("a.txt", "hello");
    for door in [Door::Open, Door::Gate] {
        for reordered in [false, true] {
            let outcome = consume(&topology, repair, door, &action, None, reordered).unwrap();
            assert_eq!(outcome, Outcome::Approved, "{}: the control must run", row.id);
        }
    }
    (format!("{}/{}", topology.name, repair.name()), reached_alone.is_empty())
}

#[test]
fn corpus_policy_scenarios_28_cells() {
    let Some(rows) = scenario_rows() else { return };
    let cells: Vec<_> = rows.iter().filter(|row| row.family == "resa-28").map(check).collect();
    let sufficient = cells.iter().filter(|(_, is_sufficient)| *is_sufficient).count();
    assert_eq!((cells.len(), sufficient), (28, 16));
}

/// The way that stays open behind a repair that is not enough: the tail after what it protects.
#[test]
fn what_a_repair_leaves_open_is_the_rest_of_the_way() {
    let check = |topology, repair, expected: &[&str]| {
        assert_eq!(
            reached(&Topology::known(topology), repair, Door::Open),
            expected,
            "{topology} {repair:?}"
        );
    };
    let history = ["history.target", "history.content", "history.operation"];
    let reload = ["reload.target", "reload.content", "reload.operation"];
    for repair in [Repair::FirstAcceptingProjection, Repair::FreezeFirstInput] {
        check("durable_grant", repair, &[]);
        check("tool_rebinding", repair, &[]);
        check("transcript_projection", repair, &history);
        check("workflow_replacement", repair, &reload);
    }
    for repair in [Repair::FinalProjectionAtomic, Repair::FreezeAllInputs, Repair::FirstPlusFinal] {
        for topology in probity_bindings::TOPOLOGIES {
            check(topology, repair, &[]);
        }
    }
}
