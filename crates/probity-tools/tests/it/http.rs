//! `http_get` against servers on loopback.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use probity_contract::ToolErrorClass::{Cancelled, Failed, InvalidArguments, NotFound, Refused, TimedOut};
use probity_contract::{Effect, Target, Tool as _, ToolContext};
use probity_tools::{AllowedHost, HttpConfig, HttpGetTool};
use serde_json::json;

use crate::support::{Went, arguments, call, call_in, class, context};

/// A server that answers by path and keeps the paths it was asked for. Its threads end with the test process.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().take(64).flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || answer(stream, port, &seen));
            }
        });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, port: u16, seen: &Mutex<Vec<String>>) {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    if reader.read_line(&mut first).unwrap_or(0) == 0 {
        return;
    }
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap_or(0) > 2 {
        line.clear();
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().unwrap().push(path.clone());
    let plain = |status: &str, headers: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let found = |location: &str| plain("302 Found", &format!("Location: {location}\r\n"), "moved");
    let text = match path.as_str() {
        "/text" => plain("200 OK", "Content-Type: text/plain\r\n", "hello\n"),
        "/html" => plain("200 OK", "Content-Type: text/html; charset=utf-8\r\n", "<b>ä</b>"),
        "/json" => plain("200 OK", "Content-Type: application/problem+json\r\n", "{}"),
        "/binary" => plain("200 OK", "Content-Type: image/png\r\n", "secret-bytes"),
        "/untyped" => plain("200 OK", "", "plain"),
        "/untyped-binary" => plain("200 OK", "", "a\0b"),
        "/encoded" => plain("200 OK", "Content-Type: text/plain\r\nContent-Encoding: br\r\n", "xx"),
        "/missing" => plain("404 Not Found", "Content-Type: text/plain\r\n", "no such page"),
        "/near" => found("/text"),
        "/loop" => found("/loop"),
        "/far" => found(&format!("http://localhost:{port}/text")),
        "/private" => found("http://169.254.169.254/latest/meta-data"),
        "/port" => found("http://127.0.0.1:1/text"),
        "/user" => found(&format!("http://u:p@127.0.0.1:{port}/text")),
        "/file" => found("file:///etc/passwd"),
        "/big" => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100000000\r\n\r\n";
            let _ = stream.write_all(head.as_bytes());
            let chunk = vec![b'x'; 64 * 1024];
            for _ in 0..1_525 {
                if stream.write_all(&chunk).is_err() {
                    return;
                }
            }
            seen.lock().unwrap().push("big was read whole".to_owned());
            return;
        }
        "/slow" => {
            // Says nothing until the other side gives up, or for the time-out of the read.
            let _ = reader.read_line(&mut line);
            return;
        }
        "/half" => "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\nhalf".to_owned(),
        _ => return,
    };
    let _ = stream.write_all(text.as_bytes());
}

fn tool(hosts: Vec<AllowedHost>) -> HttpGetTool {
    HttpGetTool::new(HttpConfig::new(hosts)).unwrap()
}

fn allowed(text: &str) -> AllowedHost {
    text.parse().unwrap()
}

/// A tool that may ask the server as a declared private host.
fn open(server: &Server) -> HttpGetTool {
    tool(vec![allowed(&format!("127.0.0.1:{}", server.port)).private()])
}

async fn get(tool: &HttpGetTool, url: &str) -> Went {
    call(tool, json!({"url": url})).await
}

#[tokio::test]
async fn text_is_returned_and_everything_else_described() {
    let server = Server::start();
    let tool = open(&server);
    let cases = [
        ("/text", "HTTP 200 OK, text/plain, 6 bytes\n\nhello\n"),
        ("/html", "HTTP 200 OK, text/html, 9 bytes\n\n<b>ä</b>"),
        ("/json", "HTTP 200 OK, application/problem+json, 2 bytes\n\n{}"),
        ("/untyped", "HTTP 200 OK, no content type, 5 bytes\n\nplain"),
        ("/missing", "HTTP 404 Not Found, text/plain, 12 bytes\n\nno such page"),
        ("/binary", "HTTP 200 OK, image/png, 12 bytes\n[the body is not text and is not shown]\n"),
        (
            "/untyped-binary",
            "HTTP 200 OK, no content type, 3 bytes\n[the body is not text and is not shown]\n",
        ),
        ("/encoded", "HTTP 200 OK, text/plain, 2 bytes\n[the body is encoded as br and is not shown]\n"),
    ];
    for (path, expected) in cases {
        assert_eq!(get(&tool, &server.url(path)).await.unwrap(), expected, "{path}");
    }
}

#[tokio::test]
async fn redirects_are_told_and_never_followed() {
    let server = Server::start();
    let port = server.port;
    // All hosts are allowed by themselves: what a redirect leads to is still another address than was judged.
    let tool = tool(vec![
        allowed(&format!("127.0.0.1:{port}")).private(),
        allowed(&format!("localhost:{port}")).private(),
    ]);
    for (path, leads_to) in [("/near", "/text"), ("/far", "http"), ("/loop", "/loop")] {
        let went = get(&tool, &server.url(path)).await.unwrap();
        assert!(went.contains("redirects to http") && went.contains(leads_to), "{path} {went}");
        assert!(went.contains("Nothing was followed"), "{path} {went}");
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 3, "one request each: {asked:?}");
    assert!(!asked.contains(&"/text".to_owned()), "{asked:?}");
}

#[tokio::test]
async fn hosts_and_addresses_that_are_not_allowed_are_never_asked() {
    let server = Server::start();
    let port = server.port;
    let own = format!("127.0.0.1:{port}");
    let cases = [
        // Not in the list.
        (vec![], own.clone()),
        (vec!["example.org".to_owned()], own.clone()),
        (vec!["127.0.0.1".to_owned()], own.clone()),
        // In the list, but not declared private.
        (vec![own.clone()], own.clone()),
        (vec![format!("localhost:{port}")], format!("localhost:{port}")),
        (vec![format!("[::ffff:127.0.0.1]:{port}")], format!("[::ffff:127.0.0.1]:{port}")),
        (vec![format!("[::1]:{port}")], format!("[::1]:{port}")),
        (vec![own.clone()], format!("2130706433:{port}")),
        (vec![own.clone()], format!("0x7f.1:{port}")),
        (vec![own.clone()], format!("u:p@127.0.0.1:{port}")),
        (vec!["169.254.169.254".to_owned()], "169.254.169.254".to_owned()),
    ];
    for (hosts, authority) in cases {
        let tool = tool(hosts.iter().map(|host| allowed(host)).collect());
        let went = get(&tool, &format!("http://{authority}/text")).await;
        assert_eq!(class(&went), Refused, "{hosts:?} {authority} {went:?}");
    }
    let tool = open(&server);
    for (url, expected) in [
        (format!("ftp://127.0.0.1:{port}/"), Refused),
        ("file:///etc/passwd".to_owned(), Refused),
        (format!("http://user@127.0.0.1:{port}/text"), Refused),
        (format!("http://127.0.0.1:{port}/te\nxt"), Refused),
        ("not a url".to_owned(), InvalidArguments),
        ("http://".to_owned(), InvalidArguments),
    ] {
        let went = get(&tool, &url).await;
        assert_eq!(class(&went), expected, "{url} {went:?}");
    }
    assert!(server.asked().is_empty(), "{:?}", server.asked());
}

#[tokio::test]
async fn a_declared_private_name_is_asked() {
    let server = Server::start();
    let tool = tool(vec![allowed(&format!("localhost:{}", server.port)).private()]);
    let url = format!("http://localhost:{}/text", server.port);
    assert_eq!(get(&tool, &url).await.unwrap(), "HTTP 200 OK, text/plain, 6 bytes\n\nhello\n");
}

#[tokio::test]
async fn a_name_without_address_is_not_found() {
    // A label of more than 63 letters cannot be asked for, so the question goes to no server.
    let host = format!("{}.invalid", "a".repeat(64));
    let tool = tool(vec![allowed(&host).private()]);
    let went = get(&tool, &format!("http://{host}/")).await;
    assert_eq!(class(&went), NotFound, "{went:?}");
}

#[tokio::test]
async fn sizes_and_times_are_bounded() {
    let server = Server::start();
    let tool = open(&server);
    let cx = ToolContext { output_bytes_max: 10_000, ..context() };
    let text = call_in(&tool, json!({"url": server.url("/big")}), cx).await.unwrap();
    assert!(text.len() <= 10_000 && text.contains("[cut after "), "{}", text.len());
    let started = Instant::now();
    let cx = ToolContext { timeout: Duration::from_millis(200), ..context() };
    assert_eq!(class(&call_in(&tool, json!({"url": server.url("/slow")}), cx).await), TimedOut);
    let cx = context();
    let cancel = cx.cancel.clone();
    let firing = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.fire();
    });
    assert_eq!(class(&call_in(&tool, json!({"url": server.url("/slow")}), cx).await), Cancelled);
    firing.await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(30), "a slow host was waited for");
    assert_eq!(class(&get(&tool, &server.url("/half")).await), Failed);
    assert!(!server.asked().contains(&"big was read whole".to_owned()));
}

#[tokio::test]
async fn the_target_is_the_address_without_its_fragment() {
    let tool = tool(vec![allowed("*.example.org")]);
    let url = "HTTPS://Docs.Example.org/a?b=c#part";
    let targets = tool.targets(&arguments(&json!({"url": url}))).await.unwrap();
    let expected = Target::Url {
        url: "https://docs.example.org/a?b=c".to_owned(),
        host: "docs.example.org".to_owned(),
        port: 443,
        method: "GET".to_owned(),
    };
    assert_eq!(targets, [expected]);
    assert_eq!(tool.spec().effect, Effect::Pure);
    assert_eq!(tool.spec().input_schema["additionalProperties"], json!(false));
}
