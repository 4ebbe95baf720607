use super::*;

fn all() -> Vec<Label> {
    let readers = [vec![], vec!["a"], vec!["b"], vec!["a", "b"]];
    let sets = readers.map(|names| Readers::Only(names.into_iter().map(str::to_owned).collect()));
    let readers = sets.into_iter().chain([Readers::Everyone]);
    readers
        .flat_map(|readers| {
            [Integrity::Untrusted, Integrity::Trusted]
                .map(|integrity| Label { integrity, readers: readers.clone() })
        })
        .collect()
}

/// Every triple of a small domain: the semilattice laws, and that a join never raises trust or widens readers.
#[test]
fn join_is_a_semilattice_that_only_narrows() {
    let subset = |a: &Readers, b: &Readers| match (a, b) {
        (_, Readers::Everyone) => true,
        (Readers::Everyone, Readers::Only(_)) => false,
        (Readers::Only(a), Readers::Only(b)) => a.is_subset(b),
    };
    for a in all() {
        assert_eq!(a.join(&a), a);
        assert_eq!(a.join(&Label::trusted()), a);
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
