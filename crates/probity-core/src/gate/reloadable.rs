//! Rules that can be replaced while they judge.

use std::sync::{Arc, PoisonError, RwLock};

use probity_contract::{
    BoxFuture, Cancel, Digest, FrozenCall, Policy, PolicyError, PolicyName, Seat, Verdict,
};

use super::layers::LayeredRules;

/// [`LayeredRules`] that are replaced as a whole, or not at all: what cannot be loaded changes nothing.
///
/// A verdict is by one set of rules from its begin to its end, and whoever hears it can tell by the epoch whether the rules have
/// changed since. Who may replace them is for whoever holds the value: no tool and no model has a way to it.
#[derive(Debug)]
pub struct ReloadableRules {
    name: PolicyName,
    in_force: RwLock<Arc<LayeredRules>>,
}

impl ReloadableRules {
    /// Begins with these rules, and keeps their name.
    #[must_use]
    pub fn new(rules: LayeredRules) -> Self {
        use Policy as _;
        Self { name: rules.name().clone(), in_force: RwLock::new(Arc::new(rules)) }
    }

    /// Puts what was loaded in force.
    ///
    /// # Errors
    /// The error of the load; the rules in force stay, every one of them.
    pub fn replace<E>(&self, loaded: Result<LayeredRules, E>) -> Result<(), E> {
        let loaded = Arc::new(loaded?);
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        Ok(())
    }

    /// The rules in force.
    #[must_use]
    pub fn in_force(&self) -> Arc<LayeredRules> {
        Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Policy for ReloadableRules {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn epoch(&self) -> Digest {
        self.in_force().epoch()
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(std::future::ready(Ok(self.in_force().verdict(call))))
    }
}
