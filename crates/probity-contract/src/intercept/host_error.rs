use serde::{Deserialize, Serialize};

/// Why the engine itself stops something at a point. Each name starts with `host_error:`, which no interceptor may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum HostError {
    /// The context has no canonical form, or misses a member.
    #[error("host_error:context_invalid")]
    ContextInvalid,
    /// An interceptor failed or panicked.
    #[error("host_error:interceptor_failed")]
    InterceptorFailed,
    /// An interceptor took too long.
    #[error("host_error:interceptor_timeout")]
    InterceptorTimeout,
    /// An interceptor said what is no verdict.
    #[error("host_error:verdict_invalid")]
    VerdictInvalid,
    /// A transform cannot be applied.
    #[error("host_error:transform_invalid")]
    TransformInvalid,
    /// A transform at a point where nothing may be changed.
    #[error("host_error:transform_target_forbidden")]
    TransformTargetForbidden,
    /// Two transforms of one snapshot.
    #[error("host_error:transform_conflict")]
    TransformConflict,
    /// Not all interceptors allowed where all must.
    #[error("host_error:composition_disagreement")]
    CompositionDisagreement,
    /// Whoever was asked to approve failed.
    #[error("host_error:approval_resolver_failed")]
    ApprovalResolverFailed,
    /// Nobody decided.
    #[error("host_error:approval_unresolved")]
    ApprovalUnresolved,
    /// An approval is for something else.
    #[error("host_error:approval_identity_mismatch")]
    ApprovalIdentityMismatch,
    /// The rest of a reply that was judged piece by piece was never judged.
    #[error("host_error:streaming_unsupported")]
    StreamingUnsupported,
    /// No interceptor at a point that must have one.
    #[error("host_error:no_interceptor")]
    NoInterceptor,
}

impl HostError {
    const ALL: [Self; 13] = [
        Self::ContextInvalid,
        Self::InterceptorFailed,
        Self::InterceptorTimeout,
        Self::VerdictInvalid,
        Self::TransformInvalid,
        Self::TransformTargetForbidden,
        Self::TransformConflict,
        Self::CompositionDisagreement,
        Self::ApprovalResolverFailed,
        Self::ApprovalUnresolved,
        Self::ApprovalIdentityMismatch,
        Self::StreamingUnsupported,
        Self::NoInterceptor,
    ];

    /// Whether a reason is one of these, word for word.
    #[must_use]
    pub fn is_said_by(reason: &str) -> bool {
        Self::ALL.into_iter().any(|error| error.to_string() == reason)
    }
}
