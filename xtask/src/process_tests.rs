use super::*;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn a_failure_names_the_command_and_what_it_said() {
    let error = stdout_of(&mut shell("echo too bad >&2; exit 3")).unwrap_err().to_string();
    assert!(error.contains("sh -c 'echo too bad") && error.contains("exit status: 3"), "{error}");
    assert!(error.ends_with(": too bad"), "{error}");
    assert!(run(&mut shell("exit 1")).is_err());
    assert!(!works(&mut Command::new("surely-no-such-program")));
}

#[test]
fn output_is_collected_whole() {
    let output =
        output_within(&mut shell("echo out; echo err >&2; exit 4"), Duration::from_secs(20)).unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_child_that_hangs_is_stopped() {
    // `exec`: the sleeper itself is the child, so that stopping it leaves nothing behind.
    let error = output_within(&mut shell("exec sleep 600"), Duration::from_millis(100)).unwrap_err();
    assert!(error.to_string().contains("was stopped"), "{error}");
}
