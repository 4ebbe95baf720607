//! Token counts of Chat Completions.

use probity_contract::Usage;
use serde_json::Value;

use crate::codec::count_at;

/// The counts of a `usage` member.
///
/// Hosts differ in two places. The cached part has another name at DeepSeek and Moonshot. And xAI counts reasoning beside
/// the completion, not in it, which only the total tells: it is then the sum of all three.
pub(crate) fn usage_of(usage: &Value) -> Usage {
    let count = |pointer| count_at(usage, pointer);
    let input = count("/prompt_tokens");
    let reasoning = count("/completion_tokens_details/reasoning_tokens");
    let mut output = count("/completion_tokens");
    if let (Some(read), Some(written), Some(thought), Some(total)) =
        (input, output, reasoning, count("/total_tokens"))
        && thought > 0
        && total == read.saturating_add(written).saturating_add(thought)
    {
        output = Some(written.saturating_add(thought));
    }
    Usage {
        input,
        output,
        cached_input: count("/prompt_tokens_details/cached_tokens")
            .or_else(|| count("/prompt_cache_hit_tokens"))
            .or_else(|| count("/cached_tokens")),
        cache_write: count("/prompt_tokens_details/cache_write_tokens"),
        reasoning,
    }
}
