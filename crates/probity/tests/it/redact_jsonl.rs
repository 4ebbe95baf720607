//! `probity redact --format jsonl`: lines of JSON keep their shape and lose their secrets.

use std::fs;
use std::io::Write;

use probity_testkit::fake_token;
use serde_json::Value;

use crate::cli::Cli;
use crate::redact::{Filtered, filter, start};

fn jsonl(cli: &Cli, args: &[&str], input: &[u8]) -> Filtered {
    filter(cli, &[["--format", "jsonl"].as_slice(), args].concat(), input)
}

/// The lines come out so, with these words on standard error; coming in again they stay so.
fn check(input: &[u8], expected: &[u8], told: &str) {
    let cli = Cli::new();
    let done = jsonl(&cli, &[], input);
    assert_eq!((done.code, done.err.as_str()), (Some(0), told));
    assert!(done.out == expected, "{}", String::from_utf8_lossy(&done.out));
    let again = jsonl(&cli, &["--quiet"], expected);
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""));
    assert!(again.out == expected, "{}", String::from_utf8_lossy(&again.out));
}

#[test]
fn what_is_not_secret_stays_byte_for_byte() {
    let lines = "{\"z\":1.10,\"a\" : [ 123456789012345678901234567890,-0,1E+2 ]}\r\n\n \t\n\"\\u00e9\\/\"\nnull\n[]\n{\"b\":1,\"b\":2}";
    check(lines.as_bytes(), lines.as_bytes(), "");
    check(b"", b"", "");
}

#[test]
fn members_with_a_credential_name_go_whole_and_no_name_hides_another() {
    let token = fake_token(1);
    check(
        format!("{{\"user\":\"bob\",\"password\":{{\"v\":[1]}},\"n\":1.0,\"a\":\"is {token}\",\"a\":\"bob\"}}\n[\"--password\",\"x\"]\n")
            .as_bytes(),
        b"{\"user\":\"bob\",\"password\":\"[REDACTED:password]\",\"n\":1.0,\"a\":\"is [REDACTED:github-token]\",\"a\":\"bob\"}\n[\"--password\",\"[REDACTED:password]\"]\n",
        "",
    );
}

#[test]
fn lines_that_are_no_json_are_passed_together_as_text() {
    let block = [
        "-----BEGIN ",
        "PRIVATE KEY-----\n",
        &"FAKEfake0NOTreal1FAKEfake0NOTreal1\n".repeat(3),
        "\n12345678\n",
        "-----END ",
        "PRIVATE KEY-----",
    ]
    .concat();
    let token = fake_token(2);
    check(
        format!("{{\"a\":1}}\nstarting \u{e9}\n{block}\n{{\"password\":\"x\"}}\nand {token}").as_bytes(),
        "{\"a\":1}\nstarting \u{e9}\n[REDACTED:private-key]\n{\"password\":\"[REDACTED:password]\"}\nand [REDACTED:github-token]".as_bytes(),
        "-: line 2 and 7 more are not JSON and were passed as text\n",
    );
    check(
        b"{\"a\":\"\xff\"}\n[1]\n",
        b"{\"a\":\"\xff\"}\n[1]\n",
        "-: line 1 is not JSON and was passed as text\n",
    );
}

#[test]
fn a_report_tells_line_path_and_place() {
    let (cli, token) = (Cli::new(), fake_token(3));
    let input = format!(
        "[1]\n{{\"a/b\":[0,\"\\u00e9 {token}\"],\"password\":12}}\ntext {token}\n{{\"{token}\":\"{token}\"}}\n"
    );
    cli.file("in.jsonl", &input);
    let done = jsonl(&cli, &["--quiet", "--report", "found", "in.jsonl"], b"");
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let report = fs::read_to_string(cli.work().join("found")).unwrap();
    assert!(!report.contains(token.get(4..20).unwrap()), "{report}");
    let entries: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<(Value, Value, &str)> = entries
        .iter()
        .map(|entry| {
            let at = |name: &str| usize::try_from(entry[name].as_u64().unwrap()).unwrap();
            assert_eq!(at("end") - at("start"), at("length"));
            (entry["line"].clone(), entry["path"].clone(), input.get(at("start")..at("end")).unwrap())
        })
        .collect();
    let named = "/[REDACTED:github-token]";
    let expected = [
        (2.into(), "/a~1b/1".into(), token.as_str()),
        (2.into(), "/password".into(), "12"),
        (Value::Null, Value::Null, &token),
        (4.into(), named.into(), &token),
        (4.into(), named.into(), &token),
    ];
    assert_eq!(told, expected);
    assert_eq!(entries[0]["fingerprint"], entries[2]["fingerprint"]);
    assert_ne!(entries[0]["fingerprint"], entries[1]["fingerprint"]);
}

#[test]
fn a_check_and_a_replacement_read_lines_too() {
    let cli = Cli::new();
    let path = cli.file("a.jsonl", "{\"n\":1.0,\"secret\":[\"x\"]}\n");
    cli.file("clean.jsonl", "{\"secret\":null}\n");
    let done = jsonl(&cli, &["--check", "clean.jsonl", "a.jsonl"], b"");
    assert_eq!((done.code, done.out.len()), (Some(1), 0));
    assert_eq!(done.err, "a.jsonl: 1 redacted: 1 secret\n");
    let done = jsonl(&cli, &["--in-place", "a.jsonl", "clean.jsonl"], b"");
    assert_eq!((done.code, done.err.as_str()), (Some(0), "a.jsonl: 1 redacted: 1 secret\n"));
    assert_eq!(fs::read_to_string(path).unwrap(), "{\"n\":1.0,\"secret\":\"[REDACTED:secret]\"}\n");
}

#[test]
fn a_line_beyond_the_limit_is_told_by_its_number() {
    let cli = Cli::new();
    let mut child = start(cli.command(&["redact", "--format", "jsonl"]));
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        stdin.write_all(b"{\"a\":1}\n\"").unwrap();
        let megabyte = b"words and words ".repeat(64 * 1024);
        // It stops reading.
        while stdin.write_all(&megabyte).is_ok() {}
    });
    let done = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(9), b"{\"a\":1}\n".as_slice()));
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(err.contains("read line 2 of `-` as JSON: it is longer than 67108864 bytes"), "{err}");
}
