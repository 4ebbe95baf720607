use probity_contract::Emission;

/// The first eight bytes of a record. The high bit, the line breaks and the control byte show a copy that was treated
/// as text.
pub const MAGIC: [u8; 8] = *b"\x89PROB\r\n\x1a";
/// The version of the layout that this crate writes, and the latest that it reads.
pub const FORMAT_VERSION: u32 = 1;
/// Bytes before the first frame: magic, format version, checksum of both.
pub const HEADER_BYTES: usize = 16;
/// Bytes of a frame before its payload: length, kind, checksum of kind and payload, checksum of these nine bytes.
pub const FRAME_HEAD_BYTES: usize = 13;
/// Bytes of one payload. A reply of the greatest size still fits when every character of it has to be escaped.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The kind byte of a text.
pub const KIND_PART: u8 = 1;
/// The kind byte of a fact.
pub const KIND_ENTRY: u8 = 2;

const HEAD_SUMMED_BYTES: usize = 9;

/// One checksummed frame of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it begins, in bytes from the start of the record.
    pub offset: u64,
    /// What it holds: [`KIND_PART`], [`KIND_ENTRY`], or a kind of a later writer.
    pub kind: u8,
    /// What it holds, as JSON. The checksum has been verified.
    pub payload: &'a [u8],
}

/// An append that did not reach the end of the file: what a crash leaves. Everything before it is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the record: the last write broke off at byte {at}, {bytes_cut} bytes of it remain")]
pub struct TornTail {
    /// Where the whole part ends, in bytes from the start.
    pub at: u64,
    /// Bytes after that.
    pub bytes_cut: u64,
}

/// Why reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It is no record.
    #[error("read the record: it does not begin like a record")]
    NotARecord,
    /// A later program wrote it.
    #[error("read the record: it has format version {found}, and this program reads up to {FORMAT_VERSION}")]
    LaterFormat {
        /// The version in the header.
        found: u32,
    },
    /// The last append broke off.
    #[error(transparent)]
    Torn(#[from] TornTail),
    /// Bytes before the end have changed since they were written. Nothing from here on can be trusted.
    #[error("read the record: {what} at byte {at}")]
    Corrupt {
        /// Where the frame in question begins.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
}

/// Why an emission cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// It has no JSON form.
    #[error("encode a line of the record")]
    Json(#[from] serde_json::Error),
    /// It is over [`FRAME_BYTES_MAX`].
    #[error("encode a line of the record: {bytes} bytes are over the limit of {FRAME_BYTES_MAX}")]
    TooLong {
        /// Its size.
        bytes: usize,
    },
}

/// Appends the bytes that begin every record.
pub fn encode_header(out: &mut Vec<u8>) {
    out.extend_from_slice(&header(FORMAT_VERSION));
}

fn header(version: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0_u8; HEADER_BYTES];
    let (words, sum) = bytes.split_at_mut(HEADER_BYTES - 4);
    let (magic, number) = words.split_at_mut(MAGIC.len());
    magic.copy_from_slice(&MAGIC);
    number.copy_from_slice(&version.to_le_bytes());
    sum.copy_from_slice(&crc32fast::hash(words).to_le_bytes());
    bytes
}

/// Appends one emission as a frame. On an error `out` is as it was.
///
/// # Errors
/// When the emission has no JSON form or is too long.
pub fn encode_frame(emission: &Emission, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; FRAME_HEAD_BYTES]);
    let (kind, written) = match emission {
        Emission::Part(part) => (KIND_PART, serde_json::to_writer(&mut *out, part)),
        Emission::Entry(entry) => (KIND_ENTRY, serde_json::to_writer(&mut *out, entry)),
    };
    let sealed = written.map_err(EncodeError::Json).and_then(|()| seal(kind, out.get_mut(start..)));
    if sealed.is_err() {
        out.truncate(start);
    }
    sealed
}

/// Fills in the head of a frame whose payload stands after the room for it.
fn seal(kind: u8, frame: Option<&mut [u8]>) -> Result<(), EncodeError> {
    let Some((head, payload)) = frame.and_then(|frame| frame.split_first_chunk_mut::<FRAME_HEAD_BYTES>())
    else {
        return Ok(()); // the caller has made the room
    };
    let too_long = EncodeError::TooLong { bytes: payload.len() };
    match u32::try_from(payload.len()) {
        Ok(length) if payload.len() <= FRAME_BYTES_MAX => {
            *head = frame_head(length, kind, payload_sum(kind, payload));
            Ok(())
        }
        Ok(_) | Err(_) => Err(too_long),
    }
}

fn frame_head(length: u32, kind: u8, sum: u32) -> [u8; FRAME_HEAD_BYTES] {
    let mut head = [0_u8; FRAME_HEAD_BYTES];
    let (summed, head_sum) = head.split_at_mut(HEAD_SUMMED_BYTES);
    let fields = length.to_le_bytes().into_iter().chain([kind]).chain(sum.to_le_bytes());
    summed.iter_mut().zip(fields).for_each(|(slot, byte)| *slot = byte);
    head_sum.copy_from_slice(&crc32fast::hash(summed).to_le_bytes());
    head
}

fn payload_sum(kind: u8, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[kind]);
    hasher.update(payload);
    hasher.finalize()
}

/// Reads the frames of a record in order, without copying.
///
/// Yields every whole frame, then at most one error, then nothing more. It allocates nothing and looks at each byte a
/// constant number of times. Checksums find accidents; they do not stop a forger.
#[derive(Debug, Clone)]
pub struct FrameReader<'a> {
    bytes: &'a [u8],
    at: usize,
    done: bool,
}

impl<'a> FrameReader<'a> {
    /// A reader of a whole record. The header is checked with the first frame.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, done: false }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn torn(&self) -> FrameError {
        TornTail { at: self.at as u64, bytes_cut: self.rest().len() as u64 }.into()
    }

    const fn corrupt(&self, what: &'static str) -> FrameError {
        FrameError::Corrupt { at: self.at as u64, what }
    }

    fn check_header(&mut self) -> Result<(), FrameError> {
        let Some((words, sum)) =
            self.bytes.first_chunk::<HEADER_BYTES>().and_then(|h| h.split_last_chunk::<4>())
        else {
            let is_beginning = header(FORMAT_VERSION).starts_with(self.bytes) || is_zero(self.bytes);
            return Err(if is_beginning { self.torn() } else { FrameError::NotARecord });
        };
        if is_zero(self.bytes) {
            return Err(self.torn());
        }
        let Some(version) = words.strip_prefix(&MAGIC).and_then(|number| number.first_chunk::<4>()) else {
            return Err(FrameError::NotARecord);
        };
        if crc32fast::hash(words) != u32::from_le_bytes(*sum) {
            return Err(self.corrupt("the header does not match its checksum"));
        }
        match u32::from_le_bytes(*version) {
            FORMAT_VERSION => {
                self.at = HEADER_BYTES;
                Ok(())
            }
            0 => Err(self.corrupt("the header has no format version")),
            found => Err(FrameError::LaterFormat { found }),
        }
    }

    fn read_frame(&mut self) -> Result<Option<Frame<'a>>, FrameError> {
        if self.at == 0 {
            self.check_header()?;
        }
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(None);
        }
        let Some((head, after)) = rest.split_first_chunk::<FRAME_HEAD_BYTES>() else {
            return Err(self.torn());
        };
        // File systems may leave zeros where the size of a file reached the medium and the bytes did not.
        let Some((length, kind, sum)) = parse_head(head) else {
            return Err(if is_zero(after) {
                self.torn()
            } else {
                self.corrupt("the head of a frame does not match its checksum")
            });
        };
        if length > FRAME_BYTES_MAX {
            return Err(self.corrupt("a frame is longer than a frame may be"));
        }
        let Some((payload, behind)) = after.split_at_checked(length) else {
            return Err(self.torn());
        };
        if payload_sum(kind, payload) != sum {
            return Err(if is_zero(behind) {
                self.torn()
            } else {
                self.corrupt("a frame does not match its checksum")
            });
        }
        let offset = self.at as u64;
        self.at += FRAME_HEAD_BYTES + length;
        Ok(Some(Frame { offset, kind, payload }))
    }
}

impl<'a> Iterator for FrameReader<'a> {
    type Item = Result<Frame<'a>, FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let step = self.read_frame().transpose();
        self.done = !matches!(step, Some(Ok(_)));
        step
    }
}

/// Length, kind and checksum of the payload, where the head matches its own checksum.
///
/// The head has one of its own so that a changed length in the middle is not taken for an append that broke off.
fn parse_head(head: &[u8; FRAME_HEAD_BYTES]) -> Option<(usize, u8, u32)> {
    let (summed, head_sum) = head.split_last_chunk::<4>()?;
    if crc32fast::hash(summed) != u32::from_le_bytes(*head_sum) {
        return None;
    }
    let (length, rest) = summed.split_first_chunk::<4>()?;
    let (kind, sum) = rest.split_first()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    Some((length, *kind, u32::from_le_bytes(*sum.first_chunk::<4>()?)))
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}
