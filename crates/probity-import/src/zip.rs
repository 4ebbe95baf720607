//! Just enough of ZIP to read a log: stored and deflated files, found by the central directory.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

use crate::error::{ImportError, Place};
use crate::limits::{ARCHIVE_FILES_MAX, ARCHIVE_RATIO_MAX, FILE_BYTES_MAX};

/// Bytes up to which the ratio is not looked at: a short file of blanks may be packed very well.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;
const END_BYTES: usize = 22;
const COMMENT_BYTES_MAX: usize = 65_535;

/// A file of an archive.
pub(crate) struct Packed<'a> {
    pub(crate) name: String,
    method: u16,
    is_encrypted: bool,
    unpacked_bytes: u64,
    packed: &'a [u8],
}

/// The files of an archive. Nothing is unpacked yet.
pub(crate) fn files(bytes: &[u8]) -> Result<Vec<Packed<'_>>, ImportError> {
    let tail = bytes.len().saturating_sub(END_BYTES + COMMENT_BYTES_MAX);
    let end = bytes.get(tail..).unwrap_or_default().windows(4).rposition(|mark| mark == b"PK\x05\x06");
    let end = tail + end.ok_or_else(|| at(bytes.len(), "the archive has no end: it was cut off"))?;
    let count = usize::from(u16_at(bytes, end + 10)?);
    let mut next = u32_at(bytes, end + 16)? as usize;
    if next == u32::MAX as usize {
        return Err(at(end, "the archive is of the large kind (ZIP64), which is not read"));
    }
    if count > ARCHIVE_FILES_MAX {
        let max = ARCHIVE_FILES_MAX as u64;
        return Err(ImportError::TooMuch { place: Place::Byte(end as u64), what: "files", max });
    }
    let mut files = Vec::new();
    for _ in 0..count {
        if bytes.get(next..next + 4) != Some(b"PK\x01\x02") {
            return Err(at(next, "the archive's directory is broken"));
        }
        let lengths = [28, 30, 32].map(|offset| u16_at(bytes, next + offset).map(usize::from));
        let [name_bytes, extra_bytes, comment_bytes] = lengths;
        let name_bytes = name_bytes?;
        let name =
            bytes.get(next + 46..next + 46 + name_bytes).ok_or_else(|| at(next, "a name is cut off"))?;
        let local = u32_at(bytes, next + 42)? as usize;
        files.push(Packed {
            name: String::from_utf8_lossy(name).into_owned(),
            method: u16_at(bytes, next + 10)?,
            is_encrypted: u16_at(bytes, next + 8)? & 1 == 1,
            unpacked_bytes: u64::from(u32_at(bytes, next + 24)?),
            packed: packed(bytes, local, u32_at(bytes, next + 20)? as usize)?,
        });
        next += 46 + name_bytes + extra_bytes? + comment_bytes?;
    }
    Ok(files)
}

fn packed(bytes: &[u8], local: usize, length: usize) -> Result<&[u8], ImportError> {
    if bytes.get(local..local.saturating_add(4)) != Some(b"PK\x03\x04") {
        return Err(at(local, "a file of the archive is not where its directory says"));
    }
    let from = local + 30 + usize::from(u16_at(bytes, local + 26)?) + usize::from(u16_at(bytes, local + 28)?);
    bytes.get(from..from.saturating_add(length)).ok_or_else(|| at(from, "a file of the archive is cut off"))
}

impl Packed<'_> {
    /// Unpacks the file, within what is left of the limit for all.
    pub(crate) fn unpack(&self, bytes_left: &mut u64) -> Result<Vec<u8>, ImportError> {
        let wrong = |why: &str| {
            ImportError::Malformed { place: Place::Pointer(String::new()), why: why.to_owned() }
                .within(&self.name)
        };
        if self.is_encrypted {
            return Err(wrong("it is encrypted"));
        }
        let ratio_max = (self.packed.len() as u64).saturating_mul(ARCHIVE_RATIO_MAX).max(RATIO_FREE_BYTES);
        let max = ratio_max.min(*bytes_left);
        if self.unpacked_bytes > max {
            return Err(self.too_much());
        }
        let mut unpacked = Vec::new();
        let read = match self.method {
            0 => self.packed.take(max + 1).read_to_end(&mut unpacked),
            8 => DeflateDecoder::new(self.packed).take(max + 1).read_to_end(&mut unpacked),
            other => return Err(wrong(&format!("it is packed by a method that is not read ({other})"))),
        };
        read.map_err(|_| wrong("it does not unpack: the archive has been changed"))?;
        let length = unpacked.len() as u64;
        if length > max {
            return Err(self.too_much());
        }
        if length != self.unpacked_bytes {
            return Err(wrong("it unpacks to another length than the archive says"));
        }
        *bytes_left -= length;
        Ok(unpacked)
    }

    fn too_much(&self) -> ImportError {
        let place = Place::Within { name: self.name.clone(), place: Box::new(Place::Pointer(String::new())) };
        ImportError::TooMuch { place, what: "unpacked bytes", max: FILE_BYTES_MAX as u64 }
    }
}

fn at(byte: usize, why: &str) -> ImportError {
    ImportError::Malformed { place: Place::Byte(byte as u64), why: why.to_owned() }
}

fn u16_at(bytes: &[u8], from: usize) -> Result<u16, ImportError> {
    let found = bytes.get(from..).and_then(<[u8]>::first_chunk::<2>);
    found.map(|two| u16::from_le_bytes(*two)).ok_or_else(|| at(from, "the archive is cut off"))
}

fn u32_at(bytes: &[u8], from: usize) -> Result<u32, ImportError> {
    let found = bytes.get(from..).and_then(<[u8]>::first_chunk::<4>);
    found.map(|four| u32::from_le_bytes(*four)).ok_or_else(|| at(from, "the archive is cut off"))
}
