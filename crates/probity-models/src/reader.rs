//! Reading one reply without I/O: bytes in, events out, at the end one reply or one error.

use probity_contract::{ModelError, ModelEvent, ModelReply};

use crate::codec::{Decoder, Dialect};
use crate::failure::{malformed, truncated};
use crate::provider::Provider;
use crate::sse::{NotUtf8, SseEvent, SseReader};

/// Reads one reply of a provider from its bytes, a stream and a single JSON body alike.
///
/// This is the only way by which bytes become a [`ModelReply`], for live calls and for recorded bodies. It does no I/O.
/// Any cutting of the same bytes gives the same reply. [`ReplyReader::finish`] may be asked at any point: it answers
/// with a reply only when the provider had ended its reply by then, and with an error otherwise. It does not limit the
/// size: the caller counts.
#[derive(Debug, Clone)]
pub struct ReplyReader {
    decoder: Decoder,
    form: Form,
    sse: SseReader,
    is_empty: bool,
}

/// In which form the reply comes, told by its first byte that is not white space.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Unknown,
    Events,
    Document(Vec<u8>),
    /// Markup, or text with no field of an event stream.
    Foreign,
}

impl ReplyReader {
    /// A reader for one reply of a provider. `codec` is written into the native forms of the reply's parts.
    #[must_use]
    pub fn new(provider: Provider, codec: &str) -> Self {
        Self::of(provider.dialect(), codec)
    }

    pub(crate) fn of(dialect: Dialect, codec: &str) -> Self {
        let decoder = Decoder::new(dialect, codec);
        Self { decoder, form: Form::Unknown, sse: SseReader::default(), is_empty: true }
    }

    /// Takes the next bytes and returns what they add to the reply.
    ///
    /// # Errors
    /// When the bytes are not in the provider's format, or the provider reports an error inside its reply. The reader
    /// must not be used after that.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<ModelEvent>, ModelError> {
        self.is_empty &= bytes.is_empty();
        if self.form == Form::Unknown {
            self.form = form_of(bytes);
        }
        let mut events = Vec::new();
        match &mut self.form {
            Form::Document(document) => document.extend_from_slice(bytes),
            Form::Foreign => {
                return Err(malformed("an event stream or JSON was expected, but this is markup"));
            }
            Form::Unknown | Form::Events => {
                let mut frames = Vec::new();
                self.sse.push(bytes, &mut frames).map_err(not_utf8)?;
                for frame in frames {
                    self.decoder.event(&frame.data, &mut events)?;
                }
            }
        }
        Ok(events)
    }

    /// Whether the provider has said everything, so that the connection need not be read further.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.form == Form::Events && self.decoder.is_over()
    }

    /// The reply, if the bytes so far are all there are.
    ///
    /// # Errors
    /// When the provider had not ended its reply by then, or ended it in a way that cannot be trusted.
    pub fn finish(&self) -> Result<ModelReply, ModelError> {
        match &self.form {
            _ if self.is_empty => Err(truncated("it has no content")),
            Form::Document(document) => self.finish_document(document),
            Form::Foreign => Err(malformed("an event stream or JSON was expected, but this is markup")),
            Form::Unknown | Form::Events => self.finish_events(),
        }
    }

    fn finish_document(&self, document: &[u8]) -> Result<ModelReply, ModelError> {
        // Asked at every byte of a long body this keeps the whole linear; a JSON object can end in nothing else.
        let last = document.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(last, Some(b'}' | b']')) {
            return Err(truncated("its JSON is not complete"));
        }
        let text = std::str::from_utf8(document).map_err(|_| not_utf8(NotUtf8))?;
        let mut decoder = self.decoder.clone();
        decoder.document(text)?;
        decoder.reply()
    }

    fn finish_events(&self) -> Result<ModelReply, ModelError> {
        if !self.sse.has_leftover() {
            return self.decoder.reply();
        }
        match self.sse.last_byte() {
            Some(b'}' | b']') => {}
            _ if self.decoder.has_begun() => return Err(truncated("its last event is not complete")),
            _ => return Err(malformed("an event stream or JSON was expected, but this is plain text")),
        }
        let mut decoder = self.decoder.clone();
        if let Some(SseEvent { data, .. }) = self.sse.leftover().map_err(not_utf8)? {
            decoder.event(&data, &mut Vec::new()).map_err(|_| truncated("its last event is not complete"))?;
        }
        decoder.reply()
    }
}

fn form_of(bytes: &[u8]) -> Form {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF".as_slice()).unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Form::Unknown,
        Some(b'{' | b'[') => Form::Document(Vec::new()),
        Some(b'<') => Form::Foreign,
        Some(_) => Form::Events,
    }
}

fn not_utf8(_: NotUtf8) -> ModelError {
    malformed("it is not UTF-8")
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
