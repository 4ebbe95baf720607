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
