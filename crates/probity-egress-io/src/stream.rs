use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use pin_project_lite::pin_project;
use probity_egress::{Egress, Redactor, Tier};

/// Chunks in which nothing was decided, after which the task yields.
const SILENT_CHUNKS_MAX: usize = 32;

pin_project! {
    /// A stream of text, such as a model's, through tier `T`'s pass. `E` is the stream's error.
    ///
    /// The items joined are the pass over the joined text. An error ends the stream, for what follows one may be the rest
    /// of what was cut: first comes what was held back, then the error, then nothing. The error itself is the caller's and
    /// is not passed.
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// use futures_util::{StreamExt, stream};
    /// let deltas = stream::iter(["password=hun", "ter22"].map(Ok::<_, ()>));
    /// let passed = probity_egress_io::RedactedStream::<_, probity_egress::SamePrincipal, ()>::new(deltas);
    /// let words: Vec<String> = passed.map(|item| item.unwrap().as_str().to_owned()).collect().await;
    /// assert_eq!(words.concat(), "password=[REDACTED:password]");
    /// # });
    /// ```
    #[derive(Debug)]
    pub struct RedactedStream<S, T: Tier, E> {
        #[pin]
        inner: S,
        // `None` once the stream has ended or failed.
        redactor: Option<Redactor<T>>,
        failed: Option<E>,
    }
}

impl<S, T: Tier, E> RedactedStream<S, T, E> {
    /// A pass at the start of a stream. It consults the secrets that are registered now.
    pub fn new(inner: S) -> Self {
        Self { inner, redactor: Some(Redactor::new()), failed: None }
    }
}

impl<S, C, T, E> Stream for RedactedStream<S, T, E>
where
    S: Stream<Item = Result<C, E>>,
    C: AsRef<str>,
    T: Tier,
{
    type Item = Result<Egress<T>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        for _ in 0..SILENT_CHUNKS_MAX {
            let Some(redactor) = this.redactor.as_mut() else {
                return Poll::Ready(this.failed.take().map(Err));
            };
            let passed = match std::task::ready!(this.inner.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => redactor.push(chunk.as_ref()),
                ended => {
                    *this.failed = ended.and_then(Result::err);
                    this.redactor.take().map(Redactor::finish).unwrap_or_else(Egress::empty)
                }
            };
            if !passed.is_empty() {
                return Poll::Ready(Some(Ok(passed)));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
