use std::error::Error;
use std::fmt;

use super::{HookVerdict, Interceptor, Occasion, Point, Points, Window};
use crate::cancel::Cancel;
use crate::future::BoxFuture;
use crate::ids::InterceptorName;
use crate::policy::PolicyError;

/// A function as an interceptor: for one that needs no waiting.
///
/// ```
/// use probity_contract::{FnInterceptor, HookVerdict, InterceptorName, Points};
///
/// let name = InterceptorName::new("no invoices")?;
/// let interceptor = FnInterceptor::new(name, Points::MESSAGES, |occasion| {
///     let text = occasion.target()["content"].as_str().unwrap_or_default();
///     Ok(if text.contains("invoice") { HookVerdict::deny("invoices stay inside")? } else { HookVerdict::allow() })
/// });
/// # Ok::<(), probity_contract::NameError>(())
/// ```
pub struct FnInterceptor<F> {
    name: InterceptorName,
    points: Points,
    window: Option<Window>,
    says: F,
}

impl<F> FnInterceptor<F>
where
    F: Fn(&Occasion) -> Result<HookVerdict, Box<dyn Error + Send + Sync>> + Send + Sync,
{
    /// What `says` says at these points. A panic or an error in it is a deny.
    #[must_use]
    pub const fn new(name: InterceptorName, points: Points, says: F) -> Self {
        Self { name, points, window: None, says }
    }

    /// At one point.
    #[must_use]
    pub const fn at(name: InterceptorName, point: Point, says: F) -> Self {
        Self::new(name, Points::one(point), says)
    }

    /// Declares that it can judge an answer piece by piece.
    #[must_use]
    pub fn with_window(self, window: Window) -> Self {
        Self { window: Some(window), ..self }
    }
}

impl<F> Interceptor for FnInterceptor<F>
where
    F: Fn(&Occasion) -> Result<HookVerdict, Box<dyn Error + Send + Sync>> + Send + Sync,
{
    fn name(&self) -> &InterceptorName {
        &self.name
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
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        Box::pin(async move { (self.says)(&occasion).map_err(PolicyError::from) })
    }
}

impl<F> fmt::Debug for FnInterceptor<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnInterceptor").field("name", &self.name).finish_non_exhaustive()
    }
}
