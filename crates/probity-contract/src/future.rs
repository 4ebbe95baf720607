//! Boxed futures and streams, the form in which everything asynchronous crosses a crate edge.
//!
//! A boxed future is compiled where it is written. Generic or `async fn` ports would be compiled again in every crate
//! that calls them; measured on a workspace of this shape, that costs tens of seconds per rebuild.

use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;

/// A future on the heap that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A stream on the heap that may move between threads.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;
