use std::error::Error;

use probity_egress::{Egress, Tier, egress_error};

/// Why a response did not leave, or broke off. Its words have passed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExitError<T: Tier> {
    /// The body is compressed or otherwise encoded, so no pass can read it.
    #[error("pass the response: its body has a content-encoding")]
    Encoded,
    /// The body is no text in UTF-8, so no pass can read it.
    #[error("pass the response: its body is not text in UTF-8")]
    NotText,
    /// The response is a range: what it cuts off may be what tells a credential apart.
    #[error("pass the response: it is a part of a body")]
    Partial,
    /// The service or its body failed.
    #[error("{0}")]
    Failed(Egress<T>),
}

impl<T: Tier> ExitError<T> {
    pub(super) fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(egress_error(error.into().as_ref()))
    }
}
