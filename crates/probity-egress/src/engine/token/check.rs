use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::super::cursor::{Cursor, Starved};
use crate::vocabulary::Check;

/// Tokens beyond it are not verified.
const VERIFIED_BYTES_MAX: usize = 512;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verified {
    Checksum,
    Structure,
}

/// Verifies the token from the cursor to `end`. That nothing holds says nothing: vendors change their formats.
pub(super) fn verify(checks: &[Check], cursor: &Cursor<'_>, end: usize) -> Result<Option<Verified>, Starved> {
    if checks.is_empty() {
        return Ok(None);
    }
    let mut token = Vec::with_capacity(VERIFIED_BYTES_MAX);
    let mut ahead = cursor.clone();
    while ahead.offset() < end
        && token.len() < VERIFIED_BYTES_MAX
        && let Some(c) = ahead.next()?
        && let Ok(byte) = u8::try_from(c)
    {
        token.push(byte);
    }
    let holds = |check: &Check| match check {
        Check::Crc32Base62 => crc32_base62(&token).then_some(Verified::Checksum),
        Check::Crc32Hex => crc32_hex(&token).then_some(Verified::Checksum),
        Check::JwtHeader => jwt_header(&token).then_some(Verified::Structure),
    };
    Ok(checks.iter().find_map(holds))
}

fn crc32_base62(token: &[u8]) -> bool {
    let start = token.iter().position(|b| *b == b'_').map_or(0, |at| at + 1);
    let Some((body, sum)) = token.get(start..).and_then(|rest| rest.split_last_chunk::<6>()) else {
        return false;
    };
    let digit = |b: &u8| BASE62.iter().position(|known| known == b).and_then(|at| u64::try_from(at).ok());
    let value = sum.iter().try_fold(0_u64, |value, b| Some(value * 62 + digit(b)?));
    value == Some(u64::from(crc32fast::hash(body)))
}

/// Vendors write the four bytes in either order.
fn crc32_hex(token: &[u8]) -> bool {
    let Some((rest, sum)) = token.split_last_chunk::<8>() else { return false };
    let Some((b'_' | b'=', body)) = rest.split_last() else { return false };
    let value = std::str::from_utf8(sum).ok().and_then(|sum| u32::from_str_radix(sum, 16).ok());
    let expected = crc32fast::hash(body);
    value == Some(expected) || value == Some(expected.swap_bytes())
}

fn jwt_header(token: &[u8]) -> bool {
    let Some(header) = token.split(|b| *b == b'.').next() else { return false };
    let decoded = URL_SAFE_NO_PAD.decode(header).unwrap_or_default();
    serde_json::from_slice::<Value>(&decoded).is_ok_and(|header| header.get("alg").is_some())
}
