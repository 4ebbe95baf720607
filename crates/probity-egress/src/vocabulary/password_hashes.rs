/// How password hashes begin in the notation of crypt(3) and of the Password Hashing Competition, and the least length of
/// the longest field behind it (crypt(5) of libxcrypt; bcrypt writes salt and digest as one field of 53); then those of
/// LDAP directories and web servers, which write digest and salt in base64 (RFC 2307 and its kin).
pub(crate) const PASSWORD_HASHES: &[(&str, usize)] = &[
    ("$1$", 22),
    ("$apr1$", 22),
    ("$2a$", 53),
    ("$2b$", 53),
    ("$2x$", 53),
    ("$2y$", 53),
    ("$5$", 43),
    ("$6$", 86),
    ("$7$", 43),
    ("$y$", 43),
    ("$gy$", 43),
    ("$argon2i$", 22),
    ("$argon2d$", 22),
    ("$argon2id$", 22),
    ("$scrypt$", 22),
    ("$pbkdf2-sha256$", 22),
    ("$pbkdf2-sha512$", 22),
    ("{SHA}", 28),
    ("{SSHA}", 32),
    ("{SSHA256}", 48),
    ("{SSHA512}", 92),
];
