//! The thin layer between the conformance kit and a task.

use std::sync::Arc;

use agent_hooks::ctk::{
    DeclarationError, Harness, HostRegistry, HostSurface, IdentityPair, RunRecord, ToolSeamPosture,
    VectorSetup, async_trait,
};
use agent_hooks::{IdentityProvider, InterceptionEmitter};
use probity_contract::{Consultant, EmptyPoint, Ending, HookReasons, Interceptor, Points, Tool, Window};
use probity_core::{
    BoundarySettings, ChangedCalls, ContextIdentity, Finished, Host, Releases, SystemClock, Task, run_task,
};
use probity_testkit::{MemoryJournal, ScriptedPolicy, Watcher, principal, run_id};
use serde_json::Value;

use super::declared::{Bound, Scripted};
use super::peer::{Consulted, composition_of, hooked, mode_of, points_of};
use super::rows;
use super::scenario::{self, Invocations};
use super::vectors::Vector;

/// Judges a stream in pieces: a property of the deployment, whose interceptors say what they can judge.
const INCREMENTAL: &str = "incremental_output";

pub(super) struct ProbityHarness<'a> {
    vector: &'a Vector,
    settings: BoundarySettings,
    identity: Option<ContextIdentity>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    consultant: Option<Arc<dyn Consultant>>,
    declaration: Option<String>,
    done: Option<Done>,
}

/// What is left of a run.
struct Done {
    finished: Finished,
    watcher: Watcher,
}

impl<'a> ProbityHarness<'a> {
    pub(super) fn new(vector: &'a Vector) -> Self {
        Self {
            vector,
            settings: BoundarySettings {
                empty_point: EmptyPoint::Denies,
                reasons: HookReasons::Optional,
                releases: Releases::AfterModelCall,
                changed_calls: ChangedCalls::LookedAtOnce,
                ..BoundarySettings::default()
            },
            identity: None,
            interceptors: Vec::new(),
            consultant: None,
            declaration: None,
            done: None,
        }
    }

    fn configure(&mut self, setup: &VectorSetup) {
        self.settings.mode = mode_of(setup.mode);
        self.settings.composition = composition_of(setup.composition);
        self.settings.redact_for_approval.clone_from(&setup.redact_for_approval);
    }

    /// What the vector expects and the kit does not look at: what got out, and what nothing may keep.
    pub(super) fn unreported(&self, vector: &Vector) -> Vec<String> {
        let Some(done) = &self.done else { return Vec::new() };
        let mut problems = Vec::new();
        let released = done.watcher.text();
        if let Some(expected) = vector.expect()["released_output"].as_str()
            && released != expected
        {
            problems.push(format!("released_output == {released:?}, want {expected:?}"));
        }
        // The record keeps what was refused, under the run's content setting and nowhere else.
        let items = done.finished.machine().items().iter();
        let kept = items.map(|item| item.flat_text()).collect::<Vec<_>>().join("\n");
        let refused = vector.expect()["persisted_must_not_contain"].as_array().into_iter().flatten();
        for text in refused.filter_map(Value::as_str) {
            if kept.contains(text) || released.contains(text) {
                problems.push(format!("{text:?} was kept"));
            }
        }
        problems
    }

    fn task(&self, invocations: &Invocations) -> Task {
        let vector = self.vector;
        let model = Arc::new(scenario::model(vector));
        let prompt = vector.scenario()["input"]["content"].as_str().unwrap();
        let mut task = Task::new(model, principal("ada"), prompt)
            .policy(Arc::new(ScriptedPolicy::allowing()))
            .boundary(self.settings.clone());
        for tool in scenario::tools(vector, invocations) {
            let tool: Arc<dyn Tool> = Arc::new(tool);
            task = task.tool(tool);
        }
        for interceptor in &self.interceptors {
            task = task.interceptor(Arc::clone(interceptor));
        }
        match &self.identity {
            Some(identity) => task.context_identity(identity.clone()),
            None => task,
        }
    }
}

#[async_trait]
impl Harness for ProbityHarness<'_> {
    fn name(&self) -> &str {
        "probity"
    }

    fn capabilities(&self) -> Vec<String> {
        let all = ["model_calls", "tool_calls", "int64_json", "bigint_json", INCREMENTAL, "host_declaration"];
        all.map(str::to_owned).to_vec()
    }

    /// What a declaration is resolved against. A document binds no windows, so a host that is built from one holds every
    /// answer back until its verdict.
    fn host_surface(&self) -> HostSurface {
        let buffered = self.capabilities().into_iter().filter(|capability| capability != INCREMENTAL);
        HostSurface::from_capabilities(buffered, ToolSeamPosture::Continue)
    }

    fn setup(&mut self, setup: VectorSetup) {
        self.configure(&setup);
        match setup.identity_provider {
            IdentityProvider::JcsSha256 => {}
            IdentityProvider::Null => self.settings.identity = probity_core::IdentityProvider::None,
            IdentityProvider::Custom { name, f } => {
                self.identity = Some(ContextIdentity::new(name, move |occasion| {
                    f(occasion.context().as_object().unwrap())
                }));
            }
        }
        // Whatever the model sends at once: the scripts look at what there is.
        let window = self.vector.needs(INCREMENTAL).then_some(Window::Delta);
        for (at, inner) in setup.interceptors.into_iter().enumerate() {
            self.interceptors.push(hooked(&format!("hook-{at}"), Points::ALL, window, inner));
        }
        self.consultant = setup.resolver.map(|resolver| Arc::new(Consulted(resolver)) as Arc<dyn Consultant>);
    }

    /// The document goes through the kit's own loader against our surface; what it resolves to becomes our settings.
    fn setup_declared(
        &mut self,
        setup: VectorSetup,
        document: Value,
        registry: HostRegistry,
    ) -> Result<(), DeclarationError> {
        let loaded = InterceptionEmitter::from_declaration_value(document, &registry)?;
        let resolved = loaded.declaration().expect("it was built from one");
        let configuration = &resolved.configuration;
        self.settings.mode = mode_of(configuration.mode);
        self.settings.composition = composition_of(configuration.composition);
        if configuration.approval.redactor.is_some() {
            self.settings.redact_for_approval = setup.redact_for_approval;
        }
        match configuration.identity_provider.as_deref() {
            Some(agent_hooks::JCS_SHA256) => {}
            None => self.settings.identity = probity_core::IdentityProvider::None,
            Some(name) => {
                self.identity = Some(ContextIdentity::new(name, |_| panic!("the kit's provider fails")))
            }
        }
        if configuration.approval.resolver.is_some() {
            let script = self.vector.value["approval_script"].as_array().cloned().unwrap_or_default();
            self.consultant = Some(Arc::new(Consulted(Box::new(Scripted(script)))));
        }
        for binding in resolved.bindings() {
            let bound = Box::new(Bound::new(binding, &registry)?);
            self.interceptors.push(hooked(&binding.id, points_of(&binding.at), None, bound));
        }
        self.declaration = Some(resolved.declaration.clone());
        Ok(())
    }

    async fn run(&mut self) -> RunRecord {
        let invocations = Invocations::default();
        let (journal, watcher) = (MemoryJournal::new(), Watcher::new());
        let mut host = Host::new(Box::new(journal.clone()));
        host.clock = Arc::new(SystemClock::new());
        host.observer = Some(Arc::new(watcher.clone()));
        host.consultant = self.consultant.clone();
        let finished = run_task(self.task(&invocations), run_id("run"), host).await.unwrap();
        let records = rows::records(&journal.entries(), "run", self.declaration.as_deref());
        let identity = |record: &Value, name: &str| record[name].as_str().map(str::to_owned);
        let record = RunRecord {
            outcome: outcome(&finished.ending, &records).to_owned(),
            final_output: answer(&finished),
            tool_invocations: invocations.lock().unwrap().clone(),
            identities: records
                .iter()
                .map(|record| IdentityPair {
                    input_identity: identity(record, "input_identity"),
                    enforced_identity: identity(record, "enforced_identity"),
                })
                .collect(),
            records,
            ..RunRecord::default()
        };
        self.done = Some(Done { finished, watcher });
        record
    }

    fn teardown(&mut self) {}
}

fn answer(finished: &Finished) -> Value {
    let answer = finished.machine().answer().filter(|_| matches!(finished.ending, Ending::Answered));
    answer.map(|item| item.flat_text().into()).unwrap_or_default()
}

/// `completed` where there is an answer, `blocked` where a verdict stands against going on, else `error`.
fn outcome(ending: &Ending, records: &[Value]) -> &'static str {
    let was_cut_off =
        || records.iter().any(|row| row["verdict"]["reason"] == "host_error:streaming_unsupported");
    match ending {
        Ending::Answered => "completed",
        Ending::MessageDenied(_) => "blocked",
        _ if was_cut_off() => "blocked",
        _ => "error",
    }
}
