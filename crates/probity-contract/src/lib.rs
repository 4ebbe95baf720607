//! The nouns and ports of Probity: calls, verdicts, permits, messages, records.
