use super::*;

fn check(addresses: &[&str], expected: bool) {
    for address in addresses {
        assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
    }
}

#[test]
fn public_addresses_are_told_from_all_others() {
    check(
        &["1.1.1.1", "8.8.8.8", "100.63.0.1", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1"],
        true,
    );
    check(
        &["2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
        true,
    );
    // This machine, private, shared, link-local with metadata, reserved, multicast.
    check(
        &["0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255"],
        false,
    );
    check(&["192.168.1.1", "100.64.0.1", "100.127.255.255", "169.254.169.254", "168.63.129.16"], false);
    check(&["192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"], false);
    check(&["224.0.0.1", "240.0.0.1", "255.255.255.255"], false);
    check(
        &["::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "2001::1", "fec0::1"],
        false,
    );
    // Private addresses in the clothes of IPv6.
    check(
        &["::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1", "::ffff:0:10.0.0.1"],
        false,
    );
    check(&["64:ff9b::7f00:1", "64:ff9b:1::808:808", "2002:7f00:1::1", "2002:a00:1::"], false);
}
