use std::sync::{Arc, Mutex};

use probity_contract::{Answer, Approver, BoxFuture, PendingCall};

use crate::gauge::Gauge;
use crate::lock;
use crate::names::principal;

type Script = Arc<dyn Fn(&PendingCall) -> Option<Answer> + Send + Sync>;

/// A person whose answers are written down beforehand. A clone is the same person.
#[derive(Clone)]
pub struct ScriptedApprover {
    answers: Script,
    asked: Arc<Mutex<Vec<PendingCall>>>,
    questions: Gauge,
}

impl ScriptedApprover {
    /// A person who answers what `answers` says; `None` means never, and a panic is a panic.
    #[must_use]
    pub fn new(answers: impl Fn(&PendingCall) -> Option<Answer> + Send + Sync + 'static) -> Self {
        Self { answers: Arc::new(answers), asked: Arc::default(), questions: Gauge::default() }
    }

    /// A person called `who` who approves everything.
    #[must_use]
    pub fn approving(who: &str) -> Self {
        let by = principal(who);
        Self::new(move |_| Some(Answer::Approve { by: by.clone(), more: 0 }))
    }

    /// A person called `who` who refuses everything.
    #[must_use]
    pub fn refusing(who: &str, reason: &str) -> Self {
        let (by, reason) = (principal(who), reason.to_owned());
        Self::new(move |_| Some(Answer::Refuse { by: by.clone(), reason: reason.clone(), for_good: false }))
    }

    /// A person who never answers.
    #[must_use]
    pub fn hanging() -> Self {
        Self::new(|_| None)
    }

    /// All questions, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<PendingCall> {
        lock(&self.asked).clone()
    }

    /// Questions that are open.
    #[must_use]
    pub const fn questions(&self) -> &Gauge {
        &self.questions
    }
}

impl Approver for ScriptedApprover {
    fn ask<'a>(&'a self, question: &'a PendingCall) -> BoxFuture<'a, Answer> {
        let guard = self.questions.enter();
        Box::pin(async move {
            let _open = guard;
            lock(&self.asked).push(question.clone());
            match (self.answers)(question) {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}
