use super::*;

fn all() -> Vec<Label> {
    let readers = [vec![], vec!["a"], vec!["b"], vec!["a", "b"]];
    let sets = readers.map(|names| Readers::Only(names.into_iter().map(str::to_owned).collect()));
    let readers = sets.into_iter().chain([Readers::Everyone]);
    readers
        .flat_map(|readers| Integrity::ALL.map(|integrity| Label { integrity, readers: readers.clone() }))
        .collect()
}

/// Every triple of a small domain: the semilattice laws, and that a join never raises trust or widens readers.
#[test]
fn i36_join_is_a_semilattice_that_only_narrows() {
    let subset = |a: &Readers, b: &Readers| match (a, b) {
        (_, Readers::Everyone) => true,
        (Readers::Everyone, Readers::Only(_)) => false,
        (Readers::Only(a), Readers::Only(b)) => a.is_subset(b),
    };
    for a in all() {
        assert_eq!(a.join(&a), a);
        assert_eq!(a.join(&Label::system()), a);
        for b in all() {
            let joined = a.join(&b);
            assert_eq!(joined, b.join(&a));
            assert!(joined.integrity <= a.integrity && subset(&joined.readers, &a.readers));
            for c in all() {
                assert_eq!(a.join(&b).join(&c), a.join(&b.join(&c)));
            }
        }
    }
}

#[test]
fn i36_the_levels_are_in_one_order() {
    assert!(Integrity::ALL.is_sorted());
    let names = Integrity::ALL.map(|level| level.to_string());
    assert_eq!(names, ["untrusted", "tool_trusted", "endorsed", "person", "system"]);
}

/// What is stored under the two names that there were reads back to the same bytes, and every level has a name of its own.
#[test]
fn stored_labels_read_back_to_the_same_bytes() {
    for stored in [
        r#"{"integrity":"trusted","readers":"everyone"}"#,
        r#"{"integrity":"untrusted","readers":{"only":["a"]}}"#,
    ] {
        let label: Label = serde_json::from_str(stored).unwrap();
        assert_eq!(serde_json::to_string(&label).unwrap(), stored);
    }
    for level in Integrity::ALL {
        let written = serde_json::to_string(&level).unwrap();
        assert_eq!(serde_json::from_str::<Integrity>(&written).unwrap(), level);
        assert_eq!(
            serde_json::from_value::<Integrity>(level.to_string().into()).unwrap(),
            level,
            "as people write it"
        );
    }
    assert!(serde_json::from_str::<Integrity>("\"user\"").is_err());
}
