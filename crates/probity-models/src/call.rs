//! One call: request, tries, reply. The only file that waits.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::stream;
use probity_contract::{
    BoxStream, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelReply, ModelRequest, ReplyPartKind,
};
use reqwest::Response;
use tokio::time::{Instant, sleep, timeout_at};

use crate::failure::{truncated, without_key};
use crate::http_model::Shared;
use crate::reader::ReplyReader;
use crate::refused::{Refused, root_of};
use crate::retry::pause;

/// The events of one call.
pub(crate) fn stream(
    shared: Arc<Shared>,
    request: ModelRequest,
    cx: ModelContext,
) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
    let call =
        Call { shared, cx, phase: Phase::Start(Box::new(request)), ready: VecDeque::new(), deadline: None };
    Box::pin(stream::unfold(call, |mut call| async move {
        let event = call.next().await?;
        Some((event, call))
    }))
}

struct Call {
    shared: Arc<Shared>,
    cx: ModelContext,
    phase: Phase,
    ready: VecDeque<ModelEvent>,
    /// When the time of the whole call is up; set when the stream is first polled.
    deadline: Option<Instant>,
}

enum Phase {
    Start(Box<ModelRequest>),
    Reading(Box<Reading>),
    Over,
}

struct Reading {
    response: Response,
    reader: ReplyReader,
    bytes: u64,
    /// Whether anything of the reply was handed on.
    has_shown: bool,
    /// Until when the next piece must have come.
    piece_by: Instant,
}

impl Call {
    /// The next event. After an error or the finished reply there is none.
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            let outcome = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Start(request) => self.start(&request).await.map(Phase::Reading),
                Phase::Reading(reading) => self.read(reading).await,
                Phase::Over => return None,
            };
            match outcome {
                Ok(phase) => self.phase = phase,
                Err(error) => return Some(Err(self.clean(error))),
            }
        }
    }

    /// Sends until a reply begins, or until no further try is worth it.
    async fn start(&mut self, request: &ModelRequest) -> Result<Box<Reading>, ModelError> {
        let deadline = *self.deadline.get_or_insert_with(|| after(self.cx.timeout));
        let body = self.shared.body(request)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let piece_by = after(Duration::from_millis(self.shared.timeouts.first_byte_ms));
            let refused = match self.try_once(body.clone(), piece_by).await? {
                Tried::Began(response) => {
                    let reader = self.shared.reader();
                    return Ok(Box::new(Reading {
                        response: *response,
                        reader,
                        bytes: 0,
                        has_shown: false,
                        piece_by,
                    }));
                }
                Tried::Failed(refused) => refused,
            };
            let wait =
                pause(refused.seen(), tries, self.shared.tries_max, SystemTime::now(), fastrand::f64());
            match wait.filter(|wait| refused.is_passing && Instant::now() + *wait < deadline) {
                Some(wait) => self.within(deadline, "the next try", sleep(wait)).await?,
                None => return Err(refused.after(tries)),
            }
        }
    }

    async fn try_once(&self, body: Vec<u8>, piece_by: Instant) -> Result<Tried, ModelError> {
        let Shared { client, endpoint, .. } = &*self.shared;
        let sending = client
            .post(endpoint.url.clone())
            .headers(endpoint.headers.clone())
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json")
            .body(body)
            .send();
        let response = match self.within(piece_by, "the first byte of the reply", sending).await? {
            Ok(response) => response,
            Err(error) if error.is_connect() => {
                return Ok(Tried::Failed(Box::new(Refused::unconnected(
                    &self.shared.endpoint.place(),
                    &error,
                ))));
            }
            Err(error) => return Err(self.broken(&error)),
        };
        if response.status().is_success() {
            return Ok(Tried::Began(Box::new(response)));
        }
        let reading = Refused::read(response, self.shared.key.as_ref());
        let refused = self.within(piece_by, "the provider's refusal", reading).await?;
        Ok(Tried::Failed(Box::new(refused)))
    }

    /// Reads one piece of the reply.
    async fn read(&mut self, mut reading: Box<Reading>) -> Result<Phase, ModelError> {
        let piece =
            self.within(reading.piece_by, "the next piece of the reply", reading.response.chunk()).await?;
        let is_last = match piece {
            Ok(Some(piece)) => {
                reading.bytes = reading.bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
                if reading.bytes > self.shared.reply_bytes_max {
                    return Err(self.too_large());
                }
                let events = reading.reader.push(&piece)?;
                reading.has_shown |= !events.is_empty();
                self.ready.extend(events);
                reading.reader.is_over()
            }
            Ok(None) => true,
            Err(error) => return Err(self.broken(&error)),
        };
        if is_last {
            let reply = reading.reader.finish()?;
            if !reading.has_shown {
                // The server did not stream; whoever shows deltas shall still show the reply.
                self.ready.extend(as_deltas(&reply));
            }
            self.ready.push_back(ModelEvent::Finished(reply));
            return Ok(Phase::Over);
        }
        reading.piece_by = after(Duration::from_millis(self.shared.timeouts.idle_ms));
        Ok(Phase::Reading(reading))
    }

    /// Waits for something until a moment, the whole call's deadline, or the task's cancellation.
    async fn within<T>(
        &self,
        by: Instant,
        what: &str,
        doing: impl Future<Output = T>,
    ) -> Result<T, ModelError> {
        let deadline = self.deadline.unwrap_or(by);
        tokio::select! {
            biased;
            () = self.cx.cancel.fired() => {
                Err(ModelError::new(ModelErrorClass::Cancelled, "the task was cancelled during the model call"))
            }
            done = timeout_at(by.min(deadline), doing) => done.map_err(|_| self.too_late(what, deadline <= by)),
        }
    }

    fn too_late(&self, what: &str, is_whole_call: bool) -> ModelError {
        let place = self.shared.endpoint.place();
        let error = |text| ModelError::new(ModelErrorClass::TimedOut, text);
        if is_whole_call {
            error(format!("the time for the call was up while waiting for {what} from `{place}`"))
                .with_hint("give the run more time, or use a faster model")
        } else {
            error(format!("`{place}` did not send {what} in time"))
                .with_hint("try again, or allow the provider more time")
        }
    }

    fn too_large(&self) -> ModelError {
        let limit = self.shared.reply_bytes_max;
        ModelError::new(ModelErrorClass::TooLarge, format!("the reply is over the limit of {limit} bytes"))
            .with_hint("set a limit of output tokens, or check that the base URL is a model's")
    }

    /// The connection broke after the request went out: the provider may have begun, so there is no other try.
    fn broken(&self, error: &reqwest::Error) -> ModelError {
        truncated(&format!("the connection to `{}` failed: {}", self.shared.endpoint.place(), root_of(error)))
    }

    fn clean(&self, mut error: ModelError) -> ModelError {
        let key = self.shared.key.as_ref().map(|key| key.reveal());
        error.message = without_key(&error.message, key);
        error
    }
}

enum Tried {
    Began(Box<Response>),
    Failed(Box<Refused>),
}

/// A reply that came in one piece, as the deltas that a stream would have brought.
fn as_deltas(reply: &ModelReply) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    for (part, content) in (0_u32..).zip(&reply.parts) {
        match &content.kind {
            ReplyPartKind::Text(text) => events.push(ModelEvent::Text { part, delta: text.clone() }),
            ReplyPartKind::Reasoning(text) => {
                events.push(ModelEvent::Reasoning { part, delta: text.clone() })
            }
            ReplyPartKind::Call(call) => {
                events.push(ModelEvent::CallStarted { part, name: call.name.clone() });
                events.push(ModelEvent::CallArguments { part, delta: call.arguments.clone() });
            }
            ReplyPartKind::Opaque => {}
        }
    }
    events
}

/// A moment from now; far away where the sum is no time at all.
fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    let far = Duration::from_secs(30 * 365 * 24 * 3_600);
    now.checked_add(duration).unwrap_or_else(|| now + far)
}
