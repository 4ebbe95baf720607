use super::super::checks::{check, stays};

#[test]
fn the_fifth_field_of_a_line() {
    check("db.example.org:5432:app:bob:tiger\n", "db.example.org:5432:app:bob:[REDACTED:password]\n");
    check("*:*:*:bob:S3cure!pw:\\:x\n", "*:*:*:bob:[REDACTED:password]\n");
    check("localhost:5433:*:postgres:tigerlily", "localhost:5433:*:postgres:[REDACTED:password]");
    check("echo 'db.example:6432:*:bob:x1y2z3' > f", "echo 'db.example:6432:*:bob:[REDACTED:password]' > f");
    check("+10.0.0.1:5432:app:bob:tiger\n", "+10.0.0.1:5432:app:bob:[REDACTED:password]\n");
}

#[test]
fn other_lines_with_colons_stay() {
    stays("src/main.rs:5432:17:error:unexpected\n");
    stays("main.rs:1234:17:error:unexpected\n");
    stays("root:*:0:0:Administrator:/var/root:/bin/sh\n");
    stays("daemon:*:18375:0:99999:7:::\n");
    stays("_www:*:70:70:World:/Library/WebServer:/usr/bin/false\n");
    stays("arn:aws:iam::123456789012:role:x9y8z7\n");
    stays("2026-11-30:1234:05:x:y9z8\n");
    stays("db.example.org:5432:app:bob:\n");
    stays("db.example.org:5432:app:bob:secret\n");
}
