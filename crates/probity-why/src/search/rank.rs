//! Where to look first. A lead, never a verdict: a bad rank costs calls, not truth.

/// What a suspect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuspectKind {
    /// The result of a tool.
    ToolResult,
    /// A document, a note of the memory, or another item of the context.
    Context,
    /// Instructions or a skill.
    Instructions,
    /// The definition of a tool.
    ToolDefinition,
    /// What the model said itself.
    Reply,
    /// What a person said.
    Person,
}

/// What is known of a suspect before anything is run. All are facts of the record: no truth, no name of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features {
    /// The share of the asked atoms that stand in it, each weighed by how few suspects hold it. 0..=1.
    pub copied: f64,
    /// How alike its words are to the question and the answer, 0..=1.
    pub alike: f64,
    /// Steps in the slice between it and the part asked about; 0 where it stood in the window of the call itself.
    pub distance: u32,
    /// What it is.
    pub kind: SuspectKind,
    /// Where it stands in the window: 0 the oldest, 1 the newest.
    pub recency: f64,
}

/// The lead of a suspect: the higher, the earlier it is tried.
///
/// A plain weighted sum, to be read as the logarithm of how likely it is the culprit, in this order of weight: what holds the asked words; what is alike; what is near; what usually
/// carries facts (results and documents before instructions before the words of persons); what is new. Always finite.
#[must_use]
pub fn rank(features: &Features) -> f64 {
    let share = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
    let kind = match features.kind {
        SuspectKind::ToolResult | SuspectKind::Context => 1.0,
        SuspectKind::Instructions | SuspectKind::ToolDefinition => 0.6,
        SuspectKind::Reply => 0.4,
        SuspectKind::Person => 0.0,
    };
    let near = 1.0 / (1.0 + f64::from(features.distance));
    4.0 * share(features.copied) + 2.0 * share(features.alike) + near + kind + 0.5 * share(features.recency)
}
