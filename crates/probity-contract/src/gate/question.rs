use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::call::FrozenCall;
use super::ruling::{Asker, Epoch, Level};
use super::seat::Seat;
use super::view::CallView;
use crate::digest::Digest;
use crate::ids::{PolicyName, PrincipalId};
use crate::json::canonical_bytes;

/// A question to a person about one frozen call.
///
/// [`PendingCall::binding`] stands for the question: SHA-256 over a domain label and the canonical JSON of everything that
/// is asked and shown. An answer names it, so an answer to another question, or to this one before something changed, is
/// an answer to nothing. Reading one back recomputes it and refuses a question whose stated binding differs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredQuestion")]
pub struct PendingCall {
    // INVARIANT: `binding` is the digest of `facts`.
    facts: QuestionFacts,
    binding: Digest,
}

/// Everything that a question binds.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionFacts {
    /// The call: with it the run, the principal, the tool and its definition, the arguments, what they touch, the label.
    pub call: Arc<FrozenCall>,
    /// Where it was judged when somebody asked.
    pub seat: Seat,
    /// Who wants a person to decide.
    pub askers: Vec<Asker>,
    /// By what every policy judged then.
    pub epochs: Vec<Epoch>,
    /// On whose behalf the task acts, and on whose the tasks above it, the nearest first.
    pub principals: Vec<PrincipalId>,
    /// Which question about the call this is, from 1. Two questions of one run never share it and the call; two processes
    /// that go on with one stored run do, which is what lets the second answer be found to be a second one.
    pub number: u32,
    /// Milliseconds of the run's clock before which an answer has no effect: an answer is no older than its question.
    pub not_before_ms: u64,
    /// Milliseconds of the run's clock after which an answer has no effect.
    pub expires_at_ms: u64,
}

/// What goes into the binding: the call by its digest, and what a person is shown of it by one of its own.
#[derive(Serialize)]
struct Bound<'a> {
    call: Digest,
    seat: Seat,
    askers: &'a [Asker],
    epochs: &'a [Epoch],
    principals: &'a [PrincipalId],
    number: u32,
    not_before_ms: u64,
    expires_at_ms: u64,
    view: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredQuestion {
    facts: QuestionFacts,
    binding: Digest,
}

impl TryFrom<StoredQuestion> for PendingCall {
    type Error = &'static str;
    fn try_from(stored: StoredQuestion) -> Result<Self, &'static str> {
        let question = Self::put(stored.facts);
        if question.binding == stored.binding {
            Ok(question)
        } else {
            Err("a stored question does not match its binding")
        }
    }
}

impl PendingCall {
    /// The question that these facts make.
    #[must_use]
    pub fn put(facts: QuestionFacts) -> Self {
        let QuestionFacts { call, seat, askers, epochs, principals, number, not_before_ms, expires_at_ms } =
            &facts;
        let bound = Bound {
            call: call.digest(),
            seat: *seat,
            askers,
            epochs,
            principals,
            number: *number,
            not_before_ms: *not_before_ms,
            expires_at_ms: *expires_at_ms,
            view: CallView::of(call, askers).digest(),
        };
        // Strings, digests and small numbers always have a canonical form; should they ever not, the error text takes
        // the place, which no well-formed question has.
        let bytes = canonical_bytes(&bound).unwrap_or_else(|error| error.to_string().into_bytes());
        let binding = Digest::of("probity.approval.v1", &[&bytes]);
        Self { facts, binding }
    }

    /// What the question is bound to.
    #[must_use]
    pub const fn facts(&self) -> &QuestionFacts {
        &self.facts
    }

    /// The call in question.
    #[must_use]
    pub const fn call(&self) -> &Arc<FrozenCall> {
        &self.facts.call
    }

    /// The digest that stands for the question.
    #[must_use]
    pub const fn binding(&self) -> Digest {
        self.binding
    }

    /// What a person is shown: a function of the call and of those who ask, and of nothing else.
    #[must_use]
    pub fn view(&self) -> CallView {
        CallView::of(&self.facts.call, &self.facts.askers)
    }

    /// The grant that `by` gives by approving this question.
    #[must_use]
    pub fn approve(&self, by: PrincipalId) -> Grant {
        let QuestionFacts { call, askers, epochs, not_before_ms, expires_at_ms, .. } = &self.facts;
        Grant {
            binding: self.binding,
            call: call.digest(),
            askers: askers.iter().map(|asker| (asker.level, asker.policy.clone())).collect(),
            epochs: epochs.clone(),
            not_before_ms: *not_before_ms,
            expires_at_ms: *expires_at_ms,
            by,
        }
    }
}

impl PendingCall {
    /// What stays when `by` approves this call and the very same one again, `more` times.
    #[must_use]
    pub fn remember(&self, by: PrincipalId, more: u32) -> Remembered {
        Remembered { alike: self.call().alike(), given: self.approve(by), uses_left: more }
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PendingCall({} {:?})", self.binding.short(), self.facts.call)
    }
}

impl fmt::Debug for QuestionFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuestionFacts")
            .field("call", &self.call)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// A person's approval of one frozen call. Made from the question itself, so it covers exactly what was asked: this call,
/// for these policies as they judged then. A policy that asks later has asked nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    // INVARIANT: copied from one `PendingCall`.
    binding: Digest,
    call: Digest,
    askers: Vec<(Level, PolicyName)>,
    epochs: Vec<Epoch>,
    not_before_ms: u64,
    expires_at_ms: u64,
    by: PrincipalId,
}

/// An approval that is good for more than one execution of the very same call: what was shown, and nothing wider.
///
/// The same call is one of the same run, principal, tool, definition, arguments, targets and label. Everything else that a
/// grant is bound to holds for each use, too: who asks, their rules, and the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    // INVARIANT: made from one `PendingCall`; `uses_left` only falls.
    alike: Digest,
    given: Grant,
    uses_left: u32,
}

impl Remembered {
    /// The grant for `question`, if it asks about the very same call in the very same way and a use is left. Takes that use.
    pub fn redeem(&mut self, question: &PendingCall, now_ms: u64) -> Option<Grant> {
        let QuestionFacts { call, askers, epochs, .. } = &question.facts;
        let left = self.uses_left.checked_sub(1)?;
        let asked = Grant { call: call.digest(), ..self.given.clone() };
        if self.alike != call.alike() || !asked.answers(call, askers, epochs) || !asked.holds_at(now_ms) {
            return None;
        }
        self.uses_left = left;
        let mut grant = question.approve(self.given.by.clone());
        // A use is never good for longer than what was said at first.
        grant.expires_at_ms = grant.expires_at_ms.min(self.given.expires_at_ms);
        Some(grant)
    }

    /// Whether the call is the very same.
    #[must_use]
    pub fn is_about(&self, call: &FrozenCall) -> bool {
        self.alike == call.alike()
    }

    /// Executions that it is still good for.
    #[must_use]
    pub const fn uses_left(&self) -> u32 {
        self.uses_left
    }
}

impl Grant {
    /// Who approved.
    #[must_use]
    pub const fn by(&self) -> &PrincipalId {
        &self.by
    }

    /// The question that was answered. Whoever redeems the grant redeems this, and once.
    #[must_use]
    pub const fn binding(&self) -> Digest {
        self.binding
    }

    /// Whether this is an answer to all that was asked about the call, whatever the time.
    pub(super) fn answers(&self, call: &FrozenCall, askers: &[Asker], epochs: &[Epoch]) -> bool {
        let asked = |asker: &Asker| {
            self.askers.iter().any(|(level, policy)| (*level, policy) == (asker.level, &asker.policy))
        };
        self.call == call.digest() && askers.iter().all(asked) && same(&self.epochs, epochs)
    }

    pub(super) fn holds_at(&self, now_ms: u64) -> bool {
        (self.not_before_ms..self.expires_at_ms).contains(&now_ms)
    }
}

/// Whether both tell of the same policies and the same rules, in whatever order.
fn same(one: &[Epoch], other: &[Epoch]) -> bool {
    one.len() == other.len() && one.iter().all(|epoch| other.contains(epoch))
}
