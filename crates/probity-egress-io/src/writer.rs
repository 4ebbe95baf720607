use std::io::{self, ErrorKind, Write};

use probity_egress::Tier;

use crate::passing::Passing;

/// A writer through tier `T`'s pass.
///
/// A flush writes what is decided and flushes the inner writer; it does not give up what is held back. That is decided by
/// [`close`](Self::close) or [`finish`](Self::finish); a writer that is dropped before withholds it. One write takes at
/// most 64 KiB.
///
/// An error or a short write of the inner writer loses nothing and repeats nothing: what is decided waits and is written
/// first by the next call. An error that comes after the bytes of a write were taken is returned by the next call.
#[derive(Debug)]
pub struct RedactingWriter<W: Write, T: Tier> {
    inner: W,
    passing: Passing<T>,
    owed: Option<io::Error>,
}

impl<W: Write, T: Tier> RedactingWriter<W, T> {
    /// A pass at its start. It consults the secrets that are registered now.
    pub fn new(inner: W) -> Self {
        Self { inner, passing: Passing::new(), owed: None }
    }

    /// The writer inside. Whatever is written to it directly is not passed.
    pub const fn inner(&self) -> &W {
        &self.inner
    }

    /// Ends the stream: decides what was held back, writes everything and flushes. May be repeated after an error; a write
    /// after it fails.
    ///
    /// # Errors
    /// Those of the inner writer.
    pub fn close(&mut self) -> io::Result<()> {
        self.passing.end();
        self.flush()
    }

    /// [`close`](Self::close), and the writer inside.
    ///
    /// # Errors
    /// Those of the inner writer, which is then lost with what was not written; `close` first where it can be tried again.
    pub fn finish(mut self) -> io::Result<W> {
        self.close()?;
        Ok(self.inner)
    }

    fn drain(&mut self) -> io::Result<()> {
        while !self.passing.unwritten().is_empty() {
            match self.inner.write(self.passing.unwritten()) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => self.passing.wrote(bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        self.owed.take().map_or(Ok(()), Err)?;
        self.drain()
    }
}

impl<W: Write, T: Tier> Write for RedactingWriter<W, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.settle()?;
        let taken = self.passing.accept(bytes).ok_or(ErrorKind::BrokenPipe)?;
        self.owed = self.drain().err();
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.settle()?;
        self.inner.flush()
    }
}
