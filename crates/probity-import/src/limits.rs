//! What an import may cost. Whoever hands over a trace is not trusted.

/// Bytes of one file, and of everything that is unpacked from one.
pub const FILE_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Nested arrays and objects of JSON, in a file and in texts within it. The parser refuses more.
pub const JSON_DEPTH_MAX: usize = 127;
/// Messages, model calls and tool calls of one file together.
pub const MESSAGES_MAX: usize = 2_000_000;
/// Runs of one file.
pub const RUNS_MAX: usize = 100_000;
/// Files within an archive.
pub const ARCHIVE_FILES_MAX: usize = 200_000;
/// How many times as long as it is packed a file of an archive may be, once it is over a megabyte.
pub const ARCHIVE_RATIO_MAX: u64 = 1_100;
/// Notices of one run. What is over is counted.
pub const NOTICES_MAX: usize = 200;
/// Characters of a title.
pub const TITLE_CHARS_MAX: usize = 120;
/// Bytes up to which a text within a text is read as JSON.
pub const NESTED_JSON_BYTES_MAX: usize = 64 * 1024 * 1024;
