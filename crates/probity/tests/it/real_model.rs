//! A small real model: forced to call a tool, it must really have chosen the arguments, and its answer must have streamed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::cli::{Cli, PATIENCE};

/// Where the model is, as `cargo xtask models --json` prints it.
const VARIABLE: &str = "PROBITY_TEST_NEEDLE";

/// How long the model may take until it answers. It thinks in a moment, but on a core that others use it takes its time.
const ANSWER_MAX: Duration = Duration::from_secs(120);

#[derive(Debug, Deserialize)]
struct Needle {
    command: Vec<String>,
}

/// The model where it is installed. Where it is not, that is said, and in CI it is a failure.
fn needle(test: &str) -> Option<Needle> {
    match std::env::var(VARIABLE) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(_) if std::env::var_os("CI").is_some() => {
            panic!("{VARIABLE} is not set; `cargo xtask test` sets it")
        }
        Err(_) => {
            eprintln!(
                "skipped {test}: {VARIABLE} is not set; `cargo xtask test` installs the model and sets it"
            );
            None
        }
    }
}

/// A running model. It ends with the value, since its standard input does.
struct Model {
    child: Child,
    address: String,
}

impl Model {
    fn start(needle: &Needle) -> Self {
        let (program, args) = needle.command.split_first().unwrap();
        let mut command = Command::new(program);
        command.args(args).arg("--exit-with-stdin").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, line) = mpsc::channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || sender.send(BufReader::new(stdout).lines().next()));
        let line = line.recv_timeout(PATIENCE).expect("the model starts in time").unwrap().unwrap();
        let address = line.strip_prefix("listening ").expect("the model tells its address").to_owned();
        assert!(address.starts_with("127.0.0.1:"), "on loopback only: {address}");
        Self { child, address }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Stands between the program and the model and notes what the model sends, and when.
struct Tap {
    url: String,
    replies: Receiver<Vec<Piece>>,
}

struct Piece {
    at: Instant,
    bytes: Vec<u8>,
}

impl Tap {
    fn start(model: &Model) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, replies) = mpsc::channel();
        let address = model.address.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (sender, model) = (sender.clone(), TcpStream::connect(&address).unwrap());
                std::thread::spawn(move || sender.send(pass(stream.unwrap(), model)));
            }
        });
        Self { url, replies }
    }
}

/// Passes everything on both ways until the model has said all.
fn pass(client: TcpStream, mut model: TcpStream) -> Vec<Piece> {
    model.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), model.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    let (mut pieces, mut client) = (Vec::new(), client);
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = model.read(&mut buffer) {
        let bytes = buffer.get(..count).unwrap();
        pieces.push(Piece { at: Instant::now(), bytes: bytes.to_vec() });
        if client.write_all(bytes).is_err() {
            break;
        }
    }
    let _closed = client.shutdown(std::net::Shutdown::Both);
    pieces
}

/// The texts of the answer, each with the time at which it was on the wire.
fn texts(reply: &[Piece]) -> Vec<(Instant, String)> {
    let (mut texts, mut line) = (Vec::new(), Vec::new());
    for piece in reply {
        for byte in &piece.bytes {
            if *byte != b'\n' {
                line.push(*byte);
                continue;
            }
            let said = String::from_utf8(std::mem::take(&mut line)).unwrap();
            let event = said.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok());
            let text = event.as_ref().and_then(|event| event.pointer("/choices/0/delta/content")?.as_str());
            texts.extend(text.filter(|text| !text.is_empty()).map(|text| (piece.at, text.to_owned())));
        }
    }
    texts
}

#[test]
fn e2e_real_model_reads_the_file_it_is_asked_for_and_its_answer_streams() {
    let Some(needle) = needle("e2e_real_model_reads_the_file_it_is_asked_for_and_its_answer_streams") else {
        return;
    };
    let cli = Cli::new();
    // Nobody can know it beforehand, so what repeats it has read the file.
    let marker = random_word();
    // Long enough that the answer takes a while to come.
    let notes = "The lamp is lit. ".repeat(9);
    cli.file("desk/notes.txt", format!("The code word of today is {marker}. {notes}"));
    cli.file("desk/other.txt", "Nothing to see here.");
    cli.file("key", "made-up-key-that-opens-nothing");
    let model = Model::start(&needle);
    let tap = Tap::start(&model);
    let mut command = cli.command(&["run", "Read the file notes.txt and tell me what it says"]);
    command.args(["--model", "openai/needle-3", "--base-url", &tap.url, "--key-file", "key"]);
    command.args(["--root", "desk", "--tools", "fs_read", "--require-tool", "--allow", "fs_read"]);
    command.args(["--max-turns", "4"]);
    let mut running = crate::cli::Running::start(command);
    // The first words are there while the model still speaks.
    assert!(running.until_within(ANSWER_MAX, |out, _| !out.is_empty()), "an answer begins in time");
    let first_seen = Instant::now();
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");

    let record = cli.record();
    let calls = record.calls();
    let [call] = calls.as_slice() else { panic!("one call: {calls:?}") };
    let proposed = call.proposed.as_ref().unwrap();
    let arguments: Value = serde_json::from_str(&record.part_text(proposed.arguments).text).unwrap();
    assert_eq!(proposed.tool, "fs_read");
    assert_eq!(arguments["path"], "notes.txt", "the model takes the name from the question");
    assert!(call.attempts.first().unwrap().end.is_some(), "the tool ran to its end");
    let result = record.item_text(call.result.unwrap()).unwrap().text;
    assert!(result.contains(&marker), "the file's text is the result: {result}");
    assert!(done.out.contains(&marker), "and came back in the answer: {done:?}");

    let mut replies = Vec::new();
    while replies.len() < 2 {
        replies.push(tap.replies.recv_timeout(PATIENCE).expect("the model was asked twice"));
    }
    let texts = texts(replies.last().unwrap());
    let words: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(words.trim_end(), done.out.trim_end(), "what was shown is what the model said");
    assert!(texts.len() >= 10, "many pieces: {texts:?}");
    let (first, last) = (texts.first().unwrap().0, texts.last().unwrap().0);
    assert!(last - first >= Duration::from_millis(50), "bit by bit, and not at once");
    assert!(first_seen < last, "the answer is shown while the model still speaks");
}

fn random_word() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:x}", RandomState::new().hash_one(0))
}
