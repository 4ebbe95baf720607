//! `probity redact`: bytes in, bytes out, and nothing of a secret anywhere.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use probity_egress::STREAM_HOLDBACK_BYTES_MAX;
use probity_testkit::fake_token;
use rustix::process::Signal;
use serde_json::Value;

use crate::cli::{Cli, Done, Running, wait_for};

/// How long what is decided may take to come; nothing but a test that fails takes so long.
const PROMPT: Duration = Duration::from_secs(30);

/// What came of a filter, as bytes.
pub(crate) struct Filtered {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

pub(crate) fn start(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs the filter over bytes. They are fed by a thread, so that neither side waits for the other.
pub(crate) fn filter(cli: &Cli, args: &[&str], input: &[u8]) -> Filtered {
    let mut child = start(cli.command(&[&["redact"], args].concat()));
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let done = child.wait_with_output().unwrap();
    // A program that has stopped reading is judged by its code.
    let _fed = feeder.join().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    Filtered { code: done.status.code(), out: done.stdout, err }
}

/// The bytes come out so, with code 0, and coming in again they stay so.
fn check(args: &[&str], input: &[u8], expected: &[u8]) {
    let cli = Cli::new();
    for input in [input, expected] {
        let done = filter(&cli, args, input);
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert!(done.out == expected, "{:?}", String::from_utf8_lossy(&done.out));
    }
}

#[test]
fn a_stream_loses_its_secrets_and_nothing_else() {
    let token = fake_token(1);
    check(&[], b"", b"");
    check(&[], b"no line end", b"no line end");
    check(&["-"], format!("a {token} b\r\n").as_bytes(), b"a [REDACTED:github-token] b\r\n");
    let input = b"see https://example.org/a and /var/log/a";
    check(&[], input, input);
    check(&["--tier", "human"], input, b"see [REDACTED:url] and [REDACTED:path]");
}

#[test]
fn bytes_that_are_not_utf_8_stay_in_their_place_and_hide_nothing() {
    let token = fake_token(2);
    let glued =
        [b"\xff".as_slice(), token.as_bytes(), b"\xfe\x80 Gr\xfc\xdfe \xef\x9e\x80 \xf0\x9f"].concat();
    check(&[], &glued, b"\xff[REDACTED:github-token]\xfe\x80 Gr\xfc\xdfe \xef\x9e\x80 \xf0\x9f");
    // Without a letter there is nothing to find, whatever the bytes.
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
    .filter(|byte| !byte.is_ascii_alphanumeric())
    .take(300_000)
    .collect();
    check(&[], &noise, &noise);
}

#[test]
fn a_report_tells_places_and_no_text() {
    let (cli, token) = (Cli::new(), fake_token(3));
    let input = [b"\xff\xfe ".as_slice(), token.as_bytes(), b" \xff and ", token.as_bytes(), b"\n"].concat();
    cli.file("in.txt", &input);
    let done = filter(&cli, &["--report", "found.jsonl", "in.txt"], b"");
    assert_eq!(done.code, Some(0), "{}", done.err);
    let path = cli.work().join("found.jsonl");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let report = fs::read_to_string(path).unwrap();
    assert!(!report.contains(token.get(4..20).unwrap()), "{report}");
    let lines: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let at = |name: &str| usize::try_from(line[name].as_u64().unwrap()).unwrap();
        assert_eq!(&input[at("start")..at("end")], token.as_bytes(), "{line}");
        assert_eq!(at("length"), token.len());
        assert_eq!((line["file"].as_str(), line["kind"].as_str()), (Some("in.txt"), Some("github-token")));
        assert_eq!(line["fingerprint"], lines[0]["fingerprint"]);
        assert_eq!(line["fingerprint"].as_str().unwrap().len(), 16);
    }
    let done = filter(&cli, &["--report", "-", "in.txt"], b"");
    assert_eq!(done.err.lines().count(), 2, "beside the text it goes to standard error");
    let done = filter(&cli, &["--check", "--report", "-", "in.txt"], b"");
    assert_eq!(String::from_utf8(done.out).unwrap().lines().count(), 2);
    let done = filter(&cli, &["--report", "in.txt", "in.txt"], b"");
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert_eq!(fs::read(cli.work().join("in.txt")).unwrap(), input);
}

#[test]
fn a_report_keeps_every_one_of_many_findings() {
    let (cli, token) = (Cli::new(), fake_token(4));
    let done = filter(&cli, &["--check", "--report", "-"], format!("{token}\n").repeat(12_000).as_bytes());
    assert_eq!(done.code, Some(1));
    assert_eq!(done.out.iter().filter(|byte| **byte == b'\n').count(), 12_000);
    assert_eq!(done.err, "-: 12000 redacted: 12000 github-token\n");
}

#[test]
fn a_check_writes_no_text_and_tells_by_its_code() {
    let (cli, token) = (Cli::new(), fake_token(5));
    cli.file("a.txt", "clean\n");
    cli.file("b.txt", format!("{token}\n{token}\n"));
    let run = |args: &[&str]| -> Done { cli.run(&[&["redact", "--check"], args].concat()) };
    let done = run(&["a.txt"]);
    assert_eq!((done.code, done.all().trim()), (Some(0), ""));
    let done = run(&["a.txt", "b.txt"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    assert_eq!(done.err, "b.txt: 2 redacted: 2 github-token\n");
    assert_eq!(run(&["--quiet", "b.txt"]).all().trim(), "");
    let done = run(&["b.txt", "gone.txt", "a.txt"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("read `gone.txt`: No such file"), "{done:?}");
    let json = run(&["--json", "a.txt", "b.txt"]).json();
    assert_eq!((&json["found"], &json["files"][1]["redacted"]), (&Value::from(true), &Value::from(2)));
    assert_eq!(json["files"][1]["kinds"][0]["count"], 2);
    assert_eq!(run(&["--in-place", "b.txt"]).code, Some(2));
    assert_eq!(run(&["."]).code, Some(2));
    assert_eq!(cli.run(&["redact", "--json"]).code, Some(2));
}

#[test]
fn files_come_out_in_their_order() {
    let cli = Cli::new();
    cli.file("a", "one\n");
    cli.file("b", "two");
    assert_eq!(filter(&cli, &["b", "-", "a"], b" or ").out, b"two or one\n");
}

#[test]
fn known_secrets_are_found_and_short_ones_told_by_number() {
    let cli = Cli::new();
    cli.file("known", "# of the shop\nblue-horse-7\nexport SHOP_PIN=\"green-cow-8\"\n\nabc\n");
    let done = filter(&cli, &["--known", "known"], b"blue-horse-7, green-cow-8, SHOP_PIN, abc");
    assert_eq!(done.code, Some(0));
    let out = String::from_utf8(done.out).unwrap();
    assert!(!out.contains("horse") && !out.contains("cow") && out.ends_with(", SHOP_PIN, abc"), "{out}");
    assert_eq!(done.err, "line 5 of `known` is too short; nothing below 6 bytes is looked for\n");
    assert_eq!(filter(&cli, &["--known", "gone"], b"").code, Some(2));
}

#[test]
fn in_place_replaces_the_target_once_and_leaves_the_clean_alone() {
    let (cli, token) = (Cli::new(), fake_token(6));
    let clean = cli.file("clean.txt", "clean\n");
    let real = cli.file("dir/real.txt", format!("x {token}\n"));
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dir/real.txt", cli.work().join("link")).unwrap();
    let before = fs::metadata(&clean).unwrap();
    let done = cli.run(&["redact", "--in-place", "link", "clean.txt"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), "link: 1 redacted: 1 github-token\n"));
    assert_eq!(fs::read_to_string(&real).unwrap(), "x [REDACTED:github-token]\n");
    assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(cli.work().join("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&clean).unwrap().ino(), before.ino());
    assert_eq!(fs::read_dir(cli.work().join("dir")).unwrap().count(), 1, "nothing is left beside it");
    for wrong in ["-", "dir", "gone", "/dev/null"] {
        assert_eq!(cli.run(&["redact", "--in-place", wrong]).code, Some(2), "{wrong}");
    }
    assert_eq!(cli.run(&["redact", "--in-place"]).code, Some(2));
}

#[test]
fn what_is_decided_comes_before_the_input_ends() {
    let cli = Cli::new();
    let mut child = start(cli.command(&["redact"]));
    let mut stdin = child.stdin.take().unwrap();
    // More than is ever held back, and less than a read takes.
    let lines = b"hello there, this is decided\n".repeat(1 + STREAM_HOLDBACK_BYTES_MAX / 29);
    stdin.write_all(&lines).unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (sender, first) = mpsc::channel();
    std::thread::spawn(move || {
        let mut first = [0; 5];
        let _gone = sender.send(stdout.read_exact(&mut first).map(|()| first));
    });
    let first = first.recv_timeout(PROMPT);
    // The input ends, and with it the program, also where nothing came.
    drop(stdin);
    wait_for("the end", || child.try_wait().unwrap());
    assert_eq!(&first.expect("nothing came").unwrap(), b"hello");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let cli = Cli::new();
    let mut child = start(cli.command(&["redact"]));
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let line = b"words and words\n".repeat(1000);
    while stdin.write_all(&line).is_ok() {}
    wait_for("the end", || child.try_wait().unwrap());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), b"".as_slice()));
    // With several files, too, though one of them is never closed.
    cli.file("large", b"words and words\n".repeat(100_000));
    let mut child = start(cli.command(&["redact", "--jobs", "2", "large", "-"]));
    drop(child.stdout.take());
    let status = wait_for("the end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}

#[test]
fn memory_does_not_grow_with_the_stream() {
    let cli = Cli::new();
    let mut child = start(cli.command(&["redact", "--report", "report"]));
    let mut stdout = child.stdout.take().unwrap();
    let drain = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()).unwrap());
    let mut stdin = child.stdin.take().unwrap();
    // One secret that does not end, with a stand-in at every other byte of it, and then ordinary lines.
    stdin.write_all(b"password=\"").unwrap();
    for piece in [b"a\xff".as_slice(), b"ordinary words in a line\n"] {
        let megabyte = piece.repeat(1024 * 1024 / piece.len());
        (0..8).for_each(|_| stdin.write_all(&megabyte).unwrap());
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 64 * 1024, "{kilobytes} kB");
    drop(stdin);
    let status = wait_for("the end", || child.try_wait().unwrap());
    assert!(status.success());
    assert!(drain.join().unwrap() > 0);
}

/// A file whose redaction takes a while, since it is dense with secrets, and whose new file is there early.
fn slow(cli: &Cli) -> (PathBuf, Vec<u8>) {
    let text = format!("{} ", fake_token(7)).repeat(150_000).into_bytes();
    (cli.file("dir/slow.txt", &text), text)
}

/// Starts to replace the file and waits until the new one has been begun.
fn begin_in_place(cli: &Cli) -> Running {
    let running = Running::start(cli.command(&["redact", "--in-place", "dir/slow.txt"]));
    wait_for("the new file", || (names(cli).len() == 2).then_some(()));
    running
}

fn names(cli: &Cli) -> Vec<OsString> {
    fs::read_dir(cli.work().join("dir")).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn ctrl_c_leaves_the_old_file_and_nothing_beside_it() {
    let cli = Cli::new();
    let (path, text) = slow(&cli);
    let running = begin_in_place(&cli);
    running.signal(Signal::INT);
    let done = running.finish();
    assert_eq!(done.code, Some(130), "{}", done.err);
    assert!(fs::read(path).unwrap() == text);
    assert_eq!(names(&cli), ["slow.txt"]);
}

#[test]
fn a_file_that_changes_meanwhile_is_not_replaced() {
    let cli = Cli::new();
    let (path, text) = slow(&cli);
    let running = begin_in_place(&cli);
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    let done = running.finish();
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(
        done.err.contains("replace `dir/slow.txt`: somebody else has changed it meanwhile"),
        "{}",
        done.err
    );
    assert!(fs::read(path).unwrap() == [text.as_slice(), b"more"].concat());
    assert_eq!(names(&cli), ["slow.txt"]);
}

#[test]
fn what_cannot_be_read_or_written_ends_with_its_code() {
    let cli = Cli::new();
    // The memory of a program can be opened, and at its beginning there is none.
    let done = cli.run(&["redact", "/proc/self/mem"]);
    assert_eq!(done.code, Some(9), "{done:?}");
    assert!(done.err.contains("read `/proc/self/mem`: "), "{done:?}");
    cli.file("a", "words\n");
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let done = cli.command(&["redact", "a"]).stdout(full()).output().unwrap();
    assert_eq!(done.status.code(), Some(9), "{done:?}");
    cli.file("b", fake_token(8));
    let done = cli.run(&["redact", "--check", "--report", "/dev/full", "b"]);
    assert_eq!(done.code, Some(9), "{done:?}");
    assert!(done.err.contains("write the report on `b`: "), "{done:?}");
}

#[test]
fn an_input_is_not_the_output() {
    let cli = Cli::new();
    let path = cli.file("a", "words\n");
    cli.file("b", "other\n");
    for args in [["redact", "b", "a"], ["redact", "a", "b"]] {
        let before = fs::read(&path).unwrap();
        let out = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let done = cli.command(&args).stdout(out).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let err = String::from_utf8(done.stderr).unwrap();
        assert!(err.contains("read `a`: it is also the output"), "{err}");
        assert_eq!(fs::read(&path).unwrap(), [before.as_slice(), b"other\n"].concat());
    }
}

#[test]
fn many_files_at_once_come_out_in_their_order() {
    let cli = Cli::new();
    // The first takes longest, so that all others wait for it, some of them with more than stays in memory.
    let sizes = [4_000_000, 10, 2_000_000, 0, 100_000, 10];
    let (mut expected, mut names) = (String::new(), Vec::new());
    for (index, size) in sizes.into_iter().enumerate() {
        let text = format!("file {index}\n").repeat(size / 7);
        let (name, token) = (format!("f{index}"), fake_token(9));
        cli.file(&name, format!("{text}{token}\n"));
        expected.push_str(&format!("{text}[REDACTED:github-token]\n"));
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for jobs in ["1", "2", "5", "100"] {
        let args = [["--jobs", jobs, "--report", "report"].as_slice(), &names].concat();
        let done = filter(&cli, &args, b"");
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
        assert!(done.out == expected.as_bytes(), "{jobs} at once");
        let report = fs::read_to_string(cli.work().join("report")).unwrap();
        let files: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(files.iter().map(|line| line["file"].as_str().unwrap()).collect::<Vec<_>>(), names);
        let done = filter(&cli, &[["--jobs", jobs, "--check"].as_slice(), &names].concat(), b"");
        assert_eq!(done.code, Some(1));
        let told: Vec<&str> = done.err.lines().map(|line| line.split_once(':').unwrap().0).collect();
        assert_eq!(told, names);
    }
    let done = filter(&cli, &[["--jobs", "5", "--in-place"].as_slice(), &names, &["f1"]].concat(), b"");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(done.err.lines().count(), names.len(), "one that is named twice is redacted once");
    let after = names.iter().map(|name| fs::read_to_string(cli.work().join(name)).unwrap());
    assert!(after.collect::<String>() == expected);
    assert_eq!(fs::read_dir(cli.work()).unwrap().count(), names.len() + 1, "nothing is left beside them");
    assert_eq!(filter(&cli, &["--jobs", "0", "f1"], b"").code, Some(2));
}
