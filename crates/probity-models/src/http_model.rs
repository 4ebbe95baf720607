//! A model over HTTP behind the port.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    BoxStream, Model, ModelContext, ModelError, ModelEvent, ModelName, ModelRequest, NameError, Prices,
};
use reqwest::Client;

use crate::call;
use crate::codec::Target;
use crate::endpoint::{Endpoint, EndpointError};
use crate::failure::unsendable;
use crate::key::ApiKey;
use crate::limits::{REPLY_BYTES_MAX, TRIES_MAX};
use crate::provider::Provider;
use crate::reader::ReplyReader;

/// A model of a provider, called over HTTP.
///
/// Every call streams. Nothing is sent before its stream is polled, and dropping the stream closes the connection.
/// Redirects are not followed, and no proxy is taken from the environment. A call is repeated only while nothing of a
/// reply was seen and the provider said that the failure passes, or was not reached at all.
#[derive(Clone)]
pub struct HttpModel {
    name: ModelName,
    shared: Arc<Shared>,
}

/// What all calls of a model share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) endpoint: Endpoint,
    pub(crate) model: String,
    pub(crate) codec: String,
    pub(crate) key: Option<ApiKey>,
    pub(crate) timeouts: Timeouts,
    pub(crate) tries_max: u32,
    pub(crate) reply_bytes_max: u64,
    prices: Option<Prices>,
}

/// What a model over HTTP needs to know.
#[derive(Debug, Clone)]
pub struct HttpModelConfig {
    /// Who serves it.
    pub provider: Provider,
    /// Its name there.
    pub model: String,
    /// Where it is served, if not at the provider's own address. Without a path it gets the provider's usual one.
    pub base_url: Option<String>,
    /// The key.
    pub key: Option<ApiKey>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// Tries of one call, the first included; 0 counts as 1.
    pub tries_max: u32,
    /// Bytes that one reply may have on the wire.
    pub reply_bytes_max: u64,
    /// A proxy for all calls.
    pub proxy: Option<String>,
    /// What a million tokens cost. There is no table of prices here: they change, and a wrong one is worse than none.
    pub prices: Option<Prices>,
}

/// How long a call waits for what, in milliseconds. The time that the run has left limits all of it together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect_ms: u64,
    /// From sending the request to the first byte of the reply's content.
    pub first_byte_ms: u64,
    /// Between two pieces of the reply.
    pub idle_ms: u64,
}

/// Why a model cannot be called at all.
#[derive(Debug, thiserror::Error)]
#[error("set up the model `{model}`: {kind}")]
pub struct ModelSetupError {
    model: String,
    kind: SetupErrorKind,
}

#[derive(Debug, thiserror::Error)]
enum SetupErrorKind {
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("there is no key")]
    NoKey { variable: &'static str },
    #[error("the key would go over the public network unencrypted")]
    KeyInClear,
    #[error("the proxy address cannot be used")]
    Proxy,
    #[error("the HTTP client cannot be made")]
    Client,
}

impl HttpModelConfig {
    /// The configuration with everything else as it usually is, and without a key.
    #[must_use]
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            key: None,
            timeouts: Timeouts::default(),
            tries_max: TRIES_MAX,
            reply_bytes_max: REPLY_BYTES_MAX,
            proxy: None,
            prices: None,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect_ms: 10_000, first_byte_ms: 120_000, idle_ms: 60_000 }
    }
}

impl HttpModel {
    /// Checks a configuration and makes the model. Nothing is sent.
    ///
    /// # Errors
    /// When the address, key or proxy cannot be used. The error never holds the key.
    pub fn new(config: HttpModelConfig) -> Result<Self, ModelSetupError> {
        let full_name = format!("{}/{}", config.provider, config.model);
        Self::checked(config, &full_name).map_err(|kind| ModelSetupError { model: full_name, kind })
    }

    fn checked(config: HttpModelConfig, full_name: &str) -> Result<Self, SetupErrorKind> {
        let name = ModelName::new(full_name)?;
        let HttpModelConfig { provider, model, base_url, key, .. } = config;
        if let (None, None, true, [variable, ..]) =
            (&key, &base_url, provider.needs_key(), provider.key_variables())
        {
            return Err(SetupErrorKind::NoKey { variable });
        }
        let endpoint = Endpoint::new(provider, &model, base_url.as_deref(), key.as_ref())?;
        if key.is_some() && endpoint.is_in_clear() {
            return Err(SetupErrorKind::KeyInClear);
        }
        let client = client(&config.timeouts, config.proxy.as_deref())?;
        let shared = Shared {
            codec: endpoint.codec(),
            client,
            endpoint,
            model,
            key,
            timeouts: config.timeouts,
            tries_max: config.tries_max.max(1),
            reply_bytes_max: config.reply_bytes_max,
            prices: config.prices,
        };
        Ok(Self { name, shared: Arc::new(shared) })
    }

    /// The address that is called. It never holds the key.
    #[must_use]
    pub fn url(&self) -> &str {
        self.shared.endpoint.url.as_str()
    }

    /// The body that a call with this request sends, as JSON text.
    ///
    /// # Errors
    /// When the request has no form in the provider's format.
    pub fn request_body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
        self.shared.body(request)
    }

    /// A reader for one reply of this model, for recorded bodies.
    #[must_use]
    pub fn reply_reader(&self) -> ReplyReader {
        self.shared.reader()
    }
}

impl Shared {
    pub(crate) fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
        let target = Target { model: &self.model, host: &self.endpoint.host, codec: &self.codec };
        let body = self.endpoint.dialect.encode(&target, request)?;
        serde_json::to_vec(&body)
            .map_err(|error| unsendable(format!("the request cannot be written: {error}")))
    }

    pub(crate) fn reader(&self) -> ReplyReader {
        ReplyReader::of(self.endpoint.dialect, &self.codec)
    }
}

impl Model for HttpModel {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn prices(&self) -> Option<Prices> {
        self.shared.prices
    }

    fn call(
        &self,
        request: ModelRequest,
        cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        call::stream(Arc::clone(&self.shared), request, cx)
    }
}

/// Without the key, and without headers that hold it.
impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("name", &self.name)
            .field("endpoint", &self.shared.endpoint)
            .finish_non_exhaustive()
    }
}

impl ModelSetupError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.kind {
            SetupErrorKind::Endpoint(EndpointError::Missing) => {
                "name the endpoint with --base-url, for example http://127.0.0.1:8080/v1".to_owned()
            }
            SetupErrorKind::Endpoint(_) => {
                "give the API's address alone, for example https://host.example/v1; keys have their own place"
                    .to_owned()
            }
            SetupErrorKind::Name(_) => "write the model as PROVIDER/NAME".to_owned(),
            SetupErrorKind::NoKey { variable } => {
                format!("set {variable}, or name a file that holds the key")
            }
            SetupErrorKind::KeyInClear => "use https for this host, or call it without a key".to_owned(),
            SetupErrorKind::Proxy => "give the proxy as http://HOST:PORT".to_owned(),
            SetupErrorKind::Client => "check the TLS set-up of this machine".to_owned(),
        }
    }
}

fn client(timeouts: &Timeouts, proxy: Option<&str>) -> Result<Client, SetupErrorKind> {
    let mut builder = Client::builder()
        .connect_timeout(Duration::from_millis(timeouts.connect_ms))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("probity/", env!("CARGO_PKG_VERSION")));
    if let Some(proxy) = proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(|_| SetupErrorKind::Proxy)?);
    }
    builder.build().map_err(|_| SetupErrorKind::Client)
}
