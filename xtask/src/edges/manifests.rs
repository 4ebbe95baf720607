//! The edges that the manifests declare.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::table::{CORE, EFFECTS, ONLY_IN, PLACES, Place, RUNTIME, TESTKIT_LEVEL_MAX, WITHOUT_RUNTIME};

#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug)]
pub(super) struct Dependency {
    /// The name of the package, not what the crate calls it.
    pub(super) name: String,
    pub(super) is_dev: bool,
    /// In this tree, as opposed to a registry.
    pub(super) is_local: bool,
}

/// Picks what matters out of the output of `cargo metadata --no-deps`.
pub(super) fn read(metadata: &Value) -> Result<Vec<Manifest>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    packages
        .iter()
        .map(|package| read_package(package).context("read a package of `cargo metadata`"))
        .collect()
}

fn read_package(package: &Value) -> Option<Manifest> {
    let dependencies = package["dependencies"].as_array()?;
    let dependency = |dependency: &Value| {
        Some(Dependency {
            name: dependency["name"].as_str()?.to_owned(),
            is_dev: dependency["kind"].as_str() == Some("dev"),
            is_local: dependency["source"].is_null(),
        })
    };
    Some(Manifest {
        name: package["name"].as_str()?.to_owned(),
        dependencies: dependencies.iter().map(dependency).collect::<Option<_>>()?,
    })
}

/// Every violation in the members' own manifests.
pub(super) fn check(manifests: &[Manifest]) -> Vec<String> {
    let names: BTreeSet<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    let absent = PLACES.iter().filter(|(name, _)| !names.contains(name));
    let mut found: Vec<String> = absent
        .map(|(name, _)| format!("`{name}` is in the table but not in the workspace: remove its row"))
        .collect();
    for manifest in manifests {
        let Some(place) = place_of(&manifest.name) else {
            found.push(format!("`{}` is not in the table: give it a place", manifest.name));
            continue;
        };
        for dependency in &manifest.dependencies {
            let refused = if dependency.is_local {
                refuse_local(place, dependency).map(str::to_owned)
            } else {
                refuse_external(&manifest.name, dependency)
            };
            found.extend(
                refused.map(|why| format!("`{}` depends on `{}`: {why}", manifest.name, dependency.name)),
            );
        }
    }
    found
}

/// Every violation among the packages that end up in `name`, however far away they were asked for.
pub(super) fn check_reachable(name: &str, packages: &BTreeSet<String>) -> Vec<String> {
    let reached = banned_in(name).iter().filter(|banned| packages.contains(**banned));
    reached
        .map(|banned| {
            format!(
                "`{name}` reaches `{banned}`: `cargo tree -p {name} -e normal,build -i {banned}` shows how"
            )
        })
        .collect()
}

fn place_of(name: &str) -> Option<Place> {
    PLACES.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
}

fn banned_in(name: &str) -> &'static [&'static str] {
    if WITHOUT_RUNTIME.contains(&name) {
        RUNTIME
    } else if name == CORE {
        EFFECTS
    } else {
        &[]
    }
}

fn refuse_local(from: Place, to: &Dependency) -> Option<&'static str> {
    match (from, place_of(&to.name)?) {
        (_, Place::Automation) => Some("nothing depends on the automation"),
        (Place::Automation, _) => Some("the automation depends on none of the crates"),
        (Place::Testkit, Place::Testkit) => Some("a crate does not depend on itself"),
        (Place::Level(_), Place::Testkit) => (!to.is_dev).then_some("the testkit is a dev-dependency only"),
        (Place::Testkit, Place::Level(level)) => {
            (level > TESTKIT_LEVEL_MAX).then_some("the testkit uses levels 0 to 3 only")
        }
        (Place::Level(own), Place::Level(other)) => {
            (other >= own).then_some("edges lead downward, never within a level")
        }
    }
}

fn refuse_external(from: &str, to: &Dependency) -> Option<String> {
    if to.is_dev {
        return None;
    }
    if banned_in(from).contains(&to.name.as_str()) {
        return Some("banned in this crate".to_owned());
    }
    let (_, homes) = ONLY_IN.iter().find(|(name, _)| *name == to.name)?;
    (!homes.contains(&from)).then(|| format!("allowed only in {}", homes.join(", ")))
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
