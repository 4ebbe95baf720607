//! Limits, each a named constant with its unit last; and those of them that a task may set.

use serde::{Deserialize, Serialize};

/// Code points of the one line that a model reads when a judgement or a tool failed.
pub const THROWN_LINE_CHARS_MAX: usize = 200;
/// Bytes of one tool's output that reach the window; the rest is cut and the cut is said.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of one call's arguments.
pub const ARGS_BYTES_MAX: usize = 1024 * 1024;
/// Nesting of one call's arguments.
pub const JSON_DEPTH_MAX: usize = 64;
/// Milliseconds that one policy may take for one call at one seat.
pub const JUDGE_TIMEOUT_MS: u64 = 5_000;
/// Seconds that a question to a person stays open.
pub const APPROVAL_TTL_S: u64 = 86_400;
/// Tasks above a task that another one has started.
pub const SUBAGENT_DEPTH_MAX: usize = 4;
/// Code points of a started task's answer that reach the task which has started it.
pub const CHILD_REPORT_CHARS_MAX: usize = 8_000;
/// Times that a person may change the arguments of one call.
pub const EDITS_MAX: u32 = 8;
/// Times that interceptors may change the arguments of one call before it is frozen.
pub const TRANSFORM_ROUNDS_MAX: u32 = 8;
/// Times that a person is asked about one call, edits included.
pub const QUESTIONS_PER_CALL_MAX: u32 = 16;
/// Bytes of one model reply over all its parts, each of which counts for a kilobyte more than it says.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Tool calls that one model reply may propose.
pub const CALLS_PER_REPLY_MAX: usize = 128;

/// What one task may spend and how long its parts may take.
///
/// Counts are reserved before they are spent. Unknown fields are refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Model calls, the wrap-up call not counted.
    pub turns_max: u32,
    /// Tool calls that start, over the whole run.
    pub tool_calls_max: u32,
    /// Tool calls that run at the same time.
    pub tool_calls_parallel_max: u32,
    /// Input and output tokens together, as the providers report them, or estimated where they report nothing. A model is
    /// asked for no more output than what is left once its window is read.
    pub tokens_max: Option<u64>,
    /// US dollars, where the prices of the model are known; kept in the same way.
    pub cost_usd_max: Option<f64>,
    /// Milliseconds from start to end, waiting for people not counted.
    pub wall_ms_max: Option<u64>,
    /// Milliseconds for one model call, all retries included.
    pub model_timeout_ms: u64,
    /// Milliseconds for one tool call.
    pub tool_timeout_ms: u64,
    /// Milliseconds for one policy at one seat.
    pub judge_timeout_ms: u64,
    /// Bytes of one tool's output that reach the window.
    pub tool_output_bytes_max: usize,
    /// Times that an answer which misses the output schema is asked for again.
    pub output_retries_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns_max: 50,
            tool_calls_max: 200,
            tool_calls_parallel_max: 16,
            tokens_max: None,
            cost_usd_max: None,
            wall_ms_max: None,
            model_timeout_ms: 300_000,
            tool_timeout_ms: 60_000,
            judge_timeout_ms: JUDGE_TIMEOUT_MS,
            tool_output_bytes_max: TOOL_OUTPUT_BYTES_MAX,
            output_retries_max: 2,
        }
    }
}
