use probity_egress::{Egress, Redactor, Tier};

use crate::utf8::Utf8;

/// The most that one write takes, so that a large one does not have to be held twice.
pub(crate) const WRITE_BYTES_MAX: usize = 64 * 1024;

/// Bytes on their way through a pass, and what is decided of them and not yet written.
#[derive(Debug)]
pub(crate) struct Passing<T: Tier> {
    utf8: Utf8,
    /// `None` once the end was asked for.
    redactor: Option<Redactor<T>>,
    // INVARIANT: only ever extended by `Egress<T>`; what is before `written` has gone.
    decided: Vec<u8>,
    written: usize,
}

impl<T: Tier> Passing<T> {
    pub(crate) fn new() -> Self {
        Self { utf8: Utf8::default(), redactor: Some(Redactor::new()), decided: Vec::new(), written: 0 }
    }

    /// Takes bytes in; how many. None once it has ended.
    pub(crate) fn accept(&mut self, bytes: &[u8]) -> Option<usize> {
        let redactor = self.redactor.as_mut()?;
        let bytes = bytes.get(..WRITE_BYTES_MAX).unwrap_or(bytes);
        let passed = redactor.push(&self.utf8.push(bytes));
        self.keep(&passed);
        Some(bytes.len())
    }

    /// Decides what is held back. A second time it does nothing.
    pub(crate) fn end(&mut self) {
        if let Some(mut redactor) = self.redactor.take() {
            let last = redactor.push(self.utf8.end());
            self.keep(&last);
            self.keep(&redactor.finish());
        }
    }

    fn keep(&mut self, passed: &Egress<T>) {
        self.decided.extend_from_slice(passed.as_str().as_bytes());
    }

    pub(crate) fn unwritten(&self) -> &[u8] {
        self.decided.get(self.written..).unwrap_or_default()
    }

    /// Says that so many bytes of [`unwritten`](Self::unwritten) have gone.
    pub(crate) fn wrote(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes);
        if self.written >= self.decided.len() {
            self.decided.clear();
            self.written = 0;
        }
    }
}
