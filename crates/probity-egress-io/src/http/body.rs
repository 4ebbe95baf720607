use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use probity_egress::Tier;

use super::error::ExitError;
use super::headers;
use crate::passing::Passing;

pin_project! {
    /// A body through tier `T`'s pass, as it streams; its trailers pass like headers.
    ///
    /// Its length is not known before its end. An error of the inner body ends it: what was held back is withheld.
    #[derive(Debug)]
    pub struct RedactedBody<B, T: Tier> {
        #[pin]
        inner: B,
        passing: Passing<T>,
        // Bytes of a frame that are not yet taken in.
        arrived: Bytes,
        trailers: Option<http::HeaderMap>,
        state: State,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Ending,
    Failed,
}

impl<B, T: Tier> RedactedBody<B, T> {
    pub(super) fn new(inner: B) -> Self {
        Self { inner, passing: Passing::new(), arrived: Bytes::new(), trailers: None, state: State::Open }
    }
}

impl<B, T> Body for RedactedBody<B, T>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    T: Tier,
{
    type Data = Bytes;
    type Error = ExitError<T>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ExitError<T>>>> {
        let mut this = self.project();
        loop {
            if *this.state == State::Failed {
                return Poll::Ready(None);
            }
            while this.arrived.has_remaining() {
                match this.passing.accept(this.arrived) {
                    Some(taken) => this.arrived.advance(taken),
                    None => this.arrived.clear(),
                }
            }
            if *this.state == State::Ending {
                this.passing.end();
            }
            let decided = this.passing.unwritten();
            if !decided.is_empty() {
                let data = Bytes::copy_from_slice(decided);
                this.passing.wrote(data.len());
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            if *this.state == State::Ending {
                return Poll::Ready(this.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
            }
            match ready!(this.inner.as_mut().poll_frame(cx)) {
                None => *this.state = State::Ending,
                Some(Err(error)) => {
                    *this.state = State::Failed;
                    return Poll::Ready(Some(Err(ExitError::failed(error))));
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(mut data) => *this.arrived = data.copy_to_bytes(data.remaining()),
                    Err(frame) => {
                        if let Ok(mut trailers) = frame.into_trailers() {
                            headers::pass::<T>(&mut trailers);
                            *this.trailers = Some(trailers);
                            *this.state = State::Ending;
                        }
                    }
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.state == State::Failed
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
