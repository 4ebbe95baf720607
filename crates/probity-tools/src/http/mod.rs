//! `http_get`: a page from an allow-listed host.
//!
//! The decision: no proxy from the environment, no redirects by the client, and one client each for public and for
//! declared private hosts, so that the check of the address sits where the connection is made.

mod address;
mod body;
mod host;
mod resolver;

use std::error::Error as _;
use std::time::Duration;

use probity_contract::{
    Arguments, BoxFuture, Effect, Permit, Target, Tool, ToolContext, ToolError, ToolErrorClass, ToolOutput,
    ToolSpec,
};
use reqwest::header::LOCATION;
use reqwest::{Client, Response, redirect};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

pub use host::{AllowedHost, AllowedHostError};

use crate::fs::{as_judged, read_arguments};
use crate::root::refused;
use crate::schema;
use crate::setup::ToolSetupError;
use crate::stop::{cancelled, timed_out};

/// Bytes of one URL.
const URL_BYTES_MAX: usize = 8 * 1024;

/// What `http_get` may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// The hosts that may be asked. An empty list allows none.
    pub hosts: Vec<AllowedHost>,
    /// Bytes of a body that are read; the call's own limit counts too.
    pub body_bytes_max: usize,
    /// Milliseconds until a connection stands.
    pub connect_timeout_ms: u64,
}

impl HttpConfig {
    /// These hosts, 256 KiB, ten seconds to connect.
    #[must_use]
    pub const fn new(hosts: Vec<AllowedHost>) -> Self {
        Self { hosts, body_bytes_max: 256 * 1024, connect_timeout_ms: 10_000 }
    }
}

/// The tool `http_get`.
///
/// It asks only allowed hosts, only addresses that are public unless the host was declared private, and follows
/// no redirect. It sends no cookies, no credentials and nothing of the environment.
///
/// It does not promise that an allowed host is harmless: what a model puts into a URL reaches that host.
pub struct HttpGetTool {
    spec: ToolSpec,
    config: HttpConfig,
    public: Client,
    private: Client,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The address to read, `http://` or `https://`, without user name and password.
    url: String,
}

impl HttpGetTool {
    /// The tool with its configuration.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, for example because the machine has no root certificates.
    pub fn new(config: HttpConfig) -> Result<Self, ToolSetupError> {
        let hosts: Vec<String> = config.hosts.iter().map(ToString::to_string).collect();
        let allowed = if hosts.is_empty() { "none".to_owned() } else { hosts.join(", ") };
        let description = format!(
            "Reads a text resource with HTTP GET and returns status, type and body as they are. A redirect is told, not \
             followed. Allowed hosts: {allowed}."
        );
        Ok(Self {
            spec: schema::spec::<Args>("http_get", description, Effect::Pure)?,
            public: client(&config, resolver::PublicOnly)?,
            private: client(&config, resolver::Declared)?,
            config,
        })
    }

    /// Reads a URL and finds the entry that allows it.
    fn check(&self, text: &str) -> Result<(Url, &AllowedHost), ToolError> {
        if text.len() > URL_BYTES_MAX || text.chars().any(probity_egress::is_hard_to_see) {
            return Err(refused(format!(
                "the URL is longer than {URL_BYTES_MAX} bytes or holds characters that are hard to see"
            )));
        }
        let invalid = |why: String| ToolError::new(ToolErrorClass::InvalidArguments, why);
        let mut url = Url::parse(text).map_err(|error| invalid(format!("the URL is not valid: {error}")))?;
        let scheme_port = match url.scheme() {
            "http" => 80,
            "https" => 443,
            _ => return Err(refused("only http and https URLs can be read")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("the URL must not hold a user name or password"));
        }
        url.set_fragment(None);
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(invalid("the URL names no host".to_owned()));
        };
        let Some(entry) = self.config.hosts.iter().find(|entry| entry.matches(&host, port, scheme_port))
        else {
            return Err(refused(format!("the host `{host}` with port {port} is not allowed")));
        };
        if host::literal(&url).is_some_and(|address| !resolver::literal_allowed(address, entry.is_private()))
        {
            return Err(not_public(&url));
        }
        Ok((url, entry))
    }

    async fn fetch(&self, text: &str, bytes_max: usize) -> Result<ToolOutput, ToolError> {
        let (url, entry) = self.check(text)?;
        let client = if entry.is_private() { &self.private } else { &self.public };
        let response = client.get(url.clone()).send().await.map_err(|error| failed(&url, &error))?;
        match moved(&url, &response)? {
            Some(next) => Ok(ToolOutput::text(format!(
                "The host answers {} and redirects to {next} . Nothing was followed: what was judged was the first \
                 address. To read the other one, call http_get with it.",
                response.status().as_u16()
            ))),
            None => body::read(response, bytes_max).await,
        }
    }
}

impl Tool for HttpGetTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(async move {
            let args: Args = read_arguments(arguments)?;
            self.check(&args.url).and_then(|(url, _)| target(&url))
        })
    }

    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args: Args = read_arguments(permit.call().arguments())?;
            let (url, _) = self.check(&args.url)?;
            as_judged(permit.call().targets(), &target(&url)?)?;
            let bytes_max = self.config.body_bytes_max.min(cx.output_bytes_max);
            let work = self.fetch(&args.url, bytes_max);
            tokio::select! {
                biased;
                () = cx.cancel.fired() => Err(cancelled()),
                () = tokio::time::sleep(cx.timeout) => Err(timed_out(cx.timeout)),
                done = work => done,
            }
        })
    }
}

fn client(
    config: &HttpConfig,
    resolver: impl reqwest::dns::Resolve + 'static,
) -> Result<Client, ToolSetupError> {
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("probity/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
        .dns_resolver(resolver)
        .build()
        .map_err(|error| ToolSetupError::config("http_get", format!("build the HTTP client: {error}")))
}

fn target(url: &Url) -> Result<Vec<Target>, ToolError> {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(ToolError::new(ToolErrorClass::InvalidArguments, "the URL names no host"));
    };
    Ok(vec![Target::Url { url: url.to_string(), host: host.to_owned(), port, method: "GET".to_owned() }])
}

/// Where a redirect leads. It is never followed: the address that was judged is the one that is read.
fn moved(from: &Url, response: &Response) -> Result<Option<Url>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let next = location.to_str().ok().and_then(|location| from.join(location).ok());
    match next {
        Some(next) if next.as_str().len() <= URL_BYTES_MAX => Ok(Some(next)),
        Some(_) | None => Err(refused("the host redirects to an address that is not valid")),
    }
}

fn failed(url: &Url, error: &reqwest::Error) -> ToolError {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.is::<resolver::NotPublic>() {
            return not_public(url);
        }
        if inner.is::<resolver::NoAddress>() {
            let host = url.host_str().unwrap_or_default();
            return ToolError::new(ToolErrorClass::NotFound, format!("the host `{host}` has no address"));
        }
        cause = inner.source();
    }
    let what = if error.is_connect() {
        "no connection could be made"
    } else if error.is_timeout() {
        "it took too long"
    } else {
        "the exchange broke off"
    };
    ToolError::new(
        ToolErrorClass::Failed,
        format!("GET from `{}`: {what}", url.host_str().unwrap_or_default()),
    )
}

fn not_public(url: &Url) -> ToolError {
    refused(format!("the address of `{}` is not public", url.host_str().unwrap_or_default()))
}
