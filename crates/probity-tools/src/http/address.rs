//! Which addresses belong to the public network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one that anybody's traffic may go to: not this machine, not a private or shared network, not
/// link-local (where clouds keep their metadata), not multicast, not reserved.
///
/// An IPv6 address that stands for an IPv4 address (mapped, compatible, NAT64, 6to4) is judged as that address, and
/// tunnels that hide one otherwise (Teredo) are refused. The ranges are those of the IANA special-purpose registries.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // This network, private, loopback; multicast, reserved and broadcast.
        (0 | 10 | 127, ..) | (224..=255, ..) => true,
        (100, 64..=127, _) => true,
        (169, 254, _) => true,
        (172, 16..=31, _) => true,
        // Protocol assignments, documentation, AS112, 6to4 relays, private, AMT.
        (192, 0, 0 | 2)
        | (192, 31, 196)
        | (192, 52, 193)
        | (192, 88, 99)
        | (192, 168, _)
        | (192, 175, 48) => true,
        // Benchmarks and documentation.
        (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) => true,
        _ => address == Ipv4Addr::new(168, 63, 129, 16),
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (a, b) {
        // Mapped, compatible, translated; all of ::/32 else is loopback, unspecified or unassigned.
        (0, 0) => {
            let v4 = matches!([c, d, e, f], [0, 0, 0, 0xffff] | [0, 0, 0xffff, 0]);
            v4 && embedded(g, h)
        }
        // NAT64 with the well-known prefix.
        (0x64, 0xff9b) => [c, d, e, f] == [0; 4] && embedded(g, h),
        // 6to4.
        (0x2002, _) => embedded(b, c),
        // Teredo, ORCHID, benchmarks and other protocol assignments in 2001::/23; documentation.
        (0x2001, 0x0000..=0x01ff) | (0x2001, 0x0db8) | (0x3fff, 0x0000..=0x0fff) => false,
        // Only 2000::/3 is global unicast.
        (0x2000..=0x3fff, _) => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
