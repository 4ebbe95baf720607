//! Drives one model call: passes its deltas on as they come, unless somebody looks at them first, and its reply only when it
//! is complete.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use probity_contract::limits::REPLY_BYTES_MAX;
use probity_contract::{
    Event, Model, ModelCallId, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelReply,
    ModelRequest, ReplyPart, ReplyPartKind,
};
use probity_egress::{SamePrincipal, egress_panic};

use super::owned::Owned;
use super::stream::Sink;
use super::watch::Watch;
use crate::run::Outcome;

/// Drives the call `call`. `sink` takes what the model writes while it writes.
pub(super) async fn call(
    model: Arc<dyn Model>,
    call: ModelCallId,
    request: ModelRequest,
    context: ModelContext,
    watch: Watch,
    sink: Sink,
) -> Outcome {
    let timeout = context.timeout;
    let deltas = Arc::new(Mutex::new(Some(sink)));
    let started = tokio::time::Instant::now();
    // A task of its own: a client that blocks its thread must not take the deadline with it.
    let collected = Owned::spawn(collect(model, request, context, Arc::clone(&deltas)));
    let result = match tokio::time::timeout(timeout, collected).await {
        Ok(Ok(result)) => result,
        Ok(Err(broken)) => Err(match broken.try_into_panic() {
            Ok(payload) => {
                let words = egress_panic::<SamePrincipal>(payload);
                ModelError::new(ModelErrorClass::Malformed, format!("the model's client broke: {words}"))
            }
            Err(_aborted) => ModelError::new(ModelErrorClass::Cancelled, "the model call was stopped"),
        }),
        Err(_elapsed) => {
            let words = format!("the model did not answer within {} ms", timeout.as_millis());
            // As advice from the client, so that it does not matter which of the two clocks is faster.
            let hint = "give the run more time, or use a faster model";
            Err(ModelError::new(ModelErrorClass::TimedOut, words).with_hint(hint))
        }
    };
    // Taken away, so that a client that goes on after its time is not heard any more.
    if let Some(deltas) = lock(&deltas).take() {
        deltas.flush();
    }
    if let Ok(reply) = &result {
        let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        watch.notify(&Event::ModelFinished { call, usage: reply.usage, took_ms });
    }
    Outcome::ModelReplied { call, result }
}

type SharedDeltas = Arc<Mutex<Option<Sink>>>;

fn lock(deltas: &SharedDeltas) -> std::sync::MutexGuard<'_, Option<Sink>> {
    deltas.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn collect(
    model: Arc<dyn Model>,
    request: ModelRequest,
    context: ModelContext,
    deltas: SharedDeltas,
) -> Result<ModelReply, ModelError> {
    let mut stream = model.call(request, context);
    let mut bytes = 0_usize;
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text { delta, .. } => {
                bytes += delta.len();
                if let Some(deltas) = lock(&deltas).as_mut() {
                    deltas.text(&delta);
                }
            }
            ModelEvent::Reasoning { delta, .. } => {
                bytes += delta.len();
                if let Some(deltas) = lock(&deltas).as_mut() {
                    deltas.reasoning(&delta);
                }
            }
            ModelEvent::CallArguments { delta, .. } => bytes += delta.len(),
            ModelEvent::CallStarted { name, .. } => bytes += PART_BYTES + name.len(),
            ModelEvent::Finished(reply) => {
                // A client may send no deltas, or others than its reply.
                check_size(reply.parts.iter().map(part_bytes).sum())?;
                return Ok(reply);
            }
        }
        check_size(bytes)?;
    }
    Err(ModelError::new(ModelErrorClass::Truncated, "the model's stream ended before the reply was complete"))
}

fn check_size(bytes: usize) -> Result<(), ModelError> {
    if bytes > REPLY_BYTES_MAX {
        let words = format!("the reply is longer than {REPLY_BYTES_MAX} bytes");
        return Err(ModelError::new(ModelErrorClass::TooLarge, words));
    }
    Ok(())
}

/// Bytes that a part is held to cost whatever it says, about what the window and the record hold for one: an empty call is
/// not free.
const PART_BYTES: usize = 1024;

/// Bytes of a part and of its native form, which stands in the window as well.
fn part_bytes(part: &ReplyPart) -> usize {
    let words = match &part.kind {
        ReplyPartKind::Text(text) | ReplyPartKind::Reasoning(text) => text.len(),
        ReplyPartKind::Call(call) => call.provider_id.len() + call.name.len() + call.arguments.len(),
        ReplyPartKind::Opaque => 0,
    };
    PART_BYTES + words + part.native.as_ref().map_or(0, |native| native.value.to_string().len())
}
