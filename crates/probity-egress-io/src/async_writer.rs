use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use probity_egress::Tier;
use tokio::io::AsyncWrite;

use crate::passing::Passing;

pin_project! {
    /// A [`tokio::io::AsyncWrite`] through tier `T`'s pass: [`RedactingWriter`](crate::RedactingWriter) for tasks.
    ///
    /// A shutdown decides what was held back, writes everything and shuts the inner writer down; a flush does not. One that
    /// is dropped before its shutdown withholds what it held back.
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// use tokio::io::AsyncWriteExt;
    /// let mut writer = probity_egress_io::AsyncRedactingWriter::<_, probity_egress::SamePrincipal>::new(Vec::new());
    /// writer.write_all(b"password=hunter22").await?;
    /// writer.shutdown().await?;
    /// assert_eq!(writer.into_inner(), b"password=[REDACTED:password]");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct AsyncRedactingWriter<W, T: Tier> {
        #[pin]
        inner: W,
        passing: Passing<T>,
        owed: Option<io::Error>,
    }
}

impl<W: AsyncWrite, T: Tier> AsyncRedactingWriter<W, T> {
    /// A pass at its start. It consults the secrets that are registered now.
    pub fn new(inner: W) -> Self {
        Self { inner, passing: Passing::new(), owed: None }
    }

    /// The writer inside. What is not yet decided or written is withheld.
    pub fn into_inner(self) -> W {
        self.inner
    }

    fn poll_drain(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut this = self.project();
        while !this.passing.unwritten().is_empty() {
            match ready!(this.inner.as_mut().poll_write(cx, this.passing.unwritten())) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(bytes) => this.passing.wrote(bytes),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_settle(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(error) = self.as_mut().project().owed.take() {
            return Poll::Ready(Err(error));
        }
        self.poll_drain(cx)
    }
}

impl<W: AsyncWrite, T: Tier> AsyncWrite for AsyncRedactingWriter<W, T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_settle(cx))?;
        let Some(taken) = self.as_mut().project().passing.accept(bytes) else {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        };
        if let Poll::Ready(Err(error)) = self.as_mut().poll_drain(cx) {
            *self.project().owed = Some(error);
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_settle(cx))?;
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.as_mut().project().passing.end();
        ready!(self.as_mut().poll_settle(cx))?;
        self.project().inner.poll_shutdown(cx)
    }
}
