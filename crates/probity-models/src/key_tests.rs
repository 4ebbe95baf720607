use super::*;

fn read(content: &[u8]) -> Result<ApiKey, ApiKeyError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    std::fs::write(&path, content).unwrap();
    ApiKey::read_file(&path)
}

#[test]
fn a_file_holds_one_key() {
    assert_eq!(read(b" not-a-real-key\n").unwrap().reveal(), "not-a-real-key");
    for content in [b"".as_slice(), b" \n", b"two words", b"two\nlines", b"\xff\xfe", &[b'a'; KEY_BYTES_MAX]]
    {
        let words = read(content).unwrap_err().to_string();
        assert!(words.ends_with("a key is one line of visible ASCII characters"), "{words}");
    }
    let words = ApiKey::read_file(Path::new("/no/such/file")).unwrap_err().to_string();
    assert_eq!(words, "read the key file `/no/such/file`");
}

#[test]
fn a_key_shows_a_mask() {
    let key = read(b"not-a-real-key").unwrap();
    assert_eq!(format!("{key} {key:?} {:?}", Some(&key)), "[key] ApiKey([key]) Some(ApiKey([key]))");
}
