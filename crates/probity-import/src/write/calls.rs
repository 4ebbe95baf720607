use std::collections::{HashMap, HashSet, VecDeque};

use probity_contract::CallId;

/// The calls of a run, and which of them wait for a result.
#[derive(Debug, Default)]
pub(super) struct Calls {
    count: u32,
    by_id: HashMap<String, VecDeque<CallId>>,
    last_by_id: HashMap<String, CallId>,
    by_name: HashMap<String, VecDeque<CallId>>,
    in_order: VecDeque<CallId>,
    told: HashMap<CallId, (String, String)>,
    answered: HashSet<CallId>,
    finished: HashSet<CallId>,
}

/// The call that a result belongs to.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) call: CallId,
    pub(super) provider_id: String,
    pub(super) tool: String,
    /// Nothing was heard of it before.
    pub(super) is_first: bool,
    /// Nobody proposed it.
    pub(super) is_orphan: bool,
}

impl Calls {
    pub(super) fn propose(&mut self, id: &str, name: &str) -> CallId {
        let call = self.next();
        if !id.is_empty() {
            self.by_id.entry(id.to_owned()).or_default().push_back(call);
            self.last_by_id.insert(id.to_owned(), call);
        }
        self.by_name.entry(name.to_owned()).or_default().push_back(call);
        self.in_order.push_back(call);
        self.told.insert(call, (id.to_owned(), name.to_owned()));
        call
    }

    /// The call that a result answers: by its id; without one, the first of that name that waits; without a name, the
    /// first that waits.
    pub(super) fn answer(&mut self, id: Option<&str>, name: Option<&str>) -> Found {
        let found = self.waiting(id, name);
        self.found(found, |calls, call| {
            calls.answered.insert(call);
        })
    }

    /// The call that a span ran.
    pub(super) fn ran(&mut self, id: Option<&str>, name: &str) -> Found {
        let found = self.waiting(id, Some(name));
        self.found(found, |calls, call| {
            calls.finished.insert(call);
        })
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    fn next(&mut self) -> CallId {
        self.count = self.count.saturating_add(1);
        CallId(self.count)
    }

    fn found(&mut self, call: Option<CallId>, mark: impl FnOnce(&mut Self, CallId)) -> Found {
        let is_orphan = call.is_none();
        let call = call.unwrap_or_else(|| self.next());
        let is_first = !self.answered.contains(&call) && !self.finished.contains(&call);
        mark(self, call);
        let (provider_id, tool) = self.told.get(&call).cloned().unwrap_or_default();
        Found { call, provider_id, tool, is_first, is_orphan }
    }

    fn waiting(&mut self, id: Option<&str>, name: Option<&str>) -> Option<CallId> {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            let first = self.by_id.get_mut(id).and_then(|queue| first_waiting(queue, &self.answered));
            let same = first.or_else(|| self.last_by_id.get(id).copied());
            // An id that nobody gave is no reason to give up: some write new ones into results.
            if same.is_some() {
                return same;
            }
        }
        if let Some(name) = name.filter(|name| !name.is_empty())
            && let Some(queue) = self.by_name.get_mut(name)
        {
            return first_waiting(queue, &self.answered);
        }
        if name.is_some_and(|name| !name.is_empty()) && id.is_none() {
            return None;
        }
        first_waiting(&mut self.in_order, &self.answered)
    }
}

/// The first call of a queue that still waits. Those that do not are dropped, so each is looked at once.
fn first_waiting(queue: &mut VecDeque<CallId>, answered: &HashSet<CallId>) -> Option<CallId> {
    while let Some(call) = queue.front() {
        if !answered.contains(call) {
            return Some(*call);
        }
        queue.pop_front();
    }
    None
}
