use super::*;

#[test]
fn a_changed_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("weights");
    fs::write(&file, "abc").unwrap();
    // The digest of `abc`, from FIPS 180-2.
    let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    check_digest(&file, right).unwrap();
    fs::write(&file, "other").unwrap();
    assert!(check_digest(&file, right).unwrap_err().to_string().contains("not ba7816bf"));
    assert!(check_digest(&folder.path().join("none"), right).is_err());
}

#[test]
fn a_test_finds_what_it_needs_in_the_json() {
    let needle = Needle { python: "/c/bin/python".into(), script: "/s.py".into(), dir: "/c/needle".into() };
    let json = needle.to_json();
    assert_eq!(
        [&json["python"], &json["script"], &json["needle_dir"]],
        ["/c/bin/python", "/s.py", "/c/needle"]
    );
    assert_eq!(json["command"], json!(["/c/bin/python", "/s.py", "--model-dir", "/c/needle", "--port", "0"]));
}
