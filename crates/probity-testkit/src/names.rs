//! Names for tests, without the ceremony.

use probity_contract::{ModelName, PolicyName, PrincipalId, RunId, ToolName};

/// A run's id.
///
/// # Panics
/// When the text is no run id; likewise for the other names here.
#[must_use]
#[expect(clippy::expect_used, reason = "a test with a bad name is wrong and must fail")]
pub fn run_id(text: &str) -> RunId {
    RunId::new(text).expect("a run id")
}

/// A tool's name.
///
/// # Panics
/// When the text is no tool name.
#[must_use]
#[expect(clippy::expect_used, reason = "a test with a bad name is wrong and must fail")]
pub fn tool_name(text: &str) -> ToolName {
    ToolName::new(text).expect("a tool name")
}

/// A policy's name.
///
/// # Panics
/// When the text is no policy name.
#[must_use]
#[expect(clippy::expect_used, reason = "a test with a bad name is wrong and must fail")]
pub fn policy_name(text: &str) -> PolicyName {
    PolicyName::new(text).expect("a policy name")
}

/// A principal.
///
/// # Panics
/// When the text is no principal.
#[must_use]
#[expect(clippy::expect_used, reason = "a test with a bad name is wrong and must fail")]
pub fn principal(text: &str) -> PrincipalId {
    PrincipalId::new(text).expect("a principal")
}

/// A model's name.
///
/// # Panics
/// When the text is no model name.
#[must_use]
#[expect(clippy::expect_used, reason = "a test with a bad name is wrong and must fail")]
pub fn model_name(text: &str) -> ModelName {
    ModelName::new(text).expect("a model name")
}

/// A made-up text in the shape of a code host's access token. It opens nothing; equal seeds give equal tokens.
#[must_use]
pub fn fake_token(seed: u64) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493);
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let index = usize::try_from((state >> 33) % 36).unwrap_or(0);
        LETTERS.get(index).map_or('a', |byte| char::from(*byte))
    };
    let random: String = (0..36).map(|_| letter()).collect();
    // In two pieces, so that the source itself holds nothing that looks like one.
    ["gh", "p_", &random].concat()
}
