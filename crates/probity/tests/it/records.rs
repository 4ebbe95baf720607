//! However a run ends, its record says so: interrupted, killed, or out of room.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use probity_contract::Ending;
use probity_trace::Record;
use rustix::process::Signal;

use crate::cli::{Cli, Running, wait_for, wait_within};
use crate::server::{Script, Server};

/// After this a run that was told to end counts as hanging. A bound, not a measure: machines are busy.
const CANCEL_MAX: Duration = Duration::from_secs(30);

/// What a record must be, however the run ended: every call has its end, and nothing refers to what is not there.
fn is_whole(record: &Record) {
    assert_eq!(record.dangling(), &[], "nothing dangles");
    for call in record.calls() {
        assert!(call.result.is_some() && !call.in_doubt, "every call has its result: {call:?}");
    }
}

/// Sends the signal and expects an orderly end.
fn cancel(cli: &Cli, running: Running, signal: Signal) {
    running.signal(signal);
    let sent = Instant::now();
    let done = running.finish();
    let took = sent.elapsed();
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(took < CANCEL_MAX, "it took {took:?}");
    assert!(done.err.contains("cancelled · "), "{done:?}");
    let record = cli.record();
    assert_eq!(record.summary().unwrap().ending, Some(Ending::Cancelled));
    is_whole(&record);
    assert_eq!(cli.shown()["summary"]["ending"]["ending"], "cancelled");
}

fn start_at(cli: &Cli, server: &Server) -> Running {
    let running =
        Running::start(cli.command(&["run", "x", "--model", "compatible/m", "--base-url", &server.url]));
    wait_for("the request", || (server.asked() > 0).then_some(()));
    running
}

#[test]
fn an_interrupt_ends_a_run_whose_model_is_silent() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (cli, server) = (Cli::new(), Server::start(Script::silence()));
        let running = start_at(&cli, &server);
        cancel(&cli, running, signal);
    }
}

#[test]
fn a_run_that_shall_outlive_its_terminal_does() {
    let (cli, server) = (Cli::new(), Server::start(Script::silence()));
    let args = ["run", "x", "--model", "compatible/m", "--base-url", &server.url];
    let all: Vec<&str> = [env!("CARGO_BIN_EXE_probity")].into_iter().chain(args).collect();
    let running = Running::start(cli.command_of("nohup", &all));
    wait_for("the request", || (server.asked() > 0).then_some(()));
    running.signal(Signal::HUP);
    // Had it been heard, it would be the first signal, and this the second, which ends the program at once.
    cancel(&cli, running, Signal::INT);
}

/// A model that falls silent in the middle, behind more words than a pass holds back.
fn half_an_answer() -> Script {
    Script::stalled(&"It begins well, and ".repeat(20))
}

#[test]
fn an_interrupt_ends_a_run_in_the_middle_of_its_answer() {
    let (cli, server) = (Cli::new(), Server::start(half_an_answer()));
    let mut running = start_at(&cli, &server);
    running.until("the beginning of the answer", |out, _| out.contains("begins"));
    cancel(&cli, running, Signal::INT);
}

/// A task whose model runs this program, which is allowed.
fn shell_task(cli: &Cli, argv: &[&str]) {
    let argv = argv.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
    cli.file("m.toml", format!(
        "[[rule]]\nname = 'run'\nunless = [{{ kind = 'tool_result' }}]\n\
         call = [{{ tool = 'shell', arguments = {{ argv = [{argv}] }} }}]\n\
         [[rule]]\nname = 'say'\nwhen = [{{ kind = 'tool_result', match = '(?s)(?<words>.+)' }}]\ntext = 'I was told: {{words}}'\n"
    ));
    cli.file("room/there.txt", "there\n");
    cli.file(
        "task.toml",
        "prompt = 'x'\nmodel = 'rules/m.toml'\n[tools]\nuse = ['shell']\nroots = [{ name = 'w', path = 'room' }]\n\
         [policy]\nallow = ['shell']\n[limits]\ntool_timeout_ms = 20000\n",
    );
}

/// Whether programs can be run here at all; if not, that is said.
fn has_sandbox(test: &str) -> bool {
    let support = probity_tools::sandbox_support();
    let able = support.seccomp && support.landlock_abi.is_some_and(|abi| abi >= support.landlock_abi_min);
    if !able {
        eprintln!("skipped {test}: {support}");
    }
    able
}

/// Whether a process runs with this word among its arguments.
fn runs_with(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok()).any(|line| {
        let mut words = line.split(|byte| *byte == 0);
        words.next().is_some_and(|program| program.ends_with(b"sleep"))
            && words.any(|other| other == word.as_bytes())
    })
}

/// A program that was killed does nothing more, but the kernel may still be clearing it away.
fn is_gone(word: &str) {
    let gone = wait_within(CANCEL_MAX, || (!runs_with(word)).then_some(()));
    assert!(gone.is_some(), "the program that the tool ran is still there");
}

#[test]
fn an_interrupt_ends_the_program_that_a_tool_runs() {
    if !has_sandbox("an_interrupt_ends_the_program_that_a_tool_runs") {
        return;
    }
    // No other process sleeps for just this long.
    let seconds = format!("30.{}", std::process::id());
    let cli = Cli::new();
    shell_task(&cli, &["sleep", &seconds]);
    let running = Running::start(cli.command(&["run", "task.toml"]));
    wait_for("the program", || runs_with(&seconds).then_some(()));
    cancel(&cli, running, Signal::INT);
    is_gone(&seconds);
}

#[test]
fn a_program_that_takes_too_long_is_ended_and_the_model_reads_it() {
    if !has_sandbox("a_program_that_takes_too_long_is_ended_and_the_model_reads_it") {
        return;
    }
    let seconds = format!("31.{}", std::process::id());
    let cli = Cli::new();
    shell_task(&cli, &["sleep", &seconds]);
    let task = fs::read_to_string(cli.work().join("task.toml")).unwrap();
    cli.file("task.toml", task.replace("tool_timeout_ms = 20000", "tool_timeout_ms = 300"));
    let done = cli.run(&["run", "task.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("I was told: ") && done.out.contains("took too long"), "{done:?}");
    is_gone(&seconds);
    let record = cli.record();
    is_whole(&record);
    assert_eq!(record.summary().unwrap().tool_calls.unknown, 1, "what it did before is not known");
}

/// A model that never has enough: it lists the directory again and again.
const RESTLESS: &str = "[[rule]]\nname = 'again'\ntext = 'Once more.'\ncall = [{ tool = 'fs_list', arguments = { path = '.' } }]\n\
    [[rule]]\nname = 'end'\ntext = 'That is all.'\n";

#[test]
fn an_interrupt_at_any_moment_leaves_a_whole_record() {
    for lines in [0, 1, 2, 3, 4, 5, 6, 9, 14, 25, 40] {
        let cli = Cli::new();
        cli.file("m.toml", RESTLESS);
        let mut command = cli.command(&["run", "x", "--model", "rules/m.toml", "--root", "."]);
        command.args(["--allow", "fs_list", "--max-turns", "5000"]);
        let mut running = Running::start(command);
        running.until("some lines", |_, err| err.lines().count() >= lines);
        running.signal(Signal::INT);
        let sent = Instant::now();
        let done = running.finish();
        let took = sent.elapsed();
        assert!(took < CANCEL_MAX, "after {lines} lines it took {took:?}");
        let records = cli.records();
        if lines > 0 {
            assert_eq!(done.code, Some(130), "after {lines} lines: {done:?}");
            assert_eq!(records.len(), 1);
        }
        // Before anything was said the program may not have come to listen for signals, nor to begin a record.
        for record in records {
            is_whole(&record);
            let ending = record.summary().and_then(|summary| summary.ending);
            assert!(done.code != Some(130) || ending == Some(Ending::Cancelled), "{ending:?}");
        }
    }
}

#[test]
fn a_killed_run_is_listed_as_at_rest_and_can_be_read() {
    let (cli, server) = (Cli::new(), Server::start(half_an_answer()));
    let mut running = start_at(&cli, &server);
    running.until("the beginning of the answer", |out, _| out.contains("begins"));
    let listed = cli.run(&["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"][0]["state"]["state"], "running", "{listed}");
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);

    let listed = cli.run(&["runs", "list"]);
    assert!(listed.out.contains("probity resume"), "{listed:?}");
    let listed = cli.run(&["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"][0]["state"]["state"], "at_rest", "{listed}");
    // Without its checkpoint nobody can go on with it.
    fs::remove_dir_all(cli.data().join("checkpoints")).unwrap();
    let listed = cli.run(&["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"][0]["state"]["state"], "broken_off", "{listed}");
    let shown = cli.shown();
    assert_eq!(shown["summary"]["ending"], serde_json::Value::Null);
    let kinds: Vec<_> =
        shown["timeline"].as_array().unwrap().iter().map(|moment| moment["kind"].clone()).collect();
    assert_eq!(kinds, ["run_started", "item_added", "model_called"], "nothing that was recorded is lost");
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_run() {
    let cli = Cli::new();
    cli.file("m.toml", "[[rule]]\nname = 'x'\ntext = 'Nobody will read this.'\n");
    let script = "\"$0\" run x --model rules/m.toml | true; exec \"$0\" runs list";
    let done = Running::start(cli.command_of("sh", &["-c", script, env!("CARGO_BIN_EXE_probity")])).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("answered"), "{done:?}");
    assert!(!done.all().contains("internal error"), "{done:?}");
}

/// A run whose record outgrows the room after its first call, which reads a large file; the second would write one.
fn grows_too_large(cli: &Cli) -> [&'static str; 2] {
    cli.file("m.toml", "[[rule]]\nname = 'read'\nunless = [{ kind = 'tool_result' }]\n\
        call = [{ tool = 'fs_read', arguments = { path = 'large.txt' } }]\n\
        [[rule]]\nname = 'write'\ncall = [{ tool = 'fs_write', arguments = { path = 'effect.txt', content = 'x' } }]\n");
    cli.file("room/large.txt", "all work and no play\n".repeat(8_000));
    cli.file(
        "task.toml",
        "prompt = 'x'\nmodel = 'rules/m.toml'\n[tools]\nuse = ['fs_read', 'fs_write']\n\
        roots = [{ name = 'w', path = 'room', write = true }]\n[policy]\nallow = ['fs_read', 'fs_write']\n",
    );
    ["run", "task.toml"]
}

fn ran_out_of_room(cli: &Cli, done: &crate::cli::Done) {
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(done.err.contains("stopped: the record could not be written: "), "{done:?}");
    assert!(!done.all().contains("internal error"), "{done:?}");
    assert!(!cli.work().join("room/effect.txt").exists(), "nothing that cannot be recorded is done");
    let record = cli.record();
    assert_eq!(record.dangling(), &[]);
    let kinds: Vec<_> = record.timeline().iter().map(|moment| moment.kind.clone()).collect();
    assert!(
        kinds.iter().any(|kind| kind == "tool_started"),
        "what was recorded before is still there: {kinds:?}"
    );
    let listed = cli.run(&["runs", "list"]);
    assert!(listed.out.contains("broken off"), "{listed:?}");
}

#[test]
fn a_record_that_may_not_grow_stops_the_run_before_the_next_effect() {
    let cli = Cli::new();
    let args = grows_too_large(&cli);
    // Files end at 32 KiB (64 blocks), with an error and not with a signal.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
    let binary = env!("CARGO_BIN_EXE_probity");
    let done = Running::start(cli.command_of("sh", &["-c", script, binary, args[0], args[1]])).finish();
    ran_out_of_room(&cli, &done);
}

#[test]
fn a_full_disk_stops_the_run_before_the_next_effect() {
    let cli = Cli::new();
    let args = grows_too_large(&cli);
    // The file system is small and exists only for this process and its children; what is in it is copied out.
    let script = "mount -t tmpfs -o size=96k,mode=700 none \"$PROBITY_DATA_DIR\" || exit 99\n\
        \"$0\" \"$@\"; code=$?; mkdir ../full && cp -r \"$PROBITY_DATA_DIR/runs\" ../full/; exit $code";
    fs::create_dir(cli.data()).unwrap();
    let binary = env!("CARGO_BIN_EXE_probity");
    let user: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--map-root-user"] };
    let all: Vec<&str> =
        user.iter().copied().chain(["--mount", "sh", "-c", script, binary]).chain(args).collect();
    let done = Running::start(cli.command_of("unshare", &all)).finish();
    if done.code == Some(99) || done.err.starts_with("unshare:") {
        eprintln!(
            "skipped a_full_disk_stops_the_run_before_the_next_effect: nothing can be mounted: {}",
            done.err
        );
        return;
    }
    fs::remove_dir(cli.data()).unwrap();
    fs::rename(cli.work().parent().unwrap().join("full"), cli.data()).unwrap();
    fs::set_permissions(cli.data(), fs::Permissions::from_mode(0o700)).unwrap();
    ran_out_of_room(&cli, &done);
    assert!(done.err.contains("No space left on device"), "{done:?}");
}

#[test]
fn a_data_directory_that_cannot_be_used_is_refused_before_the_run() {
    let check = |cli: &Cli, dir: &Path, says: &[&str]| {
        cli.file("m.toml", "[[rule]]\nname = 'x'\ntext = 'x'\n");
        let dir = dir.to_str().unwrap();
        for args in [
            &["run", "x", "--model", "rules/m.toml", "--data-dir", dir] as &[&str],
            &["demo", "--data-dir", dir],
        ] {
            let done = cli.run(args);
            assert_eq!(done.code, Some(6), "{done:?}");
            assert_eq!(done.out, "", "nothing was asked");
            says.iter().for_each(|part| assert!(done.err.contains(part), "`{part}` is missing: {done:?}"));
        }
    };
    let cli = Cli::new();
    let file = cli.file("file", "");
    check(&cli, &file, &["hint: choose another directory"]);
    check(&cli, &file.join("below"), &["hint: choose another directory"]);
    let open = cli.work().join("open");
    fs::create_dir(&open).unwrap();
    fs::write(open.join("somebody-elses"), "").unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    check(&cli, &open, &["other users may look into it", "hint: choose a directory of its own"]);
}

#[test]
fn records_belong_to_their_owner_whatever_the_umask_is() {
    let cli = Cli::new();
    let script = "umask 0; exec \"$0\" demo";
    let done = Running::start(cli.command_of("sh", &["-c", script, env!("CARGO_BIN_EXE_probity")])).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let (mut dirs, mut files) = (vec![cli.data()], 0);
    while let Some(dir) = dirs.pop() {
        assert_eq!(mode(&dir), 0o700, "{}", dir.display());
        for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            } else {
                assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files >= 2, "a record and an index");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_again() {
    let cli = Cli::new();
    assert_eq!(cli.run(&["demo"]).code, Some(0));
    let before = cli.run(&["runs", "list"]);
    assert!(before.out.contains("[answered]"), "{before:?}");
    for entry in fs::read_dir(cli.data()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::write(entry.path(), "not a database").unwrap();
        }
    }
    let after = cli.run(&["runs", "list"]);
    assert_eq!((after.code, after.out), (Some(0), before.out), "{}", after.err);
}

#[test]
fn a_torn_end_is_said_and_the_rest_is_shown() {
    let cli = Cli::new();
    assert_eq!(cli.run(&["demo"]).code, Some(0));
    let summary = cli.record().summary().unwrap();
    let path = cli.data().join("runs").join(format!("{}.prob", summary.run));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, bytes.get(..bytes.len() - 3).unwrap()).unwrap();
    let shown = cli.run(&["runs", "show", summary.run.as_str()]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.err.contains("the last write broke off; "), "{shown:?}");
    assert!(shown.out.contains("run started") && shown.out.contains("not ended, or broken off"), "{shown:?}");
}
