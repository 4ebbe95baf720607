//! Reading an answer within its limits.

use probity_contract::{ToolError, ToolErrorClass, ToolOutput};
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};

use crate::clip;

/// Bytes that are kept for the lines around the body.
const FRAME_BYTES: usize = 512;
/// Bytes that decide about an answer that states no type.
const SNIFF_BYTES: usize = 8 * 1024;

/// Reads the answer as text; what is no text is described, not returned.
pub(super) async fn read(mut response: Response, bytes_max: usize) -> Result<ToolOutput, ToolError> {
    let status = response.status();
    let stated = header(&response, CONTENT_TYPE.as_str());
    let encoding = header(&response, CONTENT_ENCODING.as_str());
    let kind = stated.as_deref().map(essence);
    let reason = status.canonical_reason().unwrap_or_default();
    let mut text = format!("HTTP {} {reason}", status.as_u16()).trim_end().to_owned();
    text.push_str(&format!(", {}", kind.as_deref().unwrap_or("no content type")));
    let len = response.content_length().map_or_else(String::new, |len| format!(", {len} bytes"));
    text.push_str(&len);
    text.push('\n');
    if let Some(encoding) = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        text.push_str(&format!("[the body is encoded as {encoding} and is not shown]\n"));
        return Ok(ToolOutput::text(text));
    }
    if kind.as_deref().is_some_and(|kind| !is_text(kind)) {
        text.push_str("[the body is not text and is not shown]\n");
        return Ok(ToolOutput::text(text));
    }
    let body_max = bytes_max.saturating_sub(FRAME_BYTES).max(FRAME_BYTES);
    let mut body: Vec<u8> = Vec::new();
    let mut cut = false;
    while let Some(chunk) = response.chunk().await.map_err(|_| broken())? {
        let room = body_max.saturating_sub(body.len());
        body.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    if kind.is_none()
        && memchr::memchr(0, body.get(..SNIFF_BYTES.min(body.len())).unwrap_or_default()).is_some()
    {
        text.push_str("[the body is not text and is not shown]\n");
        return Ok(ToolOutput::text(text));
    }
    let decoded = String::from_utf8_lossy(&body);
    let odd = matches!(decoded, std::borrow::Cow::Owned(_));
    let shown = clip::prefix(&decoded, body_max);
    text.push('\n');
    text.push_str(shown);
    if cut || shown.len() < decoded.len() {
        text.push_str(&format!("\n[cut after {} bytes; the rest was not read]\n", shown.len()));
    }
    if odd {
        text.push_str("\n[bytes that are not UTF-8 are shown as \u{fffd}]\n");
    }
    Ok(ToolOutput::text(text))
}

fn header(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(clip::word(&String::from_utf8_lossy(value.as_bytes())))
}

/// The type without its parameters, in lower case.
fn essence(stated: &str) -> String {
    stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_text(kind: &str) -> bool {
    let Some((top, sub)) = kind.split_once('/') else { return false };
    let structured = sub.rsplit_once('+').map(|(_, suffix)| suffix);
    top == "text"
        || matches!(structured, Some("json" | "xml" | "yaml"))
        || (top == "application"
            && matches!(
                sub,
                "json"
                    | "jsonl"
                    | "x-ndjson"
                    | "ndjson"
                    | "xml"
                    | "xml-dtd"
                    | "yaml"
                    | "x-yaml"
                    | "toml"
                    | "javascript"
                    | "x-javascript"
                    | "ecmascript"
                    | "typescript"
                    | "graphql"
                    | "sql"
                    | "rtf"
                    | "x-sh"
                    | "x-www-form-urlencoded"
            ))
}

fn broken() -> ToolError {
    ToolError::new(ToolErrorClass::Failed, "the answer broke off while it was read")
}
