use super::*;

fn check(text: &str, expected: Result<(), &str>) {
    let parsed = TaskFile::parse(text, Path::new("/task"), "task.toml").map(|_| ());
    match (parsed, expected) {
        (Ok(()), Ok(())) => {}
        (Err(error), Err(part)) => {
            assert_eq!(error.code, Code::Usage);
            assert!(error.words.as_str().contains(part), "{}", error.words);
        }
        (Ok(()), Err(part)) => panic!("accepted, expected `{part}`: {text}"),
        (Err(error), Ok(())) => panic!("refused: {}", error.words),
    }
}

#[test]
fn a_task_file_is_read_strictly() {
    check("prompt = 'x'", Ok(()));
    check("", Err("no `prompt`"));
    check("prompt = ' '", Err("no `prompt`"));
    check("question = 'x'", Err("unknown field `question`"));
    check("prompt = 'x'\n[limits]\nturns = 3", Err("unknown field `turns`"));
    check("prompt = 'x'\n[policy]\nallow = 'x'", Err("invalid type"));
    check("prompt = 'x'\n[policy]\ncedar = 'x.cedar'", Err("invalid type"));
    check("prompt = 'x'\n[[context]]\nname = 'a'", Err("either `text` or `file`"));
    check("prompt = 'x'\n[[context]]\nname = 'a'\nfile = 'gone.txt'", Err("gone.txt"));
    check("prompt = 'x'\n[record]\ncontent = 'some'", Err("unknown variant"));
    check("prompt = ", Err("line 1"));
}

#[test]
fn relative_paths_start_at_the_file() {
    let text = "prompt = 'x'\nmodel = 'rules/r.toml'\n[tools]\nroots = [{ name = 'work', path = 'data' }]";
    let task = TaskFile::parse(text, Path::new("/task"), "task.toml").unwrap();
    assert_eq!(task.model.as_deref(), Some("rules//task/r.toml"));
    assert_eq!(task.tools.roots.first().unwrap().path, Path::new("/task/data"));
}

#[test]
fn cedar_files_lie_beside_the_task_file_and_are_bounded_together() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("t.toml"), "prompt = 'x'\n[policy]\ncedar = ['a.cedar', 'b.cedar']").unwrap();
    std::fs::write(at("a.cedar"), "// a").unwrap();
    let load = || TaskFile::load(&at("t.toml"));
    assert!(load().unwrap_err().words.as_str().contains("b.cedar"));
    assert!(TaskFile::load_without_cedar(&at("t.toml")).unwrap().policy.cedar_files.is_empty());

    std::fs::write(at("b.cedar"), "/".repeat(SOURCES_BYTES_MAX - 4)).unwrap();
    let policy = load().unwrap().policy;
    let [a, b] = policy.cedar_files.as_slice() else { panic!("two files: {policy:?}") };
    assert_eq!((a.source.name.as_str(), a.source.text.as_str()), ("a.cedar", "// a"));
    assert_eq!((b.source.name.as_str(), &b.path), ("b.cedar", &at("b.cedar")));

    std::fs::write(at("b.cedar"), "/".repeat(SOURCES_BYTES_MAX - 3)).unwrap();
    assert!(load().unwrap_err().words.as_str().contains("is longer than"));
}
