//! The suite that a build must pass, one test for each topology. It is the same for the build with the gate and for those
//! without.

use probity_bindings::{Action, Attack, Build, Moment, Outcome, TOPOLOGIES, Topology, consume};

fn action() -> Action {
    Action::write("a.txt", "hello")
}

/// Replaces every field at every edge at every moment, behind every repair of this build; and nothing, as a control.
fn check(name: &str) -> usize {
    let (topology, build) = (Topology::known(name), Build::THIS);
    let mut replacements = 0;
    for &repair in build.repairs {
        for (edge, field) in topology.replaceable() {
            for moment in Moment::ALL {
                let attack = Attack { edge, field, moment };
                let outcome = consume(&topology, repair, build.door, &action(), Some(attack), false).unwrap();
                assert_ne!(outcome, Outcome::Reached, "{name} with {repair:?}: {attack:?}");
            }
            replacements += 1;
        }
        for reordered in [false, true] {
            let outcome = consume(&topology, repair, build.door, &action(), None, reordered).unwrap();
            assert_eq!(outcome, Outcome::Approved, "{name} with {repair:?}: what was approved must run");
        }
    }
    replacements
}

#[test]
fn i19_nothing_else_runs_on_durable_grant() {
    check("durable_grant");
}

#[test]
fn i19_nothing_else_runs_on_tool_rebinding() {
    check("tool_rebinding");
}

#[test]
fn i19_nothing_else_runs_on_transcript_projection() {
    check("transcript_projection");
}

#[test]
fn i19_nothing_else_runs_on_workflow_replacement() {
    check("workflow_replacement");
}

/// 20 pairs of edge and field, behind each of seven repairs.
#[test]
#[cfg_attr(
    any(
        feature = "broken-approval-id-only",
        feature = "broken-first-accepting-projection",
        feature = "broken-freeze-first-input",
        feature = "broken-final-projection-racy"
    ),
    ignore = "counts the default build"
)]
fn i19_the_gate_stands_against_140_replacements() {
    let pairs = TOPOLOGIES.map(|name| Topology::known(name).replaceable().count());
    assert_eq!(pairs, [4, 5, 7, 4]);
    assert_eq!(TOPOLOGIES.map(check).iter().sum::<usize>(), 140);
}
