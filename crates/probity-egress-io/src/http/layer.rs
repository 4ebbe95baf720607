use std::error::Error;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;
use probity_egress::Tier;
use tower_layer::Layer;
use tower_service::Service;

use super::body::RedactedBody;
use super::error::ExitError;
use super::headers;

/// A `tower` layer through which the responses of a service pass: header values, the body as it streams, and errors.
///
/// Headers that carry credentials (`set-cookie`, `authorization`, `x-api-key` and others) become a marker whole. A body
/// that no pass can read is refused with an [`ExitError`]: one with a content-encoding, one that is not text in UTF-8 by
/// its content type, a range. Put the layer inside of one that compresses. Lengths and digests of the body are dropped.
///
/// ```
/// use tower_layer::Layer;
///
/// # struct App;
/// let service = probity_egress_io::EgressLayer::<probity_egress::Human>::new().layer(App);
/// # drop(service);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct EgressLayer<T: Tier> {
    tier: PhantomData<T>,
}

impl<T: Tier> EgressLayer<T> {
    /// The layer of tier `T`.
    pub const fn new() -> Self {
        Self { tier: PhantomData }
    }
}

impl<S, T: Tier> Layer<S> for EgressLayer<T> {
    type Service = EgressService<S, T>;

    fn layer(&self, inner: S) -> Self::Service {
        EgressService { inner, tier: PhantomData }
    }
}

/// The service that [`EgressLayer`] makes.
#[derive(Debug, Clone)]
pub struct EgressService<S, T: Tier> {
    inner: S,
    tier: PhantomData<T>,
}

impl<S, Request, B, T> Service<Request> for EgressService<S, T>
where
    S: Service<Request, Response = Response<B>>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body,
    T: Tier,
{
    type Response = Response<RedactedBody<B, T>>;
    type Error = ExitError<T>;
    type Future = EgressFuture<S::Future, T>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ExitError<T>>> {
        self.inner.poll_ready(cx).map_err(ExitError::failed)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        EgressFuture { inner: self.inner.call(request), tier: PhantomData }
    }
}

pin_project! {
    /// The response of an [`EgressService`] to come.
    #[derive(Debug)]
    pub struct EgressFuture<F, T> {
        #[pin]
        inner: F,
        tier: PhantomData<T>,
    }
}

impl<F, B, E, T> Future for EgressFuture<F, T>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
    E: Into<Box<dyn Error + Send + Sync>>,
    T: Tier,
{
    type Output = Result<Response<RedactedBody<B, T>>, ExitError<T>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.project().inner.poll(cx)).map_err(ExitError::failed)?;
        // A body that is known to be empty needs nobody to read it.
        if !response.body().is_end_stream() {
            headers::check(&response)?;
        }
        let (mut head, body) = response.into_parts();
        headers::drop_untrue(&mut head.headers);
        headers::pass::<T>(&mut head.headers);
        Poll::Ready(Ok(Response::from_parts(head, RedactedBody::new(body))))
    }
}
