use super::atomics::Mutex;

/// Whoever was let in before the door closed, and nobody after.
///
/// Whoever closes it gets all who were let in; so of any number who come while it closes, each is either turned away or known
/// to the one who closed.
#[derive(Debug)]
pub(crate) struct Nursery<T> {
    // `None` once it is closed.
    inside: Mutex<Option<Vec<T>>>,
}

impl<T> Nursery<T> {
    /// An open one.
    pub(crate) fn new() -> Self {
        Self { inside: Mutex::new(Some(Vec::new())) }
    }

    /// Lets in what is made, or makes nothing where it is closed. Tells which.
    pub(crate) fn admit(&self, make: impl FnOnce() -> T) -> bool {
        self.change(|inside| match inside {
            Some(inside) => {
                inside.push(make());
                true
            }
            None => false,
        })
    }

    /// Closes it. The second who does gets nobody.
    pub(crate) fn close(&self) -> Vec<T> {
        self.change(|inside| inside.take().unwrap_or_default())
    }

    fn change<R>(&self, change: impl FnOnce(&mut Option<Vec<T>>) -> R) -> R {
        match self.inside.lock() {
            Ok(mut inside) => change(&mut inside),
            // A list is whole whatever panicked beside it.
            Err(poisoned) => change(&mut poisoned.into_inner()),
        }
    }
}
