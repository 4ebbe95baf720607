//! Nothing outside of a root is reached, and nothing special is opened.

use probity_contract::ToolErrorClass::{InvalidArguments, NotFound, Refused};
use probity_contract::{Access, Target, Tool, ToolErrorClass};
use serde_json::{Value, json};

use crate::support::{Scene, arguments, class, context, permit, went};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("dir/in.txt", "inside\n");
    scene.link(scene.outside(), "abs");
    scene.link("../outside.txt", "up");
    scene.link("../../outside.txt", "dir/up");
    scene.link("..", "parent");
    scene.link("/", "slash");
    scene.link("/proc/self/root", "magic");
    scene.link("../work/dir/in.txt", "around");
    scene.link("loop", "loop");
    scene.link("ring2", "ring1");
    scene.link("ring1", "ring2");
    scene.link("dir/in.txt", "good");
    scene.link("dir", "gooddir");
    scene.link("nowhere", "dangling");
    scene.link("good\u{202e}x", "hidden");
    scene
}

const BAD: &[(&str, ToolErrorClass)] = &[
    ("..", Refused),
    ("../outside.txt", Refused),
    ("dir/../../outside.txt", Refused),
    ("dir/../dir/in.txt", Refused),
    ("/etc/passwd", Refused),
    ("//etc/passwd", Refused),
    ("/", Refused),
    ("abs", Refused),
    ("up", Refused),
    ("dir/up", Refused),
    ("gooddir/up", Refused),
    ("parent/outside.txt", Refused),
    ("slash/etc/passwd", Refused),
    ("magic/etc/passwd", Refused),
    ("around", Refused),
    ("loop", Refused),
    ("ring1", Refused),
    ("loop/x", Refused),
    ("hidden", Refused),
    ("dir/in.txt\u{0}", Refused),
    ("dir/in.txt\n", Refused),
    ("dir/\u{1b}[2Jx", Refused),
    ("dir\u{200b}/in.txt", Refused),
    ("dir\u{202e}/in.txt", Refused),
    ("", InvalidArguments),
    ("dir/in.txt/x", NotFound),
];

#[tokio::test]
async fn no_path_leads_out() {
    let scene = scene();
    let long_name = "n".repeat(256);
    let long_path = "d/".repeat(3000);
    let long = [(long_name.as_str(), InvalidArguments), (long_path.as_str(), InvalidArguments)];
    for (path, expected) in BAD.iter().copied().chain(long) {
        let calls: [(&str, Value); 5] = [
            ("fs_list", json!({"path": path})),
            ("fs_read", json!({"path": path})),
            ("fs_search", json!({"path": path, "pattern": "."})),
            ("fs_write", json!({"path": path, "content": "x"})),
            ("fs_edit", json!({"path": path, "old": "o", "new": "x"})),
        ];
        for (tool, value) in calls {
            let went = scene.call(tool, value).await;
            assert_eq!(class(&went), expected, "{tool} {path:?} {went:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(scene.outside()).unwrap(), "outside\n");
    assert_eq!(scene.read("dir/in.txt"), "inside\n");
}

#[tokio::test]
async fn links_inside_are_followed_and_told() {
    let scene = scene();
    let cases = [
        ("fs_read", json!({"path": "./good"}), "good", "dir/in.txt", Access::Read),
        ("fs_read", json!({"path": "gooddir/in.txt"}), "gooddir/in.txt", "dir/in.txt", Access::Read),
        ("fs_list", json!({"path": "."}), ".", ".", Access::Read),
        ("fs_write", json!({"path": "gooddir/new", "content": ""}), "gooddir/new", "dir/new", Access::Write),
        ("fs_edit", json!({"path": "good", "old": "a", "new": "b"}), "good", "dir/in.txt", Access::Write),
        ("fs_write", json!({"path": "a/b/c", "content": ""}), "a/b/c", "a/b/c", Access::Write),
    ];
    for (tool, value, path, resolved, access) in cases {
        let recursive = tool == "fs_search" || value.get("depth").is_some_and(|depth| *depth != json!(1));
        let targets = scene.tool(tool).targets(&arguments(&value)).await.unwrap();
        let expected = Target::Path {
            root: "work".to_owned(),
            path: path.to_owned(),
            resolved: resolved.to_owned(),
            access,
            recursive,
        };
        assert_eq!(targets, [expected], "{tool} {value}");
    }
    assert_eq!(scene.call("fs_read", json!({"path": "good"})).await.unwrap(), "inside\n");
    scene.call("fs_write", json!({"path": "good", "content": "through"})).await.unwrap();
    assert_eq!(scene.read("dir/in.txt"), "through");
    assert!(scene.root().join("good").is_symlink());
}

/// Judges a call, changes the world, and runs the call.
async fn swapped(scene: &Scene, tool: &dyn Tool, value: Value, swap: impl FnOnce()) -> ToolErrorClass {
    let arguments = arguments(&value);
    let targets = tool.targets(&arguments).await.unwrap();
    let permit = permit(tool, arguments, targets);
    swap();
    let class = class(&went(tool.run(permit, context()).await));
    assert_eq!(std::fs::read_to_string(scene.outside()).unwrap(), "outside\n");
    class
}

#[tokio::test]
async fn a_link_swapped_in_after_the_judgement_stops_the_call() {
    for (tool, value) in [
        ("fs_read", json!({"path": "dir/in.txt"})),
        ("fs_search", json!({"path": "dir/in.txt", "pattern": "."})),
        ("fs_list", json!({"path": "dir/in.txt"})),
        ("fs_write", json!({"path": "dir/in.txt", "content": "x"})),
        ("fs_edit", json!({"path": "dir/in.txt", "old": "inside", "new": "x"})),
    ] {
        let scene = scene();
        scene.write("other.txt", "other\n");
        let root = scene.root();
        let file = root.join("dir/in.txt");
        // To another file inside: allowed by the root, but not what was judged.
        let class = swapped(&scene, scene.tool(tool), value.clone(), || {
            std::fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink("../other.txt", &file).unwrap();
        });
        assert_eq!(class.await, Refused, "{tool}");
        assert_eq!(scene.read("other.txt"), "other\n");
        // And to the outside.
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "inside\n").unwrap();
        let class = swapped(&scene, scene.tool(tool), value, || {
            std::fs::rename(root.join("dir"), root.join("moved")).unwrap();
            std::os::unix::fs::symlink("..", root.join("dir")).unwrap();
        });
        assert_eq!(class.await, Refused, "{tool}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn links_that_flip_all_the_time_never_lead_out() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let scene = scene();
    scene.write("flip/x.txt", "inside\n");
    let root = scene.root();
    std::fs::create_dir(root.parent().unwrap().join("away")).unwrap();
    std::fs::write(root.parent().unwrap().join("away/x.txt"), "outside\n").unwrap();
    scene.link("../away", "kept");
    let over = Arc::new(AtomicBool::new(false));
    let flipping = std::thread::spawn({
        let (root, over) = (root.clone(), Arc::clone(&over));
        move || {
            // Each exchange is atomic: the name is always there, as the directory or as a link to the outside.
            while !over.load(Ordering::Relaxed) {
                let (flip, kept) = (root.join("flip"), root.join("kept"));
                rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    flip,
                    rustix::fs::CWD,
                    kept,
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .unwrap();
            }
        }
    });
    let mut inside = 0;
    for _ in 0..400 {
        if let Ok(text) = scene.call("fs_read", json!({"path": "flip/x.txt"})).await {
            assert_eq!(text, "inside\n");
            inside += 1;
        }
        let _ = scene.call("fs_write", json!({"path": "flip/x.txt", "content": "inside\n"})).await;
    }
    over.store(true, Ordering::Relaxed);
    flipping.join().unwrap();
    let away = root.parent().unwrap().join("away/x.txt");
    assert_eq!(std::fs::read_to_string(away).unwrap(), "outside\n");
    assert_eq!(std::fs::read_dir(root.parent().unwrap().join("away")).unwrap().count(), 1);
    assert!(inside > 0, "the file was never read");
}

#[tokio::test]
async fn special_files_are_refused_at_once() {
    let scene = Scene::new();
    let root = scene.root();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("sock")).unwrap();
    // Making a device needs a privilege; without it the other two stand for it.
    let device = rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("null"),
        rustix::fs::FileType::CharacterDevice,
        rustix::fs::Mode::from_raw_mode(0o600),
        rustix::fs::makedev(1, 3),
    )
    .is_ok();
    let started = std::time::Instant::now();
    for name in ["pipe", "sock", "null"].iter().filter(|name| device || **name != "null") {
        for (tool, value) in [
            ("fs_read", json!({"path": name})),
            ("fs_search", json!({"path": name, "pattern": "."})),
            ("fs_write", json!({"path": name, "content": "x"})),
            ("fs_edit", json!({"path": name, "old": "o", "new": "x"})),
        ] {
            let went = scene.call(tool, value).await;
            assert_eq!(class(&went), Refused, "{tool} {name} {went:?}");
        }
    }
    let listed = scene.call("fs_list", json!({"path": "."})).await.unwrap();
    assert!(listed.contains("pipe  [a named pipe]"), "{listed}");
    let found = scene.call("fs_search", json!({"path": ".", "pattern": "."})).await.unwrap();
    assert!(found.contains("1 × a named pipe"), "{found}");
    assert!(started.elapsed().as_secs() < 20, "a special file was waited for");
}

#[tokio::test]
async fn names_that_hide_are_shown_as_unusable() {
    let scene = Scene::new();
    scene.write("evil\u{202e}txt", "x");
    scene.write("line\nbreak", "x");
    let listed = scene.call("fs_list", json!({"path": "."})).await.unwrap();
    assert_eq!(
        listed,
        "\"evil\\u{202e}txt\" [not usable]  1 bytes\n\"line\\nbreak\" [not usable]  1 bytes\n"
    );
}
