//! Limits of the front end, each a named constant with its unit last.

/// Bytes of all policy sources together.
pub const SOURCES_BYTES_MAX: usize = 1024 * 1024;
/// Policies in all sources together.
pub const POLICIES_MAX: usize = 1_000;
/// Brackets that stand inside each other in a policy's text.
pub const POLICY_NESTING_MAX: usize = 32;
/// Operators in one policy: `&&`, `||`, `+`, `-`, `*`, `!`, `.` and `if`. A list of values takes none.
pub const POLICY_OPERATORS_MAX: usize = 256;
/// Levels of one tool's arguments that have types of their own, the arguments themselves being the first. What lies
/// deeper is there as JSON text.
pub const ARGUMENT_DEPTH_MAX: usize = 8;
/// Types in one tool's arguments. What is over is there as JSON text.
pub const ARGUMENT_TYPES_MAX: usize = 1_000;
/// Values in one call's arguments, inside JSON text not counted. A call with more cannot be judged.
pub const ARGUMENT_VALUES_MAX: usize = 10_000;
/// Resources of one call; a path that leads elsewhere counts as two. A call with more cannot be judged.
pub const RESOURCES_MAX: usize = 256;
