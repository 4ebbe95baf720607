use serde_json::json;

use super::*;

/// A workspace with every crate of the table and one more edge, as cargo would describe it.
fn planted(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
    let is_local = to == "xtask" || to.starts_with("probity");
    let source = if is_local { Value::Null } else { json!("registry+x") };
    let packages: Vec<Value> = PLACES
        .iter()
        .map(|(name, _)| {
            let edges = if *name == from {
                json!([{ "name": to, "kind": kind, "source": source, "rename": "other" }])
            } else {
                json!([])
            };
            json!({ "name": name, "dependencies": edges })
        })
        .collect();
    check(&read(&json!({ "packages": packages })).unwrap())
}

fn refused(from: &str, to: &str, kind: Option<&str>) {
    let found = planted(from, to, kind);
    let expected = format!("`{from}` depends on `{to}`: ");
    assert!(
        found.len() == 1 && found.iter().all(|line| line.starts_with(&expected)),
        "{from} -> {to}: {found:?}"
    );
}

fn allowed(from: &str, to: &str, kind: Option<&str>) {
    assert_eq!(planted(from, to, kind), Vec::<String>::new(), "{from} -> {to}");
}

#[test]
fn edges_lead_downward() {
    allowed("probity-contract", "probity-egress", None);
    allowed("probity", "probity-egress", None);
    allowed("probity-core", "probity-trace", Some("dev"));
    refused("probity-egress", "probity-contract", None);
    refused("probity-core", "probity-models", None);
    refused("probity-core", "probity-models", Some("dev"));
    refused("probity-trace", "probity-core", Some("build"));
}

#[test]
fn siblings_do_not_know_each_other() {
    refused("probity-models", "probity-store", None);
    refused("probity-store", "probity-tools", Some("dev"));
}

#[test]
fn the_testkit_is_for_tests() {
    allowed("probity-core", "probity-testkit", Some("dev"));
    allowed("probity-testkit", "probity-core", None);
    refused("probity", "probity-testkit", None);
    refused("probity-models", "probity-testkit", Some("build"));
    refused("probity-testkit", "probity-store", None);
}

#[test]
fn the_automation_stands_apart() {
    refused("xtask", "probity-egress", None);
    refused("probity", "xtask", None);
    refused("probity-testkit", "xtask", Some("dev"));
}

#[test]
fn each_runtime_is_banned_below_core() {
    for from in WITHOUT_RUNTIME {
        for to in RUNTIME {
            refused(from, to, None);
            refused(from, to, Some("build"));
        }
    }
    allowed("probity-contract", "tokio", Some("dev"));
    allowed("probity-core", "tokio", None);
}

#[test]
fn each_effect_is_banned_in_core() {
    for to in EFFECTS {
        refused(CORE, to, None);
    }
}

#[test]
fn what_has_a_home_stays_there() {
    for (to, homes) in ONLY_IN {
        for (from, _) in PLACES {
            if homes.contains(from) { allowed(from, to, None) } else { refused(from, to, None) }
        }
    }
    allowed("probity-core", "anyhow", Some("dev"));
}

#[test]
fn the_table_and_the_workspace_name_the_same_crates() {
    let metadata = json!({ "packages": [{ "name": "probity-new", "dependencies": [] }] });
    let found = check(&read(&metadata).unwrap());
    assert_eq!(found.len(), PLACES.len() + 1, "{found:?}");
    assert!(found.iter().any(|line| line.contains("`probity-new` is not in the table")), "{found:?}");
}

#[test]
fn a_banned_package_is_found_however_far_away() {
    let packages: BTreeSet<String> = ["serde", "tokio"].map(String::from).into();
    let found = check_reachable("probity-trace", &packages);
    assert!(
        found.len() == 1 && found.iter().all(|line| line.contains("`probity-trace` reaches `tokio`")),
        "{found:?}"
    );
    assert_eq!(check_reachable(CORE, &packages), Vec::<String>::new());
}

#[test]
fn output_of_another_shape_is_an_error() {
    for metadata in [json!({}), json!({ "packages": [{ "name": 1 }] })] {
        assert!(read(&metadata).is_err(), "{metadata}");
    }
}
