use std::fmt;
use std::time::Duration;

use probity_contract::{
    BoxFuture, Cancel, HookReasons, HookVerdict, Interceptor, InterceptorName, NotAVerdict, Occasion, Points,
    PolicyError, Window,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect};
use url::Url;

use super::loopback::{LoopbackOnly, is_private};
use super::{ANSWER_BYTES_MAX, Fault, HookSetupError, QUESTION_BYTES_MAX};

/// Milliseconds until a connection stands.
const CONNECT_TIMEOUT_MS: u64 = 2_000;

/// A server that intercepts.
///
/// `Debug` tells the names of its headers and none of their values.
#[derive(Clone)]
pub struct HttpHook {
    url: String,
    headers: Vec<(String, String)>,
}

impl HttpHook {
    /// This address: `https://…`, or `http://…` on this machine.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: Vec::new() }
    }

    /// Adds a header to every question. Its value counts as a secret: it is told to the server and to nobody else, and the
    /// credential pass knows it from here on.
    #[must_use]
    pub fn with_secret_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for HttpHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpHook").field("headers", &names).finish_non_exhaustive()
    }
}

/// An interceptor that is asked over HTTP: a POST of the agent context, and a verdict, bare or in an envelope, with status 200.
///
/// It follows no redirect, uses no proxy, sends no cookies and nothing of the environment, and reads a bounded answer. Without
/// encryption it asks this machine only.
///
/// It does not promise that the server is whom one means beyond what TLS tells. It keeps no time but for connecting: the
/// deadline is the driver's.
pub struct HttpInterceptor {
    name: InterceptorName,
    points: Points,
    window: Option<Window>,
    url: Url,
    headers: HeaderMap,
    client: Client,
}

impl HttpInterceptor {
    /// The interceptor with its configuration. Asks nothing.
    ///
    /// # Errors
    /// When the address is none that may be asked, a header is none, or the client cannot be built.
    pub fn new(name: InterceptorName, points: Points, hook: HttpHook) -> Result<Self, HookSetupError> {
        let wrong = |why: &str| HookSetupError::new(&name, why);
        // The words of an error could quote what stands before an `@`.
        let url = Url::parse(&hook.url).map_err(|_| wrong("its address is no URL"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("its address holds a user name or password; give them in a header"));
        }
        if !is_private(&url) {
            return Err(wrong("its address is neither https nor on this machine"));
        }
        let mut headers = HeaderMap::new();
        for (header, value) in &hook.headers {
            probity_egress::register_secret(value);
            // `Bearer` and the like is no part of the secret.
            value.split_whitespace().for_each(|part| {
                probity_egress::register_secret(part);
            });
            let header = HeaderName::try_from(header).map_err(|_| wrong("a header's name is none"))?;
            let mut value = HeaderValue::try_from(value.trim())
                .map_err(|_| wrong(&format!("the value of the header `{header}` is none")))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let client = client(&url).map_err(|error| wrong(&format!("build the HTTP client: {error}")))?;
        Ok(Self { name, points, window: None, url, headers, client })
    }

    /// Declares that it can judge an answer piece by piece.
    #[must_use]
    pub fn with_window(self, window: Window) -> Self {
        Self { window: Some(window), ..self }
    }

    async fn ask(&self, occasion: &Occasion) -> Result<HookVerdict, Fault> {
        let question = serde_json::to_vec(occasion.context());
        let question =
            question.map_err(|error| Fault::broke(format!("the question has no form: {error}")))?;
        if question.len() > QUESTION_BYTES_MAX {
            return Err(Fault::broke(format!("the question is longer than {QUESTION_BYTES_MAX} bytes")));
        }
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(question);
        let mut response = request.send().await.map_err(|error| broken(&error))?;
        if response.status() != StatusCode::OK {
            let redirects =
                if response.status().is_redirection() { "; it is not followed elsewhere" } else { "" };
            let status = response.status().as_u16();
            return Err(Fault::broke(format!("it answered with HTTP status {status}{redirects}")));
        }
        let body = body(&mut response).await?;
        let text = std::str::from_utf8(&body)
            .map_err(|_| Fault::NotAVerdict(NotAVerdict::of_shape("bytes that are not UTF-8")))?;
        HookVerdict::from_json(text, HookReasons::Required).map_err(Fault::NotAVerdict)
    }
}

impl Interceptor for HttpInterceptor {
    fn name(&self) -> &InterceptorName {
        &self.name
    }

    fn points(&self) -> Points {
        self.points
    }

    fn window(&self) -> Option<Window> {
        self.window
    }

    fn intercept<'a>(
        &'a self,
        occasion: Occasion,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        Box::pin(async move { Ok(self.ask(&occasion).await?) })
    }
}

impl fmt::Debug for HttpInterceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpInterceptor").field("name", &self.name).finish_non_exhaustive()
    }
}

fn client(url: &Url) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("probity/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS));
    match url.scheme() {
        "http" => builder.dns_resolver(LoopbackOnly).build(),
        _ => builder.https_only(true).build(),
    }
}

async fn body(response: &mut Response) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(Fault::NotAVerdict(NotAVerdict::of_shape("a body that is too long")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong, without the address: it may hold a secret in its path.
fn broken(error: &reqwest::Error) -> Fault {
    Fault::broke(if error.is_connect() {
        "no connection could be made"
    } else if error.is_timeout() {
        "it took too long"
    } else {
        "the exchange broke off"
    })
}
