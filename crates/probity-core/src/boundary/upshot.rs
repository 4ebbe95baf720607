//! What follows from a fold.

use probity_contract::{
    Enforcement, HookVerdict, Intercepted, InterceptorName, Occasion, PartId, Point, VerdictRow,
};
use serde_json::Value;

use super::fold::{Fold, Hearing};
use super::reason::Withheld;
use super::settings::BoundarySettings;

/// What follows from what was said at one point.
///
/// Where something was refused or put in place of something else, no reason in here repeats eight bytes of it.
#[derive(Clone, PartialEq)]
pub(crate) struct Upshot {
    /// Whether what was asked about goes on.
    pub(crate) proceeds: bool,
    /// Whether it goes on with something else than came.
    pub(crate) is_changed: bool,
    /// What came. The row has the digest of its target's JSON.
    pub(crate) before: Occasion,
    /// What there is after it.
    pub(crate) now: Occasion,
    /// The verdict with all that it says.
    pub(crate) verdict: HookVerdict,
    /// Whose it is.
    pub(crate) interceptor: Option<InterceptorName>,
    /// The row for the record. Which call and item it is about is the run's to say.
    pub(crate) row: Intercepted,
}

impl Upshot {
    /// With what it goes on.
    pub(crate) fn target(&self) -> &Value {
        self.now.target()
    }
}

impl Fold {
    /// What follows, once [`super::FoldStep::Done`] was said.
    pub(crate) fn finish(self, settings: &BoundarySettings) -> Option<Upshot> {
        let combined = self.combined()?;
        let point = self.point();
        let withheld = self.withheld(&combined.verdict);
        let verdict = without(&withheld, &combined.verdict);
        let proceeds = settings.mode == Enforcement::EvaluateOnly || verdict.permits();
        let before = PartId::of_json(self.before.target());
        let after = if self.is_changed { PartId::of_json(self.now.target()) } else { before };
        let context = self.before.context();
        let row = Intercepted {
            point,
            sequence: context.get("sequence").and_then(Value::as_u64).unwrap_or_default(),
            call: None,
            model_call: None,
            item: None,
            mode: settings.mode,
            composition: settings.composition,
            verdict: verdict.without_content(),
            decided_by: combined.position.and_then(|position| self.registered_as(position)),
            verdicts: self.rows(settings, &withheld),
            truncated: settings
                .composition
                .profile
                .is_sequential()
                .then(|| self.said.iter().any(|hearing| !matches!(hearing, Hearing::Said(_)))),
            resolved_by: self.resolved_by,
            registered: u32::try_from(self.order.len()).unwrap_or(u32::MAX),
            before,
            after,
            input_identity: self.input_identity.clone(),
            enforced_identity: self.enforced_identity.clone(),
            identity_provider: settings.identity.name().map(str::to_owned),
        };
        let interceptor = combined.position.and_then(|position| self.name_at(settings, position)).cloned();
        let is_changed = self.is_changed;
        let (before, now) = (self.before, self.now);
        Some(Upshot { proceeds, is_changed, before, now, verdict, interceptor, row })
    }

    /// What no reason may repeat: what was refused, or has something else in its place now.
    fn withheld(&self, combined: &HookVerdict) -> Withheld {
        let all_let_through = combined.permits() && self.verdicts().all(HookVerdict::permits);
        if all_let_through && !self.is_changed {
            return Withheld::default();
        }
        let mut words = Vec::new();
        for verdict in self.verdicts().chain([combined]) {
            let _unchanged = verdict.map_words(|word| words.push(word.clone()));
        }
        Withheld::between(words.iter().map(String::as_str), [self.before.target(), self.now.target()])
    }

    fn rows(&self, settings: &BoundarySettings, withheld: &Withheld) -> Vec<VerdictRow> {
        let row = |(position, hearing): (u32, &Hearing)| {
            let Hearing::Said(said) = hearing else { return None };
            Some(VerdictRow {
                index: self.registered_as(position)?,
                interceptor: self.name_at(settings, position)?.clone(),
                decision: said.decision().name().to_owned(),
                reason: said.reason().map(|reason| withheld.said(reason)),
            })
        };
        (0_u32..).zip(&self.said).filter_map(row).collect()
    }

    /// The place in the order of registration at this point of who is heard at this place.
    fn registered_as(&self, position: u32) -> Option<u32> {
        let registered = u32::try_from(self.order.len()).ok()?;
        if self.point() == Point::PostToolCall {
            return registered.checked_sub(position)?.checked_sub(1);
        }
        Some(position)
    }

    fn name_at<'a>(&self, settings: &'a BoundarySettings, position: u32) -> Option<&'a InterceptorName> {
        let seat = self.order.get(position as usize)?;
        settings.seats.get(*seat as usize).map(|seat| &seat.name)
    }
}

fn without(withheld: &Withheld, verdict: &HookVerdict) -> HookVerdict {
    verdict.map_words(|word| *word = withheld.said(word))
}
