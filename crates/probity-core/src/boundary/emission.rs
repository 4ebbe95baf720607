//! What follows from a fold.

use std::fmt;

use probity_contract::{
    Enforcement, HookVerdict, HostError, Intercepted, InterceptorName, PartId, Point, VerdictRow,
};
use serde_json::Value;

use super::fold::{Combined, Fold, Hearing};
use super::reason::Withheld;

/// What follows from what was said at one point.
///
/// Where something was refused or has something else in its place now, no word in the verdict and the row repeats eight bytes
/// of it.
pub(crate) struct Emission {
    fold: Fold,
    combined: Combined,
    withheld: Withheld,
}

/// Where it is, and nothing of what passes there.
impl fmt::Debug for Emission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emission").field("point", &self.point()).finish_non_exhaustive()
    }
}

impl Emission {
    pub(super) fn of(fold: Fold, combined: Combined) -> Self {
        let withheld = withheld(&fold, &combined.verdict);
        Self { fold, combined, withheld }
    }

    /// Where it is.
    pub(crate) const fn point(&self) -> Point {
        self.fold.point()
    }

    /// Whether what was asked about goes on.
    pub(crate) const fn proceeds(&self) -> bool {
        matches!(self.fold.settings.mode, Enforcement::EvaluateOnly) || self.combined.verdict.permits()
    }

    /// Whether something else stands in its place.
    pub(crate) const fn changed(&self) -> bool {
        self.fold.is_changed
    }

    /// What it goes on with.
    pub(crate) fn target(&self) -> &Value {
        self.fold.now.target()
    }

    /// What came.
    pub(crate) fn before_value(&self) -> &Value {
        self.fold.before.target()
    }

    /// The JSON of what came, of which the row has the digest.
    pub(crate) fn before(&self) -> String {
        self.before_value().to_string()
    }

    /// The JSON of what stands in its place, where something else does.
    pub(crate) fn after(&self) -> Option<String> {
        self.changed().then(|| self.target().to_string())
    }

    /// The verdict and all that it says, for whoever may not read what was refused.
    pub(crate) fn verdict(&self) -> HookVerdict {
        self.without_repetition(&self.combined.verdict)
    }

    /// Whose verdict it is; nobody's where all allowed or the engine spoke.
    pub(crate) fn decided_by(&self) -> Option<&InterceptorName> {
        self.combined.position.and_then(|position| self.name_at(position))
    }

    /// Has the engine refuse after all: the run cannot go on with what stands in place now.
    pub(crate) fn refuse(&mut self, error: HostError) {
        let verdict =
            HookVerdict::host_error(error).with_all_of(std::slice::from_ref(&self.combined.verdict));
        self.combined = Combined { verdict, position: None };
        self.withheld = withheld(&self.fold, &self.combined.verdict);
    }

    /// The row for the record. Which call and item it is about is the run's to say.
    pub(crate) fn row(&self) -> Intercepted {
        let fold = &self.fold;
        let composition = fold.settings.composition;
        let before = PartId::of(&self.before());
        let unheard = fold.said.iter().any(|hearing| !matches!(hearing, Hearing::Said(_)));
        Intercepted {
            point: self.point(),
            sequence: fold.sequence(),
            call: None,
            model_call: None,
            item: None,
            mode: fold.settings.mode,
            composition,
            verdict: self.verdict().without_content(),
            decided_by: self.combined.position.and_then(|position| self.registered_as(position)),
            verdicts: self.rows(),
            truncated: composition.profile.is_sequential().then_some(unheard),
            resolved_by: fold.resolved_by,
            registered: u32::try_from(fold.order.len()).unwrap_or(u32::MAX),
            before,
            after: self.after().map_or(before, |after| PartId::of(&after)),
            input_identity: fold.input_identity.clone(),
            enforced_identity: fold.enforced_identity.clone(),
            identity_provider: fold.settings.identity.name().map(str::to_owned),
        }
    }

    fn rows(&self) -> Vec<VerdictRow> {
        let row = |(position, hearing): (u32, &Hearing)| {
            let Hearing::Said(said) = hearing else { return None };
            Some(VerdictRow {
                index: self.registered_as(position)?,
                interceptor: self.name_at(position)?.clone(),
                decision: said.decision().name().to_owned(),
                reason: self.without_repetition(said).reason().map(str::to_owned),
            })
        };
        (0_u32..).zip(&self.fold.said).filter_map(row).collect()
    }

    /// The place in the order of registration at this point of who is heard at this place.
    fn registered_as(&self, position: u32) -> Option<u32> {
        let registered = u32::try_from(self.fold.order.len()).ok()?;
        if self.point() == Point::PostToolCall {
            return registered.checked_sub(position)?.checked_sub(1);
        }
        Some(position)
    }

    fn name_at(&self, position: u32) -> Option<&InterceptorName> {
        let seat = self.fold.order.get(position as usize)?;
        self.fold.settings.seats.get(*seat as usize).map(|seat| &seat.name)
    }

    fn without_repetition(&self, verdict: &HookVerdict) -> HookVerdict {
        verdict.map_words(|word| {
            // The engine's own words say nothing of what was refused, and the record needs them.
            if !HostError::is_said_by(word) {
                *word = self.withheld.scrub(word);
            }
        })
    }
}

/// What no word may repeat: what was refused, or has something else in its place now.
fn withheld(fold: &Fold, combined: &HookVerdict) -> Withheld {
    let all_let_through = combined.permits() && fold.verdicts().all(HookVerdict::permits);
    if all_let_through && !fold.is_changed {
        return Withheld::default();
    }
    let mut words = Vec::new();
    for verdict in fold.verdicts().chain([combined]) {
        // Nothing is changed: this is how all words are reached.
        drop(verdict.map_words(|word| words.push(word.clone())));
    }
    Withheld::between(words.iter().map(String::as_str), [fold.before.target(), fold.now.target()])
}
