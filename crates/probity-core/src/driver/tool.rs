//! Starts tools with their permit, and asks them what a call would touch.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use probity_contract::{
    Arguments, CallId, Cancel, Clock, Permit, Tool, ToolContext, ToolError, ToolErrorClass, ToolOutput,
};
use probity_egress::{SamePrincipal, egress_panic};

use crate::run::Outcome;

pub(super) async fn resolve(
    tool: Option<Arc<dyn Tool>>,
    call: CallId,
    arguments: Arguments,
    timeout: Duration,
) -> Outcome {
    let result = match tool {
        None => Err(gone()),
        Some(tool) => {
            let targets = async move { tool.targets(&arguments).await };
            bounded(targets, timeout, "tell what the call touches").await
        }
    };
    Outcome::Resolved { call, result }
}

pub(super) async fn run(
    tool: Option<Arc<dyn Tool>>,
    permit: Permit,
    timeout: Duration,
    output_bytes_max: usize,
    cancel: Cancel,
    clock: Arc<dyn Clock>,
) -> Outcome {
    let call = permit.call().id();
    let started_ms = clock.monotonic_ms();
    let result = match tool {
        None => Err(gone()),
        Some(tool) => {
            let idempotency_key = permit.call().digest().to_string();
            let context = ToolContext { cancel, timeout, output_bytes_max, idempotency_key };
            let work = async move { tool.run(permit, context).await };
            bounded(work, timeout, "come back").await
        }
    };
    let ran_ms = clock.monotonic_ms().saturating_sub(started_ms);
    let output_bytes = result.as_ref().map_or(0, |output| output.text.len() as u64);
    let result = result.map(|output| cut(output, output_bytes_max));
    Outcome::ToolFinished { call, result, output_bytes, ran_ms }
}

async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    timeout: Duration,
    doing: &str,
) -> Result<T, ToolError> {
    match tokio::time::timeout(timeout, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(result)) => result,
        Ok(Err(payload)) => {
            let words = egress_panic::<SamePrincipal>(payload);
            Err(ToolError::new(ToolErrorClass::Panicked, words.as_str()))
        }
        Err(_elapsed) => {
            let words = format!("it did not {doing} within {} ms", timeout.as_millis());
            Err(ToolError::new(ToolErrorClass::TimedOut, words))
        }
    }
}

fn gone() -> ToolError {
    ToolError::new(ToolErrorClass::Unavailable, "the tool is not there any more")
}

/// Cuts the output to the limit at a character and says so.
fn cut(mut output: ToolOutput, bytes_max: usize) -> ToolOutput {
    let bytes = output.text.len();
    if bytes > bytes_max {
        output.text.truncate(output.text.floor_char_boundary(bytes_max));
        let kept = output.text.len();
        output.text.push_str(&format!("\n[output cut: the first {kept} of {bytes} bytes are shown]"));
    }
    output
}
