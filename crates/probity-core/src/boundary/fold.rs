//! What several interceptors say at one point, folded into one verdict.
//!
//! The four profiles of AGENT-HOOKS-0.1. Nothing in here awaits: a fold says whom to hear and whom to consult, and is told what
//! they said. It is plain data, so a run that is stored in the middle of one goes on with it.

use probity_contract::{
    Consultation, Enforcement, HookDecision, HookVerdict, HostError, Knob, Occasion, OnApproval, Point,
    Profile, Resolution, Resolve, Resolved,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::{Staged, redacted, with_transform};
use super::identity;
use super::settings::{BoundarySettings, IdentityProvider};
use crate::run::Unexpected;

/// One point of a run, from what came there to what follows.
///
/// What always holds: a deny is never lost to anything but a person's word for it, and that only where no plain deny stands
/// beside (but in `parallel/unanimous`, where a deployment may have a disagreement lifted whatever it is); whoever failed has
/// denied; each interceptor is heard once at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fold {
    pub(super) before: Occasion,
    // What there is after the transforms that were applied.
    pub(super) now: Occasion,
    pub(super) is_changed: bool,
    // Who is heard, in this order, by their places in the settings.
    pub(super) order: Vec<u32>,
    // What each has said, in the same order.
    pub(super) said: Vec<Hearing>,
    // What people have put in place of denies.
    substitutes: Vec<HookVerdict>,
    last_transform: Option<(u32, HookVerdict)>,
    pub(super) resolved_by: Option<Resolved>,
    pub(super) input_identity: Option<String>,
    pub(super) enforced_identity: Option<String>,
    state: State,
}

/// How far one interceptor is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Hearing {
    /// It was not asked.
    Silent,
    /// It was asked.
    Asked,
    /// It has said this.
    Said(HookVerdict),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum State {
    /// A function of the deployment shall name a context.
    Naming { what: Naming, sent: bool },
    /// Interceptors are heard.
    Hearing,
    /// A person is asked.
    Consulting { deny: Standing, consultation: Box<Consultation>, sent: bool },
    /// It is decided.
    Over(Combined),
}

/// Which context is to be named, and what for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Naming {
    /// The one that came.
    Before,
    /// The one that approvers are shown.
    Shown { deny: Standing, occasion: Occasion },
    /// The one that the run goes on with.
    After(Combined),
}

/// A deny that a person may lift, and who has said it; nobody, where it is the engine's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Standing {
    verdict: HookVerdict,
    position: Option<u32>,
}

/// The one verdict, and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Combined {
    pub(super) verdict: HookVerdict,
    pub(super) position: Option<u32>,
}

/// One thing to do for a fold.
#[derive(Debug)]
pub(crate) enum FoldStep {
    /// Have the deployment's function of this name name the context; then [`Fold::identified`].
    Identify {
        /// The function's name.
        provider: String,
        /// The context.
        occasion: Occasion,
    },
    /// Hear these interceptors; then [`Fold::heard`]. One after the other: whoever says anything but a plain allow is the
    /// last. Several steps of this sort may be carried out at once.
    Hear {
        /// Their places in the settings; never empty.
        seats: Vec<u32>,
        /// What each of them sees.
        occasion: Occasion,
    },
    /// Ask whether the deny is lifted; then [`Fold::consulted`].
    Consult(Box<Consultation>),
    /// It is decided: [`Fold::finish`].
    Done,
}

/// What came of hearing an interceptor.
#[derive(Debug, Clone)]
pub enum Heard {
    /// This.
    Verdict(HookVerdict),
    /// Something that is no verdict.
    Malformed,
    /// An error or a panic.
    Failed,
    /// Nothing in time.
    TimedOut,
}

/// What a row of interceptors has said that were asked one after the other.
#[derive(Debug, Clone)]
pub struct RowHeard {
    /// Who let it through with a plain allow, in the order of the row.
    pub passed: Vec<u32>,
    /// Who came after them and ended the row, and with what; `None` where nobody did.
    pub last: Option<(u32, Heard)>,
}

impl RowHeard {
    /// Of one who was heard.
    pub(crate) fn one(seat: u32, heard: Heard) -> Self {
        Self { passed: Vec::new(), last: Some((seat, heard)) }
    }

    fn seats(&self) -> impl Iterator<Item = u32> {
        self.passed.iter().copied().chain(self.last.as_ref().map(|(seat, _)| *seat))
    }
}

impl Heard {
    /// Whether it lets what it was asked about through as it is and says nothing else of it: whoever comes next is asked the same.
    pub(crate) fn is_plain_allow(&self) -> bool {
        matches!(self, Self::Verdict(verdict) if *verdict == HookVerdict::allow())
    }
}

/// What came of a consultation.
#[derive(Debug, Clone)]
pub enum Consulted {
    /// This.
    Resolved(Box<Resolution>),
    /// Something that is no verdict.
    Malformed,
    /// An error, a panic, or nothing in time.
    Failed,
    /// There is nobody to ask: the deny stands as it is.
    Nobody,
}

impl Fold {
    /// Begins with what came.
    pub(crate) fn begin(settings: &BoundarySettings, staged: Staged) -> Self {
        let Staged { occasion, is_interoperable } = staged;
        let order = settings.seats_at(occasion.point());
        let mut fold = Self {
            now: occasion.clone(),
            is_changed: false,
            said: vec![Hearing::Silent; order.len()],
            order,
            substitutes: Vec::new(),
            last_transform: None,
            resolved_by: None,
            input_identity: None,
            enforced_identity: None,
            state: State::Hearing,
            before: occasion,
        };
        if is_interoperable || settings.identity == IdentityProvider::None {
            fold.name(settings, Naming::Before);
        } else {
            fold.named(settings, Naming::Before, Err(HostError::ContextInvalid));
        }
        fold
    }

    /// The next thing to do, or `None` while everything that could be done waits.
    pub(crate) fn next(&mut self, settings: &BoundarySettings) -> Option<FoldStep> {
        let occasion = self.now.clone();
        match &mut self.state {
            State::Naming { sent: true, .. } | State::Consulting { sent: true, .. } => None,
            State::Naming { what, sent } => {
                *sent = true;
                let occasion =
                    if let Naming::Shown { occasion, .. } = what { occasion.clone() } else { occasion };
                let provider = settings.identity.name().unwrap_or_default().to_owned();
                Some(FoldStep::Identify { provider, occasion })
            }
            State::Consulting { consultation, sent, .. } => {
                *sent = true;
                Some(FoldStep::Consult(consultation.clone()))
            }
            State::Hearing => self.hear_next(settings.composition.profile),
            State::Over(_) => Some(FoldStep::Done),
        }
    }

    fn hear_next(&mut self, profile: Profile) -> Option<FoldStep> {
        let is_busy = self.said.iter().any(|hearing| matches!(hearing, Hearing::Asked));
        if is_busy && profile.is_sequential() {
            return None;
        }
        let silent = self.said.iter_mut().zip(&self.order);
        let silent = silent.filter(|(hearing, _)| matches!(hearing, Hearing::Silent));
        // A row is handed out as one: each of those that are heard at once is a row of its own.
        let row_len = if profile.is_sequential() { usize::MAX } else { 1 };
        let ask = |(hearing, seat): (&mut Hearing, &u32)| {
            *hearing = Hearing::Asked;
            *seat
        };
        let seats: Vec<u32> = silent.take(row_len).map(ask).collect();
        (!seats.is_empty()).then(|| FoldStep::Hear { seats, occasion: self.now.clone() })
    }

    /// Takes what the deployment's function has named a context; `None` where it failed.
    ///
    /// # Errors
    /// When nobody waits for it.
    pub(crate) fn identified(
        &mut self,
        settings: &BoundarySettings,
        name: Option<String>,
    ) -> Result<(), Unexpected> {
        let State::Naming { what, sent: true } = &self.state else { return Err(Unexpected) };
        let what = what.clone();
        self.named(settings, what, name.map(Some).ok_or(HostError::ContextInvalid));
        Ok(())
    }

    /// Takes what a row of interceptors has said: all of it, or the beginning. The rest was not heard and will be, where
    /// anybody still is.
    ///
    /// # Errors
    /// When nobody waits for it, or it is not the beginning of a row. Nothing has changed then.
    pub(crate) fn heard(&mut self, settings: &BoundarySettings, row: RowHeard) -> Result<(), Unexpected> {
        let profile = settings.composition.profile;
        let places = self.places(profile, &row).ok_or(Unexpected)?;
        if profile.is_sequential() {
            let asked = self.said.iter_mut().filter(|hearing| matches!(hearing, Hearing::Asked));
            asked.for_each(|hearing| *hearing = Hearing::Silent);
        }
        let passed = row.passed.iter().map(|_| Heard::Verdict(HookVerdict::allow()));
        let last = row.last.map(|(_, heard)| heard);
        for (at, heard) in places.zip(passed.chain(last)) {
            self.take_in(settings, at, heard);
        }
        Ok(())
    }

    /// The places in the order that a row stands for, where it is one that was asked.
    fn places(&self, profile: Profile, row: &RowHeard) -> Option<std::ops::Range<usize>> {
        let at = self.order.iter().position(|seat| Some(*seat) == row.seats().next())?;
        let places = at..at.checked_add(row.seats().count())?;
        let is_next =
            !profile.is_sequential() || !self.said.iter().take(at).any(|said| matches!(said, Hearing::Asked));
        let asked = self.said.get(places.clone())?.iter().all(|said| matches!(said, Hearing::Asked));
        let in_order = self.order.get(places.clone())?.iter().copied().eq(row.seats());
        let is_hearing = matches!(self.state, State::Hearing);
        (is_hearing && is_next && asked && in_order).then_some(places)
    }

    fn take_in(&mut self, settings: &BoundarySettings, at: usize, heard: Heard) {
        let verdict = match heard {
            Heard::Verdict(verdict) => {
                verdict.checked(settings.reasons).map_err(|_| HostError::VerdictInvalid)
            }
            Heard::Malformed => Err(HostError::VerdictInvalid),
            Heard::Failed => Err(HostError::InterceptorFailed),
            Heard::TimedOut => Err(HostError::InterceptorTimeout),
        };
        let verdict = verdict.unwrap_or_else(HookVerdict::host_error);
        if let Some(hearing) = self.said.get_mut(at) {
            *hearing = Hearing::Said(verdict.clone());
        }
        // Seats are numbered with `u32`, and so are their places.
        let position = u32::try_from(at).unwrap_or(u32::MAX);
        match settings.composition.profile {
            Profile::FirstDeny => self.take_in_first_deny(settings, position, verdict),
            Profile::RunAll => self.take_in_run_all(settings, position, &verdict),
            Profile::Strictest | Profile::Unanimous => self.conclude_if_all_were_heard(settings),
        }
    }

    fn take_in_first_deny(&mut self, settings: &BoundarySettings, position: u32, verdict: HookVerdict) {
        match verdict.decision() {
            HookDecision::Allow => self.go_on(settings),
            HookDecision::Deny { .. } => self.deny(settings, Standing { verdict, position: Some(position) }),
            HookDecision::Transform { .. } => match self.apply(settings, &verdict) {
                Ok(()) => {
                    self.last_transform = Some((position, verdict));
                    self.go_on(settings);
                }
                Err(error) => self.conclude(settings, HookVerdict::host_error(error), None),
            },
        }
    }

    /// In `sequential/first_deny`, when nothing stands against it: the next is heard, or all were.
    fn go_on(&mut self, settings: &BoundarySettings) {
        self.state = State::Hearing;
        if !self.all_were_heard() {
            return;
        }
        match self.last_transform.take() {
            Some((position, verdict)) => self.conclude(settings, verdict, Some(position)),
            None => self.conclude(settings, HookVerdict::allow(), None),
        }
    }

    fn take_in_run_all(&mut self, settings: &BoundarySettings, position: u32, verdict: &HookVerdict) {
        if matches!(verdict.decision(), HookDecision::Transform { .. })
            && let Err(error) = self.apply(settings, verdict)
        {
            let failed = HookVerdict::host_error(error);
            if let Some(hearing) = self.said.get_mut(position as usize) {
                *hearing = Hearing::Said(failed.clone());
            }
            return self.conclude(settings, failed, None);
        }
        self.conclude_if_all_were_heard(settings);
    }

    fn conclude_if_all_were_heard(&mut self, settings: &BoundarySettings) {
        if !self.all_were_heard() {
            return;
        }
        let composition = settings.composition;
        let strictest = self.verdicts().map(HookVerdict::severity).max().unwrap_or(0);
        if composition.profile == Profile::Unanimous {
            return if strictest == 0 {
                self.conclude(settings, HookVerdict::allow(), None)
            } else {
                self.object(settings, HostError::CompositionDisagreement, composition.on_disagreement)
            };
        }
        let is_sequential = composition.profile.is_sequential();
        let numbered = (0_u32..).zip(self.verdicts());
        let top: Vec<(u32, HookVerdict)> = numbered
            .filter(|(_, said)| said.severity() == strictest)
            .map(|(at, said)| (at, said.clone()))
            .collect();
        // Of transforms that build on each other the last one stands for all; otherwise the first of the strictest.
        let is_folded = is_sequential && strictest == 1;
        let winner = if is_folded { top.last() } else { top.first() };
        let Some((position, verdict)) = winner.cloned() else {
            return self.conclude(settings, HookVerdict::host_error(HostError::NoInterceptor), None);
        };
        match verdict.decision() {
            HookDecision::Allow => self.conclude(settings, HookVerdict::allow(), None),
            HookDecision::Deny { .. } => self.deny(settings, Standing { verdict, position: Some(position) }),
            HookDecision::Transform { .. } if is_sequential => {
                self.conclude(settings, verdict, Some(position))
            }
            HookDecision::Transform { .. } if top.len() > 1 => {
                self.object(settings, HostError::TransformConflict, composition.on_transform_conflict);
            }
            HookDecision::Transform { .. } => match self.apply(settings, &verdict) {
                Ok(()) => self.conclude(settings, verdict, Some(position)),
                Err(error) => self.conclude(settings, HookVerdict::host_error(error), None),
            },
        }
    }

    /// The engine's own deny, which a person may lift where the deployment says so.
    fn object(&mut self, settings: &BoundarySettings, error: HostError, knob: Knob) {
        let verdict = match knob {
            Knob::Deny => HookVerdict::host_error(error),
            Knob::Approval => HookVerdict::host_error_approvable(error),
        };
        self.deny(settings, Standing { verdict, position: None });
    }

    /// A deny: a person is asked where one may be, else it stands.
    fn deny(&mut self, settings: &BoundarySettings, deny: Standing) {
        let may_ask = deny.verdict.is_approvable()
            && settings.mode == Enforcement::Enforce
            && self.before.point() != Point::AgentShutdown;
        if may_ask {
            let occasion = redacted(&self.now, &settings.redact_for_approval);
            self.name(settings, Naming::Shown { deny, occasion });
        } else {
            self.conclude(settings, deny.verdict, deny.position);
        }
    }

    /// Takes what came of a consultation.
    ///
    /// # Errors
    /// When nobody waits for it.
    pub(crate) fn consulted(
        &mut self,
        settings: &BoundarySettings,
        consulted: Consulted,
    ) -> Result<(), Unexpected> {
        let State::Consulting { deny, consultation, sent: true } = &self.state else {
            return Err(Unexpected);
        };
        let (deny, asked) = (deny.clone(), consultation.identity.clone());
        let resolution = match consulted {
            Consulted::Nobody => {
                self.conclude(settings, deny.verdict, deny.position);
                return Ok(());
            }
            Consulted::Malformed => Err(HostError::VerdictInvalid),
            Consulted::Failed => Err(HostError::ApprovalResolverFailed),
            Consulted::Resolved(resolution) if resolution.identity != asked => {
                Err(HostError::ApprovalIdentityMismatch)
            }
            Consulted::Resolved(resolution) => fitting(settings, resolution.decision),
        };
        match resolution {
            Ok(verdict) if verdict.permits() => self.lift(settings, deny, verdict),
            Ok(verdict) => self.uphold(settings, verdict, deny.position),
            Err(error) => self.uphold(settings, HookVerdict::host_error(error), None),
        }
        Ok(())
    }

    fn uphold(&mut self, settings: &BoundarySettings, verdict: HookVerdict, position: Option<u32>) {
        self.resolved_by = Some(Resolved::Rejection);
        self.conclude(settings, verdict, position);
    }

    fn lift(&mut self, settings: &BoundarySettings, deny: Standing, verdict: HookVerdict) {
        self.resolved_by = Some(Resolved::Approval);
        let is_transform = matches!(verdict.decision(), HookDecision::Transform { .. });
        if is_transform && let Err(error) = self.apply(settings, &verdict) {
            return self.conclude(settings, HookVerdict::host_error(error), None);
        }
        self.substitutes.push(verdict.clone());
        let composition = settings.composition;
        let goes_on =
            composition.profile == Profile::FirstDeny && composition.on_approval == OnApproval::Resume;
        match deny.position {
            Some(position) if goes_on => {
                if is_transform {
                    self.last_transform = Some((position, verdict));
                }
                self.go_on(settings);
            }
            position => self.conclude(settings, verdict, position),
        }
    }

    /// Puts a transform in place, or only looks whether it could be where verdicts are not acted upon.
    fn apply(&mut self, settings: &BoundarySettings, verdict: &HookVerdict) -> Result<(), HostError> {
        let HookDecision::Transform { path, value } = verdict.decision() else { return Ok(()) };
        let changed = with_transform(&self.now, path, value)?;
        if settings.mode == Enforcement::Enforce {
            self.is_changed |= changed != self.now;
            self.now = changed;
        }
        Ok(())
    }

    fn conclude(&mut self, settings: &BoundarySettings, verdict: HookVerdict, position: Option<u32>) {
        let verdict = verdict.with_all_of(self.verdicts().chain(&self.substitutes));
        let combined = Combined { verdict, position };
        if self.is_changed {
            self.name(settings, Naming::After(combined));
        } else {
            self.enforced_identity.clone_from(&self.input_identity);
            self.state = State::Over(combined);
        }
    }

    fn name(&mut self, settings: &BoundarySettings, what: Naming) {
        let occasion = if let Naming::Shown { occasion, .. } = &what { occasion } else { &self.now };
        let (point, context) = (occasion.point(), occasion.context());
        let name = match settings.identity {
            IdentityProvider::Jcs => identity::jcs_sha256(point, context).map(Some),
            IdentityProvider::None => identity::check(point, context).map(|()| None),
            IdentityProvider::Named(_) => match identity::check(point, context) {
                Ok(()) => {
                    self.state = State::Naming { what, sent: false };
                    return;
                }
                Err(error) => Err(error),
            },
        };
        self.named(settings, what, name);
    }

    fn named(&mut self, settings: &BoundarySettings, what: Naming, name: Result<Option<String>, HostError>) {
        match (what, name) {
            (Naming::Before, Ok(name)) => {
                self.input_identity = name;
                self.state = State::Hearing;
                if self.order.is_empty() {
                    self.conclude(settings, HookVerdict::host_error(HostError::NoInterceptor), None);
                }
            }
            (Naming::Before, Err(error)) => self.conclude(settings, HookVerdict::host_error(error), None),
            (Naming::Shown { deny, occasion }, Ok(identity)) => {
                let consultation = Consultation { identity, verdict: deny.verdict.clone(), occasion };
                self.state = State::Consulting { deny, consultation: Box::new(consultation), sent: false };
            }
            (Naming::Shown { .. }, Err(error)) => self.uphold(settings, HookVerdict::host_error(error), None),
            (Naming::After(combined), Ok(name)) => {
                self.enforced_identity = name;
                self.state = State::Over(combined);
            }
            (Naming::After(combined), Err(error)) => {
                let combined = if combined.verdict.permits() {
                    // What was put in place has no name, so no row could tell what the run went on with.
                    let verdict = HookVerdict::host_error(error).with_all_of(&[combined.verdict]);
                    Combined { verdict, position: None }
                } else {
                    combined
                };
                self.state = State::Over(combined);
            }
        }
    }

    /// Its number in the run.
    pub(crate) fn sequence(&self) -> u64 {
        self.before.context().get("sequence").and_then(Value::as_u64).unwrap_or_default()
    }

    /// Whether it is decided.
    pub(crate) const fn is_over(&self) -> bool {
        self.combined().is_some()
    }

    /// Decides at once, whatever was said so far and whoever is still asked.
    pub(super) fn cut_off(&mut self, settings: &BoundarySettings, error: HostError) {
        self.now = self.before.clone();
        self.is_changed = false;
        self.conclude(settings, HookVerdict::host_error(error), None);
    }

    /// Where it is.
    pub(crate) fn point(&self) -> Point {
        self.before.point()
    }

    pub(super) const fn combined(&self) -> Option<&Combined> {
        match &self.state {
            State::Over(combined) => Some(combined),
            State::Naming { .. } | State::Hearing | State::Consulting { .. } => None,
        }
    }

    fn all_were_heard(&self) -> bool {
        self.said.iter().all(|hearing| matches!(hearing, Hearing::Said(_)))
    }

    pub(super) fn verdicts(&self) -> impl Iterator<Item = &HookVerdict> {
        self.said.iter().filter_map(|hearing| match hearing {
            Hearing::Said(verdict) => Some(verdict),
            Hearing::Silent | Hearing::Asked => None,
        })
    }
}

/// The verdict of a resolution, if it is one and fits what was decided.
fn fitting(settings: &BoundarySettings, decision: Resolve) -> Result<HookVerdict, HostError> {
    let (verdict, shall_permit) = match decision {
        Resolve::Approve(verdict) => (verdict, true),
        Resolve::Reject(verdict) => (verdict, false),
        Resolve::Unresolved => return Err(HostError::ApprovalUnresolved),
    };
    let verdict = verdict.checked(settings.reasons).map_err(|_| HostError::VerdictInvalid)?;
    if verdict.permits() == shall_permit { Ok(verdict) } else { Err(HostError::VerdictInvalid) }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fold_peer_tests.rs"]
mod peer_tests;
