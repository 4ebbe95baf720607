//! What the kit's interceptors and resolvers say, said by ours.

use std::sync::Arc;

use agent_hooks::{ApprovalOutcome, ApprovalRequest, ApprovalResolver, InterceptionPoint};
use probity_contract::{
    BoxFuture, Cancel, Consultant, Consultation, Enforcement, HookReasons, HookVerdict, Interceptor,
    InterceptorName, Knob, Occasion, OnApproval, Point, Points, PolicyError, Profile, Resolution, Resolve,
    Window,
};
use serde_json::{Value, json};

/// An interceptor of the kit in one of our seats.
pub(super) struct Hooked {
    pub(super) name: InterceptorName,
    pub(super) points: Points,
    pub(super) window: Option<Window>,
    pub(super) inner: Box<dyn agent_hooks::Interceptor>,
}

impl Interceptor for Hooked {
    fn name(&self) -> &InterceptorName {
        &self.name
    }

    fn points(&self) -> Points {
        self.points
    }

    fn window(&self) -> Option<Window> {
        self.window
    }

    fn intercept<'a>(
        &'a self,
        occasion: Occasion,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        Box::pin(async move {
            let verdict = self.inner.intercept(occasion.context().as_object().unwrap()).await;
            ours(&verdict)
        })
    }
}

/// The kit's resolver as the one who is consulted.
pub(super) struct Consulted(pub(super) Box<dyn ApprovalResolver>);

impl Consultant for Consulted {
    fn consult<'a>(
        &'a self,
        consultation: &'a Consultation,
    ) -> BoxFuture<'a, Result<Resolution, PolicyError>> {
        Box::pin(async move {
            let verdict = agent_hooks::verdict_from_wire(&theirs(&consultation.verdict));
            // The engine's own denies are no verdicts to the kit's reader.
            let verdict = verdict.unwrap_or_else(|_| agent_hooks::Verdict::escalate(None, None));
            let resolution = self
                .0
                .resolve(ApprovalRequest {
                    context_identity: consultation.identity.clone(),
                    interception_point: point_of(consultation.occasion.point()),
                    verdict: &verdict,
                    context: consultation.occasion.context().as_object().unwrap(),
                })
                .await;
            let verdict = resolution.verdict.map(|verdict| ours(&verdict)).transpose()?;
            let decision = match (resolution.outcome, verdict) {
                (ApprovalOutcome::Approve, Some(verdict)) => Resolve::Approve(verdict),
                (ApprovalOutcome::Reject, Some(verdict)) => Resolve::Reject(verdict),
                (ApprovalOutcome::Unresolved, _) | (_, None) => Resolve::Unresolved,
            };
            Ok(Resolution { identity: resolution.context_identity, decision })
        })
    }
}

/// A verdict of the kit through the door by which verdicts come from outside.
pub(super) fn ours(verdict: &agent_hooks::Verdict) -> Result<HookVerdict, PolicyError> {
    let mut value = serde_json::to_value(verdict).unwrap();
    if let Some(transform) = value.get_mut("transform").and_then(Value::as_object_mut) {
        // The kit leaves a null out.
        transform.entry("value").or_insert(Value::Null);
    }
    HookVerdict::from_value(&value, HookReasons::Optional)
        .map_err(|error| PolicyError::from(Box::from(error)))
}

fn theirs(verdict: &HookVerdict) -> Value {
    let mut value = json!({ "decision": verdict.decision().name(), "reason": verdict.reason() });
    if verdict.is_approvable() {
        value["approval"] = json!({});
    }
    value
}

pub(super) fn point_of(point: Point) -> InterceptionPoint {
    point.name().parse().unwrap()
}

pub(super) fn points_of<'a>(points: impl IntoIterator<Item = &'a InterceptionPoint>) -> Points {
    let names: Vec<&str> = points.into_iter().map(|point| point.as_str()).collect();
    Point::ALL.into_iter().filter(|point| names.contains(&point.name())).collect()
}

pub(super) fn mode_of(mode: agent_hooks::EnforcementMode) -> Enforcement {
    match mode {
        agent_hooks::EnforcementMode::Enforce => Enforcement::Enforce,
        agent_hooks::EnforcementMode::EvaluateOnly => Enforcement::EvaluateOnly,
    }
}

pub(super) fn composition_of(config: agent_hooks::CompositionConfig) -> probity_contract::Composition {
    use agent_hooks::{CompositionProfile as Theirs, SynthesisPolicy};
    let profile = match config.profile {
        Theirs::SequentialFirstDeny => Profile::FirstDeny,
        Theirs::SequentialRunAll => Profile::RunAll,
        Theirs::ParallelStrictest => Profile::Strictest,
        Theirs::ParallelUnanimous => Profile::Unanimous,
    };
    let knob = |knob: Option<SynthesisPolicy>| match knob {
        Some(SynthesisPolicy::Approval) => Knob::Approval,
        Some(SynthesisPolicy::Deny) | None => Knob::Deny,
    };
    probity_contract::Composition {
        profile,
        on_approval: match config.on_approval {
            Some(agent_hooks::OnApproval::Resume) => OnApproval::Resume,
            Some(agent_hooks::OnApproval::Stop) | None => OnApproval::Stop,
        },
        on_disagreement: knob(config.on_disagreement),
        on_transform_conflict: knob(config.on_transform_conflict),
    }
}

pub(super) fn hooked(
    name: &str,
    points: Points,
    window: Option<Window>,
    inner: Box<dyn agent_hooks::Interceptor>,
) -> Arc<dyn Interceptor> {
    Arc::new(Hooked { name: InterceptorName::new(name).unwrap(), points, window, inner })
}
