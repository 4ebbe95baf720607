use super::*;

#[test]
fn moving_a_boundary_between_parts_changes_the_digest() {
    assert_ne!(Digest::of("d", &[b"ab", b"c"]), Digest::of("d", &[b"a", b"bc"]));
    assert_ne!(Digest::of("d", &[b"a"]), Digest::of("d", &[b"a", b""]));
    assert_ne!(Digest::of("da", &[b"b"]), Digest::of("d", &[b"ab"]));
}

#[test]
fn text_form_reads_back_and_nothing_else_does() {
    let digest = Digest::of("d", &[b"x"]);
    assert_eq!(Digest::try_from(digest.to_string()), Ok(digest));
    for bad in [String::new(), digest.to_string().to_uppercase(), format!("{digest}0"), "g".repeat(64)] {
        assert_eq!(Digest::try_from(bad.clone()), Err(DigestError), "{bad}");
    }
}
