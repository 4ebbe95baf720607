//! Named limits of calls over HTTP, units last.

/// Bytes that one reply may have on the wire. A longest answer of today's models is a few MB with all its framing.
pub const REPLY_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of a refusal's body that are read for the provider's words.
pub const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;
/// Characters of a provider's own words that an error carries.
pub const PROVIDER_MESSAGE_CHARS_MAX: usize = 500;
/// Tries of one call, the first included.
pub const TRIES_MAX: u32 = 3;
/// The longest pause before a further try, in milliseconds. A provider that asks for more is not asked again.
pub const RETRY_PAUSE_MS_MAX: u64 = 30_000;
/// The pause before the second try where the provider names none, in milliseconds; it doubles with each try.
pub const RETRY_PAUSE_MS_FIRST: u64 = 500;
/// Tokens of a reply where the request names no limit and the provider demands one (Anthropic).
pub const OUTPUT_TOKENS_DEFAULT: u64 = 8_192;
/// Bytes of a key file that are read.
pub const KEY_BYTES_MAX: usize = 16 * 1024;
