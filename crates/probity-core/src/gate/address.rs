//! URLs in the forms in which rules see them.

use url::Host;

/// The pattern with scheme and host in the form that URLs have: lower case, Unicode names in ASCII, addresses shortened.
/// A label with a wildcard and a letter beyond ASCII stays as it is.
pub(super) fn normal_pattern(pattern: &str) -> String {
    let (scheme, rest) = match pattern.split_once("://") {
        Some((scheme, rest)) => (format!("{}://", scheme.to_ascii_lowercase()), rest),
        None => (String::new(), pattern),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if let Some((address, port)) = authority.strip_prefix("\\[").and_then(|rest| rest.split_once("\\]")) {
        let address =
            Host::parse(&format!("[{address}]")).map_or_else(|_| format!("[{address}]"), |h| h.to_string());
        let address = address.replace('[', "\\[").replace(']', "\\]");
        return format!("{scheme}{address}{port}{tail}");
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, format!(":{port}")),
        None => (authority, String::new()),
    };
    let label = |label: &str| match label.is_ascii() {
        true => label.to_ascii_lowercase(),
        false => Host::parse(label).map_or_else(|_| label.to_owned(), |host| host.to_string()),
    };
    let host: Vec<String> = host.split(['.', '\u{3002}']).map(label).collect();
    format!("{scheme}{}{port}{tail}", host.join("."))
}

/// Brackets around what can only be an IPv6 address stand for themselves.
pub(super) fn escape_addresses(pattern: &str) -> String {
    let mut escaped = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        escaped.push_str(before);
        let address = after.split_once(']').filter(|(address, _)| {
            address.matches(':').count() > 1
                && address.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'))
                && !before.ends_with('\\')
        });
        if let Some((address, after)) = address {
            escaped.push_str(&format!("\\[{address}\\]"));
            rest = after;
        } else {
            escaped.push('[');
            rest = after;
        }
    }
    escaped + rest
}

/// The URL as the most obliging server would read it, where only what could lead elsewhere is undone: escaped dots and
/// slashes, doubled slashes, steps upwards. Most URLs are equal to it.
pub(super) fn resolved(url: &str) -> String {
    let (scheme, authority, path, query) = parts(url);
    format!("{scheme}://{authority}{}{query}", folded(&decoded(path, |byte| b"./\\%".contains(&byte))))
}

/// Every form in which a narrowing rule may mean this URL.
pub(super) fn loose_forms(url: &str, host: &str, port: u16) -> Vec<String> {
    let (scheme, _, path, query) = parts(url);
    let plain = folded(&decoded(path, |_| true));
    let mut tails = vec![format!("{path}{query}"), path.to_owned(), format!("{plain}{query}"), plain];
    let bare: Vec<String> =
        tails.iter().filter_map(|tail| tail.strip_suffix('/')).map(str::to_owned).collect();
    tails.extend(bare);
    let mut forms = vec![url.to_owned()];
    let with_port = format!("{host}:{port}");
    for authority in [host, with_port.as_str(), host.trim_end_matches('.')] {
        forms.push(authority.to_owned());
        for tail in &tails {
            forms.push(format!("{authority}{tail}"));
            forms.push(format!("{scheme}://{authority}{tail}"));
        }
    }
    forms.extend(tails);
    forms
}

/// Scheme, authority, path, and the query with its mark.
fn parts(url: &str) -> (&str, &str, &str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (rest, query) = rest.split_at_checked(rest.find('?').unwrap_or(rest.len())).unwrap_or((rest, ""));
    let (authority, path) = rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""));
    (scheme, authority, path, query)
}

/// Undoes percent encoding of the bytes that `wanted` names, also where it was done twice.
fn decoded(path: &str, wanted: impl Fn(u8) -> bool) -> String {
    let mut bytes = path.as_bytes().to_vec();
    for _ in 0..3 {
        let mut next = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Some((&first, after)) = rest.split_first() {
            let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
            let byte = match (first, digit(0), digit(1)) {
                (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok().filter(|b| wanted(*b)),
                _ => None,
            };
            next.push(byte.unwrap_or(first));
            rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
        }
        if next == bytes {
            break;
        }
        bytes = next;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The path without doubled slashes, parameters of segments, and steps that stay or go up.
fn folded(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment.split(';').next().unwrap_or_default() {
            "" | "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let end = if path.ends_with('/') && !kept.is_empty() { "/" } else { "" };
    format!("/{}{end}", kept.join("/"))
}
