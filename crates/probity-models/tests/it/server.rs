//! A server on loopback that answers from a script and keeps what it was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What one connection gets: bytes, and what follows them.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    bytes: Vec<u8>,
    then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Close,
    /// Nothing more, until the other side closes.
    Hang,
}

/// The server; it ends with the value.
pub(crate) struct Server {
    pub(crate) base_url: String,
    requests: Arc<Mutex<Vec<String>>>,
    closed: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Script {
    /// A whole answer with a status line, headers and a body of known length.
    pub(crate) fn answer(status: u16, headers: &[&str], body: &str) -> Self {
        let mut text =
            format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        for header in headers {
            text += &format!("{header}\r\n");
        }
        Self { bytes: format!("{text}\r\n{body}").into_bytes(), then: Then::Close }
    }

    /// The begin of an answer that promises more than it brings, and then breaks off.
    pub(crate) fn cut(body: &str) -> Self {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let bytes = format!("{head}{:x}\r\n{body}\r\n", body.len()).into_bytes();
        Self { bytes, then: Then::Close }
    }

    /// The same, but instead of breaking off it hangs.
    pub(crate) fn stalled(body: &str) -> Self {
        Self { then: Then::Hang, ..Self::cut(body) }
    }

    /// Nothing at all.
    pub(crate) fn silence() -> Self {
        Self { bytes: Vec::new(), then: Then::Hang }
    }

    /// Headers and no content.
    pub(crate) fn headers_only() -> Self {
        Self { bytes: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec(), then: Then::Hang }
    }
}

impl Server {
    /// Serves the scripts in order, one a connection; a connection more gets nothing.
    pub(crate) async fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (requests, closed) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (kept, notify) = (Arc::clone(&requests), Arc::clone(&closed));
        let task = tokio::spawn(async move {
            for script in scripts {
                let (socket, _) = listener.accept().await.unwrap();
                serve(socket, &script, &kept, &notify).await;
            }
            // Further connections would be a fault of the caller: they are counted.
            while listener.accept().await.is_ok() {
                kept.lock().unwrap().push("one too many".to_owned());
            }
        });
        Self { base_url, requests, closed, task }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Ends when the other side has closed a connection that hung.
    pub(crate) async fn was_closed(&self) {
        tokio::time::timeout(Duration::from_secs(20), self.closed.notified()).await.expect("closed in time");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut socket: TcpStream, script: &Script, requests: &Mutex<Vec<String>>, closed: &Notify) {
    let request = request(&mut socket).await;
    requests.lock().unwrap().push(request);
    socket.write_all(&script.bytes).await.unwrap();
    if script.then == Then::Hang {
        let mut rest = [0; 64];
        while socket.read(&mut rest).await.is_ok_and(|count| count > 0) {}
        closed.notify_one();
    }
}

async fn request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = socket.read(&mut piece).await.unwrap_or(0);
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(count > 0, "a whole head");
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        if count == 0 || body.len() >= length.unwrap_or(0) {
            return text;
        }
    }
}
