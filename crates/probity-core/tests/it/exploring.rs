//! Every way that a small run can go, by a model checker over the real machine: outcomes in every order, again and late,
//! processes that end at every step, people who approve or refuse, time that runs out.
//!
//! A state is the list of what happened. It is played again from the beginning for each step, since a hearing and a permit
//! cannot be copied; two lists that lead to the same run, with the same debts and the same history of effects, are one state.
//! The run is kept after every record step, so what a new process reads is as old as the record.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use probity_contract::{
    Answer, AnswerKind, Bench, CallId, Digest, Effect, Emission, Fact, Level, Opinion, Redemption, ReplyPart,
    Roster, Said, Seat, Verdict,
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
    /// The rules of whoever they are that change become others.
    ChangeRules,
}

/// Whose rules change at some moment, and into what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    Fixed,
    /// The task's own policy goes on to ask, by other rules.
    Renewed,
    /// The task's own policy denies from then on.
    Revoked,
    /// The policy of the task above denies from then on.
    RevokedAbove,
    /// That of the task above that one does, while the task below goes on to another call.
    RevokedAtTheTop,
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
    rules: Rules,
    /// Replies that propose calls, one after the other.
    replies: u32,
}

impl Scope {
    const fn of(calls: usize, effect: Effect) -> Self {
        Self { calls, effect, ends_max: 0, again_max: 0, times_out: false, rules: Rules::Fixed, replies: 1 }
    }
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
    /// Whether the rules had become ones that deny when it was judged just before.
    revoked: bool,
    /// Whether it was approved under other rules than those that it was judged by just before.
    stale: bool,
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
    /// Whether the rules have changed, and whether they had when a question was put, and when a call was judged just before its
    /// effect.
    changed: bool,
    asked_under: BTreeMap<Digest, bool>,
    rechecked_under: BTreeMap<CallId, bool>,
    /// Seats that were heard since the run was read back: what of a hearing is not in the stored run.
    heard: Vec<String>,
    lines: Vec<Emission>,
}

/// What is said at a seat under the rules of now.
fn opinions(rules: Rules, changed: bool, seat: Seat) -> Vec<Opinion> {
    let says = |verdict: &str| {
        let reason = "the rules".to_owned();
        Said::Verdict(match verdict {
            "ask" => Verdict::Ask { reason },
            "deny" => Verdict::Deny { reason },
            _ => Verdict::Allow { reason },
        })
    };
    let opinion = |level: u8, policy: &str, changed: bool, denies: bool, else_says: &str| Opinion {
        level: Level(level),
        policy: policy_name(policy),
        epoch: Some(epoch(changed)),
        said: says(if changed && denies { "deny" } else { else_says }),
    };
    let own_changed = changed && matches!(rules, Rules::Renewed | Rules::Revoked);
    let own = opinion(0, "careful", own_changed, rules == Rules::Revoked, "ask");
    let above = opinion(1, "boss", changed && rules == Rules::RevokedAbove, true, "allow");
    let top = opinion(2, "owner", changed && rules == Rules::RevokedAtTheTop, true, "allow");
    let above = match rules {
        Rules::RevokedAbove => vec![above],
        Rules::RevokedAtTheTop => vec![above, top],
        Rules::Fixed | Rules::Renewed | Rules::Revoked => Vec::new(),
    };
    match seat {
        Seat::Adjudicate => vec![own],
        Seat::Inherited => above,
        Seat::Targets | Seat::EditRecheck | Seat::ExecuteRecheck => {
            std::iter::once(own).chain(above).collect()
        }
    }
}

fn epoch(changed: bool) -> Digest {
    Digest::of("test", &[&[u8::from(changed)]])
}

const TTL_MS: u64 = 86_400_000;

impl<'a> Play<'a> {
    fn new(scope: &'a Scope) -> Self {
        let mut spec = spec(vec![tool("act", scope.effect)]);
        let above = match scope.rules {
            Rules::RevokedAbove => vec!["boss"],
            Rules::RevokedAtTheTop => vec!["boss", "owner"],
            Rules::Fixed | Rules::Renewed | Rules::Revoked => Vec::new(),
        };
        for name in &above {
            // As tasks are started: from the top down, each bench made of the one above.
            spec.principals_above.push(principal(name));
        }
        if let Some((top, between)) = above.split_last() {
            let roster = |name: &str| Roster::new(vec![policy_name(name)]).unwrap();
            let bench = Bench::of(roster(top));
            let bench =
                between.iter().rev().fold(bench, |bench, name| bench.for_child(roster(name)).unwrap());
            spec.bench = bench.for_child(roster("careful")).unwrap();
        }
        let run = Run::new(spec).unwrap();
        let kept = serde_json::to_string(&run).unwrap();
        let desk = Desk::unsettled(run);
        let (past, started, heard, lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let expires = BTreeMap::new();
        let (changed, asked_under, rechecked_under) = (false, BTreeMap::new(), BTreeMap::new());
        let mut play = Self {
            scope,
            desk,
            kept,
            past,
            started,
            expires,
            changed,
            asked_under,
            rechecked_under,
            heard,
            lines,
        };
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
                    let by_others = question.facts().epochs.iter().any(|told| told.epoch == epoch(true));
                    self.asked_under.insert(question.binding(), by_others);
                    self.desk.open.push(Owed::Answer(Box::new(question)));
                }
                Step::RunTool { permit, .. } => {
                    let (call, redeems) = (permit.call().id(), permit.redeems());
                    let expires = redeems.and_then(|binding| self.expires.get(&binding));
                    let late = expires.is_some_and(|expires| *expires <= self.desk.now_ms);
                    let refused = self.refused().contains(&call);
                    let judged = self.rechecked_under.get(&call).copied().unwrap_or(true);
                    let denies = matches!(
                        self.scope.rules,
                        Rules::Revoked | Rules::RevokedAbove | Rules::RevokedAtTheTop
                    );
                    let asked = redeems.and_then(|binding| self.asked_under.get(&binding)).copied();
                    let (revoked, stale) = (judged && denies, asked != Some(judged));
                    self.started.push(Started { call, redeems, late, refused, revoked, stale });
                    self.desk.open.push(Owed::Tool(std::sync::Arc::clone(permit.call())));
                }
                Step::Intercept { .. }
                | Step::Identify { .. }
                | Step::Consult { .. }
                | Step::Release { .. } => {
                    panic!("nobody is heard at any point")
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
            Owed::Model(call) if call.0 <= self.scope.replies => {
                let part = |n: usize| ReplyPart::call(format!("p{n}"), "act", format!(r#"{{"text":"{n}"}}"#));
                replied(*call, (0..self.scope.calls).map(part).collect())
            }
            Owed::Model(call) => replied(*call, vec![ReplyPart::text("done")]),
            Owed::Targets(call, _) => told(*call, Vec::new()),
            Owed::Opinions(call, seat) => {
                judged(call, *seat, opinions(self.scope.rules, self.changed, *seat))
            }
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
                self.was_heard(&owed);
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
                    self.was_heard(&owed);
                }
                self.settle(None);
            }
            Act::End => self.end(),
            Act::ChangeRules => self.changed = true,
            Act::TimeOut => {
                self.desk.now_ms = TTL_MS;
                let who = "somebody".to_owned();
                let failed = Outcome::FailureReported { call: None, seat: None, who, error: "x".to_owned() };
                self.desk.run.feed(TTL_MS, failed).unwrap();
                self.settle(None);
            }
        }
    }

    fn was_heard(&mut self, owed: &Owed) {
        let Owed::Opinions(call, seat) = owed else { return };
        self.heard.push(format!("{} {seat} {}", call.id(), self.changed));
        if *seat == Seat::ExecuteRecheck {
            self.rechecked_under.insert(call.id(), self.changed);
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
        if self.scope.rules != Rules::Fixed && !self.changed {
            menu.push(Act::ChangeRules);
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
        (self.changed, &self.asked_under, &self.rechecked_under).hash(&mut hasher);
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
            Property::always("i31 nothing starts that whoever judges has revoked", |_, state: &State| {
                !state.started.iter().any(|started| started.revoked)
            }),
            Property::always("i15 approved and judged by the same rules", |_, state: &State| {
                !state.started.iter().any(|started| started.stale)
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
        explore(Scope { ends_max: 1, again_max: 1, ..Scope::of(1, effect) }, 200);
    }
}

/// One call, and processes that end twice.
#[test]
fn i20_i44_one_call_while_processes_end_twice() {
    explore(Scope { ends_max: 2, ..Scope::of(1, Effect::Once) }, 200);
}

/// One call, and the time of its question runs out at any moment.
#[test]
fn i21_one_call_while_time_runs_out() {
    explore(Scope { ends_max: 1, times_out: true, ..Scope::of(1, Effect::Once) }, 200);
}

/// Two calls of one reply, in every order.
#[test]
fn i20_i27_i43_two_calls_in_every_order() {
    explore(Scope::of(2, Effect::Once), 100);
}

/// One call, and rules that change at any moment: into others that ask, into ones that deny, and those of the task above.
#[test]
fn i15_i31_i51_one_call_while_rules_change() {
    for rules in [Rules::Renewed, Rules::Revoked, Rules::RevokedAbove] {
        for effect in [Effect::Once, Effect::Idempotent] {
            explore(Scope { ends_max: 1, rules, ..Scope::of(1, effect) }, 200);
        }
    }
}

/// A task two levels down that makes one call and then another, while the rules at the top change at any moment.
#[test]
fn i31_a_running_child_while_rules_at_the_top_change() {
    for effect in [Effect::Once, Effect::Idempotent] {
        explore(Scope { rules: Rules::RevokedAtTheTop, replies: 2, ..Scope::of(1, effect) }, 50);
        let ends = Scope { ends_max: 1, rules: Rules::RevokedAtTheTop, ..Scope::of(1, effect) };
        explore(ends, 200);
    }
}
