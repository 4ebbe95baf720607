//! Runs that wait for a person, that break off, and what it takes to go on with them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use probity_contract::{DenialCode, Ending, Fact, ToolOutcomeKind};
use probity_testkit::fake_token;
use probity_trace::Record;
use rustix::process::Signal;

use crate::cli::{Cli, Done, Running, wait_for};

/// A model that pays once, and then repeats what it was told; a rule that asks about it.
fn desk(cli: &Cli) {
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'act'\nunless = [{ kind = 'tool_result' }]\n\
         call = [{ tool = 'fs_write', arguments = { path = 'new.txt', content = 'words' } }]\n\
         [[rule]]\nname = 'say'\nwhen = [{ kind = 'tool_result', match = '(?s)(?<words>.+)' }]\ntext = 'I was told: {words}'\n",
    );
    cli.file("room/there.txt", "there\n");
    task(cli, "ask = ['fs_write']");
}

fn task(cli: &Cli, policy: &str) {
    let text = "model = 'rules/m.toml'\nprompt = 'x'\n[tools]\nuse = ['fs_write']\n\
                roots = [{ name = 'room', path = 'room', write = true }]\n[policy]\n";
    cli.file("task.toml", format!("{text}{policy}\n"));
}

/// The id of the only run.
fn run_of(cli: &Cli) -> String {
    cli.record().start().unwrap().run.as_str().to_owned()
}

/// The name of the only open question.
fn question_of(cli: &Cli) -> String {
    let shown = cli.run(&["approve", &run_of(cli), "--json"]).json();
    shown["questions"][0]["question"].as_str().unwrap().chars().take(12).collect()
}

fn code(done: &Done, code: i32) {
    assert_eq!(done.code, Some(code), "{done:?}");
}

fn paused() -> Cli {
    let cli = Cli::new();
    desk(&cli);
    code(&cli.run(&["run", "task.toml"]), 10);
    cli
}

fn written(cli: &Cli) -> bool {
    cli.work().join("room/new.txt").exists()
}

fn denials(record: &Record) -> Vec<DenialCode> {
    let calls = record.calls().into_iter();
    calls.filter_map(|call| call.denied).map(|denial| denial.code).collect()
}

#[test]
fn a_run_pauses_is_approved_and_goes_on_in_three_processes() {
    let cli = paused();
    let run = run_of(&cli);
    let shown = cli.run(&["approve", &run, "--json"]);
    code(&shown, 10);
    let question = &shown.json()["questions"][0];
    assert_eq!((&question["tool"], &question["can_be_approved"]), (&"fs_write".into(), &true.into()));
    assert!(question["shown"].to_string().contains("words"), "{question}");
    let approved = cli.run(&["approve", &run, &question_of(&cli), "--yes"]);
    code(&approved, 0);
    assert!(!written(&cli), "an approval is not an execution");
    let done = cli.run(&["resume", &run, "--json"]);
    code(&done, 0);
    assert!(written(&cli));
    assert_eq!(done.json()["ending"], "answered");
    // It has ended.
    code(&cli.run(&["resume", &run]), 7);
    code(&cli.run(&["approve", &run]), 7);
}

#[test]
fn a_refusal_is_told_to_the_model() {
    let cli = paused();
    let (run, question) = (run_of(&cli), question_of(&cli));
    code(&cli.run(&["approve", &run, &question, "--no", "not before Monday"]), 0);
    let done = cli.run(&["resume", &run]);
    code(&done, 0);
    assert!(done.out.contains("not before Monday") && !written(&cli), "{done:?}");
}

#[test]
fn other_arguments_are_judged_and_asked_about_again() {
    let cli = paused();
    let (run, question) = (run_of(&cli), question_of(&cli));
    let edit = r#"{"path": "other.txt", "content": "better"}"#;
    code(&cli.run(&["approve", &run, &question, "--edit", edit]), 0);
    code(&cli.run(&["resume", &run]), 10);
    let again = question_of(&cli);
    assert_ne!(again, question);
    // The first question is not asked any more.
    code(&cli.run(&["approve", &run, &question, "--yes"]), 7);
    code(&cli.run(&["approve", &run, &again, "--yes"]), 0);
    code(&cli.run(&["resume", &run]), 0);
    assert_eq!(fs::read_to_string(cli.work().join("room/other.txt")).unwrap(), "better");
    assert!(!written(&cli));
}

#[test]
fn the_rules_of_now_judge_an_approved_call() {
    let cli = paused();
    let run = run_of(&cli);
    code(&cli.run(&["approve", &run, &question_of(&cli), "--yes"]), 0);
    task(&cli, "ask = ['fs_write']\ndeny = ['fs_write(room/new.*)']");
    code(&cli.run(&["resume", &run]), 0);
    assert!(!written(&cli));
    assert_eq!(denials(&cli.record()), [DenialCode::Policy]);
}

#[test]
fn a_policy_that_is_gone_keeps_the_run_from_going_on() {
    let cli = paused();
    let run = run_of(&cli);
    code(&cli.run(&["approve", &run, &question_of(&cli), "--yes"]), 0);
    task(&cli, "");
    let refused = cli.run(&["resume", &run]);
    code(&refused, 2);
    assert!(refused.err.contains("the policy `rules` judged it before and is gone"), "{refused:?}");
    assert!(!written(&cli));
}

fn checkpoint(cli: &Cli) -> std::path::PathBuf {
    cli.data().join(format!("checkpoints/{}.sealed", run_of(cli)))
}

#[test]
fn i28_a_changed_an_older_and_a_foreign_checkpoint_are_refused() {
    let cli = paused();
    let run = run_of(&cli);
    let (file, older) = (checkpoint(&cli), fs::read(checkpoint(&cli)).unwrap());
    let refused = |what: &str| {
        for command in [["resume", &run], ["approve", &run]] {
            let done = cli.run(&command);
            code(&done, 6);
            assert!(done.err.contains(what), "{done:?}");
            assert!(done.err.contains("hint"), "{done:?}");
        }
    };
    let mut changed = older.clone();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    fs::write(&file, &changed).unwrap();
    refused("it is not what was sealed");
    fs::write(&file, b"probity-checkpoint 2\n").unwrap();
    refused("it is of version 2");
    fs::write(&file, &older).unwrap();
    code(&cli.run(&["approve", &run, &question_of(&cli), "--yes"]), 0);
    fs::write(&file, &older).unwrap();
    refused("was made since");
    fs::write(cli.data().join("key"), "probity-key-1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n").unwrap();
    refused("is not among those at hand");
    assert!(!written(&cli));
}

#[test]
fn keys_are_replaced_with_an_overlap_and_others_may_not_read_them() {
    let cli = paused();
    let run = run_of(&cli);
    let before = cli.run(&["key", "list", "--json"]).json();
    let after = cli.run(&["key", "rotate", "--json"]).json();
    assert_eq!(after["opening"][1], before["sealing"]);
    assert_ne!(after["sealing"], before["sealing"]);
    // What the old key has sealed is opened, and sealed with the new one.
    code(&cli.run(&["approve", &run, &question_of(&cli), "--yes"]), 0);
    let key_file = cli.data().join("key");
    let text = fs::read_to_string(&key_file).unwrap();
    fs::write(&key_file, format!("{}\n", text.lines().next().unwrap())).unwrap();
    fs::set_permissions(&key_file, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = cli.run(&["resume", &run]);
    code(&refused, 3);
    assert!(refused.err.contains("others may read or change it"), "{refused:?}");
    fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600)).unwrap();
    let done = cli.run(&["resume", &run]);
    code(&done, 0);
    let key = text.lines().next().unwrap();
    assert!(!done.all().contains(key) && !cli.run(&["key", "list"]).all().contains(key));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Another machine: its own directories, the record and the checkpoint of the run, and the key in the environment.
#[test]
fn a_run_is_approved_and_goes_on_on_another_machine_with_the_key() {
    let here = paused();
    let run = run_of(&here);
    let there = Cli::new();
    desk(&there);
    let key = fs::read_to_string(here.data().join("key")).unwrap();
    for dir in ["runs", "checkpoints"] {
        copy(&here.data().join(dir), &there.data().join(dir));
    }
    for dir in ["", "runs", "checkpoints"] {
        fs::set_permissions(there.data().join(dir), fs::Permissions::from_mode(0o700)).unwrap();
    }
    let with_key = |args: &[&str]| {
        let mut command = there.command(args);
        command.env("PROBITY_KEY", key.trim());
        Running::start(command).finish()
    };
    let without = there.run(&["approve", &run]);
    code(&without, 3);
    let shown = with_key(&["approve", &run, "--json"]).json();
    let question = shown["questions"][0]["question"].as_str().unwrap().to_owned();
    code(&with_key(&["approve", &run, &question, "--yes"]), 0);
    // The directory where it was started is that of the other machine, which is gone.
    fs::rename(here.work(), here.work().with_extension("gone")).unwrap();
    let refused = with_key(&["resume", &run]);
    code(&refused, 3);
    let task = there.work().join("task.toml");
    code(&with_key(&["resume", &run, "--task", task.to_str().unwrap()]), 0);
    assert!(written(&there) && !written(&here));
}

/// All that a run has read is in its checkpoint, and nothing of it can be read there, nor in what is shown at rest.
#[test]
fn what_a_run_has_read_stands_in_its_checkpoint_sealed() {
    let cli = Cli::new();
    desk(&cli);
    let secret = fake_token(23);
    cli.file("note.txt", format!("the token is {secret}, and a word that is no secret: heliotrope\n"));
    code(&cli.run(&["run", "task.toml", "--context", "note=note.txt"]), 10);
    let run = run_of(&cli);
    let sealed = fs::read(checkpoint(&cli)).unwrap();
    for part in [secret.as_str(), "heliotrope", "fs_write", "there.txt"] {
        assert!(!sealed.windows(part.len()).any(|bytes| bytes == part.as_bytes()), "{part} can be read");
    }
    let shown =
        [cli.run(&["approve", &run]), cli.run(&["approve", &run, "--json"]), cli.run(&["key", "list"])];
    for done in shown {
        assert!(!done.all().contains(&secret), "{done:?}");
    }
    code(&cli.run(&["approve", &run, &question_of(&cli), "--yes"]), 0);
    code(&cli.run(&["resume", &run]), 0);
}

#[test]
fn an_answer_is_for_a_question_by_its_name() {
    let cli = paused();
    let (run, question) = (run_of(&cli), question_of(&cli));
    code(&cli.run(&["approve", &run, &question.chars().take(7).collect::<String>(), "--yes"]), 2);
    code(&cli.run(&["approve", &run, "0000000000", "--yes"]), 7);
    code(&cli.run(&["approve", &run, "--yes"]), 2);
    code(&cli.run(&["approve", &run, &question]), 2);
    code(&cli.run(&["approve", &run, &question, "--no", " "]), 2);
    code(&cli.run(&["approve", &run, &question, "--yes", "--no", "x"]), 2);
    assert_eq!(question_of(&cli), question);
}

#[test]
fn without_checkpoints_and_without_input_a_question_is_denied() {
    for flag in ["--no-input", "--no-checkpoints"] {
        let cli = Cli::new();
        desk(&cli);
        code(&cli.run(&["run", "task.toml", flag]), 0);
        assert_eq!(denials(&cli.record()), [DenialCode::NobodyToAsk], "{flag}");
        assert_eq!(cli.data().join("key").exists(), flag == "--no-input");
    }
}

/// The process is killed while a program that it runs is at work. The program ends with it, and what it did is in doubt.
#[test]
fn ab19_a_killed_run_goes_on_and_says_what_is_in_doubt() {
    let cli = Cli::new();
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'act'\nunless = [{ kind = 'tool_result' }]\n\
         call = [{ tool = 'shell', arguments = { argv = ['sh', '-c', 'echo x >> began.txt; sleep 30'] } }]\n\
         [[rule]]\nname = 'say'\nwhen = [{ kind = 'tool_result', match = '(?s)(?<words>.+)' }]\ntext = 'I was told: {words}'\n",
    );
    cli.file("room/there.txt", "there\n");
    cli.file(
        "task.toml",
        "model = 'rules/m.toml'\nprompt = 'x'\n[tools]\nuse = ['shell']\n\
         roots = [{ name = 'room', path = 'room', write = true }]\n[policy]\nallow = ['shell']\n",
    );
    let running = Running::start(cli.command(&["run", "task.toml"]));
    let began = cli.work().join("room/began.txt");
    wait_for("the program", || began.exists().then_some(()));
    running.signal(Signal::KILL);
    running.finish();
    let run = run_of(&cli);
    let done = cli.run(&["resume", &run]);
    code(&done, 0);
    assert!(done.out.contains("had an effect is unknown"), "{done:?}");
    assert_eq!(fs::read_to_string(&began).unwrap(), "x\n", "it was repeated");
    let record = cli.record();
    let unknown = record
        .facts()
        .filter(|(_, fact)| matches!(fact, Fact::ToolFinished { outcome: ToolOutcomeKind::Unknown(_), .. }));
    assert_eq!(unknown.count(), 1);
    assert!(record.facts().any(|(_, fact)| matches!(fact, Fact::Ended { ending: Ending::Answered, .. })));
}

/// What tools could look into, or change, is no place for records and their key: through a link, from above and from within.
#[test]
fn the_data_directory_stands_apart_from_all_roots() {
    for (data, write) in
        [("room/data", true), ("room/data", false), ("link/data", false), (".", false), ("..", false)]
    {
        let cli = Cli::new();
        desk(&cli);
        std::os::unix::fs::symlink("room", cli.work().join("link")).unwrap();
        task(&cli, "ask = ['fs_write']");
        let text = fs::read_to_string(cli.work().join("task.toml")).unwrap();
        if !write {
            let text = text.replace("write = true", "write = false").replace("fs_write", "fs_read");
            cli.file("task.toml", text);
        }
        let done = cli.run(&["run", "task.toml", "--data-dir", data]);
        code(&done, 2);
        assert!(done.err.contains("keep the data directory"), "{data}: {done:?}");
        for made in ["room/data", "runs", "../runs"] {
            assert!(!cli.work().join(made).exists(), "{data}: {made}");
        }
    }
}
