//! What passes the boundary, on the real driver: interceptors at every point, refusals, rewrites, held streams.

pub(crate) mod channels;
mod drawn;
mod messages;
mod points;
mod rows;
mod streams;
mod verdicts;
mod ways_out;

use std::error::Error;
use std::sync::{Arc, Mutex};

use probity_contract::{
    Cancel, Fact, FnInterceptor, HookVerdict, Intercepted, Interceptor, InterceptorName, Occasion, Point,
    Points, Window,
};
use probity_testkit::MemoryJournal;
use serde_json::Value;

type Says = Result<HookVerdict, Box<dyn Error + Send + Sync>>;

pub(crate) fn name(name: &str) -> InterceptorName {
    InterceptorName::new(name).unwrap()
}

/// An interceptor that says `says` at these points.
pub(crate) fn hook(
    called: &str,
    points: Points,
    says: impl Fn(&Occasion) -> Says + Send + Sync + 'static,
) -> Arc<dyn Interceptor> {
    Arc::new(FnInterceptor::new(name(called), points, says))
}

/// The same, one that can judge an answer piece by piece.
pub(crate) fn windowed(
    called: &str,
    points: Points,
    window: Window,
    says: impl Fn(&Occasion) -> Says + Send + Sync + 'static,
) -> Arc<dyn Interceptor> {
    Arc::new(FnInterceptor::new(name(called), points, says).with_window(window))
}

/// An interceptor that refuses everything at one point, for this reason.
pub(crate) fn refusing(point: Point, reason: &'static str) -> Arc<dyn Interceptor> {
    hook("guard", Points::one(point), move |_| Ok(HookVerdict::deny(reason)?))
}

/// An interceptor that puts `with` in place of `what` in every text that passes at these points.
pub(crate) fn scrubbing(points: Points, what: &'static str, with: &'static str) -> Arc<dyn Interceptor> {
    hook("scrubber", points, move |occasion| {
        let before = occasion.target().to_string();
        if !before.contains(what) {
            return Ok(HookVerdict::allow());
        }
        Ok(HookVerdict::replace("scrubbed", serde_json::from_str(&before.replace(what, with))?)?)
    })
}

/// An interceptor that lets everything through and remembers what it saw.
#[derive(Clone)]
pub(crate) struct Seen {
    points: Points,
    window: Option<Window>,
    seen: Arc<Mutex<Vec<(Occasion, bool)>>>,
}

impl Seen {
    pub(crate) fn at(points: Points) -> Self {
        Self { points, window: None, seen: Arc::default() }
    }

    pub(crate) fn occasions(&self) -> Vec<Occasion> {
        self.seen.lock().unwrap().iter().map(|(occasion, _)| occasion.clone()).collect()
    }

    pub(crate) fn points(&self) -> Vec<Point> {
        self.occasions().iter().map(Occasion::point).collect()
    }

    /// Whether the task's signal had fired when it was asked, in order.
    pub(crate) fn cancelled(&self) -> Vec<bool> {
        self.seen.lock().unwrap().iter().map(|(_, cancelled)| *cancelled).collect()
    }
}

impl Interceptor for Seen {
    fn name(&self) -> &InterceptorName {
        static NAME: std::sync::OnceLock<InterceptorName> = std::sync::OnceLock::new();
        NAME.get_or_init(|| name("watcher"))
    }

    fn points(&self) -> Points {
        self.points
    }

    fn window(&self) -> Option<Window> {
        self.window
    }

    fn intercept<'a>(
        &'a self,
        occasion: Occasion,
        cancel: &'a Cancel,
    ) -> probity_contract::BoxFuture<'a, Result<HookVerdict, probity_contract::PolicyError>> {
        self.seen.lock().unwrap().push((occasion, cancel.is_fired()));
        Box::pin(std::future::ready(Ok(HookVerdict::allow())))
    }
}

/// The rows of the record, in order.
pub(crate) fn rows(journal: &MemoryJournal) -> Vec<Intercepted> {
    let rows = journal.facts().into_iter().filter_map(|fact| match fact {
        Fact::Intercepted(row) => Some(*row),
        _ => None,
    });
    rows.collect()
}

/// The text of a message in a target.
pub(crate) fn content(target: &Value) -> &str {
    target["content"].as_str().unwrap_or_default()
}
