//! The same answers, composed by us and by the specification's reference implementation.

use std::collections::BTreeSet;

use agent_hooks::ctk::async_trait;
use agent_hooks::{
    AgentContext, ApprovalOutcome, ApprovalRequest, ApprovalResolution, ApprovalResolver, CompositionConfig,
    CompositionProfile, EnforcementMode, InterceptionEmitter, SynthesisPolicy, verdict_from_wire,
};
use probity_contract::Composition;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::testing::{call, drive, settings};
use super::super::upshot::Upshot;
use super::*;

/// An integer that not all readers can hold.
const BEYOND: u64 = 9_007_199_254_740_993;

/// What an interceptor or a resolver says on the wire; what the reference cannot read is malformed to both.
struct Says(Value);

#[async_trait]
impl agent_hooks::Interceptor for Says {
    async fn intercept(&self, _: &AgentContext) -> agent_hooks::Verdict {
        verdict_from_wire(&self.0).unwrap_or_else(|_| malformed())
    }
}

fn malformed() -> agent_hooks::Verdict {
    agent_hooks::Verdict { decision: agent_hooks::Decision::Transform, ..agent_hooks::Verdict::allow() }
}

#[async_trait]
impl ApprovalResolver for Says {
    async fn resolve(&self, request: ApprovalRequest<'_>) -> ApprovalResolution {
        let verdict = verdict_from_wire(&self.0["verdict"]).unwrap_or_else(|_| malformed());
        let outcome =
            serde_json::from_value(self.0["outcome"].clone()).unwrap_or(ApprovalOutcome::Unresolved);
        ApprovalResolution { outcome, context_identity: request.context_identity, verdict: Some(verdict) }
    }
}

fn their_composition(composition: Composition) -> CompositionConfig {
    let knob = |knob| match knob {
        Knob::Deny => SynthesisPolicy::Deny,
        Knob::Approval => SynthesisPolicy::Approval,
    };
    CompositionConfig {
        profile: CompositionProfile::from_wire(composition.profile.name()).unwrap(),
        on_approval: Some(match composition.on_approval {
            OnApproval::Stop => agent_hooks::OnApproval::Stop,
            OnApproval::Resume => agent_hooks::OnApproval::Resume,
        }),
        on_disagreement: Some(knob(composition.on_disagreement)),
        on_transform_conflict: Some(knob(composition.on_transform_conflict)),
    }
}

/// What a record tells of the outcome, and what the call would be made with.
fn theirs(
    composition: Composition,
    mode: EnforcementMode,
    answers: &[Value],
    resolution: Option<&Value>,
    arguments: &Value,
) -> Value {
    let resolver = resolution.map(|said| Box::new(Says(said.clone())) as Box<dyn ApprovalResolver>);
    let mut emitter = InterceptionEmitter::new(mode, resolver);
    emitter.set_composition(their_composition(composition));
    for answer in answers {
        emitter.register(Box::new(Says(answer.clone())));
    }
    let mut context = call(arguments.clone()).occasion.context().as_object().unwrap().clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let record = runtime.block_on(emitter.emit_unchecked(&mut context));
    let verdict = &record.verdict;
    json!({
        "proceeds": record.proceeds(),
        "target": if record.proceeds() { context["target"].clone() } else { Value::Null },
        "decision": verdict.decision.as_str(),
        "reason": verdict.reason,
        "approvable": verdict.is_liftable(),
        "decided_by": record.decided_by.filter(|_| !is_lift_that_fails(verdict.reason.as_deref(), record.resolved_by)),
        "labels": sorted(if verdict.decision.permits() { &verdict.result_labels } else { &[] }),
        "resolved_by": record.resolved_by,
        "said": record.verdicts.iter().map(|said| (said.index, said.decision.as_str())).collect::<Vec<_>>(),
        "input": record.input_identity,
        "enforced": record.enforced_identity.filter(|_| verdict.decision.permits()),
        "truncated": record.fold_truncated.filter(|_| is_folded(composition, answers)),
    })
}

fn ours(
    composition: Composition,
    mode: Enforcement,
    answers: &[Value],
    resolution: Option<&Value>,
    arguments: &Value,
) -> Value {
    let settings = BoundarySettings { mode, ..settings(composition, answers.len()) };
    let read = |value: &Value| HookVerdict::from_value(value, settings.reasons);
    let upshot: Upshot = drive(
        &settings,
        call(arguments.clone()),
        |seat, _| read(&answers[seat as usize]).map_or(Heard::Malformed, Heard::Verdict),
        |consultation| {
            let Some(said) = resolution else { return Consulted::Nobody };
            let decision = match (said["outcome"].as_str(), read(&said["verdict"])) {
                (Some("unresolved"), _) => Resolve::Unresolved,
                (Some("approve"), Ok(verdict)) => Resolve::Approve(verdict),
                (_, Ok(verdict)) => Resolve::Reject(verdict),
                (_, Err(_)) => return Consulted::Malformed,
            };
            Consulted::Resolved(Box::new(Resolution { identity: consultation.identity.clone(), decision }))
        },
    );
    let (row, verdict) = (&upshot.row, &upshot.verdict);
    let resolved_by = (row.resolved_by == Some(Resolved::Approval)).then_some("approval");
    json!({
        "proceeds": upshot.proceeds,
        "target": if upshot.proceeds { upshot.target().clone() } else { Value::Null },
        "decision": verdict.decision().name(),
        "reason": verdict.reason(),
        "approvable": verdict.is_approvable(),
        "decided_by": row.decided_by.filter(|_| !is_lift_that_fails(verdict.reason(), resolved_by)),
        "labels": sorted(if verdict.permits() { verdict.result_labels() } else { &[] }),
        "resolved_by": row.resolved_by,
        "said": row.verdicts.iter().map(|said| (said.index, said.decision.as_str())).collect::<Vec<_>>(),
        "input": row.input_identity,
        "enforced": row.enforced_identity.as_ref().filter(|_| verdict.permits()),
        "truncated": row.truncated.filter(|_| is_folded(composition, answers)),
    })
}

/// Whether a person has lifted a deny with a transform that cannot be applied. Whose the engine's own deny is then differs from
/// profile to profile in the reference; it is nobody's to us.
fn is_lift_that_fails(reason: Option<&str>, resolved_by: Option<&str>) -> bool {
    reason.is_some_and(|reason| reason.starts_with("host_error:")) && resolved_by == Some("approval")
}

/// Labels are a set.
fn sorted(labels: &[String]) -> Vec<String> {
    labels.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether both tell if somebody was not heard: we do so in both sequential profiles, and where nobody was there to be heard.
fn is_folded(composition: Composition, answers: &[Value]) -> bool {
    composition.profile == Profile::FirstDeny && !answers.is_empty()
}

fn with_a_name(mut verdict: Value) -> Value {
    if let Some(value) =
        verdict.pointer_mut("/transform/value").filter(|value| value.as_u64() == Some(BEYOND))
    {
        *value = json!(3);
    }
    verdict
}

fn any_verdict() -> impl Strategy<Value = Value> {
    let path = prop::sample::select(vec![
        "$target.url",
        "$target.n",
        "$policy_target.n",
        "$target.list[0]",
        "$target.none",
    ]);
    let value = prop_oneof![Just(json!("x")), Just(json!(2)), Just(json!(BEYOND))];
    let decision = prop_oneof![
        4 => Just(json!({"decision": "allow"})),
        1 => Just(json!({"decision": "deny"})),
        3 => Just(json!({"decision": "deny", "approval": {}})),
        4 => (path, value).prop_map(|(path, value)| json!({"decision": "transform", "transform": {"path": path, "value": value}})),
        1 => Just(json!({"decision": "transform"})),
        1 => Just(json!({"decision": "alow"})),
    ];
    let word = || prop_oneof![Just(None), "[a-c]".prop_map(Some)];
    (decision, word(), word(), word()).prop_map(|(mut verdict, reason, warning, label)| {
        verdict["reason"] = json!(reason);
        verdict["warnings"] = warning.map_or(json!([]), |warning| json!([{"reason": warning}]));
        verdict["result_labels"] = json!(label.into_iter().collect::<Vec<_>>());
        verdict
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]
    #[test]
    fn agent_hooks_reference_composes_alike(
        profile in prop::sample::select(vec![Profile::FirstDeny, Profile::RunAll, Profile::Strictest, Profile::Unanimous]),
        resumes in any::<bool>(),
        lifts in any::<bool>(),
        is_trial in prop::bool::weighted(0.2),
        answers in prop::collection::vec(any_verdict(), 0..5),
        resolution in prop::option::of((prop::sample::select(vec!["approve", "approve", "reject", "unresolved"]), any_verdict())),
    ) {
        let knob = if lifts { Knob::Approval } else { Knob::Deny };
        let composition = Composition {
            profile,
            on_approval: if resumes { OnApproval::Resume } else { OnApproval::Stop },
            on_disagreement: knob,
            on_transform_conflict: knob,
        };
        let resolution = resolution.map(|(outcome, verdict)| json!({"outcome": outcome, "verdict": verdict}));
        // What cannot be named cannot be shown to anybody, which we find out before we ask whether there is anybody.
        let answers = if resolution.is_none() { answers.into_iter().map(with_a_name).collect() } else { answers };
        let arguments = json!({"url": "https://x", "n": 1, "list": [1]});
        let (mode, their_mode) = if is_trial {
            (Enforcement::EvaluateOnly, EnforcementMode::EvaluateOnly)
        } else {
            (Enforcement::Enforce, EnforcementMode::Enforce)
        };
        let ours = ours(composition, mode, &answers, resolution.as_ref(), &arguments);
        let theirs = theirs(composition, their_mode, &answers, resolution.as_ref(), &arguments);
        prop_assert_eq!(ours, theirs);
    }
}
