/// Bytes as they come, as text: a sequence that a cut splits waits for its rest.
#[derive(Debug, Default)]
pub(crate) struct Utf8 {
    // INVARIANT: empty, or the beginning of a sequence that more bytes can complete; at most 3 bytes.
    begun: Vec<u8>,
}

impl Utf8 {
    /// The text that is complete now. Joined with [`Utf8::end`] it is [`String::from_utf8_lossy`] of the whole.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let unfinished = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if unfinished && chunks.peek().is_none() {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// What a sequence that was never completed reads as.
    pub(crate) fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.begun).is_empty() { "" } else { "\u{fffd}" }
    }
}
