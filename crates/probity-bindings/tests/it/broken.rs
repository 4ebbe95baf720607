//! The suite catches what it is there to catch: builds with a repair that is not enough in the place of the gate fail it, on
//! exactly the ways on which something else is executed.

use std::process::Command;

use probity_bindings::{Build, Door};

const WAYS: [&str; 4] = ["durable_grant", "tool_rebinding", "transcript_projection", "workflow_replacement"];

/// The ways that fail in the build with this feature.
fn caught(feature: &str) -> Vec<&'static str> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--offline", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .args(["--test", "it", "--features", feature, "--", "ways::", "--color", "never"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let ended = |way: &str, how: &str| said.contains(&format!("i19_nothing_else_runs_on_{way} ... {how}"));
    assert!(
        WAYS.iter().all(|way| ended(way, "ok") || ended(way, "FAILED")),
        "{feature}: not every test ran: {said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    WAYS.into_iter().filter(|way| ended(way, "FAILED")).collect()
}

/// 12 of the 28 cells, in four builds.
#[test]
fn i19_the_suite_catches_every_build_with_an_insufficient_repair() {
    assert_eq!(Build::THIS.door, Door::Gate, "the default build has the gate");
    let later = ["transcript_projection", "workflow_replacement"];
    let builds = [
        ("broken-approval-id-only", &WAYS[..]),
        ("broken-final-projection-racy", &WAYS[..]),
        ("broken-first-accepting-projection", &later[..]),
        ("broken-freeze-first-input", &later[..]),
    ];
    for (feature, expected) in builds {
        assert_eq!(caught(feature), expected, "{feature}");
    }
    assert_eq!(builds.iter().map(|(_, caught)| caught.len()).sum::<usize>(), 12);
}
