use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use probity_contract::{
    BoxFuture, CallId, Cancel, Digest, FrozenCall, Policy, PolicyError, PolicyName, Seat, Verdict,
};

use crate::blocker::Blocker;
use crate::gauge::Gauge;
use crate::names::policy_name;
use crate::{break_down, lock};

/// What a scripted policy does when it is asked.
#[derive(Debug, Clone)]
pub enum Judges {
    /// It says this.
    Says(Verdict),
    /// It asks somebody over a wire, who answers with this text.
    Answers(String),
    /// It errs with these words.
    Fails(String),
    /// It panics with these words.
    Panics(String),
    /// It never comes back.
    Hangs,
    /// It blocks its thread, and allows once it is released.
    Blocks(Blocker),
    /// It waits for the signal, and then allows.
    Waits(Cancel),
}

impl Judges {
    /// Allows.
    #[must_use]
    pub fn allows() -> Self {
        Self::Says(Verdict::Allow { reason: "allowed by the script".to_owned() })
    }

    /// Wants a person to decide.
    #[must_use]
    pub fn asks(reason: &str) -> Self {
        Self::Says(Verdict::Ask { reason: reason.to_owned() })
    }

    /// Denies.
    #[must_use]
    pub fn denies(reason: &str) -> Self {
        Self::Says(Verdict::Deny { reason: reason.to_owned() })
    }

    /// Has nothing to say.
    #[must_use]
    pub const fn abstains() -> Self {
        Self::Says(Verdict::Abstain)
    }
}

type Script = Arc<dyn Fn(&FrozenCall, Seat) -> Judges + Send + Sync>;

/// A policy whose verdicts are written down beforehand. A clone is the same policy.
#[derive(Clone)]
pub struct ScriptedPolicy {
    name: PolicyName,
    judges: Script,
    heard: Arc<Mutex<Vec<(CallId, Seat)>>>,
    judging: Gauge,
    epoch: Arc<AtomicU64>,
}

impl ScriptedPolicy {
    /// A policy that does the same at every seat of every call.
    #[must_use]
    pub fn new(name: &str, judges: Judges) -> Self {
        Self::by(name, move |_, _| judges.clone())
    }

    /// A policy that looks at the call and the seat.
    #[must_use]
    pub fn by(name: &str, judges: impl Fn(&FrozenCall, Seat) -> Judges + Send + Sync + 'static) -> Self {
        let judges = Arc::new(judges);
        Self {
            name: policy_name(name),
            judges,
            heard: Arc::default(),
            judging: Gauge::default(),
            epoch: Arc::default(),
        }
    }

    /// A policy called `allow` that allows everything.
    #[must_use]
    pub fn allowing() -> Self {
        Self::new("allow", Judges::allows())
    }

    /// The number of its rules. Who changes it has changed them.
    #[must_use]
    pub fn rules(&self) -> &AtomicU64 {
        &self.epoch
    }

    /// Judges by the rules whose number another one holds.
    #[must_use]
    pub fn with_rules_of(mut self, other: &Self) -> Self {
        self.epoch = Arc::clone(&other.epoch);
        self
    }

    /// Judges by the rules with this number.
    #[must_use]
    pub fn with_rules(mut self, rules: Arc<AtomicU64>) -> Self {
        self.epoch = rules;
        self
    }

    /// What it was asked, in order.
    #[must_use]
    pub fn heard(&self) -> Vec<(CallId, Seat)> {
        lock(&self.heard).clone()
    }

    /// Judgements that are going on.
    #[must_use]
    pub const fn judging(&self) -> &Gauge {
        &self.judging
    }
}

impl Policy for ScriptedPolicy {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn epoch(&self) -> Digest {
        Digest::of("test", &[&self.epoch.load(Ordering::SeqCst).to_be_bytes()])
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        let guard = self.judging.enter();
        Box::pin(async move {
            let _going_on = guard;
            lock(&self.heard).push((call.id(), seat));
            let allow = Verdict::Allow { reason: "allowed by the script".to_owned() };
            match (self.judges)(call, seat) {
                Judges::Says(verdict) => Ok(verdict),
                Judges::Answers(text) => Verdict::from_json(&text),
                Judges::Fails(words) => Err(PolicyError::new(words)),
                Judges::Panics(words) => break_down(words),
                Judges::Hangs => std::future::pending().await,
                Judges::Blocks(blocker) => {
                    blocker.block();
                    Ok(allow)
                }
                Judges::Waits(signal) => {
                    signal.fired().await;
                    Ok(allow)
                }
            }
        })
    }
}
