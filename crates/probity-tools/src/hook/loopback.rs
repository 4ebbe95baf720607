//! Addresses that may be asked without encryption: those of this machine.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Whether nothing that is sent there can be read on the way: it is encrypted, or does not leave this machine.
pub(super) fn is_private(url: &Url) -> bool {
    match (url.scheme(), url.host()) {
        ("https", Some(_)) => true,
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        ("http", Some(Host::Domain(name))) => name == "localhost",
        _ => false,
    }
}

/// Finds `localhost` on this machine only, whatever the system's tables say.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoopbackOnly;

#[derive(Debug, thiserror::Error)]
#[error("the name does not lead to this machine")]
struct Elsewhere;

impl Resolve for LoopbackOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let here: Vec<SocketAddr> = found.filter(|address| address.ip().is_loopback()).collect();
            if here.is_empty() {
                return Err(Elsewhere.into());
            }
            Ok(Box::new(here.into_iter()) as Addrs)
        })
    }
}
