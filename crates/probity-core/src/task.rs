//! What an embedding program puts together to have one task run.

use std::sync::Arc;

use probity_contract::{
    Bench, Content, ContentSetting, DenialDetail, Interceptor, Label, Limits, Model, ModelParams, Origin,
    ParentCall, Point, Policy, Prices, PrincipalId, Roster, RunId, Tool, ToolChoice,
};

use crate::boundary::{BoundarySettings, ContextIdentity, IdentityProvider, Seated};
use crate::driver::StartError;
use crate::gate::ShadowNotes;
use crate::run::{FirstItem, Run, RunSpec};

/// The title of a run whose prompt is looked at before it may stand anywhere, and that has no other.
const UNTITLED: &str = "untitled";

/// A task above: on whose behalf it acts, and who judges its calls.
#[derive(Clone)]
pub(crate) struct Above {
    pub(crate) principal: PrincipalId,
    pub(crate) policies: Vec<Arc<dyn Policy>>,
}

/// Where a task stands that a call has started.
pub(crate) struct Below {
    pub(crate) parent: ParentCall,
    /// Who is heard of the calls of the task above.
    pub(crate) bench: Bench,
    /// That task and those above it, in the order of its bench.
    pub(crate) above: Vec<Above>,
    /// Of the question.
    pub(crate) label: Label,
}

/// One task: a model, what it shall read, what it may call, who judges, and what it may spend.
///
/// A task without a policy runs no tool. A task is used once; nothing of it is kept after the run.
pub struct Task {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) policies: Vec<Arc<dyn Policy>>,
    pub(crate) above: Vec<Above>,
    pub(crate) shadow_notes: Option<ShadowNotes>,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) identity: Option<ContextIdentity>,
    boundary: BoundarySettings,
    title: Option<String>,
    principal: PrincipalId,
    prices: Option<Prices>,
    params: ModelParams,
    first_tool_choice: ToolChoice,
    limits: Limits,
    denial_detail: DenialDetail,
    content: ContentSetting,
    items: Vec<FirstItem>,
    prompt: String,
    parent: Option<ParentCall>,
    bench_above: Option<Bench>,
    prompt_label: Label,
}

impl Task {
    /// A task that puts `prompt` to `model` for `principal`.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, principal: PrincipalId, prompt: impl Into<String>) -> Self {
        let prices = model.prices();
        Self {
            model,
            tools: Vec::new(),
            policies: Vec::new(),
            above: Vec::new(),
            shadow_notes: None,
            interceptors: Vec::new(),
            identity: None,
            boundary: BoundarySettings::default(),
            title: None,
            principal,
            prices,
            params: ModelParams::default(),
            first_tool_choice: ToolChoice::Auto,
            limits: Limits::default(),
            denial_detail: DenialDetail::default(),
            content: ContentSetting::Full,
            items: Vec::new(),
            prompt: prompt.into(),
            parent: None,
            bench_above: None,
            prompt_label: Label::person(),
        }
    }

    /// Puts the task below the one whose call starts it.
    pub(crate) fn below(mut self, below: Below) -> Self {
        let Below { parent, bench, above, label } = below;
        (self.parent, self.bench_above, self.above) = (Some(parent), Some(bench), above);
        self.prompt_label = label;
        self
    }

    /// Whether it could be run.
    pub(crate) fn check(&self, run: &RunId) -> Result<(), StartError> {
        self.spec(run.clone(), 0)?.check()?;
        Ok(())
    }

    /// A few words that tell people which run this is; the prompt's first words where not set.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds instructions.
    #[must_use]
    pub fn instructions(mut self, text: impl AsRef<str>) -> Self {
        let content = Content::Instructions(Arc::from(text.as_ref()));
        self.items.push(FirstItem { origin: Origin::Task, label: Label::system(), content });
        self
    }

    /// Adds material under a name. Its label follows it into every call that is proposed after it was read.
    #[must_use]
    pub fn context(mut self, name: impl Into<String>, text: impl AsRef<str>, label: Label) -> Self {
        let content = Content::Context { name: name.into(), text: Arc::from(text.as_ref()) };
        self.items.push(FirstItem { origin: Origin::Task, label, content });
        self
    }

    /// Goes on with the conversation of an earlier run: adds all that it has read and said, but for its instructions, with the
    /// labels that it had there. To be called before anything else is added that shall come after it.
    ///
    /// What the principal said there is looked at again where interceptors are heard at `input`: what may be said can have
    /// changed. A message that was refused is in no run, so it is in no later one either.
    #[must_use]
    pub fn continues(mut self, earlier: &Run) -> Self {
        let said = earlier
            .items()
            .iter()
            .filter(|item| !matches!(item.content, Content::Instructions(_) | Content::Notice(_)));
        self.items.extend(said.map(|item| FirstItem {
            origin: if item.origin == Origin::Principal { Origin::Principal } else { Origin::Task },
            label: item.label.clone(),
            content: item.content.clone(),
        }));
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a policy. All policies of a task are heard; one that denies cannot be overruled.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn Policy>) -> Self {
        self.policies.push(policy);
        self
    }

    /// Adds an interceptor. All are heard in the order in which they are added, and the other way round on the way back
    /// from a tool.
    #[must_use]
    pub fn interceptor(mut self, interceptor: Arc<dyn Interceptor>) -> Self {
        self.interceptors.push(interceptor);
        self
    }

    /// Sets how what several interceptors say becomes one verdict, and what follows. Its seats are not read: who is heard is
    /// who was added with [`Task::interceptor`].
    #[must_use]
    pub fn boundary(mut self, settings: BoundarySettings) -> Self {
        self.boundary = settings;
        self
    }

    /// Has a function of the deployment name what passes, in place of the SHA-256 of its canonical form.
    #[must_use]
    pub fn context_identity(mut self, identity: ContextIdentity) -> Self {
        self.boundary.identity = IdentityProvider::Named(identity.name().to_owned());
        self.identity = Some(identity);
        self
    }

    /// Has the record tell what the task's policies in shadow would have said, as far as they tell these notes.
    #[must_use]
    pub fn shadow_notes(mut self, notes: ShadowNotes) -> Self {
        self.shadow_notes = Some(notes);
        self
    }

    /// Adds the task that has started this one, or the one above the last that was added. Its policies judge every call as
    /// well, so that this task can do nothing that the one above could not.
    #[must_use]
    pub fn started_by(mut self, principal: PrincipalId, policies: Vec<Arc<dyn Policy>>) -> Self {
        self.above.push(Above { principal, policies });
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how much the model reads of a denial.
    #[must_use]
    pub const fn denial_detail(mut self, detail: DenialDetail) -> Self {
        self.denial_detail = detail;
        self
    }

    /// Sets the parameters of every model call, the output schema among them.
    #[must_use]
    pub fn params(mut self, params: ModelParams) -> Self {
        self.params = params;
        self
    }

    /// Sets whether the first model call must call a tool.
    #[must_use]
    pub fn first_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.first_tool_choice = choice;
        self
    }

    /// Sets what the model's tokens cost, in place of what the model itself says.
    #[must_use]
    pub const fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Sets how much content the record keeps.
    #[must_use]
    pub const fn content(mut self, content: ContentSetting) -> Self {
        self.content = content;
        self
    }

    pub(crate) const fn limits_ref(&self) -> &Limits {
        &self.limits
    }

    fn seats(&self) -> Result<BoundarySettings, StartError> {
        let mut seats: Vec<Seated> = Vec::new();
        for interceptor in &self.interceptors {
            let name = interceptor.name().clone();
            if seats.iter().any(|seat| seat.name == name) {
                return Err(StartError::InterceptorTwice(name));
            }
            seats.push(Seated { name, points: interceptor.points(), window: interceptor.window() });
        }
        Ok(BoundarySettings { seats, ..self.boundary.clone() })
    }

    /// The plain data of the task, as run `run` started at `started_at_unix_ms`.
    ///
    /// # Errors
    /// When two policies of one task have one name, or too many tasks are above.
    pub fn spec(&self, run: RunId, started_at_unix_ms: u64) -> Result<RunSpec, StartError> {
        let roster = |policies: &[Arc<dyn Policy>]| {
            Roster::new(policies.iter().map(|policy| policy.name().clone()).collect())
        };
        let own = roster(&self.policies)?;
        let bench = match &self.bench_above {
            Some(above) => above.for_child(own)?,
            None => {
                let above = self.above.iter().map(|above| roster(&above.policies));
                std::iter::once(Ok(own)).chain(above).collect::<Result<Vec<_>, _>>()?.try_into()?
            }
        };
        let boundary = self.seats()?;
        // A message that is looked at may be nowhere before, and a title is told first of all.
        let untitled = boundary.is_heard_at(Point::Input);
        let mut items = self.items.clone();
        let content = Content::Person(Arc::from(self.prompt.as_str()));
        // The question of a task that another one has started is no person's.
        let origin = if self.parent.is_some() { Origin::Task } else { Origin::Principal };
        items.push(FirstItem { origin, label: self.prompt_label.clone(), content });
        let delegates =
            self.tools.iter().filter_map(|tool| Some((tool.spec().name.clone(), tool.delegates()?)));
        Ok(RunSpec {
            run,
            // Whole: what is cut before the credential pass may leave half a credential that it does not know.
            title: match &self.title {
                Some(title) => title.clone(),
                None if untitled => UNTITLED.to_owned(),
                None => self.prompt.clone(),
            },
            principal: self.principal.clone(),
            model: self.model.name().clone(),
            prices: self.prices,
            params: Arc::new(self.params.clone()),
            tools: self.tools.iter().map(|tool| tool.spec().clone()).collect(),
            first_tool_choice: self.first_tool_choice.clone(),
            principals_above: self.above.iter().map(|above| above.principal.clone()).collect(),
            parent: self.parent.clone(),
            delegates: delegates.collect(),
            bench,
            boundary,
            limits: self.limits.clone(),
            denial_detail: self.denial_detail,
            content: self.content,
            items,
            started_at_unix_ms,
        })
    }
}
