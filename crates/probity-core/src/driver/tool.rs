//! Starts tools with their permit, and asks them what a call would touch.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{
    Allowance, Arguments, CallId, Cancel, Clock, FrozenCall, Lineage, Permit, Reconciled, Seat, Tool,
    ToolContext, ToolError, ToolErrorClass, ToolName, ToolOutput, Touches,
};
use probity_egress::{SamePrincipal, egress_panic, one_line_untrusted};
use tokio::sync::mpsc;

use super::owned::Owned;
use super::watch::{Broken, Watch};
use crate::children::{Ceiling, Kin};
use crate::run::Outcome;

/// Asks a tool what a call would touch. One that cannot tell has answered; one that breaks or hangs is reported.
pub(super) async fn resolve(
    tool: Option<Arc<dyn Tool>>,
    name: ToolName,
    call: CallId,
    arguments: Arguments,
    timeout: Duration,
    watch: Watch,
) -> Outcome {
    let Some(tool) = tool else { return Outcome::Resolved { call, result: Err(gone()) } };
    let targets = async move {
        let targets = tool.targets(&arguments).await?;
        let operands = tool.operands(&arguments).await?;
        Ok(Touches { targets, operands })
    };
    let result = bounded(targets, timeout, "tell what the call touches").await.unwrap_or_else(|broken| {
        let line = one_line_untrusted(&broken.message, THROWN_LINE_CHARS_MAX);
        let class = if broken.class == ToolErrorClass::Panicked { "panic" } else { "timeout" };
        let who =
            Broken { call: Some(call), tool: Some(&name), seat: Some(Seat::Targets), who: name.as_str() };
        watch.failed(&who, class, &line);
        Err(broken)
    });
    Outcome::Resolved { call, result }
}

/// Runs a permitted call. `alive` is let go when the tool's own future is gone: what that had to stop is stopped then.
pub(super) async fn run(
    tool: Option<Arc<dyn Tool>>,
    permit: Permit,
    timeout: Duration,
    output_bytes_max: usize,
    clock: Arc<dyn Clock>,
    alive: mpsc::Sender<()>,
    place: Option<(Arc<Kin>, Allowance)>,
) -> Outcome {
    let call = permit.call().id();
    let started_ms = clock.monotonic_ms();
    let result = match tool {
        None => Err(gone()),
        Some(tool) => {
            let idempotency_key = permit.call().digest().to_string();
            let mut stop = Stop { signal: Cancel::new(), armed: true };
            let cancel = stop.signal.clone();
            let ceiling = place.map(|(kin, allowance)| {
                Ceiling::new(kin, Arc::clone(permit.call()), allowance, cancel.clone())
            });
            let lineage = ceiling.as_ref().map_or(Lineage::NONE, Ceiling::lineage);
            let context = ToolContext { cancel, timeout, output_bytes_max, idempotency_key, lineage };
            let work = async move {
                let _alive = alive;
                // A tool may have become another one behind its name.
                if tool.spec().digest() != permit.call().facts().tool_digest {
                    return Err(another());
                }
                tool.run(permit, context).await
            };
            let result = bounded(work, timeout, "come back").await.unwrap_or_else(Err);
            if let Some(ceiling) = ceiling {
                ceiling.close().await;
            }
            stop.armed = matches!(&result, Err(error) if error.class == ToolErrorClass::TimedOut);
            result
        }
    };
    let ran_ms = clock.monotonic_ms().saturating_sub(started_ms);
    let output_bytes = result.as_ref().map_or(0, |output| output.text.len() as u64);
    let result = result.map(|output| cut(output, output_bytes_max));
    Outcome::ToolFinished { call, result, output_bytes, ran_ms }
}

/// Tells a call's work that outlives its future to stop: when its time is up, and when the run drops the call.
struct Stop {
    signal: Cancel,
    armed: bool,
}

impl Drop for Stop {
    fn drop(&mut self) {
        if self.armed {
            self.signal.fire();
        }
    }
}

/// What the work brings, or how it broke: nothing that a tool says itself counts as that.
async fn bounded<T: Send + 'static>(
    work: impl Future<Output = Result<T, ToolError>> + Send + 'static,
    timeout: Duration,
    doing: &str,
) -> Result<Result<T, ToolError>, ToolError> {
    // A task of its own: a tool that blocks its thread must not take the deadline with it.
    match tokio::time::timeout(timeout, Owned::spawn(work)).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(broken)) => match broken.try_into_panic() {
            Ok(payload) => {
                let words = egress_panic::<SamePrincipal>(payload);
                Err(ToolError::new(ToolErrorClass::Panicked, words.as_str()))
            }
            Err(_aborted) => Ok(Err(ToolError::new(ToolErrorClass::Cancelled, "it was stopped"))),
        },
        Err(_elapsed) => {
            let words = format!("it did not {doing} within {} ms", timeout.as_millis());
            Err(ToolError::new(ToolErrorClass::TimedOut, words))
        }
    }
}

/// Asks a tool what became of a call. One that breaks or hangs is reported, and the outcome stays unknown.
pub(super) async fn reconcile(
    tool: Option<Arc<dyn Tool>>,
    frozen: Arc<FrozenCall>,
    timeout: Duration,
    output_bytes_max: usize,
    watch: Watch,
) -> Outcome {
    let call = frozen.id();
    let Some(tool) = tool else { return Outcome::Reconciled { call, result: Err(gone()) } };
    let name = frozen.tool().clone();
    let asked = async move {
        let key = frozen.digest().to_string();
        tool.reconcile(&frozen, &key).await
    };
    let result = bounded(asked, timeout, "tell what became of the call").await.unwrap_or_else(|broken| {
        let line = one_line_untrusted(&broken.message, THROWN_LINE_CHARS_MAX);
        let class = if broken.class == ToolErrorClass::Panicked { "panic" } else { "timeout" };
        let who = Broken { call: Some(call), tool: Some(&name), seat: None, who: name.as_str() };
        watch.failed(&who, class, &line);
        Err(broken)
    });
    let cut_done = |reconciled| match reconciled {
        Reconciled::Done(output) => Reconciled::Done(cut(output, output_bytes_max)),
        Reconciled::NotDone => Reconciled::NotDone,
    };
    Outcome::Reconciled { call, result: result.map(cut_done) }
}

fn another() -> ToolError {
    ToolError::new(ToolErrorClass::Unavailable, "the tool is not any more the one that the call was made for")
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
