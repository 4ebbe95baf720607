use std::io::{self, ErrorKind, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use probity_egress::SamePrincipal;
use probity_egress_io::{AsyncRedactingWriter, RedactingWriter};
use proptest::prelude::*;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::texts::{cut_bytes, cut_off, whole};

/// Takes a byte or three, and errs, waits or is interrupted in turn.
#[derive(Default)]
struct Fickle {
    calls: usize,
    got: Vec<u8>,
    flushes: usize,
}

impl Fickle {
    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        match self.calls % 5 {
            0 => Err(ErrorKind::Interrupted.into()),
            3 => Err(ErrorKind::TimedOut.into()),
            odd => {
                let taken = bytes.get(..odd).unwrap_or(bytes);
                self.got.extend_from_slice(taken);
                Ok(taken.len())
            }
        }
    }
}

impl Write for Fickle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        Ok(())
    }
}

impl AsyncWrite for Fickle {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.take(bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            taken => Poll::Ready(taken),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Tries again until it is done; the bounds say that an error is not returned for ever.
fn persist<T>(mut act: impl FnMut() -> io::Result<T>) -> T {
    (0..10_000).find_map(|_| act().ok()).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

proptest! {
    #[test]
    fn a_writer_gives_the_whole_whatever_the_cuts_and_errors(chunks in cut_bytes()) {
        let mut writer = RedactingWriter::<_, SamePrincipal>::new(Fickle::default());
        for chunk in &chunks {
            let mut rest = chunk.as_slice();
            while !rest.is_empty() {
                let taken = persist(|| writer.write(rest));
                rest = rest.get(taken..).unwrap();
            }
        }
        persist(|| writer.close());
        prop_assert_eq!(String::from_utf8(writer.finish().unwrap().got).unwrap(), whole(&chunks));
    }

    #[test]
    fn an_async_writer_gives_the_whole_whatever_the_cuts_and_errors(chunks in cut_bytes()) {
        let got = block_on(async {
            let mut writer = AsyncRedactingWriter::<_, SamePrincipal>::new(Fickle::default());
            for chunk in &chunks {
                let mut rest = chunk.as_slice();
                while !rest.is_empty() {
                    if let Ok(taken) = writer.write(rest).await {
                        rest = rest.get(taken..).unwrap();
                    }
                }
            }
            while writer.shutdown().await.is_err() {}
            writer.into_inner().got
        });
        prop_assert_eq!(String::from_utf8(got).unwrap(), whole(&chunks));
    }
}

#[test]
fn a_flush_keeps_what_is_held_back_and_a_drop_withholds_it() {
    let mut got = Vec::new();
    let mut writer = RedactingWriter::<_, SamePrincipal>::new(&mut got);
    writer.write_all(cut_off().0.as_bytes()).unwrap();
    writer.flush().unwrap();
    drop(writer);
    let got = String::from_utf8(got).unwrap();
    assert!(got.len() > 1_000 && cut_off().1.starts_with(&got), "{got}");
}

#[test]
fn a_write_after_the_end_is_refused() {
    let mut writer = RedactingWriter::<_, SamePrincipal>::new(Vec::new());
    writer.close().unwrap();
    assert_eq!(writer.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_writer_that_takes_nothing_is_an_error() {
    let mut writer = RedactingWriter::<&mut [u8], SamePrincipal>::new(&mut []);
    writer.write_all(cut_off().0.as_bytes()).unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::WriteZero);
}
