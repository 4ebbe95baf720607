//! Who wrote something: the one chain from an item back to whoever worded it, and who let it go on at each step.

use probity_contract::{
    CallId, Fact, Intercepted, InterceptorName, ModelCallId, ModelName, Opinion, Origin, Point, PolicyName,
    PrincipalId, Said, Verdict,
};
use serde::Serialize;

use super::Graph;
use super::facts::{has_changed, proceeds};
use super::node::{EdgeKind, NodeId, NodeKind, RunAt};
use crate::line::{Line, Noted};

/// Steps of a chain, and decisions at one step, that are told.
const TOLD_MAX: usize = 64;

/// A chain from something back to whoever worded it. It has passed no exit: what shows it must check it first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Authorship {
    /// From the thing in question back to its beginning: a model call, a person, the task, a policy, the engine.
    pub steps: Vec<Step>,
    /// Whether the chain is longer than what is told of it.
    pub is_cut: bool,
}

/// One step of a chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Where.
    pub node: NodeId,
    /// Of which run.
    pub run: RunAt,
    /// At which entry.
    pub seq: u64,
    /// What it is.
    pub kind: NodeKind,
    /// Who did something to it here; `None` where it was only passed on.
    pub by: Option<Author>,
    /// Who has let it go on, the last first.
    pub let_in: Vec<LetIn>,
}

/// Who words things.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The task file or the embedding program.
    Task,
    /// Who asked.
    Principal(PrincipalId),
    /// A model.
    Model {
        /// In which call.
        call: ModelCallId,
        /// Which, where it is known.
        model: Option<ModelName>,
    },
    /// A tool.
    Tool {
        /// In which call.
        call: CallId,
    },
    /// Interceptors, those that put something else in place or refused.
    Interceptors(Vec<InterceptorName>),
    /// A person who was asked.
    Person(Option<PrincipalId>),
    /// Policies, those that did not allow.
    Policies(Vec<PolicyName>),
    /// The engine.
    Engine,
}

/// A decision by which something went on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LetIn {
    /// Interceptors had nothing against it.
    Interceptors {
        /// Where.
        node: NodeId,
        /// At which point.
        point: Point,
        /// All who were heard.
        heard: Vec<InterceptorName>,
    },
    /// Policies allowed it.
    Policies {
        /// Where.
        node: NodeId,
        /// Those that allowed it.
        allowed: Vec<PolicyName>,
    },
    /// A person approved it.
    Person {
        /// Where.
        node: NodeId,
        /// Who.
        by: Option<PrincipalId>,
    },
}

impl Graph<'_> {
    /// Who wrote what a node says. Empty for a node of another graph.
    #[must_use]
    pub fn who_wrote(&self, node: NodeId) -> Authorship {
        let mut authorship = Authorship { steps: Vec::new(), is_cut: false };
        let mut next = Some(node);
        // Behind an interceptor that has changed an item comes the item as it was.
        let mut behind = None;
        while let Some(node) = next {
            if authorship.steps.len() == TOLD_MAX || authorship.steps.iter().any(|step| step.node == node) {
                authorship.is_cut = true;
                break;
            }
            let Some(step) = self.step(node) else { break };
            authorship.steps.push(step);
            next = behind.take().or_else(|| self.main_source(node));
            if self.kind(node) == Some(NodeKind::Item)
                && next.is_some_and(|next| self.kind(next) == Some(NodeKind::Interception))
            {
                behind = self.sources(node).find(|to| self.kind(*to) == Some(NodeKind::Item));
            }
        }
        authorship
    }

    fn sources(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.edges(node).filter(|edge| edge.kind == EdgeKind::Data).map(|edge| edge.to)
    }

    /// The one thing that a node has its words from.
    fn main_source(&self, node: NodeId) -> Option<NodeId> {
        let from = self.kind(node)?;
        if matches!(from, NodeKind::ModelCall | NodeKind::Judgement) {
            return None;
        }
        self.sources(node).filter_map(|to| Some((rank(from, self.kind(to)?)?, to))).min().map(|(_, to)| to)
    }

    fn step(&self, node: NodeId) -> Option<Step> {
        let kind = self.kind(node)?;
        let (run, line) = self.place(node)?;
        let by = match &line.fact {
            Noted::Known(fact) => self.author(run, fact),
            Noted::Opaque { .. } => None,
        };
        Some(Step { node, run, seq: line.seq, kind, by, let_in: self.let_in(node) })
    }

    fn author(&self, run: RunAt, fact: &Fact) -> Option<Author> {
        match fact {
            Fact::RunStarted(_) => Some(Author::Task),
            Fact::ItemAdded { origin: Origin::Task, .. } => Some(Author::Task),
            Fact::ItemAdded { origin: Origin::Principal, .. } => {
                self.record(run)?.start().map(|start| Author::Principal(start.principal.clone()))
            }
            Fact::ItemAdded { origin: Origin::Engine, .. }
            | Fact::CallRejected { .. }
            | Fact::LimitHit { .. }
            | Fact::OutputRejected { .. } => Some(Author::Engine),
            Fact::ModelCalled { call, .. } => {
                let model = self.record(run)?.start().map(|start| start.model.clone());
                Some(Author::Model { call: *call, model })
            }
            Fact::ToolStarted { call, .. } | Fact::Reconciled { call, .. } => {
                Some(Author::Tool { call: *call })
            }
            Fact::Intercepted(row) if has_changed(row) || !proceeds(row) => {
                let said = row.verdicts.iter().filter(|said| said.decision != "allow");
                Some(Author::Interceptors(said.map(|said| said.interceptor.clone()).collect()))
            }
            Fact::Answered { by, .. } => Some(Author::Person(by.clone())),
            Fact::Judged { opinions, .. } => Some(Author::Policies(policies(opinions, false))),
            Fact::ItemAdded { .. }
            | Fact::Intercepted(_)
            | Fact::ModelReplied { .. }
            | Fact::ReplyRefused { .. }
            | Fact::ModelFailed { .. }
            | Fact::CallProposed { .. }
            | Fact::CallFrozen { .. }
            | Fact::Shadowed { .. }
            | Fact::Denied { .. }
            | Fact::Asked { .. }
            | Fact::ToolFinished { .. }
            | Fact::ChildEnded { .. }
            | Fact::FailureReported { .. }
            | Fact::Resumed { .. }
            | Fact::ItemReplaced { .. }
            | Fact::Foreign { .. }
            | Fact::Ended { .. } => None,
        }
    }

    /// The decisions by which a node went on. Each decision hangs on the one before.
    fn let_in(&self, node: NodeId) -> Vec<LetIn> {
        let mut found = Vec::new();
        let mut seen = vec![node];
        let mut next = self.decision(node);
        while let Some(decision) = next.filter(|next| !seen.contains(next) && seen.len() <= TOLD_MAX) {
            seen.push(decision);
            found.extend(self.place(decision).and_then(|(_, line)| let_in(decision, line)));
            next = self.decision(decision);
        }
        found
    }

    fn decision(&self, node: NodeId) -> Option<NodeId> {
        let mut decisions = self.edges(node).filter(|edge| edge.kind == EdgeKind::Control);
        decisions.find_map(|edge| is_decision(self.kind(edge.to)?).then_some(edge.to))
    }

    /// The author at the end of a chain, of an item.
    #[must_use]
    pub fn author_of(&self, run: RunAt, item: probity_contract::ItemId) -> Option<Author> {
        let authorship = self.who_wrote(self.item(run, item)?);
        authorship.steps.into_iter().rev().find_map(|step| step.by)
    }
}

const fn is_decision(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Interception | NodeKind::Judgement | NodeKind::Question | NodeKind::Answer)
}

/// Which of several things something has its words from; the least is the one.
const fn rank(from: NodeKind, to: NodeKind) -> Option<u8> {
    let (from_item, to_item) = (matches!(from, NodeKind::Item), matches!(to, NodeKind::Item));
    if matches!(to, NodeKind::Interception) {
        Some(0)
    } else if matches!(
        to,
        NodeKind::Outcome | NodeKind::Denial | NodeKind::Rejection | NodeKind::Reconciliation
    ) {
        Some(1)
    } else if matches!(to, NodeKind::Judgement | NodeKind::Answer | NodeKind::Question) {
        Some(2)
    } else if matches!(
        to,
        NodeKind::Execution | NodeKind::ModelCall | NodeKind::Limit | NodeKind::MissedSchema
    ) {
        Some(3)
    } else if matches!(to, NodeKind::Frozen | NodeKind::Proposal) {
        Some(4)
    } else if to_item && !matches!(from, NodeKind::Frozen) {
        Some(5)
    } else if matches!(to, NodeKind::Start) && (from_item || matches!(from, NodeKind::Interception)) {
        Some(6)
    } else {
        None
    }
}

fn policies(opinions: &[Opinion], allowed: bool) -> Vec<PolicyName> {
    let is_meant =
        |said: &Said| matches!(said, Said::Verdict(Verdict::Allow { .. })) == allowed && !is_silent(said);
    opinions.iter().filter(|opinion| is_meant(&opinion.said)).map(|opinion| opinion.policy.clone()).collect()
}

const fn is_silent(said: &Said) -> bool {
    matches!(said, Said::Verdict(Verdict::Abstain))
}

fn let_in(node: NodeId, line: &Line) -> Option<LetIn> {
    let Noted::Known(fact) = &line.fact else { return None };
    if let Fact::Intercepted(row) = fact {
        return proceeds(row).then(|| heard(node, row));
    }
    if let Fact::Judged { opinions, .. } = fact {
        let allowed = policies(opinions, true);
        return (!allowed.is_empty()).then_some(LetIn::Policies { node, allowed });
    }
    if let Fact::Answered { answer, by, .. } = fact {
        let is_yes =
            matches!(answer, probity_contract::AnswerKind::Approved | probity_contract::AnswerKind::Edited);
        return is_yes.then(|| LetIn::Person { node, by: by.clone() });
    }
    None
}

fn heard(node: NodeId, row: &Intercepted) -> LetIn {
    let heard = row.verdicts.iter().map(|said| said.interceptor.clone()).collect();
    LetIn::Interceptors { node, point: row.point, heard }
}
