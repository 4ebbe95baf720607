//! Interceptors that a host declaration names.

use std::sync::Mutex;

use agent_hooks::ctk::async_trait;
use agent_hooks::ctk_engine::scripted_resolve;
use agent_hooks::declaration::ResolvedBinding;
use agent_hooks::{
    AgentContext, ApprovalOutcome, ApprovalRequest, ApprovalResolution, ApprovalResolver, DeclarationError,
    HostRegistry, InterceptionEmitter, Transform, Verdict, resolve, verdict_from_wire,
};
use serde_json::{Value, json};

/// One binding of a declaration.
///
/// The kit hands an interceptor that its registry builds to nobody but an emitter, so each one sits alone in one of its own,
/// which has nothing to compose or to name.
pub(super) struct Bound(Mutex<Option<InterceptionEmitter>>);

impl Bound {
    pub(super) fn new(binding: &ResolvedBinding, registry: &HostRegistry) -> Result<Self, DeclarationError> {
        let document = json!({
            "declaration": agent_hooks::DECLARATION_VERSION,
            "configuration": { "identity_provider": null },
            "bindings": [{ "id": binding.id, "kind": binding.kind, "config": binding.config }],
        });
        let emitter = InterceptionEmitter::from_declaration_value(document, registry)?;
        Ok(Self(Mutex::new(Some(emitter))))
    }
}

#[async_trait]
impl agent_hooks::Interceptor for Bound {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        let mut emitter = self.0.lock().unwrap().take().expect("an interceptor is asked once at a time");
        let mut after = context.clone();
        let record = emitter.emit_unchecked(&mut after).await;
        *self.0.lock().unwrap() = Some(emitter);
        let mut verdict = record.verdict;
        if let Some(transform) = &mut verdict.transform {
            // The record of a transform holds the path alone; what was put there stands in the context.
            let value = resolve(&after["target"], &transform.path).cloned().unwrap_or_default();
            *transform = Transform { value, ..transform.clone() };
        }
        verdict
    }
}

/// The resolver `ctk-scripted` of the kit's registry, which holds it as closely.
pub(super) struct Scripted(pub(super) Vec<Value>);

#[async_trait]
impl ApprovalResolver for Scripted {
    async fn resolve(&self, request: ApprovalRequest<'_>) -> ApprovalResolution {
        let identity = request.context_identity.clone().unwrap_or_default();
        let said = scripted_resolve(&self.0, &Value::Object(request.context.clone()), &identity);
        ApprovalResolution {
            outcome: serde_json::from_value(said["outcome"].clone()).unwrap_or(ApprovalOutcome::Unresolved),
            context_identity: request
                .context_identity
                .and(said["context_identity"].as_str().map(str::to_owned)),
            verdict: said.get("verdict").map(|verdict| verdict_from_wire(verdict).unwrap()),
        }
    }
}
