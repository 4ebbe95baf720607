//! Interceptors that are other programs: scripted children, and servers on loopback.

mod http;
mod process;
mod run;
mod server;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use probity_contract::{
    Cancel, HookVerdict, Interceptor, InterceptorName, Occasion, Point, Points, PolicyError,
};
use probity_tools::{ProcessHook, ProcessInterceptor};
use serde_json::json;

/// What children and servers write where it must not be read again.
const SECRET: &str = "secret-words";

/// What is no verdict, wherever it comes from.
pub(crate) const MALFORMED: [&str; 16] = [
    "{}",
    "null",
    "true",
    "7",
    r#""allow""#,
    r#""secret-words""#,
    "[]",
    r#"{"decision":"alow"}"#,
    r#"{"decision":"secret-words"}"#,
    r#"{"decision":"deny","reason":""}"#,
    r#"{"decision":"deny"}"#,
    r#"{"decision":"transform","reason":"secret-words"}"#,
    r#"{"decision":"allow","approval":{}}"#,
    r#"{"decision":"deny","reason":"host_error:secret-words"}"#,
    r#"{"verdict":{"decision":"allow"}}"#,
    r#"{"decision":"allow","secret-words":1}"#,
];

/// Answers of V4: a result in place of a verdict, with or without a decision beside it.
pub(crate) const FORGED: [&str; 4] = [
    r#"{"result":"secret-words"}"#,
    r#"{"decision":"result","result":"secret-words"}"#,
    r#"{"decision":"allow","result":"secret-words"}"#,
    r#"{"decision":"transform","reason":"r","result":"secret-words"}"#,
];

/// Functions for the script of a child: `ask` reads a question, `say` answers the last one.
const PRELUDE: &str = r#"
ask() { IFS= read -r line || exit 0; id=${line#'{"id":'}; id=${id%%,*}; }
say() { printf '{"id":%s,"verdict":%s}\n' "$id" "$1"; }
"#;

pub(crate) fn name() -> InterceptorName {
    InterceptorName::new("guard").unwrap()
}

/// A child that runs this script, with these words behind it.
pub(crate) fn hook(script: &str, words: &[&str]) -> ProcessHook {
    let command = ["sh", "-c", &format!("{PRELUDE}{script}"), "guard"];
    ProcessHook::new(command.iter().chain(words).map(|word| (*word).to_owned()).collect())
}

/// The same as an interceptor; it may start its child once.
pub(crate) fn child(script: &str) -> ProcessInterceptor {
    let hook = ProcessHook { starts_max: 1, ..hook(script, &[]) };
    ProcessInterceptor::new(name(), Points::MESSAGES, hook).unwrap()
}

/// A message that passes.
pub(crate) fn occasion(content: &str) -> Occasion {
    let context = json!({ "interception_point": "input", "target": { "content": content } });
    Occasion::new(Point::Input, Arc::new(context))
}

pub(crate) async fn ask(interceptor: &dyn Interceptor, content: &str) -> Result<HookVerdict, PolicyError> {
    in_time(interceptor.intercept(occasion(content), &Cancel::new())).await
}

/// Fails the test where it would hang.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.unwrap()
}

/// What came is no verdict; it is told by its shape and not quoted.
pub(crate) fn assert_malformed(went: Result<HookVerdict, PolicyError>, what: &str) {
    let error = went.unwrap_err();
    let words = error.to_string();
    assert!(error.is_malformed(), "{what}: {words}");
    assert!(words.starts_with("it answered with ") && !words.contains(SECRET), "{what}: {words}");
}

/// Lets others work until it is so.
pub(crate) async fn until(is_so: impl Fn() -> bool, what: &str) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        tokio::task::yield_now().await;
    }
}
