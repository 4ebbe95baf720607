//! A try that failed before a reply began.

use probity_contract::{ModelError, ModelErrorClass};
use reqwest::Response;

use crate::failure::{bounded, is_out_of_credit, refusal, without_key};
use crate::key::ApiKey;
use crate::limits::ERROR_BODY_BYTES_MAX;
use crate::retry::Failed;

/// What is known of a failed try: the error it would be, and what decides about another one.
pub(crate) struct Refused {
    error: ModelError,
    /// `None` where there was no connection.
    status: Option<u16>,
    retry_after: Option<String>,
    should_retry: Option<String>,
    /// Whether time alone may help.
    pub(crate) is_passing: bool,
}

impl Refused {
    /// There was no connection.
    pub(crate) fn unconnected(place: &str, error: &reqwest::Error) -> Self {
        let text = format!("`{place}` cannot be reached: {}", root_of(error));
        let error = ModelError::new(ModelErrorClass::Unreachable, text)
            .with_hint("check the base URL, that the server runs, and the network");
        Self { error, status: None, retry_after: None, should_retry: None, is_passing: true }
    }

    /// The provider answered with a status outside 2xx.
    pub(crate) async fn read(response: Response, key: Option<&ApiKey>) -> Self {
        let header = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (retry_after, should_retry) = (header("retry-after"), header("x-should-retry"));
        let status = response.status().as_u16();
        let body = without_key(&body_of(response).await, key.map(ApiKey::reveal));
        Self {
            error: refusal(status, &body),
            status: Some(status),
            retry_after,
            should_retry,
            is_passing: !is_out_of_credit(&body),
        }
    }

    /// What decides about another try.
    pub(crate) fn seen(&self) -> Failed<'_> {
        match self.status {
            None => Failed::Unconnected,
            Some(status) => Failed::Refused {
                status,
                retry_after: self.retry_after.as_deref(),
                should_retry: self.should_retry.as_deref(),
            },
        }
    }

    /// The error after so many tries.
    pub(crate) fn after(mut self, tries: u32) -> ModelError {
        if tries > 1 {
            self.error.message = format!("{} (tried {tries} times)", self.error.message);
        }
        self.error
    }
}

/// The innermost cause: the outer ones repeat the address, which a message already names.
pub(crate) fn root_of(error: &reqwest::Error) -> String {
    let mut root: &dyn std::error::Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    bounded(&root.to_string())
}

/// The head of a refusal's body; what cannot be read counts as not there.
async fn body_of(mut response: Response) -> String {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() >= ERROR_BODY_BYTES_MAX {
            body.truncate(ERROR_BODY_BYTES_MAX);
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}
