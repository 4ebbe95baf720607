use std::io::{self, Write};
use std::marker::PhantomData;

use probity_egress::{Tier, egress_text};
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// A writer for `tracing_subscriber::fmt` that passes each record whole before it is written.
///
/// A record is written by one call when its [`RecordWriter`] is dropped, and an error of that write is lost: the subscriber
/// would only print it. Records may have several lines, as their format has it; [`RedactedLayer`](crate::RedactedLayer)
/// makes one of each.
///
/// ```
/// use probity_egress::SamePrincipal;
/// use probity_egress_io::RedactingMakeWriter;
///
/// let writer = RedactingMakeWriter::<_, SamePrincipal>::new(std::io::stderr);
/// let subscriber = tracing_subscriber::fmt().with_writer(writer).finish();
/// # drop(subscriber);
/// ```
#[derive(Debug, Clone)]
pub struct RedactingMakeWriter<M, T: Tier> {
    inner: M,
    tier: PhantomData<T>,
}

impl<M, T: Tier> RedactingMakeWriter<M, T> {
    /// Around a maker of writers.
    pub const fn new(inner: M) -> Self {
        Self { inner, tier: PhantomData }
    }
}

impl<'a, M: MakeWriter<'a>, T: Tier> MakeWriter<'a> for RedactingMakeWriter<M, T> {
    type Writer = RecordWriter<M::Writer, T>;

    fn make_writer(&'a self) -> Self::Writer {
        RecordWriter::new(self.inner.make_writer())
    }

    fn make_writer_for(&'a self, meta: &Metadata<'_>) -> Self::Writer {
        RecordWriter::new(self.inner.make_writer_for(meta))
    }
}

/// Collects one record, and passes and writes it when it is dropped.
#[derive(Debug)]
pub struct RecordWriter<W: Write, T: Tier> {
    inner: W,
    record: Vec<u8>,
    tier: PhantomData<T>,
}

impl<W: Write, T: Tier> RecordWriter<W, T> {
    const fn new(inner: W) -> Self {
        Self { inner, record: Vec::new(), tier: PhantomData }
    }
}

impl<W: Write, T: Tier> Write for RecordWriter<W, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write, T: Tier> Drop for RecordWriter<W, T> {
    fn drop(&mut self) {
        let passed = egress_text::<T>(&String::from_utf8_lossy(&self.record));
        let _lost = self.inner.write_all(passed.as_str().as_bytes()).and_then(|()| self.inner.flush());
    }
}
