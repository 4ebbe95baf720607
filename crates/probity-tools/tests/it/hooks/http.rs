use probity_contract::{HookVerdict, Points, PolicyError};
use probity_egress::{SamePrincipal, egress_text};
use probity_tools::{HttpHook, HttpInterceptor};
use serde_json::{Value, json};

use super::server::{Server, answer};
use super::{FORGED, MALFORMED, ask, assert_malformed, name};

fn guard(server: &Server) -> HttpInterceptor {
    HttpInterceptor::new(name(), Points::MESSAGES, HttpHook::new(server.url())).unwrap()
}

/// What comes of asking a server that answers with these bytes.
async fn answered(bytes: Vec<u8>) -> Result<HookVerdict, PolicyError> {
    ask(&guard(&Server::start(vec![bytes])), "x").await
}

fn words(went: Result<HookVerdict, PolicyError>) -> String {
    let error = went.unwrap_err();
    assert!(!error.is_malformed(), "{error}");
    error.to_string()
}

#[tokio::test]
async fn a_server_is_asked_with_the_context_and_answers_with_a_verdict() {
    let bare = r#"{"decision":"deny","reason":"no invoices"}"#;
    let server = Server::start(vec![
        answer("200 OK", r#"{"decision":"allow"}"#),
        answer("200 OK", bare),
        answer("200 OK", &format!(r#"{{"verdict":{bare},"extensions":{{"took":1}}}}"#)),
    ]);
    let guard = guard(&server);
    assert!(ask(&guard, "first").await.unwrap().permits());
    assert_eq!(ask(&guard, "second").await.unwrap().reason(), Some("no invoices"));
    assert_eq!(ask(&guard, "third").await.unwrap().reason(), Some("no invoices"));
    let asked = server.asked();
    let first = asked.first().unwrap();
    assert!(first.head.starts_with("POST /hook HTTP/1.1\r\n"), "{}", first.head);
    assert!(first.head.to_ascii_lowercase().contains("content-type: application/json\r\n"), "{}", first.head);
    let context: Value = serde_json::from_str(&first.body).unwrap();
    assert_eq!(context, json!({ "interception_point": "input", "target": { "content": "first" } }));
}

#[tokio::test]
async fn v1_what_a_server_says_that_is_no_verdict_denies_and_is_told_by_its_shape() {
    // A bare envelope is a verdict here.
    let bare = MALFORMED.into_iter().filter(|body| !body.starts_with(r#"{"verdict""#));
    let more = [
        "",
        "secret-words",
        r#"{"decision":"allow"} {"decision":"allow"}"#,
        r#"{"decision":"allow","decision":"allow"}"#,
    ];
    let bodies: Vec<&str> = bare.chain(more).collect();
    let guard = guard(&Server::start(bodies.iter().map(|body| answer("200 OK", body)).collect()));
    for body in bodies {
        assert_malformed(ask(&guard, "x").await, body);
    }
    let mut no_utf8 = answer("200 OK", r#"{"decision":"allow","message":"x"}"#);
    let at = no_utf8.len() - 3;
    *no_utf8.get_mut(at).unwrap() = 0xff;
    assert_malformed(answered(no_utf8).await, "no UTF-8");
    let long = format!(r#"{{"decision":"allow","message":"{}"}}"#, "secret-words".repeat(100_000));
    assert_malformed(answered(answer("200 OK", &long)).await, "a body that is too long");
    let zipped = answer("200 OK\r\nContent-Encoding: gzip", "\u{1f}secret-words");
    assert_malformed(answered(zipped).await, "an encoded body");
}

#[tokio::test]
async fn v4_a_forged_result_of_a_server_is_malformed() {
    let beside = r#"{"verdict":{"decision":"allow"},"result":"secret-words"}"#;
    let guard =
        guard(&Server::start(FORGED.iter().chain([&beside]).map(|body| answer("200 OK", body)).collect()));
    for forged in FORGED.into_iter().chain([beside]) {
        assert_malformed(ask(&guard, "x").await, forged);
    }
}

#[tokio::test]
async fn a_server_that_gives_no_answer_has_denied() {
    let allow = r#"{"decision":"allow"}"#;
    for status in
        ["201 Created", "202 Accepted", "400 Bad Request", "401 Unauthorized", "500 Oh No", "503 Busy"]
    {
        let told = words(answered(answer(status, allow)).await);
        assert_eq!(told, format!("it answered with HTTP status {}", status.split(' ').next().unwrap()));
    }
    assert!(
        words(answered(answer("204 No Content", "")).await).starts_with("it answered with HTTP status 204")
    );
    let cut =
        format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{allow}").into_bytes();
    assert_eq!(words(answered(cut).await), "the exchange broke off");
    assert_eq!(words(answered(b"secret-words\r\n\r\n".to_vec()).await), "the exchange broke off");
    assert_eq!(words(answered(Vec::new()).await), "the exchange broke off");
    let nobody = HttpHook::new("http://127.0.0.1:1/hook");
    let nobody = HttpInterceptor::new(name(), Points::MESSAGES, nobody).unwrap();
    assert_eq!(words(ask(&nobody, "x").await), "no connection could be made");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_sends_no_header_elsewhere() {
    let elsewhere = Server::start(vec![answer("200 OK", r#"{"decision":"allow"}"#)]);
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let moved = answer(&format!("{status}\r\nLocation: {}", elsewhere.url()), r#"{"decision":"allow"}"#);
        let told = words(answered(moved).await);
        assert!(
            told.starts_with("it answered with HTTP status 3")
                && told.ends_with("it is not followed elsewhere"),
            "{told}"
        );
    }
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn the_value_of_a_header_is_told_to_the_server_and_to_nobody_else() {
    // No known form of a credential: only that it was given makes it one.
    let value = "Bearer plain words and orchid-lantern-7";
    let server = Server::start(vec![answer("200 OK", r#"{"decision":"allow"}"#), answer("401 No", value)]);
    let hook = HttpHook::new(server.url()).with_secret_header("authorization", value);
    assert_eq!(format!("{hook:?}"), r#"HttpHook { headers: ["authorization"], .. }"#);
    let guard = HttpInterceptor::new(name(), Points::MESSAGES, hook).unwrap();
    assert_eq!(format!("{guard:?}"), "HttpInterceptor { name: InterceptorName(guard), .. }");
    assert!(ask(&guard, "x").await.unwrap().permits());
    assert!(server.asked().first().unwrap().head.contains(value));
    assert!(!words(ask(&guard, "x").await).contains("orchid"));
    let echoed = egress_text::<SamePrincipal>("refused for orchid-lantern-7 at the door");
    assert!(!echoed.as_str().contains("orchid"), "{echoed}");
}

#[test]
fn an_address_that_others_could_read_is_refused_before_a_run() {
    let check = |url: &str| HttpInterceptor::new(name(), Points::MESSAGES, HttpHook::new(url));
    for fine in
        ["https://hooks.example.org/x", "http://127.0.0.1:8080", "http://[::1]:9/x", "http://localhost/x"]
    {
        check(fine).unwrap();
    }
    for not in [
        "http://hooks.example.org/x",
        "http://10.0.0.1/x",
        "http://169.254.169.254/x",
        "http://localhost.example.org/x",
        "http://0.0.0.0/x",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "127.0.0.1:80",
        "https://ada:secret-words@hooks.example.org/x",
        "",
    ] {
        let error = check(not).unwrap_err().to_string();
        assert!(
            error.starts_with("set up the interceptor `guard`: its address ") && !error.contains("secret"),
            "{error}"
        );
    }
    let headers =
        |name: &str, value: &str| HttpHook::new("http://127.0.0.1/").with_secret_header(name, value);
    for hook in [headers("no name", "x"), headers("x", "secret\nwords")] {
        let error = HttpInterceptor::new(name(), Points::MESSAGES, hook).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
