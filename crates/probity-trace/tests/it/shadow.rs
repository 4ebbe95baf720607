//! Runs that are executed by chance, by an interpreter that carries along what everything was made of.
//!
//! It knows nothing of the graph: values move through its variables, and what went into them moves with them. At the end the
//! backward slice of every entry must be what the interpreter carried, no more and no less.

use std::collections::{BTreeMap, BTreeSet};

use probity_contract::{
    AnswerKind, ArgumentSource, Body, CallId, Composition, ContentSetting, Denial, DenialCode, Digest,
    Effect, Emission, Ending, Enforcement, Fact, HookVerdict, Integrity, Intercepted, ItemId, Kept, Label,
    Level, LimitKind, ModelCallId, ModelErrorClass, ModelName, ModelParams, Origin, ParentCall, Part, PartId,
    Point, PrincipalId, RECORD_VERSION, Readers, ReconciledKind, RunId, RunStarted, Seat, Spending, Stop,
    ToolChoice, ToolErrorClass, ToolName, ToolOutcomeKind, ToolSpec, Usage, WindowDelta,
};
use probity_trace::{NodeKind, UnknownReason};
use serde_json::json;

use crate::samples::{Script, policy, raw_frame};

/// An entry, or something unrecorded or offered at one, by run and number.
pub(crate) type Tag = (usize, u64, NodeKind);

/// What a value was made of, and that with all that decided about it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taint {
    pub(crate) data: BTreeSet<Tag>,
    pub(crate) all: BTreeSet<Tag>,
}

impl Taint {
    fn of(sources: &[&Self]) -> Self {
        let mut taint = Self::default();
        sources.iter().for_each(|source| taint.takes(source));
        taint
    }

    fn takes(&mut self, source: &Self) {
        self.data.extend(&source.data);
        self.all.extend(&source.all);
    }

    fn let_by(mut self, decision: &Self) -> Self {
        self.all.extend(&decision.all);
        self
    }

    fn tag(&mut self, tag: Tag) {
        self.data.insert(tag);
        self.all.insert(tag);
    }
}

/// Chance, from bytes; when they are used up it always says 0.
#[derive(Debug)]
pub(crate) struct Dice {
    bytes: std::vec::IntoIter<u8>,
}

impl Dice {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into_iter() }
    }

    fn roll(&mut self, sides: usize) -> usize {
        usize::from(self.bytes.next().unwrap_or(0)) % sides
    }
}

/// All runs of a task and what each of their entries was made of.
#[derive(Default)]
pub(crate) struct Played {
    pub(crate) records: Vec<Script>,
    pub(crate) taints: BTreeMap<(usize, u64), Taint>,
}

#[derive(Debug, Clone)]
struct Held {
    item: u32,
    taint: Taint,
}

/// A call on its way.
#[derive(Debug, Clone)]
struct Call {
    id: u32,
    proposal: Taint,
    arguments: Taint,
    frozen: Taint,
    /// The last decision, which has all before it in it.
    gate: Taint,
    question: Taint,
    is_edited: bool,
    stage: Stage,
    /// What the text of the result is made of.
    outcome: Taint,
    passed: Taint,
}

/// What interceptors do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Nothing,
    Pass,
    Change,
    Deny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Proposed,
    Looked,
    Frozen,
    Asked,
    Cleared,
    Settled,
}

struct Machine<'p> {
    played: &'p mut Played,
    dice: &'p mut Dice,
    run: usize,
    id: RunId,
    depth: usize,
    script: Script,
    seq: u64,
    window: Vec<Held>,
    /// The items of the window that the record told last.
    told: Vec<u32>,
    next_item: u32,
    next_call: u32,
    next_model_call: u32,
    passages: u64,
    start: Taint,
    tools: Taint,
    unread: Taint,
    limit: Taint,
    /// How many tools it was given, and one of these.
    given_tools: usize,
    start_tool: Taint,
    answer: Option<(u32, Taint)>,
}

/// Plays a run and all that it starts. The first record is the one at the top.
pub(crate) fn play(dice: &mut Dice) -> Played {
    let mut played = Played::default();
    Machine::play(&mut played, dice, 0, RunId::new("top").unwrap(), None);
    played
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: "does".into(),
        input_schema: json!({}),
        effect: Effect::Pure,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    }
}

impl<'p> Machine<'p> {
    /// Plays a run and gives what its end was made of.
    fn play(
        played: &'p mut Played,
        dice: &'p mut Dice,
        depth: usize,
        id: RunId,
        above: Option<(ParentCall, Taint)>,
    ) -> Option<Taint> {
        let run = played.records.len();
        played.records.push(Script::default());
        let mut machine = Self {
            played,
            dice,
            run,
            id,
            depth,
            script: Script::default(),
            seq: 0,
            window: Vec::new(),
            told: Vec::new(),
            next_item: 1,
            next_call: 1,
            next_model_call: 1,
            passages: 0,
            start: Taint::default(),
            tools: Taint::default(),
            unread: Taint::default(),
            limit: Taint::default(),
            given_tools: 0,
            start_tool: Taint::default(),
            answer: None,
        };
        machine.begin(above);
        let end = machine.go();
        machine.played.records[run] = std::mem::take(&mut machine.script);
        end
    }

    /// Writes an entry of this kind, made of this.
    fn note(&mut self, kind: NodeKind, fact: Fact, mut taint: Taint) -> Taint {
        taint.tag((self.run, self.seq, kind));
        self.script.fact(fact);
        self.played.taints.insert((self.run, self.seq), taint.clone());
        self.seq += 1;
        taint
    }

    /// Something goes into the entry that is written next.
    fn unknown(&self, taint: &mut Taint, reason: UnknownReason) {
        taint.tag((self.run, self.seq, NodeKind::Unknown(reason)));
    }

    /// A text, kept or not.
    fn text(&mut self, text: &str, taint: &mut Taint) -> PartId {
        if self.dice.roll(12) != 11 {
            return self.script.part(text);
        }
        let text = format!("{text} {}", self.seq);
        let id = PartId::of(&text);
        if self.dice.roll(2) == 0 {
            self.unknown(taint, UnknownReason::TextMissing);
        } else {
            let kept = Kept::Length(text.len() as u64);
            self.script.emissions.push(Emission::Part(Part { id, kept }));
            self.unknown(taint, UnknownReason::TextNotKept);
        }
        id
    }

    fn begin(&mut self, above: Option<(ParentCall, Taint)>) {
        let (parent, taint) = above.map(|(parent, taint)| (Some(parent), taint)).unwrap_or_default();
        let tools: Vec<_> = (0..self.dice.roll(3)).map(|at| spec(&format!("tool{at}"))).collect();
        self.given_tools = tools.len();
        let started = Fact::RunStarted(Box::new(RunStarted {
            version: RECORD_VERSION,
            run: self.id.clone(),
            title: "shadow".into(),
            principal: PrincipalId::new("ada").unwrap(),
            parent,
            imported: None,
            model: ModelName::new("rules/x").unwrap(),
            prices: None,
            params: ModelParams::default(),
            tools,
            policies: vec![policy()],
            inherited: Vec::new(),
            limits: Default::default(),
            content: ContentSetting::Full,
            output_schema: None,
            started_at_unix_ms: 0,
        }));
        let (run, seq) = (self.run, self.seq);
        self.start = self.note(NodeKind::Start, started, taint);
        if self.given_tools > 0 {
            self.start_tool = self.start.clone();
            self.start_tool.tag((run, seq, NodeKind::Tool));
        }
        self.tools = self.start_tool.clone();
        self.tools.tag((run, seq, NodeKind::Tools));
        if self.dice.roll(2) == 1 {
            self.given("be brief", |text| Body::Instructions { text });
        }
        if self.dice.roll(6) == 5 {
            self.given("from before", |text| Body::Reply { parts: vec![text] });
        }
        for _ in 0..=self.dice.roll(2) {
            self.person();
        }
        if self.dice.roll(3) == 2 {
            self.given("a note", |text| Body::Context { name: "note".into(), text });
        }
    }

    fn given(&mut self, text: &str, body: impl FnOnce(PartId) -> Body) {
        let mut taint = self.start.clone();
        taint.takes(&self.unread);
        let body = body(self.text(text, &mut taint));
        if matches!(body, Body::Reply { .. }) {
            self.unknown(&mut taint, UnknownReason::EarlierRun);
        }
        self.add(Origin::Task, body, taint);
    }

    fn person(&mut self) {
        let mut taint = self.unread.clone();
        match self.dice.roll(4) {
            2 => {
                let row = self.row(Point::Input, None, None, Says::Pass, Taint::default());
                taint = taint.let_by(&row);
            }
            3 => {
                let row = self.row(Point::Input, None, None, Says::Change, Taint::default());
                taint.takes(&row);
            }
            _ => {}
        }
        let origin = if self.depth == 0 { Origin::Principal } else { Origin::Task };
        if origin == Origin::Task {
            taint.takes(&self.start);
        }
        let text = self.text("do it", &mut taint);
        self.add(origin, Body::Person { text }, taint);
    }

    fn add(&mut self, origin: Origin, body: Body, taint: Taint) -> Taint {
        let item = self.next_item;
        self.next_item += 1;
        let fact = Fact::ItemAdded { item: ItemId(item), origin, label: Label::system(), body };
        let taint = self.note(NodeKind::Item, fact, taint);
        self.window.push(Held { item, taint: taint.clone() });
        taint
    }

    /// What interceptors said, with what they have read.
    fn row(
        &mut self,
        point: Point,
        call: Option<u32>,
        model_call: Option<u32>,
        says: Says,
        mut read: Taint,
    ) -> Taint {
        let before = PartId::of("before");
        let changes = says == Says::Change;
        let verdict = match says {
            Says::Nothing | Says::Pass => HookVerdict::allow(),
            Says::Change => HookVerdict::replace("because", json!("other")).unwrap(),
            Says::Deny => HookVerdict::deny("because").unwrap(),
        };
        if changes {
            self.unknown(&mut read, UnknownReason::Interceptor);
        }
        let row = Intercepted {
            point,
            sequence: self.passages,
            call: call.map(CallId),
            model_call: model_call.map(ModelCallId),
            item: None,
            mode: Enforcement::Enforce,
            composition: Composition::default(),
            verdict: verdict.without_content(),
            decided_by: None,
            verdicts: Vec::new(),
            truncated: None,
            resolved_by: None,
            registered: 1,
            before,
            after: if changes { PartId::of("after") } else { before },
            input_identity: None,
            enforced_identity: None,
            identity_provider: None,
        };
        self.passages += 1;
        self.note(NodeKind::Interception, Fact::Intercepted(Box::new(row)), read)
    }

    fn go(&mut self) -> Option<Taint> {
        let turns = 1 + self.dice.roll(7);
        for turn in 0..turns {
            if self.dice.roll(8) == 7 {
                self.later_program();
            }
            let limit = (self.dice.roll(6) == 5).then(|| self.limit_hit());
            if let Some(limit) = limit {
                self.notice(&limit);
            }
            if let Turn::Ended(ending, taint) = self.turn(turn + 1 == turns) {
                return Some(self.end(ending, taint));
            }
        }
        if self.dice.roll(6) == 5 {
            return None;
        }
        let limit = self.limit_hit();
        let ending = Ending::LimitReached { limit: LimitKind::Turns };
        Some(self.end(ending, Taint::default().let_by(&limit)))
    }

    /// An entry of a later program. It stands for one here and becomes one in [`Played::bytes`].
    fn later_program(&mut self) {
        let before = self.unread.clone();
        let fact = Fact::FailureReported { call: None, seat: None, who: LATER.into(), error: "".into() };
        self.unread = self.note(NodeKind::Unread, fact, before);
    }

    fn limit_hit(&mut self) -> Taint {
        let fact = Fact::LimitHit { limit: LimitKind::Turns };
        self.limit = self.note(NodeKind::Limit, fact, Taint::default());
        self.limit.clone()
    }

    fn notice(&mut self, about: &Taint) {
        let mut taint = Taint::of(&[about, &self.unread]);
        let text = self.text("be quick", &mut taint);
        self.add(Origin::Engine, Body::Notice { text }, taint);
    }

    fn end(&mut self, ending: Ending, mut taint: Taint) -> Taint {
        let answer = self.answer.take();
        if let Some((_, made_of)) = &answer {
            taint.takes(made_of);
        }
        let answer = answer.map(|(item, _)| ItemId(item));
        let fact = Fact::Ended { ending, answer, usage: Usage::default(), cost_usd: None };
        self.note(NodeKind::End, fact, taint)
    }

    /// Interceptors look at the window and may put something else in the place of its items.
    fn look_at_window(&mut self) -> Taint {
        let kind = self.dice.roll(4);
        let read = Taint::of(&self.window.iter().map(|held| &held.taint).collect::<Vec<_>>());
        if kind < 2 {
            return Taint::default();
        }
        if kind == 2 {
            return self.row(Point::PreModelCall, None, None, Says::Pass, read);
        }
        let count = 1 + self.dice.roll(2.min(self.window.len()));
        let row_at = self.seq + 2 * count as u64;
        let mut made_by = read.clone();
        made_by.tag((self.run, row_at, NodeKind::Interception));
        made_by.tag((self.run, row_at, NodeKind::Unknown(UnknownReason::Interceptor)));
        for at in 0..count {
            let old = self.window[at].clone();
            let mut taint = Taint::of(&[&old.taint, &made_by, &self.unread]);
            let text = self.text("hidden", &mut taint);
            let by = self.next_item;
            self.next_item += 1;
            let (origin, body) = (Origin::Principal, Body::Person { text });
            let fact = Fact::ItemAdded { item: ItemId(by), origin, label: Label::system(), body };
            let taint = self.note(NodeKind::Item, fact, taint);
            let fact = Fact::ItemReplaced { item: ItemId(old.item), by: ItemId(by) };
            self.note(NodeKind::Replacement, fact, Taint::of(&[&old.taint, &taint]));
            self.window[at] = Held { item: by, taint };
        }
        self.row(Point::PreModelCall, None, None, Says::Change, read)
    }

    fn turn(&mut self, is_last: bool) -> Turn {
        let looked = self.look_at_window();
        // Some items are not sent any more.
        if self.window.len() > 1 && self.dice.roll(4) == 3 {
            let at = self.dice.roll(self.window.len());
            self.window.remove(at);
        }
        let (call, model) = self.model_called(&looked);
        match self.dice.roll(20) {
            18 => {
                let class = ModelErrorClass::TimedOut;
                let fact = Fact::ModelFailed { call: ModelCallId(call), class, error: "late".into() };
                let failed = self.note(NodeKind::ModelFailure, fact, model);
                Turn::Ended(Ending::ModelFailed { class, error: "late".into() }, failed)
            }
            19 => {
                let row = self.row(Point::PostModelCall, None, Some(call), Says::Deny, model.clone());
                let fact = Fact::ReplyRefused { call: ModelCallId(call), usage: Usage::default() };
                self.note(NodeKind::RefusedReply, fact, model.let_by(&row));
                let denied = probity_contract::MessageDenied {
                    phase: Point::PostModelCall,
                    interceptor: None,
                    reason: "no".into(),
                };
                Turn::Ended(Ending::MessageDenied(denied), row)
            }
            _ => self.replied(call, model, is_last),
        }
    }

    fn model_called(&mut self, looked: &Taint) -> (u32, Taint) {
        let window: Vec<u32> = self.window.iter().map(|held| held.item).collect();
        let keep = window.iter().zip(&self.told).take_while(|(now, before)| now == before).count();
        let keep = keep - self.dice.roll(2).min(keep);
        let added = window[keep..].iter().copied().map(ItemId).collect();
        self.told = window;
        let call = self.next_model_call;
        self.next_model_call += 1;
        let tools_offered = self.dice.roll(3) > 0;
        let mut taint = Taint::of(&self.window.iter().map(|held| &held.taint).collect::<Vec<_>>());
        taint.takes(&self.start);
        taint.takes(&self.unread);
        if tools_offered {
            taint.takes(&self.tools);
        } else {
            taint = taint.let_by(&self.limit);
        }
        let window = WindowDelta { keep: u32::try_from(keep).unwrap(), added };
        let call_id = ModelCallId(call);
        let tool_choice = ToolChoice::Auto;
        let fact =
            Fact::ModelCalled { call: call_id, window, tool_choice, tools_offered, output_tokens_max: None };
        (call, self.note(NodeKind::ModelCall, fact, taint.let_by(looked)))
    }

    fn replied(&mut self, call: u32, model: Taint, is_last: bool) -> Turn {
        let (mut said, mut passed) = (model.clone(), Taint::default());
        let mut look = |machine: &mut Self, point, said: &mut Taint| {
            let says = [Says::Nothing, Says::Nothing, Says::Pass, Says::Change][machine.dice.roll(4)];
            if says == Says::Nothing {
                return;
            }
            let row = machine.row(point, None, Some(call), says, said.clone().let_by(&passed));
            if says == Says::Change {
                *said = row.clone();
            }
            passed = row;
        };
        look(self, Point::PostModelCall, &mut said);
        let has_calls = !is_last && self.dice.roll(8) > 0;
        if !has_calls {
            look(self, Point::Output, &mut said);
        }
        let mut taint = Taint::of(&[&said, &self.unread]).let_by(&passed);
        let parts = vec![self.text("I say", &mut taint)];
        let item = self.next_item;
        let reply = self.add(Origin::Model(ModelCallId(call)), Body::Reply { parts }, taint);
        let fact = Fact::ModelReplied {
            call: ModelCallId(call),
            item: ItemId(item),
            stop: Stop::EndTurn,
            usage: Usage::default(),
            model: None,
            response_id: None,
        };
        self.note(NodeKind::Reply, fact, Taint::of(&[&reply, &model]));
        if has_calls {
            let calls = (0..=self.dice.roll(3)).map(|_| self.proposed(call, &reply)).collect();
            self.run_calls(calls);
            return Turn::On;
        }
        if self.dice.roll(4) == 3 {
            let fact = Fact::OutputRejected { item: ItemId(item), errors: vec!["no".into()] };
            let missed = self.note(NodeKind::MissedSchema, fact, reply);
            self.notice(&missed);
            return Turn::On;
        }
        self.answer = Some((item, reply));
        Turn::Ended(Ending::Answered, Taint::default())
    }

    fn proposed(&mut self, by: u32, reply: &Taint) -> Call {
        let id = self.next_call;
        self.next_call += 1;
        let mut taint = reply.clone();
        let arguments = self.text("{}", &mut taint);
        let fact = Fact::CallProposed {
            call: CallId(id),
            by: ModelCallId(by),
            provider_id: String::new(),
            tool: "tool0".into(),
            arguments,
        };
        let proposal = self.note(NodeKind::Proposal, fact, taint);
        Call {
            id,
            arguments: proposal.clone(),
            proposal,
            frozen: Taint::default(),
            gate: Taint::default(),
            question: Taint::default(),
            is_edited: false,
            stage: Stage::Proposed,
            outcome: Taint::default(),
            passed: Taint::default(),
        }
    }

    /// Moves calls on in any order, until all are settled; then each gets its item, in the order of proposal.
    fn run_calls(&mut self, mut calls: Vec<Call>) {
        let mut stored = (self.dice.roll(4) == 3).then(|| (calls.clone(), self.seq));
        let mut until_broken = self.dice.roll(8);
        while calls.iter().any(|call| call.stage != Stage::Settled) {
            let open: Vec<usize> = (0..calls.len()).filter(|at| calls[*at].stage != Stage::Settled).collect();
            let at = open[self.dice.roll(open.len())];
            self.step(&mut calls[at]);
            if until_broken == 0
                && let Some((before, seq)) = stored.take()
            {
                calls = self.resume(before, &calls, self.seq - seq);
            }
            until_broken = until_broken.saturating_sub(1);
        }
        for call in calls {
            let mut taint = Taint::of(&[&call.proposal, &call.outcome, &self.unread]).let_by(&call.passed);
            if call.is_edited {
                taint.takes(&call.frozen);
            }
            let text = self.text("result", &mut taint);
            let (id, provider_id, tool) = (CallId(call.id), String::new(), "tool0".to_owned());
            let body = Body::ToolResult { call: id, provider_id, tool, text, is_error: false };
            self.add(Origin::Tool(id), body, taint);
        }
    }

    /// The run breaks off and is taken up from before: it knows nothing of what came since, but for outcomes.
    fn resume(&mut self, mut calls: Vec<Call>, since: &[Call], left_behind: u64) -> Vec<Call> {
        for (call, since) in calls.iter_mut().zip(since) {
            if since.stage == Stage::Settled && call.stage != Stage::Settled {
                (call.stage, call.outcome) = (Stage::Settled, since.outcome.clone());
            }
        }
        let tools: Vec<_> = (0..self.dice.roll(2)).map(|_| spec("tool0")).collect();
        let changes_tools = !tools.is_empty();
        let (run, seq) = (self.run, self.seq);
        let fact = Fact::Resumed { checkpoint: 1, left_behind, tools };
        let resumed = self.note(NodeKind::Resumption, fact, Taint::default());
        if changes_tools {
            // There are at most two: `tool0` is another now, and `tool1` stays where it was offered.
            let kept = (self.given_tools > 1).then(|| self.start_tool.clone());
            self.tools = Taint::of(&[&resumed, &kept.unwrap_or_default()]);
            self.tools.tag((run, seq, NodeKind::Tools));
            self.tools.tag((run, seq, NodeKind::Tool));
        }
        calls
    }

    fn step(&mut self, call: &mut Call) {
        match call.stage {
            Stage::Proposed => self.understand(call),
            Stage::Looked => self.freeze(call),
            Stage::Frozen => self.judge(call),
            Stage::Asked => self.answer_question(call),
            Stage::Cleared => self.execute(call),
            Stage::Settled => {}
        }
    }

    fn understand(&mut self, call: &mut Call) {
        call.stage = Stage::Looked;
        let kind = self.dice.roll(8);
        if kind == 7 && !call.is_edited {
            let fact = Fact::CallRejected { call: CallId(call.id), reason: "what?".into() };
            call.outcome = self.note(NodeKind::Rejection, fact, call.arguments.clone());
            call.stage = Stage::Settled;
        }
        let says = match kind {
            3 => Says::Pass,
            4 | 5 => Says::Change,
            6 => Says::Deny,
            _ => return,
        };
        let read = call.arguments.clone().let_by(&call.gate);
        call.gate = self.row(Point::PreToolCall, Some(call.id), None, says, read);
        if says == Says::Change {
            call.arguments = call.gate.clone();
        }
        if says == Says::Deny {
            let words = call.gate.clone();
            self.deny(call, DenialCode::Intercepted, words);
        }
    }

    fn deny(&mut self, call: &mut Call, code: DenialCode, words: Taint) {
        let denial =
            Denial { code, seat: Seat::Adjudicate, by: None, level: Level::OWN, reason: "no".into() };
        let fact = Fact::Denied { call: CallId(call.id), denial };
        call.outcome = self.note(NodeKind::Denial, fact, words.let_by(&call.gate));
        call.stage = Stage::Settled;
    }

    fn freeze(&mut self, call: &mut Call) {
        let mut taint = Taint::of(&[&call.arguments, &self.unread]).let_by(&call.gate);
        let arguments = self.text("{}", &mut taint);
        let mut arguments_from = Vec::new();
        if self.dice.roll(4) == 3 && !self.window.is_empty() {
            let held = &self.window[self.dice.roll(self.window.len())];
            taint.takes(&held.taint);
            let (at, integrity, item) = ("/a".to_owned(), Integrity::System, Some(ItemId(held.item)));
            arguments_from.push(ArgumentSource { at, integrity, item, part: None });
        }
        let digest = Digest::of("test", &[b"x"]);
        let fact = Fact::CallFrozen {
            call: CallId(call.id),
            digest,
            tool_digest: digest,
            arguments,
            targets: Vec::new(),
            operands: Vec::new(),
            arguments_from,
            label: Label::system(),
        };
        call.frozen = self.note(NodeKind::Frozen, fact, taint);
        call.stage = Stage::Frozen;
    }

    fn judge(&mut self, call: &mut Call) {
        let id = CallId(call.id);
        let fact = Fact::Judged { call: id, seat: Seat::Adjudicate, opinions: Vec::new() };
        call.gate = self.note(NodeKind::Judgement, fact, call.frozen.clone().let_by(&call.gate));
        match self.dice.roll(4) {
            2 => {
                let words = call.gate.clone();
                self.deny(call, DenialCode::Policy, words);
            }
            3 => {
                let (digest, askers) = (Digest::of("test", &[b"x"]), vec![policy()]);
                let fact = Fact::Asked { call: id, digest, binding: None, askers, expires_at_ms: 9 };
                call.question = self.note(NodeKind::Question, fact, call.frozen.clone().let_by(&call.gate));
                call.gate = call.question.clone();
                call.stage = Stage::Asked;
            }
            _ => call.stage = Stage::Cleared,
        }
    }

    fn answer_question(&mut self, call: &mut Call) {
        let answer = [AnswerKind::Approved, AnswerKind::Refused, AnswerKind::Edited, AnswerKind::Void];
        let answer = answer.get(self.dice.roll(5)).copied().unwrap_or(AnswerKind::Nobody);
        let fact =
            Fact::Answered { call: CallId(call.id), digest: Digest::of("test", &[b"x"]), answer, by: None };
        let mut taint = call.question.clone();
        if answer == AnswerKind::Void {
            self.note(NodeKind::Answer, fact, taint);
            return;
        }
        if matches!(answer, AnswerKind::Refused | AnswerKind::Edited) {
            self.unknown(&mut taint, UnknownReason::Person);
        }
        let taint = taint.let_by(&call.gate);
        call.gate = self.note(NodeKind::Answer, fact, taint);
        let answered = call.gate.clone();
        match answer {
            AnswerKind::Approved => call.stage = Stage::Cleared,
            AnswerKind::Edited => {
                (call.arguments, call.is_edited, call.stage) = (answered, true, Stage::Proposed);
            }
            AnswerKind::Refused => self.deny(call, DenialCode::PersonRefused, answered),
            _ => self.deny(call, DenialCode::NobodyToAsk, answered),
        }
    }

    fn execute(&mut self, call: &mut Call) {
        if self.dice.roll(8) == 7 {
            let words = call.frozen.clone();
            return self.deny(call, DenialCode::Limit, words);
        }
        let id = CallId(call.id);
        let mut taint = Taint::of(&[&call.frozen, &self.unread]).let_by(&call.gate);
        self.unknown(&mut taint, UnknownReason::Outside);
        let fact = Fact::ToolStarted { call: id, effect: Effect::Pure, redeems: None };
        let mut brought = self.note(NodeKind::Execution, fact, taint);
        if self.depth < 2 && self.dice.roll(3) == 2 {
            let started = brought.clone();
            for _ in 0..=self.dice.roll(2) {
                brought.takes(&self.child(id, &started));
            }
        }
        let loses = self.dice.roll(6) == 5;
        let says = [Says::Nothing, Says::Nothing, Says::Pass, Says::Change, Says::Deny][self.dice.roll(5)];
        let (mut text, mut passed) = (brought.clone(), Taint::default());
        if !loses && says != Says::Nothing {
            passed = self.row(Point::PostToolCall, Some(call.id), None, says, brought);
            if says != Says::Pass {
                text = passed.clone();
            }
        }
        let mut taint = Taint::of(&[&text, &self.unread]).let_by(&passed);
        let output = self.text("result", &mut taint);
        let outcome = match loses {
            true => ToolOutcomeKind::Unknown(ToolErrorClass::TimedOut),
            false => ToolOutcomeKind::Succeeded,
        };
        let (output_bytes, ran_ms, readers, vouched) = (1, 1, Readers::Everyone, Vec::new());
        let fact = Fact::ToolFinished { call: id, outcome, output, output_bytes, ran_ms, readers, vouched };
        call.outcome = self.note(NodeKind::Outcome, fact, taint);
        call.stage = Stage::Settled;
        if loses {
            self.reconcile(call, says);
        }
    }

    /// The tool says what became of a call of which nothing was heard.
    fn reconcile(&mut self, call: &mut Call, says: Says) {
        let found =
            [ReconciledKind::Done, ReconciledKind::NotDone, ReconciledKind::Unknown][self.dice.roll(3)];
        let about = if found == ReconciledKind::Unknown { &call.outcome } else { &call.frozen };
        let mut taint = Taint::of(&[about, &self.unread]);
        self.unknown(&mut taint, UnknownReason::Outside);
        let fact = Fact::Reconciled { call: CallId(call.id), found };
        call.outcome = self.note(NodeKind::Reconciliation, fact, taint);
        if found == ReconciledKind::Done && says != Says::Nothing {
            let row = self.row(Point::PostToolCall, Some(call.id), None, says, call.outcome.clone());
            if says != Says::Pass {
                // What the item says is the interceptor's, and that there is one is the reconciliation's.
                call.outcome.takes(&row);
            }
            call.passed = row;
        }
    }

    /// Plays a task that a call starts, and gives its end as this run hears of it.
    fn child(&mut self, call: CallId, started: &Taint) -> Taint {
        let name = format!("{}-{call}-{}", self.id, self.seq);
        let run = RunId::new(name).unwrap();
        let parent = ParentCall { run: self.id.clone(), call };
        let above = Some((parent, started.clone()));
        let end = Machine::play(self.played, self.dice, self.depth + 1, run.clone(), above);
        let mut taint = end.clone().unwrap_or_default();
        if end.is_none() {
            self.unknown(&mut taint, UnknownReason::RecordBrokeOff);
        }
        let fact = Fact::ChildEnded {
            call,
            run,
            ending: None,
            label: Label::untrusted(),
            spent: Spending::default(),
        };
        self.note(NodeKind::ChildEnd, fact, taint)
    }
}

enum Turn {
    On,
    Ended(Ending, Taint),
}

/// Under this name an entry stands for one of a later program.
const LATER: &str = "later";

impl Played {
    /// The records as a store would have them.
    pub(crate) fn bytes(&self) -> Vec<Vec<u8>> {
        self.records.iter().map(bytes_of).collect()
    }
}

fn bytes_of(script: &Script) -> Vec<u8> {
    let mut bytes = Vec::new();
    probity_trace::encode_header(&mut bytes);
    for emission in &script.emissions {
        match emission {
            Emission::Entry(entry) if matches!(&entry.fact, Fact::FailureReported { who, .. } if who == LATER) =>
            {
                let later = json!({ "seq": entry.seq, "at_ms": entry.at_ms, "fact": { "kind": "dreamt" } });
                bytes.extend(raw_frame(probity_trace::KIND_ENTRY, later.to_string().as_bytes()));
            }
            emission => probity_trace::encode_frame(emission, &mut bytes).unwrap(),
        }
    }
    bytes
}
