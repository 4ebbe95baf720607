//! A run whose steps come to rest on a desk: what it asks for lies there until the test deals with it, in any order, late,
//! twice or never.

use std::sync::Arc;

use probity_contract::{
    Answer, Arguments, Bench, CallId, Content, ContentSetting, DenialDetail, Effect, Emission, Ending,
    FrozenCall, Label, Limits, ModelCallId, ModelParams, ModelReply, Occasion, Opinion, Origin, PendingCall,
    Redemption, ReplyPart, Roster, Seat, Stop, Target, ToolChoice, ToolError, ToolErrorClass, ToolOutput,
    ToolSpec, Usage,
};
use probity_core::{BoundarySettings, FirstItem, MemoryRedeemer, Outcome, Run, RunSpec, Step, Unexpected};
use probity_testkit::{model_name, policy_name, principal, run_id, tool_name};
use serde_json::json;

/// Something that the run asked for and that somebody owes it.
#[derive(Debug, Clone)]
pub(crate) enum Owed {
    Model(ModelCallId),
    Targets(CallId, Arguments),
    Opinions(Arc<FrozenCall>, Seat),
    Answer(Box<PendingCall>),
    Tool(Arc<FrozenCall>),
    Reconcile(CallId),
}

impl Owed {
    fn is_paid_by(&self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Model(one), Outcome::ModelReplied { call, .. }) => one == call,
            (Self::Targets(one, ..), Outcome::Resolved { call, .. }) => one == call,
            (Self::Opinions(one, at), Outcome::Judged { call, seat, .. }) => (one.id(), at) == (*call, seat),
            (Self::Answer(one), Outcome::Answered { binding, .. }) => one.binding() == *binding,
            (Self::Reconcile(one), Outcome::Reconciled { call, .. }) => one == call,
            (Self::Tool(one), Outcome::ToolFinished { call, .. }) => one.id() == *call,
            _ => false,
        }
    }
}

/// A run and its desk.
pub(crate) struct Desk {
    pub run: Run,
    pub open: Vec<Owed>,
    /// What the record was told.
    pub lines: Vec<Emission>,
    /// The calls whose tool has had its permit, in order.
    pub started: Vec<Arc<FrozenCall>>,
    /// What interceptors are to look at: the passage, who, and what passes.
    pub looks: Vec<(u64, Vec<u32>, Occasion)>,
    /// What was released of what the model wrote.
    pub released: Vec<String>,
    pub ending: Option<Ending>,
    pub now_ms: u64,
    /// Shared by all who take the run up.
    pub redeemer: Arc<MemoryRedeemer>,
}

impl Desk {
    pub(crate) fn new(run: Run) -> Self {
        let mut desk = Self::unsettled(run);
        desk.settle();
        desk
    }

    /// A run of which no step was carried out yet.
    pub(crate) fn unsettled(run: Run) -> Self {
        let (open, lines, started) = (Vec::new(), Vec::new(), Vec::new());
        let (looks, released) = (Vec::new(), Vec::new());
        let redeemer = Arc::new(MemoryRedeemer::new());
        Self { run, open, lines, started, looks, released, ending: None, now_ms: 0, redeemer }
    }

    /// Carries out steps until the run waits or has ended.
    pub(crate) fn settle(&mut self) {
        while self.ending.is_none() && self.step().is_some() {}
    }

    /// Carries out one step.
    pub(crate) fn step(&mut self) -> Option<()> {
        match self.run.next()? {
            Step::Record { lines, .. } => self.lines.extend(lines),
            Step::Notify(_) => {}
            Step::CallModel { call, .. } => self.open.push(Owed::Model(call)),
            Step::Resolve { call, arguments, .. } => self.open.push(Owed::Targets(call, arguments)),
            Step::Judge { call, seat } => self.open.push(Owed::Opinions(call, seat)),
            Step::Redeem { call, binding } => {
                let result = Redemption::claim(&*self.redeemer, &call.facts().run, binding);
                self.run.feed(self.now_ms, Outcome::Redeemed { call: call.id(), result }).unwrap();
            }
            Step::Reconcile { call } => self.open.push(Owed::Reconcile(call.id())),
            Step::Ask { question } => self.open.push(Owed::Answer(Box::new(question))),
            Step::RunTool { permit, .. } => {
                self.started.push(Arc::clone(permit.call()));
                self.open.push(Owed::Tool(Arc::clone(permit.call())));
            }
            Step::Intercept { passage, seats, occasion } => {
                self.looks.push((passage, seats, occasion));
            }
            Step::Release { text, .. } => self.released.push(text),
            Step::Identify { .. } | Step::Consult { .. } => panic!("no test here has anybody to ask"),
            Step::Done(ending) => self.ending = Some(ending),
        }
        Some(())
    }

    /// Feeds an outcome; where the run takes it, what it answers is off the desk.
    pub(crate) fn feed(&mut self, outcome: Outcome) -> Result<(), Unexpected> {
        let paid = self.open.iter().position(|owed| owed.is_paid_by(&outcome));
        let fed = self.run.feed(self.now_ms, outcome);
        if let (Ok(()), Some(at)) = (fed, paid) {
            self.open.remove(at);
        }
        self.settle();
        fed
    }

    /// The run as it is written down.
    pub(crate) fn stored(&self) -> String {
        serde_json::to_string(&self.run).unwrap()
    }

    /// Another driver takes the run up from what was written down. Whatever lay on the desk is gone.
    pub(crate) fn taken_up(&self, stored: &str) -> Result<Self, serde_json::Error> {
        Ok(self.goes_on_as(serde_json::from_str(stored)?))
    }

    /// Another driver goes on with this run, which was read back.
    pub(crate) fn goes_on_as(&self, mut run: Run) -> Self {
        run.abandon_outstanding();
        let mut desk = Self {
            lines: self.lines.clone(),
            started: self.started.clone(),
            now_ms: self.now_ms,
            redeemer: Arc::clone(&self.redeemer),
            ..Self::unsettled(run)
        };
        desk.settle();
        desk
    }

    /// The open question, if there is exactly one.
    pub(crate) fn question(&self) -> Option<PendingCall> {
        let mut questions = self.open.iter().filter_map(|owed| match owed {
            Owed::Answer(question) => Some(question.as_ref().clone()),
            _ => None,
        });
        questions.next().filter(|_| questions.next().is_none())
    }
}

/// A spec with these tools and the one policy `careful`.
pub(crate) fn spec(tools: Vec<ToolSpec>) -> RunSpec {
    let content = Content::Person(Arc::from("do it"));
    RunSpec {
        run: run_id("run"),
        title: "a test".to_owned(),
        principal: principal("ada"),
        model: model_name("test/desk"),
        prices: None,
        params: Arc::new(ModelParams::default()),
        tools: tools.into(),
        first_tool_choice: ToolChoice::Auto,
        principals_above: Vec::new(),
        parent: None,
        delegates: std::collections::BTreeMap::new(),
        bench: Bench::of(Roster::new(vec![policy_name("careful")]).unwrap()),
        limits: Limits::default(),
        denial_detail: DenialDetail::default(),
        boundary: BoundarySettings::default(),
        content: ContentSetting::Full,
        items: vec![FirstItem { origin: Origin::Principal, label: Label::person(), content }],
        started_at_unix_ms: 0,
    }
}

pub(crate) fn tool(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        name: tool_name(name),
        description: format!("The tool {name}."),
        input_schema: json!({"type": "object"}),
        effect,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    }
}

pub(crate) fn replied(call: ModelCallId, parts: Vec<ReplyPart>) -> Outcome {
    let usage = Usage { input: Some(10), output: Some(5), ..Usage::default() };
    let reply = ModelReply { parts, stop: Stop::EndTurn, usage, model: None, response_id: None };
    Outcome::ModelReplied { call, result: Ok(reply) }
}

pub(crate) fn judged(call: &FrozenCall, seat: Seat, opinions: Vec<Opinion>) -> Outcome {
    Outcome::Judged { call: call.id(), seat, opinions }
}

pub(crate) fn told(call: CallId, targets: Vec<Target>) -> Outcome {
    Outcome::Resolved { call, result: Ok(targets.into()) }
}

pub(crate) fn answered(question: &PendingCall, answer: Answer) -> Outcome {
    Outcome::Answered { call: question.call().id(), binding: question.binding(), answer }
}

pub(crate) fn approve() -> Answer {
    Answer::Approve { by: principal("eve"), more: 0 }
}

pub(crate) fn finished(call: CallId, text: &str) -> Outcome {
    Outcome::ToolFinished { call, result: Ok(ToolOutput::text(text)), output_bytes: 0, ran_ms: 1 }
}

/// The tool does not know what became of the call.
pub(crate) fn not_known(call: CallId) -> Outcome {
    let error = ToolError::new(ToolErrorClass::Failed, "nobody knows");
    Outcome::Reconciled { call, result: Err(error) }
}
