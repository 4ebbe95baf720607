use std::sync::{Arc, Mutex};

use probity_contract::{Event, Failure, FailureLane, Observer};

use crate::{break_down, lock};

/// Collects what a run tells: events as its observer, failures as its failure lane. A clone is the same watcher.
#[derive(Debug, Clone, Default)]
pub struct Watcher {
    shared: Arc<Mutex<Shared>>,
    panics: bool,
}

#[derive(Debug, Default)]
struct Shared {
    events: Vec<Event>,
    failures: Vec<Failure>,
}

impl Watcher {
    /// A watcher that collects.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A watcher that collects, and panics each time it is told something.
    #[must_use]
    pub fn panicking() -> Self {
        Self { panics: true, ..Self::default() }
    }

    /// All events, in order.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        lock(&self.shared).events.clone()
    }

    /// All failures, in order.
    #[must_use]
    pub fn failures(&self) -> Vec<Failure> {
        lock(&self.shared).failures.clone()
    }

    /// The deltas of answer text, joined.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for event in &lock(&self.shared).events {
            if let Event::Text { delta, .. } = event {
                text.push_str(delta.as_str());
            }
        }
        text
    }

    fn break_where_asked(&self) {
        if self.panics {
            break_down("the watcher broke".to_owned());
        }
    }
}

impl Observer for Watcher {
    fn on_event(&self, event: &Event) {
        lock(&self.shared).events.push(event.clone());
        self.break_where_asked();
    }
}

impl FailureLane for Watcher {
    fn on_failure(&self, failure: &Failure) {
        lock(&self.shared).failures.push(failure.clone());
        self.break_where_asked();
    }
}
