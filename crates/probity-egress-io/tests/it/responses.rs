use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Body, Frame};
use probity_egress::SamePrincipal;
use probity_egress_io::{EgressLayer, ExitError};
use proptest::prelude::*;
use tower_layer::Layer;
use tower_service::Service;

use crate::texts::{cut_bytes, cut_off, token, whole};

/// A body of these frames, which waits once before each.
struct Frames(VecDeque<Result<Frame<Bytes>, io::Error>>, bool);

impl Frames {
    fn data(chunks: &[Vec<u8>]) -> Self {
        Self(chunks.iter().map(|chunk| Ok(Frame::data(Bytes::from(chunk.clone())))).collect(), false)
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.1 = !self.1;
        if self.1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.0.pop_front())
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }
}

struct App<E>(Option<Result<Response<Frames>, E>>);

impl<E> Service<()> for App<E> {
    type Response = Response<Frames>;
    type Error = E;
    type Future = Ready<Result<Response<Frames>, E>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), E>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (): ()) -> Self::Future {
        ready(self.0.take().unwrap())
    }
}

type Refused = ExitError<SamePrincipal>;

/// What leaves of a response: its headers, its body, its trailers and how the body broke off.
struct Left {
    headers: HeaderMap,
    body: String,
    trailers: Option<HeaderMap>,
    broke: Option<Refused>,
}

fn left<E: std::error::Error + Send + Sync + 'static>(
    answer: Result<Response<Frames>, E>,
) -> Result<Left, Refused> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let mut service = EgressLayer::<SamePrincipal>::new().layer(App(Some(answer)));
        let (head, body) = service.call(()).await?.into_parts();
        let mut body = pin!(body);
        let mut left = Left { headers: head.headers, body: String::new(), trailers: None, broke: None };
        while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) => left.body.push_str(str::from_utf8(&data).unwrap()),
                Ok(Err(frame)) => left.trailers = frame.into_trailers().ok(),
                Err(error) => left.broke = Some(error),
            }
        }
        Ok(left)
    })
}

fn answer(headers: &[(&str, &str)], body: Frames) -> Result<Response<Frames>, Infallible> {
    let mut response = Response::builder();
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Ok(response.body(body).unwrap())
}

const TEXT: (&str, &str) = ("content-type", "text/event-stream; charset=UTF-8");

proptest! {
    #[test]
    fn a_body_gives_the_whole_whatever_its_frames(chunks in cut_bytes()) {
        let left = left(answer(&[TEXT], Frames::data(&chunks))).unwrap();
        prop_assert_eq!(left.body, whole(&chunks));
    }
}

#[test]
fn header_values_and_trailers_pass() {
    let token = token();
    let mut frames = Frames::data(&[b"some words".to_vec()]);
    let trailers = HeaderMap::from_iter([("x-note".parse().unwrap(), token.parse().unwrap())]);
    frames.0.push_back(Ok(Frame::trailers(trailers)));
    let headers =
        [TEXT, ("set-cookie", "a=b"), ("x-api-key", "1"), ("x-debug", &token), ("content-length", "10")];
    let left = left(answer(&headers, frames)).unwrap();
    assert_eq!(left.headers["set-cookie"], "[REDACTED:header]");
    assert_eq!(left.headers["x-api-key"], "[REDACTED:header]");
    assert_eq!(left.headers["content-type"], TEXT.1);
    assert!(!left.headers.contains_key("content-length"));
    assert_eq!(left.body, "some words");
    assert!(!format!("{:?} {:?}", left.headers, left.trailers).contains(&token));
    assert!(left.trailers.unwrap().contains_key("x-note"));
}

#[test]
fn what_no_pass_can_read_is_refused() {
    let check = |headers: &[(&str, &str)], refused: Refused| {
        let got = left(answer(headers, Frames::data(&[b"words".to_vec()])));
        assert_eq!(got.err(), Some(refused), "{headers:?}");
    };
    check(&[TEXT, ("content-encoding", "gzip")], ExitError::Encoded);
    check(&[TEXT, ("content-encoding", "identity"), ("content-encoding", "br")], ExitError::Encoded);
    check(&[TEXT, ("content-range", "bytes 3-4/9")], ExitError::Partial);
    check(&[], ExitError::NotText);
    check(&[("content-type", "image/png")], ExitError::NotText);
    check(&[("content-type", "text/plain; charset=utf-16")], ExitError::NotText);
    check(&[TEXT, ("content-type", "image/png")], ExitError::NotText);
    assert!(left(answer(&[("content-encoding", "gzip")], Frames::data(&[]))).is_ok());
    assert!(
        left(answer(&[("content-type", "application/problem+json")], Frames::data(&[b"{}".to_vec()])))
            .is_ok()
    );
}

#[test]
fn errors_of_the_service_and_of_its_body_pass_and_what_was_held_back_stays() {
    let token = token();
    let failed = left(Err(io::Error::other(format!("no: {token}")))).err().unwrap().to_string();
    assert!(failed.starts_with("no: [REDACTED"), "{failed}");
    let mut frames = Frames::data(&[cut_off().0.into_bytes()]);
    frames.0.push_back(Err(io::Error::other(format!("broke at {token}"))));
    let left = left(answer(&[TEXT], frames)).unwrap();
    assert!(left.body.len() > 1_000 && cut_off().1.starts_with(&left.body), "{}", left.body);
    assert!(left.broke.unwrap().to_string().starts_with("broke at [REDACTED"));
}
