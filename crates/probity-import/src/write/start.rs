use probity_contract::{
    ContentSetting, Digest, Effect, Imported, ImportedEdges, Limits, ModelName, ModelParams, ParentCall,
    PrincipalId, RECORD_VERSION, RunId, RunStarted, ToolName, ToolSpec,
};
use serde_json::Value;

use crate::draft::{Draft, Kept, Role, Step};
use crate::format::Format;
use crate::json::text;
use crate::limits::TITLE_CHARS_MAX;
use crate::messages::definition_of;

/// How a run begins, and what the trace says of it as a whole.
pub(crate) struct StartOf {
    pub(crate) started: RunStarted,
    pub(crate) foreign: Vec<Kept>,
}

pub(crate) struct Given<'a> {
    pub(crate) run: RunId,
    pub(crate) principal: &'a PrincipalId,
    pub(crate) format: Format,
    pub(crate) file: Digest,
    pub(crate) parent: Option<ParentCall>,
    pub(crate) started_at_unix_ms: u64,
}

pub(crate) fn started(draft: &mut Draft, given: Given<'_>) -> StartOf {
    let mut foreign = std::mem::take(&mut draft.foreign);
    if !draft.key.is_empty() {
        foreign.insert(0, ("/id".to_owned(), Value::from(draft.key.as_str())));
    }
    let tools = specs(draft, &mut foreign);
    let imported = Imported {
        format: given.format.name().to_owned(),
        file: given.file,
        place: std::mem::take(&mut draft.place),
        edges: ImportedEdges::Inferred,
    };
    let started = RunStarted {
        version: RECORD_VERSION,
        run: given.run,
        title: title(draft),
        principal: given.principal.clone(),
        parent: given.parent,
        imported: Some(imported),
        model: model(draft),
        prices: None,
        params: ModelParams::default(),
        tools,
        policies: Vec::new(),
        inherited: Vec::new(),
        limits: Limits::default(),
        content: ContentSetting::Full,
        output_schema: None,
        started_at_unix_ms: given.started_at_unix_ms,
    };
    StartOf { started, foreign }
}

/// The tools that have a name which is one here. What a repetition of their calls would do is not known, so it counts as
/// the worst.
fn specs(draft: &Draft, foreign: &mut Vec<Kept>) -> Vec<ToolSpec> {
    let stepwise = draft.steps.iter().filter_map(|step| match step {
        Step::Model(step) => Some(&step.tools),
        Step::Message(_) | Step::Cleared | Step::Tool(_) => None,
    });
    let mut specs: Vec<ToolSpec> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for tool in draft.tools.iter().chain(stepwise.flatten()) {
        let Some((name, schema)) = definition_of(tool) else { continue };
        if !names.insert(name) {
            continue;
        }
        match ToolName::new(name) {
            Ok(name) => {
                let inner = tool.get("function").filter(|inner| inner.is_object()).unwrap_or(tool);
                specs.push(ToolSpec {
                    name,
                    description: text(inner, &["description"]).unwrap_or_default().to_owned(),
                    input_schema: schema.clone(),
                    effect: Effect::Once,
                    server: None,
                    sandbox: None,
                    endorses: Vec::new(),
                });
            }
            Err(_) => foreign.push((format!("/tools/{}", names.len() - 1), tool.clone())),
        }
    }
    specs
}

fn title(draft: &Draft) -> String {
    let asked = || {
        draft.steps.iter().find_map(|step| {
            let message = match step {
                Step::Message(message) => Some(message),
                Step::Model(step) => step.input.iter().flatten().find(|message| message.role == Role::User),
                Step::Tool(_) | Step::Cleared => None,
            }?;
            (message.role == Role::User).then(|| message.words())
        })
    };
    let title = if draft.title.is_empty() { asked().unwrap_or_default() } else { draft.title.clone() };
    let title = one_line(&title, TITLE_CHARS_MAX);
    if title.is_empty() { "imported".to_owned() } else { title }
}

fn model(draft: &Draft) -> ModelName {
    let stepwise = draft.steps.iter().find_map(|step| match step {
        Step::Model(step) => step.model.as_deref(),
        Step::Message(_) | Step::Cleared | Step::Tool(_) => None,
    });
    let name = one_line(draft.model.as_deref().or(stepwise).unwrap_or_default(), 200);
    // A line of at most 200 characters that is not blank is a name.
    #[expect(clippy::expect_used, reason = "a constant that is a name")]
    ModelName::new(name).unwrap_or_else(|_| ModelName::new("unknown").expect("a name"))
}

fn one_line(text: &str, chars_max: usize) -> String {
    let plain = text.chars().take(chars_max * 4).map(|c| if c.is_control() { ' ' } else { c });
    let words: String = plain.collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(chars_max).collect()
}
