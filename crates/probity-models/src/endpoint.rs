//! Where a model is called: address, headers, format.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::codec::Dialect;
use crate::key::ApiKey;
use crate::provider::Provider;

/// The address of one model, in its format.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) url: Url,
    pub(crate) host: String,
    pub(crate) dialect: Dialect,
    pub(crate) headers: HeaderMap,
}

/// Why there is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EndpointError {
    #[error("use `{0}` as a base URL: it must begin with http:// or https:// and name a host")]
    NotAnAddress(String),
    #[error("use a base URL with a user name, password, query or fragment")]
    TooMuch,
    #[error("call a compatible endpoint without a base URL")]
    Missing,
}

impl Endpoint {
    pub(crate) fn new(
        provider: Provider,
        model: &str,
        base_url: Option<&str>,
        key: Option<&ApiKey>,
    ) -> Result<Self, EndpointError> {
        let given = base_url.or(provider.base_url()).ok_or(EndpointError::Missing)?;
        let mut url = base(given)?;
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        // Whoever names another host means a server that is compatible with OpenAI's older API.
        let is_elsewhere = provider == Provider::OpenAi && host != "api.openai.com";
        let dialect = if is_elsewhere { Dialect::Chat } else { provider.dialect() };
        let prefix = match url.path().trim_end_matches('/') {
            "" => provider.version_path().to_owned(),
            path => path.to_owned(),
        };
        url.set_path(&prefix);
        add_path(&mut url, dialect, model)?;
        Ok(Self { host, dialect, headers: headers(dialect, key), url })
    }

    /// Which native forms belong to this endpoint: those of the format, as this host wrote them. Signatures and
    /// encrypted reasoning mean nothing to another host, and some refuse what they do not know.
    pub(crate) fn codec(&self) -> String {
        format!("{}:{}", self.dialect.name(), self.host)
    }

    /// Whether what is sent could be read on its way through the public network.
    ///
    /// Loopback and private addresses and names without a dot are taken for one's own network.
    pub(crate) fn is_in_clear(&self) -> bool {
        self.url.scheme() == "http" && !is_private(&self.host)
    }

    /// Host and port, for messages.
    pub(crate) fn place(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }
}

/// The headers may hold a key, so they are not shown.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url.as_str()).field("dialect", &self.dialect).finish()
    }
}

fn is_private(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => {
            !bare.contains('.') || [".local", ".internal", ".localhost"].iter().any(|end| bare.ends_with(end))
        }
    }
}

fn base(given: &str) -> Result<Url, EndpointError> {
    let shown = || given.chars().filter(|c| !c.is_control()).take(200).collect();
    let url = Url::parse(given.trim()).map_err(|_| EndpointError::NotAnAddress(shown()))?;
    // The text may hold a password, so it is not shown here.
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err(EndpointError::TooMuch);
    }
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(EndpointError::NotAnAddress(shown()));
    }
    Ok(url)
}

fn add_path(url: &mut Url, dialect: Dialect, model: &str) -> Result<(), EndpointError> {
    let last = format!("{}:streamGenerateContent", model.trim_start_matches("models/"));
    let path: &[&str] = match dialect {
        Dialect::Chat => &["chat", "completions"],
        Dialect::Responses => &["responses"],
        Dialect::Anthropic => &["messages"],
        Dialect::Gemini => &["models", &last],
    };
    url.path_segments_mut().map_err(|()| EndpointError::TooMuch)?.extend(path);
    if dialect == Dialect::Gemini {
        url.set_query(Some("alt=sse"));
    }
    Ok(())
}

fn headers(dialect: Dialect, key: Option<&ApiKey>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if dialect == Dialect::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = key {
        let (name, value) = match dialect {
            Dialect::Chat | Dialect::Responses => ("authorization", format!("Bearer {}", key.reveal())),
            Dialect::Anthropic => ("x-api-key", key.reveal().to_owned()),
            // Never in the address, where proxies and logs would keep it.
            Dialect::Gemini => ("x-goog-api-key", key.reveal().to_owned()),
        };
        // The key's own rule makes it fit a header.
        if let Ok(mut value) = HeaderValue::from_str(&value) {
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
