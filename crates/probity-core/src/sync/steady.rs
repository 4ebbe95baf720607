/// Something that is worked out by rules that may change meanwhile: it counts only where they have not.
///
/// A policy changes its rules first and the number that stands for them after. So what was worked out between two equal
/// numbers was worked out by the rules of that number, or by newer ones that will have another: never by older ones.
#[derive(Debug)]
#[must_use = "what is not ended counts for nothing"]
pub(crate) struct Reading<E> {
    before: E,
}

impl<E: PartialEq> Reading<E> {
    /// Begins, under the rules that `epoch` stands for.
    pub(crate) const fn begin(epoch: E) -> Self {
        Self { before: epoch }
    }

    /// Ends: the rules that all of it was under, or `None` where they have changed.
    pub(crate) fn end(self, epoch: E) -> Option<E> {
        (self.before == epoch).then_some(epoch)
    }
}
