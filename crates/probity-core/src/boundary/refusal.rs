//! What the engine itself refuses: something that nobody could be asked about, or that cannot be put in place.

use probity_contract::{Enforcement, HookVerdict, HostError};

use super::fold::Fold;
use super::settings::BoundarySettings;
use super::upshot::Upshot;

impl Fold {
    /// Ends it at once with the engine's own deny, whatever was said so far.
    pub(crate) fn refused(mut self, settings: &BoundarySettings, error: HostError) -> Option<Upshot> {
        self.cut_off(settings, error);
        self.finish(settings)
    }
}

impl Upshot {
    /// Takes the permit back: what was put in place is nothing that the run could go on with. Where verdicts are not acted
    /// upon nothing was put in place.
    pub(crate) fn refuse(&mut self, error: HostError) {
        if self.row.mode == Enforcement::EvaluateOnly {
            return;
        }
        self.proceeds = false;
        self.verdict = HookVerdict::host_error(error);
        self.interceptor = None;
        self.row.verdict = self.verdict.clone();
        self.row.decided_by = None;
        self.row.after = self.row.before;
        self.row.enforced_identity = None;
    }
}
