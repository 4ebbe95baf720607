//! Drives one model call: passes its deltas on as they come, and its reply only when it is complete.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use probity_contract::limits::REPLY_BYTES_MAX;
use probity_contract::{
    Event, Model, ModelCallId, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelReply,
    ModelRequest,
};
use probity_egress::{Redactor, SamePrincipal, egress_panic};

use super::watch::Watch;
use crate::run::Outcome;

pub(super) async fn call(
    model: Arc<dyn Model>,
    call: ModelCallId,
    request: ModelRequest,
    context: ModelContext,
    watch: Watch,
) -> Outcome {
    let timeout = context.timeout;
    let mut deltas = Deltas::new(call, watch.clone());
    let started = tokio::time::Instant::now();
    let collected = AssertUnwindSafe(collect(model, request, context, &mut deltas)).catch_unwind();
    let result = match tokio::time::timeout(timeout, collected).await {
        Ok(Ok(result)) => result,
        Ok(Err(payload)) => {
            let words = egress_panic::<SamePrincipal>(payload);
            Err(ModelError::new(ModelErrorClass::Malformed, format!("the model's client broke: {words}")))
        }
        Err(_elapsed) => {
            let words = format!("the model did not answer within {} ms", timeout.as_millis());
            Err(ModelError::new(ModelErrorClass::TimedOut, words))
        }
    };
    deltas.flush();
    if let Ok(reply) = &result {
        let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        watch.notify(&Event::ModelFinished { call, usage: reply.usage, took_ms });
    }
    Outcome::ModelReplied { call, result }
}

async fn collect(
    model: Arc<dyn Model>,
    request: ModelRequest,
    context: ModelContext,
    deltas: &mut Deltas,
) -> Result<ModelReply, ModelError> {
    let mut stream = model.call(request, context);
    let mut bytes = 0_usize;
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text { delta, .. } => {
                bytes += delta.len();
                deltas.text(&delta);
            }
            ModelEvent::Reasoning { delta, .. } => {
                bytes += delta.len();
                deltas.reasoning(&delta);
            }
            ModelEvent::CallArguments { delta, .. } => bytes += delta.len(),
            ModelEvent::CallStarted { .. } => {}
            ModelEvent::Finished(reply) => return Ok(reply),
        }
        if bytes > REPLY_BYTES_MAX {
            let words = format!("the reply is longer than {REPLY_BYTES_MAX} bytes");
            return Err(ModelError::new(ModelErrorClass::TooLarge, words));
        }
    }
    Err(ModelError::new(ModelErrorClass::Truncated, "the model's stream ended before the reply was complete"))
}

/// The deltas of one call on their way to the observer, each through the credential pass.
///
/// The pass runs over the joined text, not over single deltas, so that a credential which is split between two of them
/// is still found.
struct Deltas {
    call: ModelCallId,
    watch: Watch,
    text: Redactor<SamePrincipal>,
    reasoning: Redactor<SamePrincipal>,
}

impl Deltas {
    fn new(call: ModelCallId, watch: Watch) -> Self {
        Self { call, watch, text: Redactor::new(), reasoning: Redactor::new() }
    }

    fn text(&mut self, delta: &str) {
        if self.watch.has_observer() {
            let delta = self.text.push(delta);
            if !delta.is_empty() {
                self.watch.notify(&Event::Text { call: self.call, delta });
            }
        }
    }

    fn reasoning(&mut self, delta: &str) {
        if self.watch.has_observer() {
            let delta = self.reasoning.push(delta);
            if !delta.is_empty() {
                self.watch.notify(&Event::Reasoning { call: self.call, delta });
            }
        }
    }

    fn flush(self) {
        let (text, reasoning) = (self.text.finish(), self.reasoning.finish());
        if !reasoning.is_empty() {
            self.watch.notify(&Event::Reasoning { call: self.call, delta: reasoning });
        }
        if !text.is_empty() {
            self.watch.notify(&Event::Text { call: self.call, delta: text });
        }
    }
}
