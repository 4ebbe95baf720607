//! What is known of a call and of a model call while a record is walked through.

use super::node::NodeId;

/// A node, or none, in four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

impl Slot {
    pub(super) const NONE: Self = Self(u32::MAX);

    pub(super) const fn some(node: u32) -> Self {
        Self(node)
    }

    pub(super) fn get(self) -> Option<u32> {
        (self != Self::NONE).then_some(self.0)
    }

    pub(super) fn node(self) -> Option<NodeId> {
        self.get().map(NodeId)
    }

    /// The node if it is one before another.
    pub(super) fn before(self, other: u32) -> Self {
        self.get().filter(|node| *node < other).map_or(Self::NONE, Self)
    }

    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::NONE { other } else { self }
    }
}

/// Where a call stands in the graph, each where it did so last.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallNodes {
    pub(super) proposal: Slot,
    pub(super) frozen: Slot,
    pub(super) execution: Slot,
    pub(super) outcome: Slot,
    pub(super) item: Slot,
}

/// A call as far as it has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallState {
    pub(super) nodes: CallNodes,
    /// What its arguments are from now: the proposal, an interceptor, a person.
    pub(super) form: Slot,
    /// Whether a person has changed them; its result says so.
    pub(super) is_edited: bool,
    /// The last decision about it. Each hangs on the one before.
    pub(super) gate: Slot,
    pub(super) judged: Slot,
    pub(super) asked: Slot,
    pub(super) answered: Slot,
    /// Who has looked at its arguments last.
    pub(super) looked: Slot,
    /// Where its result is from: the start, or what the tool said later.
    pub(super) came: Slot,
    /// The tasks that it has started and that have ended, as a list.
    pub(super) children: Slot,
    /// An interceptor that has put something else in place of its result, or refused it.
    pub(super) result_by: Slot,
    /// Who has let its result pass.
    pub(super) result_passed: Slot,
}

impl CallState {
    pub(super) const NEW: Self = {
        let none = Slot::NONE;
        let nodes = CallNodes { proposal: none, frozen: none, execution: none, outcome: none, item: none };
        Self {
            nodes,
            form: none,
            is_edited: false,
            gate: none,
            judged: none,
            asked: none,
            answered: none,
            looked: none,
            came: none,
            children: none,
            result_by: none,
            result_passed: none,
        }
    };

    /// The call as it was before, but for what came of it: a run that is taken up is told that.
    pub(super) fn taken_back(&self, before: &Self) -> Self {
        let CallNodes { execution, outcome, item, .. } = self.nodes;
        let nodes = CallNodes { execution, outcome, item, ..before.nodes };
        // What was put in place of a result behind its outcome is on record with it: of one that the tool told when it was asked.
        let result_by = if outcome.get().is_some() { self.result_by } else { before.result_by };
        Self { nodes, came: self.came, result_by, ..*before }
    }

    /// The call as it is now, for whoever looks at it.
    pub(super) fn now(&self) -> Slot {
        self.nodes.frozen.or(self.form)
    }
}

/// A model call as far as it has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelState {
    pub(super) node: u32,
    /// An interceptor at `post_model_call` that has changed the reply.
    pub(super) changed: Slot,
    /// One at `output`.
    pub(super) changed_answer: Slot,
    /// The last that has looked at it. Each hangs on the one before.
    pub(super) passed: Slot,
    /// The reply as an item.
    pub(super) item: Slot,
}

impl ModelState {
    pub(super) const fn of(node: u32) -> Self {
        let none = Slot::NONE;
        Self { node, changed: none, changed_answer: none, passed: none, item: none }
    }

    /// Where the reply is from.
    pub(super) fn said(&self) -> Slot {
        self.changed_answer.or(self.changed).or(Slot::some(self.node))
    }
}
