use super::*;

fn allows(pattern: &str, url: &str) -> bool {
    let url = Url::parse(url).unwrap();
    let scheme_port = if url.scheme() == "https" { 443 } else { 80 };
    let allowed: AllowedHost = pattern.parse().unwrap();
    allowed.matches(&url.host().unwrap(), url.port_or_known_default().unwrap(), scheme_port)
}

#[test]
fn patterns_match_whole_labels_and_their_port() {
    let yes = [
        ("example.org", "http://example.org/"),
        ("example.org", "https://EXAMPLE.org/"),
        ("Example.org:8443", "https://example.org:8443/"),
        ("*.example.org", "https://a.example.org/"),
        ("*.example.org", "https://a.b.example.org/"),
        ("127.0.0.1:80", "http://2130706433/"),
        ("[::1]:8080", "http://[0:0::1]:8080/"),
        ("bücher.example", "http://xn--bcher-kva.example/"),
    ];
    let no = [
        ("example.org", "http://example.org:8080/"),
        ("example.org", "http://a.example.org/"),
        ("example.org", "http://example.org.evil.test/"),
        ("*.example.org", "http://example.org/"),
        ("*.example.org", "http://notexample.org/"),
        ("*.example.org", "http://a.example.org:8080/"),
        ("example.org:8443", "https://example.org/"),
        ("127.0.0.1", "http://127.0.0.2/"),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
    ];
    for (pattern, url) in yes {
        assert!(allows(pattern, url), "{pattern} {url}");
    }
    for (pattern, url) in no {
        assert!(!allows(pattern, url), "{pattern} {url}");
    }
}

#[test]
fn patterns_that_allow_too_much_or_nothing_are_refused() {
    for text in [
        "",
        "*",
        "*.",
        "*.org",
        "a*.org",
        "http://a.org",
        "a.org/x",
        "u@a.org",
        "a.org:0",
        "a.org:x",
        "*.1.2.3.4",
    ] {
        assert!(text.parse::<AllowedHost>().is_err(), "{text}");
    }
}

#[test]
fn a_pattern_is_shown_as_it_is_written() {
    for text in ["example.org", "*.example.org:8443", "[::1]:80", "127.0.0.1"] {
        assert_eq!(text.parse::<AllowedHost>().unwrap().to_string(), text);
    }
}
