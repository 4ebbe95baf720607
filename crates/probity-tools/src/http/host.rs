//! Which hosts may be asked.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

/// A host that `http_get` may ask: an exact name or address, or `*.` and a domain for every name below it.
///
/// Written as `example.org`, `*.example.org`, `example.org:8443`, `192.0.2.7:80`, `[2001:db8::1]:80`. Without a port the
/// port must be the scheme's own, 80 or 443; with one it must be that port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    pattern: Pattern,
    port: Option<u16>,
    private: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Exact(Host<String>),
    /// A domain with a dot before it.
    Below(String),
}

/// A text that names no allowed host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("use `{text}` as an allowed host: {why}")]
pub struct AllowedHostError {
    text: String,
    why: &'static str,
}

impl AllowedHost {
    /// Says that the host lies on this machine or in a private network on purpose; without this such an address is
    /// refused even where the name is allowed.
    #[must_use]
    pub const fn private(mut self) -> Self {
        self.private = true;
        self
    }

    pub(super) const fn is_private(&self) -> bool {
        self.private
    }

    pub(super) fn matches(&self, host: &Host<&str>, port: u16, scheme_port: u16) -> bool {
        if port != self.port.unwrap_or(scheme_port) {
            return false;
        }
        match (&self.pattern, host) {
            (Pattern::Exact(allowed), host) => allowed == &host.to_owned(),
            (Pattern::Below(suffix), Host::Domain(name)) => {
                name.strip_suffix(suffix.as_str()).is_some_and(|label| !label.is_empty())
            }
            (Pattern::Below(_), Host::Ipv4(_) | Host::Ipv6(_)) => false,
        }
    }
}

impl FromStr for AllowedHost {
    type Err = AllowedHostError;

    fn from_str(text: &str) -> Result<Self, AllowedHostError> {
        let fail = |why| AllowedHostError { text: crate::clip::word(text), why };
        let (below, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (host, port) = match rest.rsplit_once(':') {
            // A colon inside brackets belongs to the address.
            Some((host, port)) if !port.ends_with(']') => {
                let port: u16 = port.parse().map_err(|_| fail("the port is not a number from 1 to 65535"))?;
                if port == 0 {
                    return Err(fail("the port is not a number from 1 to 65535"));
                }
                (host, Some(port))
            }
            _ => (rest, None),
        };
        if host.contains(['*', '/', '@', '?', '#', ' ']) {
            return Err(fail("write a host, or `*.` and a domain, without scheme and path"));
        }
        let host = Host::parse(host).map_err(|_| fail("it is not a host name or address"))?;
        let pattern = match (below, host) {
            (true, Host::Domain(domain)) if domain.trim_end_matches('.').contains('.') => {
                Pattern::Below(format!(".{domain}"))
            }
            (true, _) => return Err(fail("after `*.` a domain of at least two labels is needed")),
            (false, host) => Pattern::Exact(host),
        };
        Ok(Self { pattern, port, private: false })
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Pattern::Exact(host) => write!(f, "{host}")?,
            Pattern::Below(suffix) => write!(f, "*{suffix}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The address that a URL's host states literally.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
