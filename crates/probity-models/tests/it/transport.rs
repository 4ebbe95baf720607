//! What happens on the wire: tries, time-outs, limits, cancellation, and where the key does not go.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use probity_contract::{
    Cancel, Content, Item, ItemId, Label, Model as _, ModelContext, ModelError, ModelErrorClass, ModelEvent,
    ModelParams, ModelReply, ModelRequest, Origin, ReplyPart, ReplyPartKind, Stop, ToolChoice,
};
use probity_models::{ApiKey, HttpModel, HttpModelConfig, Provider, Timeouts};

use crate::server::{Script, Server};

const KEY: &str = "not-a-real-key-3f9b1c";

const CHUNKS: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n\
                      data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n";
const HALF: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";

fn config(server: &Server) -> HttpModelConfig {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    std::fs::write(&path, KEY).unwrap();
    HttpModelConfig {
        base_url: Some(server.base_url.clone()),
        key: Some(ApiKey::read_file(&path).unwrap()),
        ..HttpModelConfig::new(Provider::Compatible, "some-model")
    }
}

fn context() -> ModelContext {
    ModelContext { cancel: Cancel::new(), timeout: Duration::from_secs(30) }
}

fn request() -> ModelRequest {
    let content = Content::Person("Hello?".into());
    let item = Item { id: ItemId(1), origin: Origin::Principal, label: Label::system(), content };
    ModelRequest {
        items: Arc::new(vec![Arc::new(item)]),
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        params: Arc::new(ModelParams::default()),
    }
}

async fn ask(config: HttpModelConfig, cx: ModelContext) -> (String, Result<ModelReply, ModelError>) {
    let mut stream = HttpModel::new(config).unwrap().call(request(), cx);
    let mut shown = String::new();
    let mut outcome = None;
    while let Some(event) = stream.next().await {
        assert!(outcome.is_none(), "nothing after the end");
        match event {
            Ok(ModelEvent::Text { delta, .. }) => shown += &delta,
            Ok(ModelEvent::Finished(reply)) => outcome = Some(Ok(reply)),
            Ok(_) => {}
            Err(error) => outcome = Some(Err(error)),
        }
    }
    (shown, outcome.expect("an end"))
}

/// Runs one call against scripts, and returns what was shown, the outcome, and how often the server was asked.
async fn run(scripts: Vec<Script>) -> (String, Result<ModelReply, ModelError>, usize) {
    run_with(scripts, |_| {}).await
}

async fn run_with(
    scripts: Vec<Script>,
    change: impl FnOnce(&mut HttpModelConfig),
) -> (String, Result<ModelReply, ModelError>, usize) {
    let server = Server::start(scripts).await;
    let mut config = config(&server);
    change(&mut config);
    let (shown, outcome) = ask(config, context()).await;
    (shown, outcome, server.requests().len())
}

async fn check_error(scripts: Vec<Script>, class: ModelErrorClass, words: &str, asked: usize) {
    let (_, outcome, count) = run(scripts).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.class, count), (class, asked), "{error}");
    assert!(error.message.contains(words), "{error}");
    assert!(error.hint.is_some(), "{error}");
}

#[tokio::test]
async fn a_stream_is_shown_as_it_comes_and_finished() {
    let server = Server::start(vec![Script::answer(200, &[], CHUNKS)]).await;
    let (shown, outcome) = ask(config(&server), context()).await;
    let reply = outcome.unwrap();
    assert_eq!((shown.as_str(), &reply.stop), ("Hello", &Stop::EndTurn));
    assert_eq!(reply.parts, [ReplyPart::text("Hello")]);
    let sent = server.requests().remove(0);
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("authorization: Bearer {KEY}\r\n")), "{sent}");
    assert!(sent.contains("\"stream\":true") && sent.contains("Hello?"), "{sent}");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let (shown, outcome, _) = run(vec![Script::answer(200, &["content-type: application/json"], body)]).await;
    assert_eq!(shown, "Hello");
    assert!(matches!(&outcome.unwrap().parts[0].kind, ReplyPartKind::Text(text) if text == "Hello"));
}

#[tokio::test]
async fn the_providers_end_marker_ends_the_call_even_if_the_connection_stays() {
    let (_, outcome, _) = run(vec![Script::stalled(&format!("{CHUNKS}data: [DONE]\n\n"))]).await;
    assert_eq!(outcome.unwrap().stop, Stop::EndTurn);
}

#[tokio::test]
async fn passing_refusals_are_tried_again() {
    for status in [429, 503, 529] {
        let refusal = Script::answer(status, &["retry-after: 0"], "{}");
        let (shown, outcome, count) =
            run(vec![refusal.clone(), refusal, Script::answer(200, &[], CHUNKS)]).await;
        assert_eq!((shown.as_str(), outcome.is_ok(), count), ("Hello", true, 3), "{status}");
    }
}

#[tokio::test]
async fn tries_are_bounded_and_counted() {
    let refusal = Script::answer(503, &["retry-after: 0"], r#"{"error":{"message":"busy"}}"#);
    let words = "the provider answered 503: busy (tried 3 times)";
    check_error(vec![refusal.clone(), refusal.clone(), refusal], ModelErrorClass::ServerError, words, 3)
        .await;
}

#[tokio::test]
async fn lasting_refusals_are_not_tried_again() {
    for (status, class) in [
        (400, ModelErrorClass::BadRequest),
        (401, ModelErrorClass::Auth),
        (404, ModelErrorClass::NotFound),
        (422, ModelErrorClass::BadRequest),
    ] {
        let refusal = Script::answer(status, &["retry-after: 0"], r#"{"error":{"message":"no"}}"#);
        check_error(vec![refusal], class, &format!("the provider answered {status}: no"), 1).await;
    }
    let broke = r#"{"error":{"message":"no credit","code":"insufficient_quota"}}"#;
    let refusal = Script::answer(429, &["retry-after: 0"], broke);
    check_error(vec![refusal], ModelErrorClass::RateLimited, "no credit", 1).await;
    let refusal = Script::answer(503, &["retry-after: 0", "x-should-retry: false"], "");
    check_error(vec![refusal], ModelErrorClass::ServerError, "503", 1).await;
}

#[tokio::test]
async fn a_pause_over_the_limit_or_the_deadline_is_not_waited_for() {
    let refusal = Script::answer(429, &["retry-after: 3600"], "{}");
    check_error(vec![refusal], ModelErrorClass::RateLimited, "429", 1).await;
    let server = Server::start(vec![Script::answer(429, &["retry-after: 20"], "{}")]).await;
    let cx = ModelContext { timeout: Duration::from_secs(15), ..context() };
    let (_, outcome) = ask(config(&server), cx).await;
    assert_eq!((outcome.unwrap_err().class, server.requests().len()), (ModelErrorClass::RateLimited, 1));
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    let server = Server::start(Vec::new()).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    drop(listener);
    let config =
        HttpModelConfig { base_url: Some(format!("http://{place}")), tries_max: 2, ..config(&server) };
    let error = ask(config, context()).await.1.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Unreachable);
    assert!(error.message.starts_with(&format!("`{place}` cannot be reached: ")), "{error}");
    assert!(error.message.ends_with("(tried 2 times)"), "{error}");
}

#[tokio::test]
async fn silence_ends_at_the_first_byte_timeout() {
    for script in [Script::silence(), Script::headers_only()] {
        let (shown, outcome, count) = run_with(vec![script], |config| {
            config.timeouts = Timeouts { first_byte_ms: 40, ..Timeouts::default() }
        })
        .await;
        let error = outcome.unwrap_err();
        // A provider that is slow may have begun: no further try.
        assert_eq!((shown.as_str(), error.class, count), ("", ModelErrorClass::TimedOut, 1), "{error}");
    }
}

#[tokio::test]
async fn a_stall_in_the_middle_ends_at_the_idle_timeout() {
    let (shown, outcome, count) = run_with(vec![Script::stalled(HALF)], |config| {
        config.timeouts = Timeouts { idle_ms: 40, ..Timeouts::default() };
    })
    .await;
    let error = outcome.unwrap_err();
    assert_eq!((shown.as_str(), error.class, count), ("Hel", ModelErrorClass::TimedOut, 1), "{error}");
}

#[tokio::test]
async fn the_time_of_the_run_limits_everything() {
    let server = Server::start(vec![Script::stalled(HALF)]).await;
    let cx = ModelContext { timeout: Duration::from_millis(60), ..context() };
    let error = ask(config(&server), cx).await.1.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::TimedOut);
    assert!(error.message.starts_with("the time for the call was up"), "{error}");
}

#[tokio::test]
async fn a_reply_over_the_limit_is_refused() {
    let (_, outcome, _) =
        run_with(vec![Script::answer(200, &[], CHUNKS)], |config| config.reply_bytes_max = 60).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::TooLarge);
    assert!(error.message.contains("60 bytes"), "{error}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Server::start(vec![Script::answer(200, &[], CHUNKS)]).await;
    let location = format!("location: {}/chat/completions", other.base_url);
    for status in [301, 302, 307, 308] {
        check_error(
            vec![Script::answer(status, &[&location], "")],
            ModelErrorClass::NotFound,
            "answered 30",
            1,
        )
        .await;
    }
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn what_is_no_reply_is_said_to_be_none() {
    let check = |body: &'static str, class| check_error(vec![Script::answer(200, &[], body)], class, "", 1);
    check("<!DOCTYPE html><title>Sign in</title>", ModelErrorClass::Malformed).await;
    check("Welcome to nginx", ModelErrorClass::Malformed).await;
    check("{\"status\":\"ok\"}", ModelErrorClass::Malformed).await;
    check("data: not json\n\n", ModelErrorClass::Malformed).await;
    check("", ModelErrorClass::Truncated).await;
    check(HALF, ModelErrorClass::Truncated).await;
    check("data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n", ModelErrorClass::ServerError)
        .await;
    check("{\"error\":{\"message\":\"who are you\",\"code\":401}}", ModelErrorClass::Auth).await;
}

#[tokio::test]
async fn half_a_stream_is_an_error_and_is_not_tried_again() {
    let (shown, outcome, count) = run(vec![Script::cut(HALF)]).await;
    let error = outcome.unwrap_err();
    assert_eq!((shown.as_str(), error.class, count), ("Hel", ModelErrorClass::Truncated, 1), "{error}");
}

/// The stream says that it ended, but the connection says that bytes are missing: the connection is believed.
#[tokio::test]
async fn a_broken_connection_after_the_reason_is_an_error() {
    let (_, outcome, _) = run(vec![Script::cut(CHUNKS)]).await;
    assert_eq!(outcome.unwrap_err().class, ModelErrorClass::Truncated);
}

#[tokio::test]
async fn cancelling_ends_the_call_and_closes_the_connection() {
    let server = Server::start(vec![Script::stalled(HALF)]).await;
    let cx = context();
    let mut stream = HttpModel::new(config(&server)).unwrap().call(request(), cx.clone());
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(first, ModelEvent::Text { part: 0, delta: "Hel".to_owned() });
    cx.cancel.fire();
    let began = Instant::now();
    assert_eq!(stream.next().await.unwrap().unwrap_err().class, ModelErrorClass::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(stream.next().await, None);
    server.was_closed().await;
}

#[tokio::test]
async fn a_task_that_is_cancelled_before_sends_nothing() {
    let server = Server::start(Vec::new()).await;
    let cx = context();
    cx.cancel.fire();
    let error = ask(config(&server), cx).await.1.unwrap_err();
    assert_eq!((error.class, server.requests().len()), (ModelErrorClass::Cancelled, 0));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = Server::start(vec![Script::stalled(HALF)]).await;
    let mut stream = HttpModel::new(config(&server)).unwrap().call(request(), context());
    stream.next().await.unwrap().unwrap();
    drop(stream);
    server.was_closed().await;
}

#[tokio::test]
async fn the_key_is_in_no_text() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let in_stream = format!("data: {echo}\n\n");
    // Taken out of a body before it is read, and by the pass where a reply that had begun is found to be an error.
    let refused = (Script::answer(401, &[], &echo), "[key]");
    let reported = (Script::answer(200, &[], &in_stream), "[REDACTED:registered]");
    for (script, mask) in [refused, reported] {
        let (_, outcome, _) = run(vec![script]).await;
        let error = outcome.unwrap_err();
        assert!(error.message.contains(&format!("Incorrect API key provided: {mask}.")), "{error}");
        assert!(!format!("{error:?}").contains(KEY));
    }
    let server = Server::start(Vec::new()).await;
    let config = config(&server);
    assert!(!format!("{config:?}").contains(KEY));
    assert!(!format!("{:?}", HttpModel::new(config).unwrap()).contains(KEY));
}

#[test]
fn what_cannot_be_called_is_refused_with_advice() {
    let check = |config: HttpModelConfig, words: &str, hint: &str| {
        let error = HttpModel::new(config).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint().as_str()), (words, hint));
    };
    let plain = HttpModelConfig::new;
    check(
        plain(Provider::Anthropic, "m"),
        "set up the model `anthropic/m`: there is no key",
        "set ANTHROPIC_API_KEY, or name a file that holds the key",
    );
    check(
        plain(Provider::Compatible, "m"),
        "set up the model `compatible/m`: call a compatible endpoint without a base URL",
        "name the endpoint with --base-url, for example http://127.0.0.1:8080/v1",
    );
    let base_url = Some("localhost:8080".to_owned());
    check(
        HttpModelConfig { base_url, ..plain(Provider::Ollama, "m") },
        "set up the model `ollama/m`: use `localhost:8080` as a base URL: it must begin with http:// or https:// and name \
         a host",
        "give the API's address alone, for example https://host.example/v1; keys have their own place",
    );
    let proxy = Some("::".to_owned());
    check(
        HttpModelConfig { proxy, ..plain(Provider::Ollama, "m") },
        "set up the model `ollama/m`: the proxy address cannot be used",
        "give the proxy as http://HOST:PORT",
    );
}
