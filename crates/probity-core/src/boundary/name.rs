use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use probity_contract::Occasion;

/// A function of the deployment that names what passes, in place of the SHA-256 of its canonical form.
///
/// It should give one name for one context, in every process. One that panics has named nothing, and what passes is stopped.
#[derive(Clone)]
pub struct ContextIdentity {
    name: String,
    of: Arc<dyn Fn(&Occasion) -> String + Send + Sync>,
}

impl ContextIdentity {
    /// The function `of`, which stands in records as `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, of: impl Fn(&Occasion) -> String + Send + Sync + 'static) -> Self {
        Self { name: name.into(), of: Arc::new(of) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn of(&self, occasion: &Occasion) -> Option<String> {
        catch_unwind(AssertUnwindSafe(|| (self.of)(occasion))).ok()
    }
}

impl fmt::Debug for ContextIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextIdentity").field("name", &self.name).finish_non_exhaustive()
    }
}
