//! The passes of `probity-egress` around what a program writes: writers, logs, HTTP responses and streams of text.
//!
//! Every adapter is one [`Redactor`](probity_egress::Redactor) a stream, so whatever way the bytes are cut, what comes out
//! is the pass over the whole. All are off by default except the writer: features `tokio`, `tracing`, `tower`, `stream`.
//!
//! ```
//! use std::io::Write;
//! use probity_egress::SamePrincipal;
//! use probity_egress_io::RedactingWriter;
//!
//! let mut writer = RedactingWriter::<_, SamePrincipal>::new(Vec::new());
//! writer.write_all(b"DB_PASSWORD=hun")?;
//! writer.write_all(b"ter22 was refused")?;
//! assert_eq!(writer.finish()?, b"DB_PASSWORD=[REDACTED:password] was refused");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What holds
//!
//! - Bytes are read as UTF-8; a sequence that is split between two writes is joined, and each invalid one becomes U+FFFD,
//!   as [`String::from_utf8_lossy`] of the whole has it.
//! - What is not decided when an adapter is dropped stays inside. Only an end that was asked for (`finish`, `close`,
//!   shutdown, the end of the stream or body) decides it.
//! - An error or a short write of what is written to loses nothing and repeats nothing.
//!
//! # What is not promised
//!
//! - That a flush brings everything out: it does not give up what is held back, at most
//!   [`STREAM_HOLDBACK_BYTES_MAX`](probity_egress::STREAM_HOLDBACK_BYTES_MAX) bytes.

#[cfg(feature = "tokio")]
mod async_writer;
#[cfg(feature = "tower")]
mod http;
#[cfg(feature = "tracing")]
mod log;
mod passing;
#[cfg(feature = "stream")]
mod stream;
mod utf8;
mod writer;

#[cfg(feature = "tokio")]
pub use async_writer::AsyncRedactingWriter;
#[cfg(feature = "tower")]
pub use http::{EgressFuture, EgressLayer, EgressService, ExitError, RedactedBody};
#[cfg(feature = "tracing")]
pub use log::{LOG_LINE_CHARS_MAX, LineSink, RecordWriter, RedactedLayer, RedactingMakeWriter};
#[cfg(feature = "stream")]
pub use stream::RedactedStream;
pub use writer::RedactingWriter;
