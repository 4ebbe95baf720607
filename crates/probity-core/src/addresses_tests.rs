use super::*;

#[test]
fn links_mail_addresses_and_account_numbers_are_found_without_the_marks_around_them() {
    let text = "See https://x.test/a?b=c, (www.y.test) or z.test/offer! Ask <bob@corp.example>. Pay to US133000000121212121212.";
    assert_eq!(
        addresses(text),
        ["https://x.test/a?b=c", "www.y.test", "z.test/offer", "bob@corp.example", "US133000000121212121212"]
    );
    assert_eq!(
        addresses("HTTPS://X.TEST **www.y.test** 1234-5678-90"),
        ["HTTPS://X.TEST", "www.y.test", "1234-5678-90"]
    );
}

#[test]
fn what_only_looks_a_little_like_one_is_none() {
    for text in [
        "and/or either way, 3.5/5 stars",
        "report.docx and version 1.2.3",
        "at 2024-05-13 10:00",
        "@bob said hello",
        "SALE2024 ends, 123456789",
        "a 1,000,000.00 budget",
        "",
    ] {
        assert_eq!(addresses(text), [""; 0], "{text}");
    }
}
