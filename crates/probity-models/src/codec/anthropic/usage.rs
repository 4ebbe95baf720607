//! Token counts of Anthropic Messages, which come in several events.

use probity_contract::Usage;
use serde_json::Value;

use crate::codec::count_at;

/// Counts as last stated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    fresh: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
}

impl Counts {
    /// Takes over what is stated; a later zero does not undo a count, since some gateways fill gaps with zeros.
    pub(super) fn update(&mut self, usage: &Value) {
        let update = |slot: &mut Option<u64>, pointer: &str| {
            if let Some(count) = count_at(usage, pointer).filter(|count| *count > 0 || slot.is_none()) {
                *slot = Some(count);
            }
        };
        update(&mut self.fresh, "/input_tokens");
        update(&mut self.cache_read, "/cache_read_input_tokens");
        update(&mut self.cache_write, "/cache_creation_input_tokens");
        update(&mut self.output, "/output_tokens");
        update(&mut self.reasoning, "/output_tokens_details/thinking_tokens");
    }

    /// This API counts cached tokens beside the others, not among them.
    pub(super) fn total(self) -> Usage {
        let cached = self.cache_read.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        Usage {
            input: self.fresh.map(|fresh| fresh.saturating_add(cached)),
            output: self.output,
            cached_input: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.reasoning,
        }
    }
}
