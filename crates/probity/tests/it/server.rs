//! A model provider on loopback that answers as the test says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::cli::PATIENCE;

/// What each connection gets.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    bytes: Vec<u8>,
    // Whether nothing more comes until the other side goes, instead of the end.
    hangs: bool,
}

/// The server. It ends with the value.
pub(crate) struct Server {
    /// What goes behind `--base-url`.
    pub(crate) url: String,
    asked: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Script {
    /// A whole answer of known length.
    pub(crate) fn answer(status: u16, headers: &[&str], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let mut head =
            format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        Self { bytes: [head.as_bytes(), body].concat(), hangs: false }
    }

    /// A refusal in the words of a provider. It may be tried again at once, so that no test waits.
    pub(crate) fn refusal(status: u16, header: &str, message: &str) -> Self {
        let body = json!({ "error": { "message": message, "type": "made_up" } }).to_string();
        Self::answer(status, &["content-type: application/json", "retry-after: 0", header], body)
    }

    /// A stream of these texts, to its proper end.
    pub(crate) fn stream(texts: &[&str]) -> Self {
        let mut body: String = texts.iter().map(|text| delta(text)).collect();
        body.push_str(&event(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] })));
        body.push_str("data: [DONE]\n\n");
        Self::answer(200, &["content-type: text/event-stream"], body)
    }

    /// A stream that ends in the middle.
    pub(crate) fn half_a_stream(text: &str) -> Self {
        Self { bytes: beginning(text), hangs: false }
    }

    /// A stream that goes silent in the middle.
    pub(crate) fn stalled(text: &str) -> Self {
        Self { bytes: beginning(text), hangs: true }
    }

    /// Nothing at all.
    pub(crate) fn silence() -> Self {
        Self { bytes: Vec::new(), hangs: true }
    }
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// One event of a stream of Chat Completions.
fn delta(text: &str) -> String {
    event(&json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] }))
}

fn beginning(text: &str) -> Vec<u8> {
    let body = delta(text);
    let head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{body}\r\n", body.len()).into_bytes()
}

impl Server {
    /// Gives every connection the same.
    pub(crate) fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (asked, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stopped) = (Arc::clone(&asked), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (script, count) = (script.clone(), Arc::clone(&count));
                std::thread::spawn(move || serve(stream.unwrap(), &script, &count));
            }
        });
        Self { url, asked, stop, thread: Some(thread) }
    }

    /// How many whole requests came.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the loop up; if even that fails the thread ends with the test's process.
        let address = self.url.trim_start_matches("http://").trim_end_matches("/v1");
        if TcpStream::connect(address).is_ok() {
            let _ended = self.thread.take().map(JoinHandle::join);
        }
    }
}

/// The other side may go at any time, which is no fault of the server.
fn serve(mut stream: TcpStream, script: &Script, asked: &AtomicUsize) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    if read_request(&mut stream).is_none() {
        return;
    }
    asked.fetch_add(1, Ordering::SeqCst);
    if stream.write_all(&script.bytes).is_ok() && script.hangs {
        let mut rest = [0; 64];
        while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
    }
}

/// Reads one request to its end; `None` where it broke off.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    loop {
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(piece.get(..count)?);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(text.into_owned());
        }
    }
}
