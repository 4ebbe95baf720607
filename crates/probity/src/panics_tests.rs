use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use probity_testkit::fake_token;

use super::*;

/// Says to the child which way to panic.
const WAY: &str = "PROBITY_TEST_PANIC";
const TOKEN: &str = "PROBITY_TEST_PANIC_TOKEN";
/// What a child needs at most; one that is blocked would never end.
const PATIENCE: Duration = Duration::from_secs(30);

/// What this program writes when the hook is installed and it panics this way, in a process of its own.
fn told(way: &str, token: &str) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "panics::tests::child", "--nocapture", "--test-threads=1"])
        .env(WAY, way)
        .env(TOKEN, token)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (ended, end) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (mut first, mut second) = (String::new(), String::new());
        std::io::Read::read_to_string(&mut err, &mut first).unwrap();
        std::io::Read::read_to_string(&mut out, &mut second).unwrap();
        ended.send(()).unwrap();
        first + &second
    });
    if end.recv_timeout(PATIENCE).is_err() {
        child.kill().unwrap();
        panic!("the child that panics by `{way}` is blocked");
    }
    child.wait().unwrap();
    reader.join().unwrap()
}

/// Panics when it is started by [`told`], and is nothing otherwise.
#[test]
fn child() {
    let (Ok(way), Ok(token)) = (std::env::var(WAY), std::env::var(TOKEN)) else { return };
    let screen = Arc::new(Screen::new());
    if way != "unhooked" {
        tell(&screen);
    }
    let panics = || match way.as_str() {
        "payload" => panic::panic_any(7_u8),
        "screen" => screen.at_work(|| panic!("with {token}")),
        "lines" => panic!("first {token}\nerror: failed to look\u{1b}[2J like ours"),
        _ => panic!("with {token}"),
    };
    let _panicked = panic::catch_unwind(panic::AssertUnwindSafe(panics));
    screen.tell(&Egress::fixed("and went on"));
}

#[test]
fn a_panic_is_told_without_its_credential() {
    let token = fake_token(12);
    let told = told("text", &token);
    assert!(told.contains("internal error at ") && told.contains("panics_tests.rs"), "{told}");
    assert!(told.contains("with [REDACTED") && !told.contains(&token), "{told}");
    assert!(told.contains("and went on"), "{told}");
}

#[test]
fn a_panic_that_is_not_hooked_would_show_the_credential() {
    let token = fake_token(12);
    assert!(told("unhooked", &token).contains(&token));
}

#[test]
fn a_panic_while_the_screen_is_held_is_told_and_blocks_nothing() {
    let token = fake_token(12);
    let told = told("screen", &token);
    assert!(told.contains("with [REDACTED") && !told.contains(&token), "{told}");
    assert!(told.contains("and went on"), "{told}");
}

#[test]
fn a_panic_is_one_line_that_a_terminal_does_not_act_on() {
    let told = told("lines", &fake_token(12));
    assert!(!told.contains("\nerror: failed") && !told.contains('\u{1b}'), "{told}");
}

#[test]
fn a_payload_that_is_no_text_is_said_to_be_none() {
    assert!(told("payload", "x").contains("panic with a non-text payload"));
}
