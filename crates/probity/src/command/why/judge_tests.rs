use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::test_kill_process;

use super::*;

/// Longer than any of these programs takes, and shorter than a test may.
const LONG: Duration = Duration::from_secs(20);

fn program(directory: &Path, script: &str) -> PathBuf {
    let path = directory.join("judge");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_too_long_is_no_answer_and_ends_with_all_that_it_has_started() {
    let place = tempfile::tempdir().unwrap();
    let started = place.path().join("started");
    let script = format!("sleep 30 &\necho $! > {0}.new; mv {0}.new {0}\nwait", started.display());
    let judge = program(place.path(), &script);
    let cancel = Cancel::new();
    let stops = cancel.clone();
    let seen = started.clone();
    // Stopped once it has started something; the other way to be stopped, the limit, comes below.
    let watcher = std::thread::spawn(move || {
        while !seen.exists() {
            std::thread::yield_now();
        }
        stops.fire();
    });
    assert_eq!(asked(&judge, "a reply", LONG, &cancel), Err("was stopped".to_owned()));
    watcher.join().unwrap();
    let child = Pid::from_raw(fs::read_to_string(&started).unwrap().trim().parse().unwrap()).unwrap();
    let is_gone = || {
        let state = fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero())).unwrap_or_default();
        test_kill_process(child).is_err() || state.contains(") Z ")
    };
    while !is_gone() {
        std::thread::yield_now();
    }

    let none = asked(&judge, "a reply", Duration::from_millis(50), &Cancel::new());
    assert_eq!(none, Err("took longer than 0.05 seconds".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_is_an_answer_whoever_still_holds_the_pipe() {
    let place = tempfile::tempdir().unwrap();
    let long = "a reply that no pipe holds at once ".repeat(100_000);
    for (script, answer) in
        [("sleep 3 <&0 &\nexit 0", Ok(true)), ("exit 1", Ok(false)), ("cat > /dev/null; exit 0", Ok(true))]
    {
        assert_eq!(asked(&program(place.path(), script), &long, LONG, &Cancel::new()), answer, "{script}");
    }
}
