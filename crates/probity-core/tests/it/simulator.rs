//! Drives the machine without a runtime: a world whose answers depend on the call alone, and a schedule that says in
//! which order they come.

use std::sync::Arc;

use probity_contract::{
    Answer, Bench, CallId, Content, ContentSetting, DenialDetail, Digest, Effect, Emission, Ending,
    FrozenCall, Item, Label, Limits, ModelCallId, ModelParams, ModelReply, Opinion, Origin, Redemption,
    ReplyPart, Roster, Said, Seat, Stop, ToolChoice, ToolError, ToolErrorClass, ToolOutput, ToolSpec,
    Touches, Usage, Verdict,
};
use probity_core::{BoundarySettings, FirstItem, MemoryRedeemer, Outcome, Run, RunSpec, Step, Unexpected};
use probity_testkit::{model_name, policy_name, principal, run_id, tool_name};
use serde_json::{Value, json};

use crate::record_check::{check_lines, window};

/// What becomes of one proposed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// It names no tool.
    UnknownTool,
    /// Its arguments are cut off.
    Malformed,
    /// Its arguments miss the schema.
    Mismatch,
    /// The tool cannot tell its targets.
    TargetsFail,
    /// A policy denies.
    Denied,
    /// A policy fails.
    PolicyFails,
    /// No policy speaks.
    NotCovered,
    /// A policy denies at the second seat.
    DeniedLater,
    /// It runs.
    Runs(Ends),
    /// A person approves and it runs.
    Approved(Ends),
    /// A person refuses.
    Refused,
    /// There is nobody to ask.
    Nobody,
}

/// How a tool comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Well,
    Failed,
    Unknown,
}

impl Plan {
    pub(crate) const ALL: [Self; 16] = [
        Self::UnknownTool,
        Self::Malformed,
        Self::Mismatch,
        Self::TargetsFail,
        Self::Denied,
        Self::PolicyFails,
        Self::NotCovered,
        Self::DeniedLater,
        Self::Runs(Ends::Well),
        Self::Runs(Ends::Failed),
        Self::Runs(Ends::Unknown),
        Self::Approved(Ends::Well),
        Self::Approved(Ends::Failed),
        Self::Approved(Ends::Unknown),
        Self::Refused,
        Self::Nobody,
    ];

    fn proposed(self, id: u32) -> ReplyPart {
        let text = format!(r#"{{"text":"call {id}"}}"#);
        let (name, arguments) = match self {
            Self::UnknownTool => ("no_such_tool", text),
            Self::Malformed => ("act", text[..text.len() - 2].to_owned()),
            Self::Mismatch => ("act", r#"{"text":1}"#.to_owned()),
            _ => ("act", text),
        };
        ReplyPart::call(format!("p{id}"), name, arguments)
    }

    fn said(self, seat: Seat) -> Said {
        let reason = || "the plan".to_owned();
        match (self, seat) {
            (Self::Denied, _) | (Self::DeniedLater, Seat::ExecuteRecheck) => {
                Said::Verdict(Verdict::Deny { reason: reason() })
            }
            (Self::PolicyFails, _) => Said::Failed("it broke".to_owned()),
            (Self::NotCovered, _) => Said::Verdict(Verdict::Abstain),
            (Self::Approved(_) | Self::Refused | Self::Nobody, _) => {
                Said::Verdict(Verdict::Ask { reason: reason() })
            }
            _ => Said::Verdict(Verdict::Allow { reason: reason() }),
        }
    }

    fn answer(self) -> Answer {
        match self {
            Self::Refused => {
                Answer::Refuse { by: principal("eve"), reason: "not now".to_owned(), for_good: false }
            }
            Self::Nobody => Answer::Nobody,
            _ => Answer::Approve { by: principal("eve"), more: 0 },
        }
    }

    /// Whether the tool is started where no limit stands in the way.
    pub(crate) const fn starts(self) -> bool {
        matches!(self, Self::Runs(_) | Self::Approved(_))
    }
}

/// A script: the calls of each reply; after the last the model answers.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub turns: Vec<Vec<Plan>>,
    pub limits: Limits,
    pub effect: Effect,
}

impl Script {
    pub(crate) fn new(turns: Vec<Vec<Plan>>) -> Self {
        Self { turns, limits: Limits::default(), effect: Effect::Once }
    }

    pub(crate) fn spec(&self) -> RunSpec {
        let schema = json!({
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"]
        });
        let tool = ToolSpec {
            name: tool_name("act"),
            description: "Acts.".to_owned(),
            input_schema: schema,
            effect: self.effect,
            server: None,
            sandbox: None,
            endorses: Vec::new(),
        };
        let content = Content::Person(Arc::from("do it"));
        RunSpec {
            run: run_id("run"),
            title: "a test".to_owned(),
            principal: principal("ada"),
            model: model_name("test/plan"),
            prices: None,
            params: Arc::new(ModelParams::default()),
            tools: Arc::from([tool]),
            first_tool_choice: ToolChoice::Auto,
            principals_above: Vec::new(),
            parent: None,
            delegates: std::collections::BTreeMap::new(),
            bench: Bench::of(Roster::new(vec![policy_name("plan")]).unwrap()),
            limits: self.limits.clone(),
            denial_detail: DenialDetail::default(),
            boundary: BoundarySettings::default(),
            content: ContentSetting::Full,
            items: vec![FirstItem { origin: Origin::Principal, label: Label::person(), content }],
            started_at_unix_ms: 0,
        }
    }

    pub(crate) fn plan(&self, call: CallId) -> Plan {
        self.turns.iter().flatten().copied().nth(call.0 as usize - 1).unwrap()
    }

    fn reply(&self, call: ModelCallId, tools_offered: bool) -> ModelReply {
        let turn = call.0 as usize - 1;
        let first = 1 + self.turns.iter().take(turn).map(Vec::len).sum::<usize>();
        let parts = match self.turns.get(turn) {
            Some(plans) if tools_offered => {
                let numbered = (u32::try_from(first).unwrap()..).zip(plans);
                numbered.map(|(id, plan)| plan.proposed(id)).collect()
            }
            _ => vec![ReplyPart::text("the answer")],
        };
        let usage = Usage { input: Some(10), output: Some(5), ..Usage::default() };
        ModelReply { parts, stop: Stop::EndTurn, usage, model: None, response_id: None }
    }
}

/// An outcome that the world owes, by name; the outcome itself can be made as often as one likes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Owed {
    Model(ModelCallId, bool),
    Resolve(CallId),
    Judge(CallId, Seat),
    Answer(CallId, Digest),
    Tool(CallId),
    Reconcile(CallId),
}

impl Owed {
    pub(crate) fn outcome(&self, script: &Script) -> Outcome {
        match *self {
            Self::Model(call, tools_offered) => {
                Outcome::ModelReplied { call, result: Ok(script.reply(call, tools_offered)) }
            }
            Self::Resolve(call) => {
                let result = match script.plan(call) {
                    Plan::TargetsFail => Err(ToolError::new(ToolErrorClass::Refused, "outside the root")),
                    _ => Ok(Touches::default()),
                };
                Outcome::Resolved { call, result }
            }
            Self::Judge(call, seat) => {
                let opinions = vec![Opinion::own(policy_name("plan"), script.plan(call).said(seat))];
                Outcome::Judged { call, seat, opinions }
            }
            Self::Answer(call, digest) => {
                Outcome::Answered { call, binding: digest, answer: script.plan(call).answer() }
            }
            Self::Reconcile(call) => {
                let result = Err(ToolError::new(ToolErrorClass::Unavailable, "it cannot tell"));
                Outcome::Reconciled { call, result }
            }
            Self::Tool(call) => {
                let result = match script.plan(call) {
                    Plan::Runs(Ends::Failed) | Plan::Approved(Ends::Failed) => {
                        Err(ToolError::new(ToolErrorClass::Failed, "it did not work"))
                    }
                    Plan::Runs(Ends::Unknown) | Plan::Approved(Ends::Unknown) => {
                        Err(ToolError::new(ToolErrorClass::Panicked, "it broke"))
                    }
                    _ => Ok(ToolOutput::text(format!("result of {call}"))),
                };
                Outcome::ToolFinished { call, result, output_bytes: 0, ran_ms: 1 }
            }
        }
    }
}

/// The order in which outcomes come: each number picks one of those that are owed. When it is used up, the oldest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schedule {
    picks: std::collections::VecDeque<u16>,
}

impl Schedule {
    pub(crate) fn oldest_first() -> Self {
        Self::default()
    }

    pub(crate) fn picking(picks: &[u16]) -> Self {
        Self { picks: picks.iter().copied().collect() }
    }

    fn pick(&mut self, from: usize) -> usize {
        self.picks.pop_front().map_or(0, |pick| usize::from(pick) % from)
    }
}

/// What happens beside the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Trouble {
    #[default]
    None,
    /// The run is written down and read back before and after those outcomes whose bit is set, the first being bit 0;
    /// the last bit stands for all that follow.
    StoredAfter(u64),
    /// The same, but those who owed outcomes are gone each time before the run is read back.
    AbandonedAt(u64),
    /// Every outcome is fed a second time, together with outcomes that belong to nothing.
    EverythingTwice,
    /// The task is cancelled after this many steps.
    CancelledAfter(usize),
    /// This `Record` step, counted from 0, and all later ones fail.
    RecordFailsAt(usize),
}

/// How a simulated run went.
#[derive(Debug)]
pub(crate) struct Played {
    pub run: Run,
    pub ending: Ending,
    /// The lines of all `Record` steps, failed ones not.
    pub lines: Vec<Emission>,
    /// The calls whose tool was started, in order.
    pub started: Vec<CallId>,
    /// Steps handed out, and `Record` steps among them.
    pub steps: usize,
    pub records: usize,
    /// `Record` steps handed out after one had failed.
    pub records_after_failure: usize,
    /// The most tools that were running at once.
    pub most_at_once: usize,
}

impl Played {
    pub(crate) fn answer(&self) -> Option<String> {
        self.run.answer().map(|item| item.flat_text())
    }

    pub(crate) fn items(&self) -> &[Arc<Item>] {
        self.run.items()
    }

    /// What the machine counts as started tool calls.
    pub(crate) fn counted_tool_calls(&self) -> u64 {
        state(&self.run)["spent"]["tool_calls"].as_u64().unwrap()
    }
}

pub(crate) fn state(run: &Run) -> Value {
    serde_json::to_value(run).unwrap()
}

fn stored(run: &Run) -> Run {
    serde_json::from_str(&serde_json::to_string(run).unwrap()).expect("a run reads back")
}

struct Simulation<'a> {
    script: &'a Script,
    trouble: Trouble,
    redeemer: MemoryRedeemer,
    owed: Vec<Owed>,
    fed: u32,
    played: Played,
}

pub(crate) fn play(script: &Script, mut schedule: Schedule, trouble: Trouble) -> Played {
    let run = Run::new(script.spec()).unwrap();
    let played = Played {
        run,
        ending: Ending::Answered,
        lines: Vec::new(),
        started: Vec::new(),
        steps: 0,
        records: 0,
        records_after_failure: 0,
        most_at_once: 0,
    };
    let mut simulation =
        Simulation { script, trouble, redeemer: MemoryRedeemer::new(), owed: Vec::new(), fed: 0, played };
    while !simulation.take_steps() {
        assert!(!simulation.owed.is_empty(), "the machine waits for nothing: {:?}", simulation.played.run);
        let at = schedule.pick(simulation.owed.len());
        simulation.pay(at);
    }
    simulation.played
}

impl Simulation<'_> {
    /// Carries out steps until the machine waits; true when it has ended.
    fn take_steps(&mut self) -> bool {
        while let Some(step) = self.played.run.next() {
            if let Step::Done(ending) = step {
                assert!(matches!(self.played.run.next(), Some(Step::Done(again)) if again == ending));
                self.played.ending = ending;
                return true;
            }
            self.take_step(step);
            self.played.steps += 1;
            if self.trouble == Trouble::CancelledAfter(self.played.steps) {
                self.interrupt(Outcome::Cancelled);
            }
        }
        false
    }

    fn take_step(&mut self, step: Step) {
        match step {
            Step::Record { lines, durable: _ } => self.record(lines),
            Step::Notify(_) | Step::Done(_) => {}
            Step::CallModel { call, request, .. } => {
                let sent: Vec<_> = request.items.iter().map(|item| item.id).collect();
                assert_eq!(window(&self.played.lines), sent, "the record tells another window");
                self.owed.push(Owed::Model(call, !request.tools.is_empty()));
            }
            Step::Resolve { call, .. } => self.owed.push(Owed::Resolve(call)),
            Step::Judge { call, seat } => self.owed.push(Owed::Judge(call.id(), seat)),
            Step::Ask { question } => self.owed.push(Owed::Answer(question.call().id(), question.binding())),
            Step::Redeem { call, binding } => {
                let result = Redemption::claim(&self.redeemer, &call.facts().run, binding);
                self.feed(Outcome::Redeemed { call: call.id(), result }).unwrap();
            }
            Step::RunTool { permit, .. } => self.start(permit.call()),
            Step::Reconcile { call } => self.owed.push(Owed::Reconcile(call.id())),
            Step::Intercept { .. } | Step::Identify { .. } | Step::Consult { .. } | Step::Release { .. } => {
                panic!("nobody is heard at any point")
            }
        }
    }

    fn record(&mut self, lines: Vec<Emission>) {
        let nth = self.played.records;
        self.played.records += 1;
        match self.trouble {
            Trouble::RecordFailsAt(at) if nth == at => {
                self.feed(Outcome::RecordFailed("the disk is full".to_owned())).unwrap();
            }
            Trouble::RecordFailsAt(at) if nth > at => self.played.records_after_failure += 1,
            _ => {
                self.played.lines.extend(lines);
                check_lines(&self.played.lines);
            }
        }
    }

    fn start(&mut self, call: &Arc<FrozenCall>) {
        use probity_contract::Fact;
        let told = self.played.lines.iter().rev().find_map(|line| match line {
            Emission::Entry(entry) => match &entry.fact {
                Fact::ToolStarted { call: of, .. } if *of == call.id() => Some(true),
                Fact::ToolFinished { call: of, .. } if *of == call.id() => Some(false),
                _ => None,
            },
            Emission::Part(_) => None,
        });
        assert_eq!(told, Some(true), "a tool starts that the record does not tell of");
        assert!(self.script.plan(call.id()).starts(), "{call:?} had to be stopped");
        self.played.started.push(call.id());
        self.owed.push(Owed::Tool(call.id()));
        let running = self.owed.iter().filter(|owed| matches!(owed, Owed::Tool(_))).count();
        self.played.most_at_once = self.played.most_at_once.max(running);
    }

    fn feed(&mut self, outcome: Outcome) -> Result<(), Unexpected> {
        self.played.run.feed(0, outcome)
    }

    /// Feeds what ends the run, unless it has ended already.
    fn interrupt(&mut self, outcome: Outcome) {
        let ended = self.played.run.ending().is_some();
        assert_eq!(self.feed(outcome).is_err(), ended);
    }

    fn is_picked(&self, feeds: u64) -> bool {
        feeds >> self.fed.min(63) & 1 == 1
    }

    fn pay(&mut self, at: usize) {
        let owed = self.owed.remove(at);
        if matches!(self.trouble, Trouble::StoredAfter(feeds) if self.is_picked(feeds)) {
            self.played.run = stored(&self.played.run);
        }
        self.feed(owed.outcome(self.script)).unwrap();
        match self.trouble {
            Trouble::StoredAfter(feeds) if self.is_picked(feeds) => {
                self.played.run = stored(&self.played.run);
            }
            Trouble::AbandonedAt(feeds) if self.is_picked(feeds) => {
                self.owed.clear();
                self.played.run = stored(&self.played.run);
                self.played.run.abandon_outstanding();
            }
            Trouble::EverythingTwice => self.feed_what_nobody_waits_for(&owed),
            Trouble::StoredAfter(_)
            | Trouble::AbandonedAt(_)
            | Trouble::None
            | Trouble::CancelledAfter(_)
            | Trouble::RecordFailsAt(_) => {}
        }
        self.fed += 1;
    }

    fn feed_what_nobody_waits_for(&mut self, owed: &Owed) {
        let mut before = state(&self.played.run);
        let foreign = CallId(999);
        let digest = Digest::of("test", &[b"foreign"]);
        let opinion =
            Opinion::own(policy_name("plan"), Said::Verdict(Verdict::Allow { reason: "forged".to_owned() }));
        let seats = [Seat::Targets, Seat::Adjudicate, Seat::ExecuteRecheck];
        let judged =
            seats.map(|seat| Outcome::Judged { call: foreign, seat, opinions: vec![opinion.clone()] });
        let finished = |call| Outcome::ToolFinished {
            call,
            result: Ok(ToolOutput::text("forged")),
            output_bytes: 0,
            ran_ms: 0,
        };
        let reply = self.script.reply(ModelCallId(1), false);
        let mut outcomes = vec![
            owed.outcome(self.script),
            Outcome::ModelReplied { call: ModelCallId(999), result: Ok(reply) },
            Outcome::Resolved { call: foreign, result: Ok(Touches::default()) },
            Outcome::Answered {
                call: foreign,
                binding: digest,
                answer: Answer::Approve { by: principal("eve"), more: 0 },
            },
            finished(foreign),
        ];
        outcomes.extend(judged);
        for outcome in outcomes {
            let words = format!("{outcome:?}");
            let told = matches!(&outcome, Outcome::Answered { call, .. } if *call != foreign);
            assert_eq!(self.feed(outcome), Err(Unexpected), "{words}");
            let mut after = state(&self.played.run);
            // A second answer is written down; nothing else moves.
            if told && self.played.run.ending().is_none() {
                assert_ne!(after["ledger"], before["ledger"], "{words}");
            }
            if told {
                before["ledger"] = after["ledger"].take();
                after["ledger"] = before["ledger"].clone();
            }
            assert_eq!(after, before, "{words}");
        }
    }
}
