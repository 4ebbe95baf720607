//! The files that a call names, as an approval is bound to them.

use std::fs;
use std::os::unix::fs::symlink;

use probity_contract::{Digest, Holds, Tool as _, ToolErrorClass};
use serde_json::{Value, json};

use crate::support::{Scene, approved, arguments, class, context, went};

#[tokio::test]
async fn a_file_that_is_changed_is_told_by_its_inode_and_content() {
    let scene = Scene::new();
    scene.write("a.txt", "old\n");
    for tool in ["fs_write", "fs_edit"] {
        let value = match tool {
            "fs_write" => json!({"path": "a.txt", "content": "new"}),
            _ => json!({"path": "a.txt", "old": "old", "new": "new"}),
        };
        let operands = scene.tool(tool).operands(&arguments(&value)).await.unwrap();
        let [operand] = operands.as_slice() else { panic!("one file: {operands:?}") };
        assert_eq!((operand.root.as_str(), operand.path.as_str(), operand.bytes), ("work", "a.txt", 4));
        assert_eq!(operand.holds, Holds::Content(Digest::of_content(b"old\n")));
    }
    // What is not there yet, and what is only read, binds nothing.
    for (tool, value) in [
        ("fs_write", json!({"path": "new.txt", "content": "x"})),
        ("fs_write", json!({"path": "no/where/new.txt", "content": "x"})),
        ("fs_read", json!({"path": "a.txt"})),
    ] {
        assert_eq!(scene.tool(tool).operands(&arguments(&value)).await.unwrap(), [], "{tool} {value}");
    }
}

/// A file that is changed, exchanged for one with the same content, gone, or has come since the person approved.
#[tokio::test]
async fn i19_a_file_that_is_another_since_the_approval_is_not_written() {
    type Change = fn(&Scene);
    let changes: [(&str, Change); 4] = [
        ("changed", |scene| scene.write("a.txt", "evil\n")),
        ("exchanged", |scene| {
            scene.write("b.txt", "old\n");
            fs::rename(scene.root().join("b.txt"), scene.root().join("a.txt")).unwrap();
        }),
        ("gone", |scene| fs::remove_file(scene.root().join("a.txt")).unwrap()),
        ("a link", |scene| {
            fs::rename(scene.root().join("a.txt"), scene.root().join("c.txt")).unwrap();
            scene.link("c.txt", "a.txt");
        }),
    ];
    for (name, change) in changes {
        let scene = Scene::new();
        scene.write("a.txt", "old\n");
        let tool = scene.tool("fs_write");
        let permit = approved(tool, arguments(&json!({"path": "a.txt", "content": "new"}))).await;
        change(&scene);
        let went = went(tool.run(permit, context()).await);
        assert_eq!(class(&went), ToolErrorClass::Refused, "{name}");
        let now = fs::read_to_string(scene.root().join("a.txt")).unwrap_or_default();
        assert_ne!(now, "new", "{name}");
    }
    // The control.
    let scene = Scene::new();
    scene.write("a.txt", "old\n");
    let tool = scene.tool("fs_write");
    let permit = approved(tool, arguments(&json!({"path": "a.txt", "content": "new"}))).await;
    went(tool.run(permit, context()).await).unwrap();
    assert_eq!(scene.read("a.txt"), "new");
}

/// The words of a command that name files inside the roots, however they are written.
#[tokio::test]
async fn a_command_is_bound_to_the_files_that_its_words_name() {
    let scene = Scene::new();
    scene.write("build.sh", "echo built\n");
    scene.write("sub/in.txt", "in\n");
    scene.link("build.sh", "link.sh");
    let shell = scene.shell();
    let root = scene.root();
    let named = |value: Value| {
        let (shell, value) = (&shell, arguments(&value));
        async move {
            let operands = shell.operands(&value).await.unwrap();
            operands.into_iter().map(|operand| operand.path).collect::<Vec<_>>()
        }
    };
    let absolute = root.join("build.sh").to_string_lossy().into_owned();
    for (value, expected) in [
        (json!({"argv": ["sh", "build.sh"]}), vec!["build.sh"]),
        (json!({"argv": ["sh", "./build.sh", "--in=sub/in.txt"]}), vec!["build.sh", "sub/in.txt"]),
        (json!({"argv": ["sh", "sub/../build.sh"]}), vec!["build.sh"]),
        (json!({"argv": ["sh", "link.sh", "build.sh"]}), vec!["build.sh"]),
        (json!({"argv": ["cat", "../build.sh", "in.txt"], "cwd": "sub"}), vec!["build.sh", "sub/in.txt"]),
        (json!({"argv": ["sh", absolute]}), vec!["build.sh"]),
        (json!({"argv": ["ls", "sub", "-la", "../outside.txt", "/etc/passwd", "nothing"]}), vec![]),
    ] {
        assert_eq!(named(value.clone()).await, expected, "{value}");
    }
}

#[tokio::test]
async fn i19_a_script_that_was_changed_since_the_approval_does_not_run() {
    let scene = Scene::new();
    scene.write("build.sh", "echo built > out.txt\n");
    let shell = scene.shell();
    let value = || arguments(&json!({"argv": ["sh", "build.sh"]}));
    let permit = approved(&shell, value()).await;
    scene.write("build.sh", "echo evil > out.txt\n");
    let refused = went(shell.run(permit, context()).await);
    assert_eq!(class(&refused), ToolErrorClass::Refused);
    assert!(!scene.root().join("out.txt").exists());
    let support = probity_tools::sandbox_support();
    let has_landlock = support.landlock_abi.is_some_and(|abi| abi >= support.landlock_abi_min);
    if !has_landlock || !support.seccomp {
        eprintln!("skipped: {support}");
        return;
    }
    let permit = approved(&shell, value()).await;
    went(shell.run(permit, context()).await).unwrap();
    assert_eq!(scene.read("out.txt"), "evil\n");
}

#[tokio::test]
async fn a_pipe_is_not_waited_for_and_a_link_that_leads_out_binds_nothing() {
    let scene = Scene::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        scene.root().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    symlink(scene.outside(), scene.root().join("out")).unwrap();
    let value = arguments(&json!({"argv": ["cat", "pipe", "out"]}));
    assert_eq!(scene.shell().operands(&value).await.unwrap(), []);
}

/// The profile under which programs run is part of the tool's definition, and with it of every approval.
#[test]
fn i22_another_sandbox_profile_is_another_tool() {
    let scene = Scene::new();
    let mut config = scene.shell_config();
    let digest = |config: &probity_tools::ShellConfig| {
        let tool = probity_tools::ShellTool::new(config.clone()).unwrap();
        probity_contract::Tool::spec(&tool).digest()
    };
    let before = digest(&config);
    assert_eq!(digest(&config), before);
    config.network = true;
    let with_network = digest(&config);
    config.network = false;
    config.env_names.push("LANG".to_owned());
    let with_variable = digest(&config);
    assert!(before != with_network && before != with_variable && with_network != with_variable);
}
