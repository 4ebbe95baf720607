use super::super::checks::{check, stays};

const BYTES: &str = "0xfa, 0x4e, 0x00, 0x12, 0x7f, 012, 0xd, 0x09, 0xfa";

#[test]
fn a_key_of_bytes_goes() {
    check(
        &format!("static const uint8_t aes_key[9] = {{ {BYTES} }};"),
        "static const uint8_t aes_key[9] = { [REDACTED:secret]};",
    );
    check(&format!("key := []byte{{{BYTES}}}\nnext"), "key := []byte{[REDACTED:api-key]}\nnext");
    check(
        &format!("byte[] secretKey = new byte[] {{\n  {BYTES},\n  {BYTES}\n}};"),
        "byte[] secretKey = new byte[] {\n  [REDACTED:secret]};",
    );
    check(&format!("HMAC_KEY = bytes([{BYTES}])"), "HMAC_KEY = bytes([[REDACTED:secret]])");
    check(
        &format!("#define AES_KEY {{{BYTES}, \\\n    {BYTES}}}\n"),
        "#define AES_KEY {[REDACTED:secret]}\n",
    );
    let decimal = "12, 250, 7, 99, ".repeat(8);
    check(&format!("{{\"secretKey\": [{decimal}1]}}"), "{\"secretKey\": [[REDACTED:secret]]}");
}

#[test]
fn other_lists_stay() {
    stays(&format!("table = {{ {BYTES} }};"));
    stays(&format!("public_key = {{ {BYTES} }};"));
    stays(&format!("sort_key = [{}]", "12, 250, 7, 99, ".repeat(8)));
    stays("aes_key = {0x01, 0x02, 0x03}");
    stays("version_key = [1.5, 2.5, 3.5]");
}
