//! Server-sent events out of bytes that come in any pieces.

/// Splits a byte stream into events (WHATWG HTML, section 9.2.6).
///
/// Any cutting of the same bytes gives the same events. Unlike a browser it does not drop an event that lacks its blank
/// line at the end of the stream: [`SseReader::leftover`] hands it out, and the codec tells whether it is whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct SseReader {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
}

/// One event: the name may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// The event is no UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotUtf8;

impl SseReader {
    /// Takes bytes and appends the events they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), NotUtf8> {
        for &byte in bytes {
            let after_cr = std::mem::take(&mut self.after_cr);
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => {
                    self.after_cr = byte == b'\r';
                    self.line_ended(events)?;
                }
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    /// What would be one more event if the stream ended here.
    pub(crate) fn leftover(&self) -> Result<Option<SseEvent>, NotUtf8> {
        let mut last = self.clone();
        let mut events = Vec::new();
        if !last.line.is_empty() {
            last.line_ended(&mut events)?;
        }
        last.line_ended(&mut events)?;
        Ok(events.pop())
    }

    /// Whether an event has begun that is not complete. Costs nothing, unlike [`SseReader::leftover`].
    pub(crate) fn has_leftover(&self) -> bool {
        self.has_data || !self.line.is_empty()
    }

    /// The last byte of the unfinished event that is not white space.
    pub(crate) fn last_byte(&self) -> Option<u8> {
        let solid = |bytes: &[u8]| bytes.iter().rev().copied().find(|byte| !byte.is_ascii_whitespace());
        solid(&self.line).or_else(|| solid(&self.data))
    }

    fn line_ended(&mut self, events: &mut Vec<SseEvent>) -> Result<(), NotUtf8> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.event_ended(events);
        }
        let line = line.strip_prefix(b"\xEF\xBB\xBF".as_slice()).unwrap_or(&line);
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let (field, rest) = line.split_at(colon);
                let value = rest.strip_prefix(b":").unwrap_or(rest);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, b"".as_slice()),
        };
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.name = value.to_vec(),
            _ => {}
        }
        Ok(())
    }

    fn event_ended(&mut self, events: &mut Vec<SseEvent>) -> Result<(), NotUtf8> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            let name = String::from_utf8(name).map_err(|_| NotUtf8)?;
            let data = String::from_utf8(data).map_err(|_| NotUtf8)?;
            events.push(SseEvent { name, data });
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
