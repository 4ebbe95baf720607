/// How the base64 of a private key begins, apart from what [`DER_START`] leads to: an OpenSSH container; elliptic keys
/// (SEC 1 of RFC 5915, PKCS #8 of RFC 5958) of the usual curves.
pub(crate) const KEY_BODIES: &[&str] = &[
    "b3BlbnNzaC1rZXktdjE",
    "MHcCAQEE",
    "MHQCAQEE",
    "MIGkAgEB",
    "MIHcAgEB",
    "MIGHAgEA",
    "MIG2AgEA",
    "MIHuAgEA",
    "MC4CAQAw",
];

/// How the base64 of any DER structure longer than 255 bytes begins.
pub(crate) const DER_START: &str = "MII";

/// What stands before the secret half of a PuTTY key.
pub(crate) const PUTTY_LINES: &str = "Private-Lines:";
