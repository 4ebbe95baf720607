//! What each repair alone is worth on each way: found out by running it.

use probity_bindings::{Action, Door, Repair, TOPOLOGIES, Topology, reached};

/// The edges and fields that a repair alone leaves open, by name.
fn left_open(topology: &str, repair: Repair) -> Vec<String> {
    let topology = Topology::known(topology);
    let reached = reached(&topology, repair, Door::Open, &Action::write("a.txt", "hello")).unwrap();
    reached.iter().map(|(edge, field)| format!("{}.{}", topology.edges[*edge].name, field.name())).collect()
}

/// What stays open behind a repair that is not enough is the rest of the way.
#[test]
fn what_a_repair_leaves_open_is_the_rest_of_the_way() {
    let check = |topology, repair, expected: &[&str]| {
        assert_eq!(left_open(topology, repair), expected, "{topology} {repair:?}");
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
        for topology in TOPOLOGIES {
            check(topology, repair, &[]);
        }
    }
    for repair in [Repair::ApprovalIdOnly, Repair::FinalProjectionRacy] {
        for topology in TOPOLOGIES {
            let all = Topology::known(topology).replaceable().count();
            assert_eq!(left_open(topology, repair).len(), all, "{topology} {repair:?}");
        }
    }
}

#[test]
fn i19_of_the_28_cells_16_are_sufficient() {
    let cells = TOPOLOGIES.into_iter().flat_map(|topology| Repair::ALL.map(|repair| (topology, repair)));
    let sufficient = cells.filter(|(topology, repair)| left_open(topology, *repair).is_empty());
    assert_eq!(sufficient.count(), 16);
}
