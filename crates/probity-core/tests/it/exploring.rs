//! Every way that a small run can go, by a model checker over the real machine: outcomes in every order, again and late,
//! processes that end at every step, people who approve or refuse, time that runs out.
//!
//! A state is the list of what happened. It is played again from the beginning for each step, since a hearing and a permit
//! cannot be copied; two lists that lead to the same run, with the same debts and the same history of effects, are one state.
//! The run is kept after every record step, so what a new process reads is as old as the record.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use probity_contract::{
    Answer, AnswerKind, CallId, Digest, Effect, Emission, Fact, ModelCallId, Opinion, Redemption, ReplyPart,
    Said, Verdict,
};
use probity_core::{Outcome, Run, Step};
use probity_testkit::{policy_name, principal};
use stateright::{Checker as _, HasDiscoveries, Model, Property};

use crate::desk::{Desk, Owed, answered, approve, finished, judged, not_known, replied, spec, told, tool};

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Act {
    /// A debt is paid; where it is an answer, with yes or no. The process may end after so many steps that follow.
    Pay { debt: usize, yes: bool, ends_after: Option<usize> },
    /// Something that was paid or lost comes once more; an answer as a yes.
    Again(usize),
    /// The process ends while the run waits.
    End,
    /// The time of every open question runs out.
    TimeOut,
}

/// What is explored.
#[derive(Debug, Clone)]
struct Scope {
    /// Calls of the one reply.
    calls: usize,
    effect: Effect,
    ends_max: usize,
    again_max: usize,
    times_out: bool,
}

/// A start of a tool.
#[derive(Debug, Clone, Hash)]
struct Started {
    call: CallId,
    redeems: Option<Digest>,
    /// Whether the time of the approval was over.
    late: bool,
    /// Whether a person had refused the call before.
    refused: bool,
}

#[derive(Debug, Clone)]
struct State {
    acts: Vec<Act>,
    menu: Vec<Act>,
    key: u64,
    started: Vec<Started>,
    refused: Vec<CallId>,
    /// Starts and ends in the record, by call.
    told: BTreeMap<CallId, (usize, usize)>,
    ended: bool,
    /// Whether the run waits for nothing and has not ended.
    stuck: bool,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

/// A run that is being played.
struct Play<'a> {
    scope: &'a Scope,
    desk: Desk,
    /// As a new process would read it.
    kept: String,
    past: Vec<Owed>,
    started: Vec<Started>,
    /// When the time of each question is over.
    expires: BTreeMap<Digest, u64>,
    /// Seats that were heard since the run was read back: what of a hearing is not in the stored run.
    heard: Vec<String>,
    lines: Vec<Emission>,
}

fn asks() -> Vec<Opinion> {
    vec![Opinion::own(policy_name("careful"), Said::Verdict(Verdict::Ask { reason: "sure?".to_owned() }))]
}

const TTL_MS: u64 = 86_400_000;

impl<'a> Play<'a> {
    fn new(scope: &'a Scope) -> Self {
        let run = Run::new(spec(vec![tool("act", scope.effect)])).unwrap();
        let kept = serde_json::to_string(&run).unwrap();
        let desk = Desk::unsettled(run);
        let (past, started, heard, lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let expires = BTreeMap::new();
        let mut play = Self { scope, desk, kept, past, started, expires, heard, lines };
        play.settle(None);
        play
    }

    /// Carries out steps until the run waits; where the process ends after so many of them, a new one takes it up.
    fn settle(&mut self, ends_after: Option<usize>) {
        let mut steps = 0;
        while self.desk.ending.is_none() {
            if ends_after == Some(steps) {
                return self.end();
            }
            let Some(step) = self.desk.run.next() else { break };
            steps += 1;
            match step {
                Step::Record { lines, .. } => {
                    self.lines.extend(lines);
                    self.kept = self.desk.stored();
                }
                Step::Notify(_) => {}
                Step::CallModel { call, .. } => self.desk.open.push(Owed::Model(call)),
                // Of two calls the orders that matter are those of opinions, answers and results.
                Step::Resolve { call, .. } if self.scope.calls > 1 => {
                    self.desk.run.feed(self.desk.now_ms, told(call, Vec::new())).unwrap();
                }
                Step::Resolve { call, arguments, .. } => self.desk.open.push(Owed::Targets(call, arguments)),
                Step::Judge { call, seat } => self.desk.open.push(Owed::Opinions(call, seat)),
                Step::Reconcile { call } => self.desk.open.push(Owed::Reconcile(call.id())),
                Step::Redeem { call, binding } => {
                    let result = Redemption::claim(&*self.desk.redeemer, &call.facts().run, binding);
                    let redeemed = Outcome::Redeemed { call: call.id(), result };
                    self.desk.run.feed(self.desk.now_ms, redeemed).unwrap();
                }
                Step::Ask { question } => {
                    self.expires.insert(question.binding(), question.facts().expires_at_ms);
                    self.desk.open.push(Owed::Answer(Box::new(question)));
                }
                Step::RunTool { permit, .. } => {
                    let (call, redeems) = (permit.call().id(), permit.redeems());
                    let expires = redeems.and_then(|binding| self.expires.get(&binding));
                    let late = expires.is_some_and(|expires| *expires <= self.desk.now_ms);
                    let refused = self.refused().contains(&call);
                    self.started.push(Started { call, redeems, late, refused });
                    self.desk.open.push(Owed::Tool(std::sync::Arc::clone(permit.call())));
                }
                Step::Done(ending) => self.desk.ending = Some(ending),
            }
        }
        if ends_after.is_some() {
            self.end();
        } else if self.desk.ending.is_none() {
            self.kept = self.desk.stored();
        }
    }

    fn end(&mut self) {
        let now_ms = self.desk.now_ms;
        self.past.append(&mut self.desk.open);
        let mut run: Run = serde_json::from_str(&self.kept).unwrap();
        run.abandon_outstanding();
        self.heard.clear();
        let redeemer = std::sync::Arc::clone(&self.desk.redeemer);
        self.desk = Desk { now_ms, redeemer, ..Desk::unsettled(run) };
        self.settle(None);
    }

    fn outcome(&self, owed: &Owed, yes: bool) -> Outcome {
        match owed {
            Owed::Model(ModelCallId(1)) => {
                let call = |n: usize| ReplyPart::call(format!("p{n}"), "act", format!(r#"{{"text":"{n}"}}"#));
                replied(ModelCallId(1), (0..self.scope.calls).map(call).collect())
            }
            Owed::Model(call) => replied(*call, vec![ReplyPart::text("done")]),
            Owed::Targets(call, _) => told(*call, Vec::new()),
            Owed::Opinions(call, seat) => judged(call, *seat, asks()),
            Owed::Answer(question) if yes => answered(question, approve()),
            Owed::Answer(question) => {
                let refuse =
                    Answer::Refuse { by: principal("eve"), reason: "no".to_owned(), for_good: false };
                answered(question, refuse)
            }
            Owed::Reconcile(call) => not_known(*call),
            Owed::Tool(call) => finished(call.id(), "done"),
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Pay { debt, yes, ends_after } => {
                let owed = self.desk.open.remove(debt);
                let outcome = self.outcome(&owed, yes);
                self.desk.run.feed(self.desk.now_ms, outcome).unwrap();
                if let Owed::Opinions(call, seat) = &owed {
                    self.heard.push(format!("{} {seat}", call.id()));
                }
                self.past.push(owed);
                self.settle(ends_after);
            }
            Act::Again(at) => {
                let owed = self.past[at].clone();
                let outcome = self.outcome(&owed, true);
                // Taken where it is owed once more, which a lost one may be.
                if self.desk.run.feed(self.desk.now_ms, outcome).is_ok() {
                    let is_same = |open: &Owed| format!("{open:?}") == format!("{owed:?}");
                    let at = self.desk.open.iter().position(is_same).expect("only what is owed is taken");
                    self.desk.open.remove(at);
                    if let Owed::Opinions(call, seat) = &owed {
                        self.heard.push(format!("{} {seat}", call.id()));
                    }
                }
                self.settle(None);
            }
            Act::End => self.end(),
            Act::TimeOut => {
                self.desk.now_ms = TTL_MS;
                let who = "somebody".to_owned();
                let failed = Outcome::FailureReported { call: None, seat: None, who, error: "x".to_owned() };
                self.desk.run.feed(TTL_MS, failed).unwrap();
                self.settle(None);
            }
        }
    }

    fn menu(&self, acts: &[Act]) -> Vec<Act> {
        if self.desk.ending.is_some() {
            return Vec::new();
        }
        let count = |is: fn(&Act) -> bool| acts.iter().filter(|act| is(act)).count();
        let ends = count(|act| matches!(act, Act::End | Act::Pay { ends_after: Some(_), .. }));
        let again = count(|act| matches!(act, Act::Again(_)));
        let mut menu = Vec::new();
        for (debt, owed) in self.desk.open.iter().enumerate() {
            let answers: &[bool] = if matches!(owed, Owed::Answer(_)) { &[true, false] } else { &[true] };
            for &yes in answers {
                menu.push(Act::Pay { debt, yes, ends_after: None });
                if ends < self.scope.ends_max {
                    menu.extend((0..4).map(|steps| Act::Pay { debt, yes, ends_after: Some(steps) }));
                }
            }
        }
        if ends < self.scope.ends_max {
            menu.push(Act::End);
        }
        if again < self.scope.again_max {
            menu.extend((0..self.past.len()).map(Act::Again));
        }
        if self.scope.times_out && self.desk.now_ms == 0 {
            menu.push(Act::TimeOut);
        }
        menu
    }

    fn told(&self) -> BTreeMap<CallId, (usize, usize)> {
        let mut told: BTreeMap<CallId, (usize, usize)> = BTreeMap::new();
        for line in &self.lines {
            let Emission::Entry(entry) = line else { continue };
            match &entry.fact {
                Fact::ToolStarted { call, .. } => told.entry(*call).or_default().0 += 1,
                Fact::ToolFinished { call, .. } => told.entry(*call).or_default().1 += 1,
                _ => {}
            }
        }
        told
    }

    /// Calls whose refusal stands in the record: an answer that was lost with its process was none.
    fn refused(&self) -> Vec<CallId> {
        let refused = self.lines.iter().filter_map(|line| match line {
            Emission::Entry(entry) => match &entry.fact {
                Fact::Answered { call, answer: AnswerKind::Refused, .. } => Some(*call),
                _ => None,
            },
            Emission::Part(_) => None,
        });
        refused.collect()
    }

    fn state(self, acts: Vec<Act>) -> State {
        let menu = self.menu(&acts);
        let (told, refused) = (self.told(), self.refused());
        let budget = |is: fn(&Act) -> bool| acts.iter().filter(|act| is(act)).count();
        let mut hasher = std::hash::DefaultHasher::new();
        (&self.desk.stored(), &self.kept, &self.heard, &self.started, &refused, &told, self.desk.now_ms)
            .hash(&mut hasher);
        (format!("{:?}", self.desk.open), format!("{:?}", self.past), self.desk.ending.is_some())
            .hash(&mut hasher);
        budget(|act| matches!(act, Act::End | Act::Pay { ends_after: Some(_), .. })).hash(&mut hasher);
        budget(|act| matches!(act, Act::Again(_))).hash(&mut hasher);
        let ended = self.desk.ending.is_some();
        let stuck = !ended && self.desk.open.is_empty();
        let started = self.started;
        State { acts, menu, key: hasher.finish(), started, refused, told, ended, stuck }
    }
}

impl Model for Scope {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        vec![Play::new(self).state(Vec::new())]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Act>) {
        actions.extend(&state.menu);
    }

    fn next_state(&self, last: &State, act: Act) -> Option<State> {
        let mut play = Play::new(self);
        let acts: Vec<Act> = last.acts.iter().copied().chain([act]).collect();
        for act in &acts {
            play.act(*act);
        }
        Some(play.state(acts))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("i20 one approval is one start", |_, state: &State| {
                let grants: Vec<Digest> =
                    state.started.iter().filter_map(|started| started.redeems).collect();
                grants.iter().all(|one| grants.iter().filter(|other| *other == one).count() == 1)
            }),
            Property::always("i20 nothing starts without an approval", |_, state: &State| {
                state.started.iter().all(|started| started.redeems.is_some())
            }),
            Property::always("i21 nothing starts once the time is over", |_, state: &State| {
                !state.started.iter().any(|started| started.late)
            }),
            Property::always("i27 what was refused never starts", |_, state: &State| {
                !state.started.iter().any(|started| started.refused)
            }),
            Property::always("i43 every start that is told has one end", |_, state: &State| {
                let is_whole = |(starts, ends): &(usize, usize)| {
                    if state.ended { starts == ends } else { ends <= starts && starts - ends <= 1 }
                };
                state.told.values().all(is_whole)
            }),
            Property::always("i43 every start is told", |_, state: &State| {
                state.started.iter().all(|started| {
                    let starts = state.started.iter().filter(|other| other.call == started.call).count();
                    state.told.get(&started.call).is_some_and(|(told, _)| *told >= starts)
                })
            }),
            Property::always("i44 what must not be repeated is not", |scope: &Scope, state: &State| {
                let starts = |call| state.started.iter().filter(|started| started.call == call).count();
                let is_once = matches!(scope.effect, Effect::Once | Effect::Reconcile);
                !is_once || state.started.iter().all(|started| starts(started.call) == 1)
            }),
            Property::always("i47 it never waits for nothing", |_, state: &State| !state.stuck),
            // Something happens at all.
            Property::sometimes("it ends after a start", |_, state: &State| {
                state.ended && !state.started.is_empty()
            }),
            Property::sometimes("it ends after a refusal", |_, state: &State| {
                state.ended && !state.refused.is_empty()
            }),
        ]
    }
}

fn explore(scope: Scope, states_min: usize) {
    let checker = scope.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    checker.assert_properties();
    let states = checker.unique_state_count();
    assert!(checker.is_done() && states >= states_min, "{states} states");
}

/// One call, a process that ends once at any step, one outcome that comes again.
#[test]
fn i20_i27_i43_i44_i47_one_call_on_every_way() {
    for effect in [Effect::Once, Effect::Idempotent, Effect::Reconcile] {
        explore(Scope { calls: 1, effect, ends_max: 1, again_max: 1, times_out: false }, 200);
    }
}

/// One call, and processes that end twice.
#[test]
fn i20_i44_one_call_while_processes_end_twice() {
    explore(Scope { calls: 1, effect: Effect::Once, ends_max: 2, again_max: 0, times_out: false }, 200);
}

/// One call, and the time of its question runs out at any moment.
#[test]
fn i21_one_call_while_time_runs_out() {
    explore(Scope { calls: 1, effect: Effect::Once, ends_max: 1, again_max: 0, times_out: true }, 200);
}

/// Two calls of one reply, in every order.
#[test]
fn i20_i27_i43_two_calls_in_every_order() {
    explore(Scope { calls: 2, effect: Effect::Once, ends_max: 0, again_max: 0, times_out: false }, 100);
}
