use std::ops::Range;

use probity_egress::{Egress, Report, Tier, egress_text, egress_text_reporting};

/// A whole text after the pass, which still knows where each byte of the recorded text went.
///
/// Whatever is shown of a recorded text is cut out of this and never out of the text itself: of a credential that was cut in
/// two, no pass would know either half.
#[derive(Debug, Clone)]
pub(crate) struct PassedText<T: Tier> {
    text: Egress<T>,
    /// What was removed: its bytes in the recorded text, and those of the marker. In order, without overlap.
    removed: Vec<(Range<usize>, Range<usize>)>,
    /// Behind this byte of the recorded text it is not known where the rest went.
    known_to: usize,
}

impl<T: Tier> PassedText<T> {
    pub(crate) fn of(recorded: &str) -> Self {
        let mut report = Report::new();
        let text = egress_text_reporting(recorded, &mut report);
        let removed: Vec<_> =
            report.findings().iter().map(|found| (found.input.clone(), found.output.clone())).collect();
        let is_all = report.total() == removed.len() as u64;
        let last = removed.last().map_or(0, |(input, _)| input.end);
        Self { text, removed, known_to: if is_all { recorded.len() } else { last } }
    }

    pub(crate) const fn text(&self) -> &Egress<T> {
        &self.text
    }

    /// Where bytes of the recorded text stand in the passed one. What was removed in part is its whole marker.
    pub(crate) fn range(&self, recorded: &Range<usize>) -> Option<Range<usize>> {
        if recorded.end > self.known_to {
            return None;
        }
        let start = self.place(recorded.start, true)?;
        let end = self.place(recorded.end, false)?;
        let range = start..end.max(start);
        self.text.as_str().get(range.clone()).map(|_| range)
    }

    fn place(&self, at: usize, is_start: bool) -> Option<usize> {
        let before = self.removed.partition_point(|(input, _)| input.end <= at);
        if let Some((input, output)) = self.removed.get(before)
            && input.start < at
        {
            return Some(if is_start { output.start } else { output.end });
        }
        let behind = before.checked_sub(1).and_then(|last| self.removed.get(last));
        let (input, output) = behind.map_or((0, 0), |(input, output)| (input.end, output.end));
        output.checked_add(at.checked_sub(input)?)
    }

    /// What is left of bytes of the recorded text.
    pub(crate) fn piece(&self, recorded: &Range<usize>) -> Egress<T> {
        let piece = self.range(recorded).and_then(|range| self.text.as_str().get(range));
        // Passed a second time: a piece of what was passed has no other door.
        piece.map_or_else(|| Egress::fixed("[REDACTED:limit]"), egress_text)
    }

    /// The same with so many bytes before and behind it, cut at bounds of characters: before, itself, behind.
    pub(crate) fn excerpt(&self, recorded: &Range<usize>, around: usize) -> [Egress<T>; 3] {
        let text = self.text.as_str();
        let Some(range) = self.range(recorded) else {
            return [Egress::empty(), Egress::fixed("[REDACTED:limit]"), Egress::empty()];
        };
        let from = text.ceil_char_boundary(range.start.saturating_sub(around));
        let to = text.floor_char_boundary(range.end.saturating_add(around).min(text.len()));
        [from..range.start, range.clone(), range.end..to]
            .map(|part| text.get(part).map_or_else(Egress::empty, egress_text))
    }
}

#[cfg(test)]
#[path = "passed_tests.rs"]
mod tests;
