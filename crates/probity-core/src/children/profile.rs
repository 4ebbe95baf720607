use std::sync::Arc;

use probity_contract::limits::CHILD_REPORT_CHARS_MAX;
use probity_contract::{
    Allowance, BoxFuture, Cancel, ContentSetting, DenialDetail, Digest, Effect, FrozenCall, Interceptor,
    Label, Limits, Model, ModelParams, Policy, PolicyError, PolicyName, Prices, PrincipalId, Seat, Tool,
    Verdict, canonical_bytes,
};
use serde::Serialize;

use super::kin::Kin;
use crate::task::{Below, Task};

/// What a task is that a tool starts: its own model, tools, policies and limits. Cheap to clone.
///
/// A profile can be started any number of times, each time below the call that starts it. Whatever it says, such a task can do
/// nothing that one above it could not, and spends no more than what is kept for it of the limits above. A profile without a
/// policy runs no tool.
#[derive(Clone)]
pub struct ChildProfile {
    principal: PrincipalId,
    model: Arc<dyn Model>,
    instructions: Vec<Arc<str>>,
    tools: Vec<Arc<dyn Tool>>,
    policies: Vec<Arc<dyn Policy>>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    limits: Limits,
    params: ModelParams,
    prices: Option<Prices>,
    content: ContentSetting,
    denial_detail: DenialDetail,
    report_chars_max: usize,
}

impl ChildProfile {
    /// A profile of tasks that put what they are asked to `model` and act as `principal`: the name under which people see them
    /// in questions, before those of the tasks above.
    #[must_use]
    pub fn new(principal: PrincipalId, model: Arc<dyn Model>) -> Self {
        Self {
            principal,
            prices: model.prices(),
            model,
            instructions: Vec::new(),
            tools: Vec::new(),
            policies: Vec::new(),
            interceptors: Vec::new(),
            limits: Limits::default(),
            params: ModelParams::default(),
            content: ContentSetting::Full,
            denial_detail: DenialDetail::default(),
            report_chars_max: CHILD_REPORT_CHARS_MAX,
        }
    }

    /// Adds instructions.
    #[must_use]
    pub fn instructions(mut self, text: impl AsRef<str>) -> Self {
        self.instructions.push(Arc::from(text.as_ref()));
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a policy. It is heard of the calls of this task, beside those of every task above.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn Policy>) -> Self {
        self.policies.push(policy);
        self
    }

    /// Adds an interceptor. It looks at what passes in this task before those of every task above do, each at its points; one
    /// that is called like one of theirs keeps the task from being started.
    #[must_use]
    pub fn interceptor(mut self, interceptor: Arc<dyn Interceptor>) -> Self {
        self.interceptors.push(interceptor);
        self
    }

    /// Leaves it to the tasks above what may run: adds a policy that allows every call. Theirs judge as ever.
    #[must_use]
    pub fn as_above(self) -> Self {
        match PolicyName::new("as above") {
            Ok(name) => self.policy(Arc::new(AsAbove(name))),
            // A profile that has no policy runs no tool.
            Err(_) => self,
        }
    }

    /// Sets the limits. The task has at most these, and at most what is kept for it of the limits above.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the parameters of every model call, the output schema among them.
    #[must_use]
    pub fn params(mut self, params: ModelParams) -> Self {
        self.params = params;
        self
    }

    /// Sets what the model's tokens cost, in place of what the model itself says. Below a limit of cost a task whose prices
    /// are not known is not started.
    #[must_use]
    pub const fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Sets how much content the record keeps; where a task above keeps less, it is that.
    #[must_use]
    pub const fn content(mut self, content: ContentSetting) -> Self {
        self.content = content;
        self
    }

    /// Sets how much the model reads of a denial; where a task above tells less, it is that.
    #[must_use]
    pub const fn denial_detail(mut self, detail: DenialDetail) -> Self {
        self.denial_detail = detail;
        self
    }

    /// Sets how many code points of the answer reach the task above; at most and usually [`CHILD_REPORT_CHARS_MAX`].
    #[must_use]
    pub fn report_chars_max(mut self, chars: usize) -> Self {
        self.report_chars_max = chars.min(CHILD_REPORT_CHARS_MAX);
        self
    }

    /// What a task of this profile may spend at most: for [`Tool::delegates`] of a tool that starts one.
    #[must_use]
    pub const fn wants(&self) -> Allowance {
        let Limits { turns_max, tool_calls_max, tokens_max, cost_usd_max, wall_ms_max, .. } = self.limits;
        Allowance {
            turns: turns_max,
            tool_calls: tool_calls_max,
            tokens: tokens_max,
            cost_usd: cost_usd_max,
            wall_ms: wall_ms_max,
        }
    }

    /// What a repetition of such a task would do: nothing, where every tool of it only reads.
    pub(super) fn effect(&self) -> Effect {
        let only_reads = self.tools.iter().all(|tool| tool.spec().effect == Effect::Pure);
        if only_reads { Effect::Pure } else { Effect::Once }
    }

    /// Stands for all that a person approves with a call that starts such a task.
    pub(super) fn digest(&self) -> Digest {
        #[derive(Serialize)]
        struct Bound<'a> {
            principal: &'a PrincipalId,
            model: &'a str,
            instructions: &'a [Arc<str>],
            tools: Vec<Digest>,
            policies: Vec<&'a PolicyName>,
            interceptors: Vec<&'a str>,
            limits: String,
            params: String,
        }
        let bound = Bound {
            principal: &self.principal,
            model: self.model.name().as_str(),
            instructions: &self.instructions,
            tools: self.tools.iter().map(|tool| tool.spec().digest()).collect(),
            policies: self.policies.iter().map(|policy| policy.name()).collect(),
            interceptors: self.interceptors.iter().map(|interceptor| interceptor.name().as_str()).collect(),
            // As text: numbers that are no integers below 2^53 have no canonical form that everybody agrees on.
            limits: serde_json::to_string(&self.limits).unwrap_or_default(),
            params: serde_json::to_string(&self.params).unwrap_or_default(),
        };
        // Strings and digests always have a canonical form; should they ever not, the error text takes the place.
        let bytes = canonical_bytes(&bound).unwrap_or_else(|error| error.to_string().into_bytes());
        Digest::of("probity.child-profile.v1", &[&bytes])
    }

    /// As people see it.
    pub(super) fn who(&self) -> &str {
        self.principal.as_str()
    }

    pub(super) const fn reports_chars_max(&self) -> usize {
        self.report_chars_max
    }

    /// The task that one start of this profile is.
    pub(super) fn task(&self, prompt: &str, below: Below, kin: &Kin, allowance: &Allowance) -> Task {
        let limits = Limits {
            turns_max: allowance.turns,
            tool_calls_max: allowance.tool_calls,
            tokens_max: allowance.tokens,
            cost_usd_max: allowance.cost_usd,
            wall_ms_max: allowance.wall_ms,
            ..self.limits.clone()
        };
        let mut task = Task::new(Arc::clone(&self.model), self.principal.clone(), prompt)
            .below(below)
            .boundary(kin.boundary.clone())
            .limits(limits)
            .params(self.params.clone())
            .content(less_kept(self.content, kin.content))
            .denial_detail(less_told(self.denial_detail, kin.denial_detail));
        if let Some(prices) = self.prices {
            task = task.prices(prices);
        }
        task = self.instructions.iter().fold(task, Task::instructions);
        task = self.tools.iter().cloned().fold(task, Task::tool);
        task = self.policies.iter().cloned().fold(task, Task::policy);
        task = self.interceptors.iter().chain(&kin.interceptors).cloned().fold(task, Task::interceptor);
        match &kin.identity {
            Some(identity) => task.context_identity(identity.clone()),
            None => task,
        }
    }
}

/// The label that a task's question has: it is not the person's own, whatever the words say.
pub(super) fn label_of_prompt(call: &FrozenCall) -> Label {
    call.facts().label.clone()
}

fn less_kept(one: ContentSetting, other: ContentSetting) -> ContentSetting {
    use ContentSetting::{Digests, Full, Redacted};
    match (one, other) {
        (Digests, _) | (_, Digests) => Digests,
        (Redacted, _) | (_, Redacted) => Redacted,
        (Full, Full) => Full,
    }
}

fn less_told(one: DenialDetail, other: DenialDetail) -> DenialDetail {
    match (one, other) {
        (DenialDetail::Code, _) | (_, DenialDetail::Code) => DenialDetail::Code,
        (DenialDetail::Reason, DenialDetail::Reason) => DenialDetail::Reason,
    }
}

/// Allows every call. It never judges alone: the tasks above judge the same calls.
struct AsAbove(PolicyName);

impl Policy for AsAbove {
    fn name(&self) -> &PolicyName {
        &self.0
    }

    fn judge<'a>(
        &'a self,
        _call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        let reason = "the tasks above decide".to_owned();
        Box::pin(std::future::ready(Ok(Verdict::Allow { reason })))
    }
}
