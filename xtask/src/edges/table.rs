//! The table itself: data only.

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// May use any crate of a lower level, and none of its own.
    Level(u8),
    /// Helps tests: uses what deciding code may use, and is used as a dev-dependency only.
    Testkit,
    /// Stands beside the project: uses none of its crates, and none uses it.
    Automation,
}

pub(super) const CORE: &str = "probity-core";

pub(super) const PLACES: &[(&str, Place)] = &[
    ("probity-egress", Place::Level(0)),
    ("probity-contract", Place::Level(1)),
    ("probity-egress-io", Place::Level(1)),
    ("probity-bindings", Place::Level(2)),
    ("probity-trace", Place::Level(2)),
    (CORE, Place::Level(3)),
    ("probity-import", Place::Level(3)),
    ("probity-cedar", Place::Level(4)),
    ("probity-models", Place::Level(4)),
    ("probity-store", Place::Level(4)),
    ("probity-tools", Place::Level(4)),
    // Above the models: its measurements run the one that follows rules.
    ("probity-why", Place::Level(5)),
    ("probity", Place::Level(6)),
    ("probity-testkit", Place::Testkit),
    ("xtask", Place::Automation),
];

/// The highest level that the testkit may use.
pub(super) const TESTKIT_LEVEL_MAX: u8 = 3;

/// Crates that anybody must be able to use without a runtime, a network or a database.
pub(super) const WITHOUT_RUNTIME: &[&str] =
    &["probity-egress", "probity-contract", "probity-trace", "probity-import"];

/// Not in [`WITHOUT_RUNTIME`], neither named there nor reached through something named there.
pub(super) const RUNTIME: &[&str] = &["tokio", "reqwest", "sqlx", "axum", "hyper"];

/// Not in [`CORE`], neither named there nor reached: core awaits, but has no effects of its own.
pub(super) const EFFECTS: &[&str] = &["reqwest", "sqlx", "axum", "rig-core", "cap-std"];

/// Dependencies that only these crates may name. Dev-dependencies are free.
pub(super) const ONLY_IN: &[(&str, &[&str])] = &[
    ("cedar-policy", &["probity-cedar"]),
    ("rig-core", &["probity-models"]),
    ("sqlx", &["probity-store"]),
    ("sqlx-core", &["probity-store"]),
    ("sqlx-sqlite", &["probity-store"]),
    ("cap-std", &["probity-tools"]),
    ("cap-fs-ext", &["probity-tools"]),
    ("landlock", &["probity-tools"]),
    ("seccompiler", &["probity-tools"]),
    ("anyhow", &["probity", "xtask"]),
];

/// A folder of sources and what may not be written there. Files named `…_tests.rs` are free.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) folder: &'static str,
    pub(super) is_async: bool,
}

pub(super) const AREAS: &[Area] = &[
    Area { folder: "crates/probity-egress/src", is_async: false },
    Area { folder: "crates/probity-contract/src", is_async: true },
    Area { folder: "crates/probity-trace/src", is_async: false },
    Area { folder: "crates/probity-import/src", is_async: false },
    Area { folder: "crates/probity-why/src/search", is_async: false },
    Area { folder: "crates/probity-why/src/report", is_async: false },
    Area { folder: "crates/probity-why/src/queries", is_async: false },
    Area { folder: "crates/probity-core/src/boundary", is_async: false },
    Area { folder: "crates/probity-core/src/run", is_async: false },
];

/// Paths that deciding code may not name: clocks, surroundings, files, processes, sockets, chance.
pub(super) const BANNED_PATHS: &[&[&str]] = &[
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "env"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["tokio"],
    &["rand"],
];

/// Banned by whatever way the type was brought in.
pub(super) const BANNED_CALLS: &[[&str; 2]] = &[["Instant", "now"], ["SystemTime", "now"]];

/// Banned where [`Area::is_async`] is false.
pub(super) const ASYNC_WORDS: &[&str] = &["async", "await"];
