//! What the file tools do with ordinary and with awkward files.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use probity_contract::ToolErrorClass::{Cancelled, InvalidArguments, NotFound, Refused, TimedOut};
use probity_contract::{Effect, ToolErrorClass};
use probity_tools::{Root, fs_tools};
use serde_json::json;

use crate::support::{Scene, call, call_in, class, context};

fn names(scene: &Scene) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(scene.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn definitions_say_what_a_repetition_does_and_refuse_unknown_members() {
    let scene = Scene::new();
    let effects: Vec<(&str, Effect)> =
        scene.tools.iter().map(|tool| (tool.spec().name.as_str(), tool.spec().effect)).collect();
    assert_eq!(
        effects,
        [
            ("fs_list", Effect::Pure),
            ("fs_read", Effect::Pure),
            ("fs_search", Effect::Pure),
            ("fs_write", Effect::Idempotent),
            ("fs_edit", Effect::Once),
        ]
    );
    for tool in &scene.tools {
        let schema = &tool.spec().input_schema;
        assert_eq!(schema["additionalProperties"], json!(false), "{schema}");
        assert!(schema["required"].as_array().unwrap().contains(&json!("path")), "{schema}");
        let properties = schema["properties"].as_object().unwrap();
        assert!(properties.values().all(|member| member["description"].is_string()), "{schema}");
    }
}

#[tokio::test]
async fn unknown_members_are_refused_when_a_call_is_read() {
    let scene = Scene::new();
    let went = scene.call("fs_read", json!({"path": "x", "follow": true})).await;
    assert_eq!(class(&went), InvalidArguments);
}

#[tokio::test]
async fn a_read_only_root_is_never_written() {
    let place = tempfile::tempdir().unwrap();
    for name in ["code", "docs"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    std::fs::write(place.path().join("docs/a.txt"), "one").unwrap();
    let root = |name: &str, write| Root { name: name.to_owned(), path: place.path().join(name), write };
    let only = fs_tools(&[root("docs", false)]).unwrap();
    assert_eq!(only.len(), 3, "no tool that writes is offered where nothing may be written");
    let tools = fs_tools(&[root("code", true), root("docs", false)]).unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool.spec().name.as_str() == name).unwrap().as_ref();
    assert!(tool("fs_write").spec().description.contains("`docs` (read only)"));
    let went = call(tool("fs_write"), json!({"path": "docs/a.txt", "content": "two"})).await;
    assert_eq!(class(&went), Refused);
    let went = call(tool("fs_edit"), json!({"path": "docs/a.txt", "old": "one", "new": "two"})).await;
    assert_eq!(class(&went), Refused);
    assert_eq!(call(tool("fs_read"), json!({"path": "docs/a.txt"})).await.unwrap(), "one\n");
    call(tool("fs_write"), json!({"path": "a.txt", "content": "two"})).await.unwrap();
    assert_eq!(std::fs::read_to_string(place.path().join("code/a.txt")).unwrap(), "two");
    assert_eq!(std::fs::read_to_string(place.path().join("docs/a.txt")).unwrap(), "one");
}

#[tokio::test]
async fn listing_shows_kinds_sizes_and_depth() {
    let scene = Scene::new();
    scene.write("b/deep/x.txt", "12345");
    scene.write("a.txt", "123");
    scene.link("b", "to-b");
    let flat = scene.call("fs_list", json!({"path": "."})).await.unwrap();
    assert_eq!(flat, "a.txt  3 bytes\nb/\nto-b -> b\n");
    let deep = scene.call("fs_list", json!({"path": "./", "depth": 3})).await.unwrap();
    assert_eq!(deep, "a.txt  3 bytes\nb/\nb/deep/\nb/deep/x.txt  5 bytes\nto-b -> b\n");
    assert_eq!(class(&scene.call("fs_list", json!({"path": ".", "depth": 9})).await), InvalidArguments);
    assert_eq!(class(&scene.call("fs_list", json!({"path": "a.txt"})).await), InvalidArguments);
    assert_eq!(class(&scene.call("fs_list", json!({"path": "none"})).await), NotFound);
    std::fs::create_dir(scene.root().join("empty")).unwrap();
    assert_eq!(scene.call("fs_list", json!({"path": "empty"})).await.unwrap(), "[the directory is empty]\n");
}

#[tokio::test]
async fn a_long_listing_is_cut_and_says_so() {
    let scene = Scene::new();
    for number in 0..2_100 {
        scene.write(&format!("f{number:04}"), "");
    }
    let listed = scene.call("fs_list", json!({"path": "."})).await.unwrap();
    assert_eq!(listed.lines().count(), 2_001);
    assert!(listed.ends_with("[cut after 2000 entries; list a subdirectory to see more]\n"));
}

#[tokio::test]
async fn reading_goes_page_by_page_to_the_end() {
    let scene = Scene::new();
    let whole = (1..=25).fold(String::new(), |mut text, n| {
        writeln!(text, "line {n}").unwrap();
        text
    });
    scene.write("a.txt", &whole);
    let (mut read, mut offset, mut pages) = (String::new(), 1, 0);
    loop {
        let page =
            scene.call("fs_read", json!({"path": "a.txt", "offset": offset, "limit": 10})).await.unwrap();
        read.extend(page.lines().filter(|line| !line.starts_with('[')).map(|line| format!("{line}\n")));
        pages += 1;
        let Some((_, next)) = page.rsplit_once("read on with offset ") else { break };
        offset = next.trim_end_matches([']', '\n']).parse::<u32>().unwrap();
    }
    assert_eq!((read, pages), (whole.clone(), 3));
    assert_eq!(scene.call("fs_read", json!({"path": "a.txt"})).await.unwrap(), whole);
    let two =
        scene.call("fs_read", json!({"path": "a.txt", "offset": 24, "line_numbers": true})).await.unwrap();
    assert_eq!(two, "    24\tline 24\n    25\tline 25\n[lines 24 to 25, the end of the file]\n");
    let past = scene.call("fs_read", json!({"path": "a.txt", "offset": 99})).await.unwrap();
    assert_eq!(past, "[the file has 25 lines; offset 99 is behind its end]\n");
    scene.write("empty", "");
    assert_eq!(scene.call("fs_read", json!({"path": "empty"})).await.unwrap(), "[the file is empty]\n");
    for bad in [json!({"path": "a.txt", "offset": 0}), json!({"path": "a.txt", "limit": 0})] {
        assert_eq!(class(&scene.call("fs_read", bad).await), InvalidArguments);
    }
    assert_eq!(class(&scene.call("fs_read", json!({"path": "."})).await), InvalidArguments);
    assert_eq!(class(&scene.call("fs_read", json!({"path": "none"})).await), NotFound);
}

#[tokio::test]
async fn big_pages_and_long_lines_are_cut_within_the_cap() {
    let scene = Scene::new();
    scene.write("many", "0123456789abcdef\n".repeat(100_000));
    let cx = || probity_contract::ToolContext { output_bytes_max: 4_096, ..context() };
    let page = call_in(scene.tool("fs_read"), json!({"path": "many", "limit": 20000}), cx()).await.unwrap();
    assert!(page.len() <= 4_096, "{}", page.len());
    let shown = page.lines().count() - 1;
    assert!(
        page.ends_with(&format!("[lines 1 to {shown}; there are more: read on with offset {}]\n", shown + 1))
    );
    scene.write("long", "ä".repeat(3_000_000));
    let page = call_in(scene.tool("fs_read"), json!({"path": "long"}), cx()).await.unwrap();
    assert!(page.len() <= 4_096 && page.contains("[line cut: it is 6000000 bytes long"), "{}", page.len());
    assert!(!page.contains('\u{fffd}'));
    scene.write("latin", b"caf\xe9\n");
    let page = scene.call("fs_read", json!({"path": "latin"})).await.unwrap();
    assert_eq!(page, "caf\u{fffd}\n[bytes that are not UTF-8 are shown as \u{fffd}]\n");
}

#[tokio::test]
async fn binary_files_are_refused_with_type_and_size() {
    let scene = Scene::new();
    scene.write("p.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    for (tool, value) in [
        ("fs_read", json!({"path": "p.png"})),
        ("fs_edit", json!({"path": "p.png", "old": "PNG", "new": "GIF"})),
    ] {
        let (class, words) = scene.call(tool, value).await.unwrap_err();
        assert_eq!(class, Refused);
        assert!(words.contains("image/png, 16 bytes"), "{words}");
    }
}

#[tokio::test]
async fn searching_finds_lines_and_says_what_it_skipped() {
    let scene = Scene::new();
    scene.write("src/a.rs", "fn one() {}\nfn two() {}\n");
    scene.write("src/deep/b.rs", "let x = one();\r\n");
    scene.write("c.md", "one\n");
    scene.write("bin", b"one\0");
    scene.write(".git/config", "one\n");
    std::fs::write(scene.root().join("big"), "one\n".repeat(2_000_000)).unwrap();
    scene.link("c.md", "link");
    let search = |value| scene.call("fs_search", value);
    let found = search(json!({"path": ".", "pattern": "one"})).await.unwrap();
    assert_eq!(
        found,
        "c.md:1: one\nsrc/a.rs:1: fn one() {}\nsrc/deep/b.rs:1: let x = one();\n[3 matches in 3 files searched]\n\
         [skipped: 1 × `.git` directories, 1 × binary files, 1 × files over 4 MiB, 1 × links]\n"
    );
    let globbed = search(json!({"path": ".", "pattern": "one", "glob": "*.rs"})).await.unwrap();
    assert!(
        globbed.starts_with("src/a.rs:1: fn one() {}\nsrc/deep/b.rs:1: let x = one();\n[2 matches"),
        "{globbed}"
    );
    let shallow = search(json!({"path": "src", "pattern": "one", "glob": "./*.rs"})).await.unwrap();
    assert!(shallow.starts_with("[0 matches"), "{shallow}");
    let below = search(json!({"path": ".", "pattern": "one", "glob": "src/*.rs"})).await.unwrap();
    assert!(below.starts_with("src/a.rs:1: fn one() {}\n[1 matches"), "{below}");
    let file = search(json!({"path": "src/a.rs", "pattern": "^fn (two|three)"})).await.unwrap();
    assert_eq!(file, "src/a.rs:2: fn two() {}\n[1 matches in 1 files searched]\n");
    let empty = search(json!({"path": "c.md", "pattern": "^$"})).await.unwrap();
    assert_eq!(empty, "[0 matches in 1 files searched]\n");
    for bad in [
        json!({"path": ".", "pattern": "("}),
        json!({"path": ".", "pattern": "(a{1000}){1000}"}),
        json!({"path": ".", "pattern": "a", "glob": "[["}),
    ] {
        assert_eq!(class(&search(bad).await), InvalidArguments);
    }
    assert_eq!(class(&search(json!({"path": "none", "pattern": "a"})).await), NotFound);
}

#[tokio::test]
async fn a_search_is_bounded_in_matches_and_width() {
    let scene = Scene::new();
    scene.write("a", "hit\n".repeat(1_000));
    let found = scene.call("fs_search", json!({"path": ".", "pattern": "hit"})).await.unwrap();
    assert_eq!(found.lines().filter(|line| line.starts_with("a:")).count(), 500);
    assert!(found.contains("[cut after 500 matches"), "{found}");
    scene.write("a", format!("{}hit{}", "x".repeat(100_000), "y".repeat(100_000)));
    let found = scene.call("fs_search", json!({"path": ".", "pattern": "hit"})).await.unwrap();
    assert!(found.len() < 500 && found.contains("xhity"), "{found}");
}

#[tokio::test]
async fn writing_replaces_whole_files_and_leaves_nothing_behind() {
    let scene = Scene::new();
    let write = |value| scene.call("fs_write", value);
    assert_eq!(write(json!({"path": "a", "content": "one"})).await.unwrap(), "created `a` (3 bytes)");
    std::fs::set_permissions(scene.root().join("a"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = std::fs::File::open(scene.root().join("a")).unwrap();
    assert_eq!(write(json!({"path": "a", "content": "two!"})).await.unwrap(), "replaced `a` (4 bytes)");
    assert_eq!(scene.read("a"), "two!");
    let mode = std::fs::metadata(scene.root().join("a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
    // Whoever had the old file open still reads the old content.
    assert_eq!(std::io::read_to_string(before).unwrap(), "one");
    let refused = write(json!({"path": "a", "content": "three", "create_only": true})).await;
    assert_eq!(class(&refused), Refused);
    assert_eq!(scene.read("a"), "two!");
    write(json!({"path": "new/dir/b", "content": "", "create_only": true})).await.unwrap();
    assert_eq!(scene.read("new/dir/b"), "");
    for (path, expected) in [(".", InvalidArguments), ("new", InvalidArguments), ("c/", InvalidArguments)] {
        assert_eq!(class(&write(json!({"path": path, "content": "x"})).await), expected, "{path}");
    }
    assert_eq!(class(&write(json!({"path": "a/x", "content": "x"})).await), NotFound);
    assert_eq!(names(&scene), ["a", "new"]);
}

#[tokio::test]
async fn of_many_writers_one_wins_whole_and_one_creates() {
    let scene = std::sync::Arc::new(Scene::new());
    let mut calls = Vec::new();
    for number in 0..16 {
        let scene = std::sync::Arc::clone(&scene);
        calls.push(tokio::spawn(async move {
            let content = number.to_string().repeat(50_000);
            let any = scene.call("fs_write", json!({"path": "any", "content": content})).await;
            let only = scene
                .call("fs_write", json!({"path": "only", "content": content, "create_only": true}))
                .await;
            (any.is_ok(), only.is_ok())
        }));
    }
    let (mut any, mut only) = (0, 0);
    for call in calls {
        let (a, o) = call.await.unwrap();
        any += u32::from(a);
        only += u32::from(o);
    }
    assert_eq!((any, only), (16, 1));
    let content = scene.read("any");
    assert!((0..16).any(|number: u32| content == number.to_string().repeat(50_000)), "a mixture");
    assert_eq!(names(&scene), ["any", "only"]);
}

#[tokio::test]
async fn editing_needs_one_exact_place() {
    let scene = Scene::new();
    let original = "alpha = 1\nbeta = 2\nalpha = 1\n    gamma(delta)\n";
    let edit = |old: &str, new: &str, all: bool| {
        scene.call("fs_edit", json!({"path": "a", "old": old, "new": new, "all": all}))
    };
    type Expected<'a> = Result<&'a str, (ToolErrorClass, &'a str)>;
    let cases: &[(&str, &str, bool, Expected<'_>)] = &[
        ("beta = 2", "beta = 3", false, Ok("alpha = 1\nbeta = 3\nalpha = 1\n    gamma(delta)\n")),
        ("alpha", "omega", true, Ok("omega = 1\nbeta = 2\nomega = 1\n    gamma(delta)\n")),
        ("\n", "", true, Ok("alpha = 1beta = 2alpha = 1    gamma(delta)")),
        ("alpha = 1", "x", false, Err((Refused, "stands in 2 places of `a` (lines 1, 3)"))),
        ("beta = 4", "x", false, Err((NotFound, "(0 matches); nearest: line 2 `beta = 2`"))),
        (
            "  gamma(delta)  ",
            "x",
            false,
            Err((NotFound, "line 4 `gamma(delta)` has this line, so white space")),
        ),
        ("zzzzzz", "x", false, Err((NotFound, "stands nowhere in `a` (0 matches)"))),
        ("zzzzzz", "x", true, Err((NotFound, "stands nowhere in `a` (0 matches)"))),
        ("", "x", false, Err((InvalidArguments, "must not be empty"))),
        ("beta", "beta", false, Err((InvalidArguments, "must differ"))),
    ];
    for (old, new, all, expected) in cases {
        scene.write("a", original);
        let went = edit(old, new, *all).await;
        match expected {
            Ok(content) => {
                went.unwrap();
                assert_eq!(scene.read("a"), *content);
            }
            Err((class, words)) => {
                let (found, said) = went.unwrap_err();
                assert_eq!(found, *class, "{said}");
                assert!(said.contains(words), "{said}");
                assert_eq!(scene.read("a"), original);
            }
        }
    }
    // Places that overlap are ambiguous, too.
    scene.write("a", "aaa");
    assert_eq!(class(&edit("aa", "b", false).await), Refused);
    scene.write("a", "one\r\ntwo\r\n");
    let (_, words) = edit("one\ntwo", "x", false).await.unwrap_err();
    assert!(words.contains("CRLF"), "{words}");
    assert_eq!(names(&scene), ["a"]);
}

#[tokio::test]
async fn editing_keeps_the_mode() {
    let scene = Scene::new();
    scene.write("run.sh", "#!/bin/sh\necho one\n");
    std::fs::set_permissions(scene.root().join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = scene.call("fs_edit", json!({"path": "run.sh", "old": "one", "new": "two"})).await.unwrap();
    assert_eq!(said, "edited `run.sh`: 1 place replaced (line 2)");
    let mode = std::fs::metadata(scene.root().join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[tokio::test]
async fn a_cancelled_or_late_call_does_nothing() {
    let scene = Scene::new();
    scene.write("a", "one");
    let cx = context();
    cx.cancel.fire();
    let went = call_in(scene.tool("fs_write"), json!({"path": "a", "content": "two"}), cx).await;
    assert_eq!(class(&went), Cancelled);
    let cx = probity_contract::ToolContext { timeout: std::time::Duration::ZERO, ..context() };
    let went = call_in(scene.tool("fs_edit"), json!({"path": "a", "old": "one", "new": "two"}), cx).await;
    assert_eq!(class(&went), TimedOut);
    assert_eq!(scene.read("a"), "one");
    assert_eq!(names(&scene), ["a"]);
}
