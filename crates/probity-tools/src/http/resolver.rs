//! Names to addresses, refused before anything connects.
//!
//! The check sits in the resolver of the client that connects, so the addresses that were checked are the ones that are
//! used. Checking first and letting the client resolve again lost: a name can answer twice differently.

use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::is_public;

/// Refuses a name when any of its addresses is not public.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublicOnly;

/// A name that leads where calls may not go.
#[derive(Debug, thiserror::Error)]
#[error("the host resolves to an address that is not public")]
pub(super) struct NotPublic;

/// A name that leads nowhere.
#[derive(Debug, thiserror::Error)]
#[error("the host name does not resolve")]
pub(super) struct NoAddress;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses = lookup(name.as_str()).await?;
            if !addresses.iter().all(|address| is_public(address.ip())) {
                return Err(NotPublic.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// For hosts that were declared private: any address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared;

impl Resolve for Declared {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move { Ok(Box::new(lookup(name.as_str()).await?.into_iter()) as Addrs) })
    }
}

async fn lookup(name: &str) -> Result<Vec<SocketAddr>, NoAddress> {
    let found: Vec<SocketAddr> = tokio::net::lookup_host((name, 0)).await.map_err(|_| NoAddress)?.collect();
    if found.is_empty() { Err(NoAddress) } else { Ok(found) }
}

/// Whether an address that a URL states literally may be used.
pub(super) fn literal_allowed(address: IpAddr, private: bool) -> bool {
    private || is_public(address)
}
