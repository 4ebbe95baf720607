//! A call's way, from the proposal to its result, and what interceptors do on it and elsewhere.

use probity_contract::{
    AnswerKind, CallId, DenialCode, Fact, Intercepted, ModelCallId, Point, ReconciledKind,
};

use super::calls::{CallState, Slot};
use super::facts::{has_changed, proceeds};
use super::node::{EdgeKind, UnknownReason};
use super::walk::Walk;

impl<'r> Walk<'_, 'r> {
    /// An entry about a call.
    pub(super) fn of_call(&mut self, call: CallId, fact: &'r Fact) {
        let at = Slot::some(self.at);
        let mut state = self.state(call);
        match fact {
            Fact::CallProposed { by, .. } => {
                self.proposed(*by);
                (state.nodes.proposal, state.form) = (at, at);
            }
            Fact::CallRejected { .. } => {
                self.made_of(state.form);
                state.nodes.outcome = at;
            }
            Fact::CallFrozen { arguments_from, .. } => {
                self.may_hang_on_unread();
                self.made_of(state.form);
                for item in arguments_from.iter().filter_map(|source| source.item) {
                    let item = self.item(item);
                    self.data(item);
                }
                self.control(state.gate);
                state.nodes.frozen = at;
            }
            Fact::Judged { .. } => {
                self.made_of(state.now());
                self.decided(&mut state);
                state.judged = at;
            }
            Fact::Shadowed { .. } | Fact::FailureReported { .. } => self.data(state.now()),
            Fact::Denied { denial, .. } => {
                let by = self.denied_by(denial.code, &state);
                self.made_of(by.or(state.now()));
                self.control(state.gate);
                state.nodes.outcome = at;
            }
            Fact::Asked { .. } => {
                self.made_of(state.now());
                self.decided(&mut state);
                state.asked = at;
            }
            Fact::Answered { answer, .. } => self.answered(*answer, &mut state),
            Fact::ToolStarted { .. } => {
                self.may_hang_on_unread();
                self.made_of(state.now());
                self.unknown(UnknownReason::Outside);
                self.control(state.gate);
                (state.nodes.execution, state.came) = (at, at);
            }
            Fact::ChildEnded { .. } => {
                let ended = self.graph.front(self.at, state.children.get(), self.at);
                state.children = Slot::some(ended);
            }
            Fact::ToolFinished { .. } => self.finished(&mut state),
            Fact::Reconciled { found, .. } => self.reconciled(*found, &mut state),
            Fact::RunStarted(_)
            | Fact::ItemAdded { .. }
            | Fact::ModelCalled { .. }
            | Fact::ModelReplied { .. }
            | Fact::ReplyRefused { .. }
            | Fact::ModelFailed { .. }
            | Fact::Resumed { .. }
            | Fact::Intercepted(_)
            | Fact::ItemReplaced { .. }
            | Fact::LimitHit { .. }
            | Fact::OutputRejected { .. }
            | Fact::Foreign { .. }
            | Fact::Ended { .. } => {}
        }
        self.keep(call, state);
    }

    /// A decision about a call hangs on the one before.
    fn decided(&mut self, state: &mut CallState) {
        self.control(state.gate);
        state.gate = Slot::some(self.at);
    }

    fn proposed(&mut self, by: ModelCallId) {
        let model = self.models.get(&by).copied();
        let said = model.map_or(Slot::NONE, |model| model.item.or(model.said()));
        self.made_of(said);
    }

    /// Whose words a denial has.
    fn denied_by(&self, code: DenialCode, state: &CallState) -> Slot {
        match code {
            DenialCode::NoPolicy
            | DenialCode::NotCovered
            | DenialCode::Policy
            | DenialCode::PolicyFailed
            | DenialCode::Incomplete => state.judged,
            DenialCode::Intercepted => state.looked,
            DenialCode::NobodyToAsk
            | DenialCode::PersonRefused
            | DenialCode::Expired
            | DenialCode::Redeemed
            | DenialCode::EditRefused => state.answered.or(state.asked),
            DenialCode::TargetsFailed
            | DenialCode::TargetsChanged
            | DenialCode::ToolChanged
            | DenialCode::Cancelled
            | DenialCode::Limit => Slot::NONE,
        }
    }

    fn answered(&mut self, answer: AnswerKind, state: &mut CallState) {
        self.made_of(state.asked.or(state.now()));
        let at = Slot::some(self.at);
        match answer {
            AnswerKind::Void => return,
            AnswerKind::Edited => {
                self.unknown(UnknownReason::Person);
                (state.form, state.is_edited) = (at, true);
            }
            AnswerKind::Refused => self.unknown(UnknownReason::Person),
            AnswerKind::Approved | AnswerKind::Nobody => {}
        }
        state.answered = at;
        self.decided(state);
    }

    fn finished(&mut self, state: &mut CallState) {
        self.may_hang_on_unread();
        self.came_back(state);
        state.nodes.outcome = Slot::some(self.at);
    }

    /// What a result is made of: what an interceptor has made of it, or what the tool did and its tasks brought.
    fn came_back(&mut self, state: &mut CallState) {
        match std::mem::replace(&mut state.result_by, Slot::NONE) {
            Slot::NONE => self.brought(state),
            by => self.data(by),
        }
        self.control(std::mem::replace(&mut state.result_passed, Slot::NONE));
        state.children = Slot::NONE;
    }

    /// What a tool has brought: from its start, and from the tasks that it started. An imported record tells of no start.
    fn brought(&mut self, state: &CallState) {
        self.made_of(state.came.or(state.now()));
        if state.came == Slot::NONE {
            self.unknown(UnknownReason::Outside);
        }
        self.data(state.children);
    }

    fn reconciled(&mut self, found: ReconciledKind, state: &mut CallState) {
        self.may_hang_on_unread();
        let at = Slot::some(self.at);
        self.made_of(if found == ReconciledKind::Unknown { state.nodes.outcome } else { state.now() });
        self.data(state.children);
        state.children = Slot::NONE;
        self.unknown(UnknownReason::Outside);
        (state.came, state.nodes.outcome) = (at, at);
    }

    /// The item in which the model reads what a call came to.
    pub(super) fn result_added(&mut self, call: CallId) {
        let mut state = self.state(call);
        // It carries the name and the id of the proposal.
        self.made_of(state.nodes.proposal);
        self.data(state.nodes.outcome);
        if state.is_edited {
            self.data(state.nodes.frozen);
        }
        // What was looked at after the tool said what became of the call.
        self.data(state.result_by);
        self.control(state.result_passed);
        (state.result_by, state.result_passed) = (Slot::NONE, Slot::NONE);
        state.nodes.item = Slot::some(self.at);
        self.keep(call, state);
    }

    pub(super) fn intercepted(&mut self, row: &Intercepted) {
        let at = Slot::some(self.at);
        let says = has_changed(row) || !proceeds(row);
        if has_changed(row) {
            self.unknown(UnknownReason::Interceptor);
        }
        if !proceeds(row) {
            self.stopped = at;
        }
        match (row.point, row.call, row.model_call) {
            (Point::AgentStartup, ..) => self.data(self.start),
            (Point::Input, ..) => {
                let kind = if has_changed(row) { EdgeKind::Data } else { EdgeKind::Control };
                self.incoming = proceeds(row).then_some((self.at, kind));
            }
            (Point::PreModelCall, ..) => {
                self.data(self.window.tip().map_or(Slot::NONE, Slot::some));
                let before = std::mem::replace(&mut self.before_sending, at);
                self.control(before);
                for item in std::mem::take(&mut self.replacements) {
                    self.graph.edge(item, self.at, EdgeKind::Data);
                }
            }
            (Point::PostModelCall | Point::Output, _, Some(call)) => self.looked_at_reply(row, call),
            (Point::PreToolCall, Some(call), _) => {
                let mut state = self.state(call);
                self.made_of(state.form);
                if has_changed(row) {
                    state.form = at;
                }
                state.looked = at;
                self.decided(&mut state);
                self.keep(call, state);
            }
            (Point::PostToolCall, Some(call), _) => {
                let mut state = self.state(call);
                self.brought(&state);
                self.control(std::mem::replace(&mut state.result_passed, at));
                state.result_by = if says { at } else { Slot::NONE };
                self.keep(call, state);
            }
            (Point::PostModelCall | Point::Output | Point::PreToolCall | Point::PostToolCall, ..)
            | (Point::AgentShutdown, ..) => {}
        }
    }

    fn looked_at_reply(&mut self, row: &Intercepted, call: ModelCallId) {
        let at = Slot::some(self.at);
        let changed = if has_changed(row) { at } else { Slot::NONE };
        let Some(state) = self.models.get_mut(&call) else { return self.unknown(UnknownReason::NotInRecord) };
        let passed = std::mem::replace(&mut state.passed, at);
        let read = if row.point == Point::Output {
            state.changed_answer = changed;
            state.changed.or(Slot::some(state.node))
        } else {
            state.changed = changed;
            Slot::some(state.node)
        };
        self.data(read);
        self.control(passed);
    }
}
