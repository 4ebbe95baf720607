use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::follow::LINKS_MAX;

/// What stands at a path of the naive model.
#[derive(Debug, Clone)]
enum Node {
    Dir,
    File,
    Link(String),
}

/// Follows a path through the model by rewriting text, one link at a time.
fn naive(tree: &BTreeMap<String, Node>, called: &str) -> Result<String, ()> {
    let mut path: Vec<String> = called.split('/').map(str::to_owned).collect();
    'again: for _ in 0..=LINKS_MAX {
        let mut done: Vec<String> = Vec::new();
        for index in 0..path.len() {
            match path[index].as_str() {
                "" | "." => continue,
                ".." => {
                    if done.pop().is_none() {
                        return Err(());
                    }
                    continue;
                }
                part => done.push(part.to_owned()),
            }
            let here = done.join("/");
            let last = path[index + 1..].iter().all(|part| part.is_empty() || part == ".");
            match tree.get(&here) {
                Some(Node::Dir) => {}
                Some(Node::File) if last && index + 1 == path.len() => {}
                Some(Node::File) => return Err(()),
                None => {
                    if path[index + 1..].iter().any(|part| part == "..") {
                        return Err(());
                    }
                    done.extend(path[index + 1..].iter().filter(|p| !p.is_empty() && *p != ".").cloned());
                    return Ok(join(&done));
                }
                Some(Node::Link(goal)) if goal.starts_with('/') => return Err(()),
                Some(Node::Link(goal)) => {
                    done.pop();
                    let mut next = done.clone();
                    next.extend(goal.split('/').map(str::to_owned));
                    next.extend(path[index + 1..].iter().cloned());
                    path = next;
                    continue 'again;
                }
            }
        }
        return Ok(join(&done));
    }
    Err(())
}

fn names() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn goals() -> impl Strategy<Value = String> {
    let part = select(vec!["a", "b", "c", "..", ".", "d"]);
    prop_oneof![
        5 => prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/")),
        1 => Just("/etc".to_owned()),
    ]
}

/// Paths of up to three levels, each with what should stand there.
fn entries() -> impl Strategy<Value = Vec<(Vec<String>, u8, String)>> {
    prop::collection::vec((prop::collection::vec(names(), 1..4), 0..4_u8, goals()), 1..14)
}

/// Builds what can be built of the entries in the file system, and the same in the model.
fn build(root: &Path, entries: &[(Vec<String>, u8, String)]) -> BTreeMap<String, Node> {
    let mut tree = BTreeMap::new();
    for (parts, kind, goal) in entries {
        let parents: Vec<String> = (1..parts.len()).map(|n| parts[..n].join("/")).collect();
        if !parents.iter().all(|parent| matches!(tree.get(parent), None | Some(Node::Dir))) {
            continue;
        }
        let path = parts.join("/");
        if tree.contains_key(&path) {
            continue;
        }
        for parent in parents {
            std::fs::create_dir_all(root.join(&parent)).unwrap();
            tree.insert(parent, Node::Dir);
        }
        let (full, node) = (
            root.join(&path),
            match kind {
                0 => Node::Dir,
                1 => Node::File,
                _ => Node::Link(goal.clone()),
            },
        );
        match &node {
            Node::Dir => std::fs::create_dir(&full).unwrap(),
            Node::File => std::fs::write(&full, "x").unwrap(),
            Node::Link(goal) => std::os::unix::fs::symlink(goal, &full).unwrap(),
        }
        tree.insert(path, node);
    }
    tree
}

fn open(path: PathBuf) -> Arc<Roots> {
    Roots::open("test", &[Root { name: "work".to_owned(), path, write: true }]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn resolution_equals_a_naive_model(entries in entries(), called in prop::collection::vec(names(), 1..5)) {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap().join("root");
        std::fs::create_dir(&base).unwrap();
        let tree = build(&base, &entries);
        let called = called.join("/");
        let resolved = open(base.clone()).resolve(&called).map(|path| path.resolved());
        prop_assert_eq!(resolved.clone().map_err(|_| ()), naive(&tree, &called));
        // And the kernel agrees wherever there is something to agree on.
        if let (Ok(resolved), Ok(real)) = (resolved, base.join(&called).canonicalize()) {
            prop_assert!(real.starts_with(&base));
            prop_assert_eq!(real, base.join(&resolved).canonicalize().unwrap());
        }
    }
}

#[test]
fn a_path_names_its_root_only_where_there_are_several() {
    let place = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        std::fs::create_dir_all(place.path().join(name)).unwrap();
    }
    let root = |name: &str, write| Root { name: name.to_owned(), path: place.path().join(name), write };
    let both = Roots::open("test", &[root("one", true), root("two", false)]).unwrap();
    let address = |roots: &Roots, text: &str| {
        let (index, path) = roots.address(&RelPath::parse(text).unwrap());
        (index, path.to_string())
    };
    assert_eq!(address(&both, "two/x"), (1, "x".to_owned()));
    assert_eq!(address(&both, "two"), (1, ".".to_owned()));
    assert_eq!(address(&both, "./one/x"), (0, "x".to_owned()));
    assert_eq!(address(&both, "x/two"), (0, "x/two".to_owned()));
    let one = Roots::open("test", &[root("one", true)]).unwrap();
    assert_eq!(address(&one, "one/x"), (0, "one/x".to_owned()));
}

#[test]
fn unusable_roots_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let root = |name: &str, path: &Path| Root { name: name.to_owned(), path: path.to_owned(), write: false };
    let refused = |roots: &[Root]| Roots::open("test", roots).unwrap_err().to_string();
    assert!(refused(&[]).contains("at least one root"));
    assert!(refused(&[root("a b", place.path())]).contains("a b"));
    assert!(refused(&[root("a", place.path()), root("a", place.path())]).contains("two roots"));
    std::fs::create_dir(place.path().join("inner")).unwrap();
    let inner = root("b", &place.path().join("inner"));
    assert!(refused(&[root("a", place.path()), inner.clone()]).contains("one inside the other"));
    assert!(refused(&[inner, root("a", place.path())]).contains("one inside the other"));
    assert!(refused(&[root("a", &place.path().join("missing"))]).contains("open the root `a`"));
    #[cfg(target_os = "linux")]
    assert!(refused(&[root("a", Path::new("/proc/self"))]).contains("file system of the kernel"));
}
