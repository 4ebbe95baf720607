use super::*;

fn check(provider: Provider, base_url: Option<&str>, url: &str, dialect: Dialect) {
    let endpoint = Endpoint::new(provider, "m/n", base_url, None).unwrap();
    assert_eq!((endpoint.url.as_str(), endpoint.dialect), (url, dialect));
}

#[test]
fn every_provider_has_its_address() {
    use Provider::{Anthropic, Compatible, Gemini, Ollama, OpenAi, OpenAiChat};
    check(OpenAi, None, "https://api.openai.com/v1/responses", Dialect::Responses);
    check(OpenAiChat, None, "https://api.openai.com/v1/chat/completions", Dialect::Chat);
    check(Anthropic, None, "https://api.anthropic.com/v1/messages", Dialect::Anthropic);
    let gemini =
        "https://generativelanguage.googleapis.com/v1beta/models/m%2Fn:streamGenerateContent?alt=sse";
    check(Gemini, None, gemini, Dialect::Gemini);
    check(Ollama, None, "http://127.0.0.1:11434/v1/chat/completions", Dialect::Chat);
    check(Compatible, Some("http://h:1/"), "http://h:1/v1/chat/completions", Dialect::Chat);
}

#[test]
fn a_base_url_of_ones_own_is_kept() {
    let chat = |base, url| check(Provider::OpenAi, Some(base), url, Dialect::Chat);
    chat("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions");
    chat("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat/completions");
    chat("https://host.example/api/openai", "https://host.example/api/openai/chat/completions");
    let own = "https://api.openai.com/v1";
    check(Provider::OpenAi, Some(own), "https://api.openai.com/v1/responses", Dialect::Responses);
    let anthropic = "https://proxy.example/v1/messages";
    check(Provider::Anthropic, Some("https://proxy.example"), anthropic, Dialect::Anthropic);
}

#[test]
fn what_is_no_base_url_is_refused() {
    let error = |base| Endpoint::new(Provider::Compatible, "m", base, None).unwrap_err();
    assert_eq!(error(None), EndpointError::Missing);
    for base in ["", "host", "ftp://host", "file:///a", "http://"] {
        assert_eq!(error(Some(base)), EndpointError::NotAnAddress(base.to_owned()), "{base}");
    }
    for base in ["http://user:hidden@host", "http://host?key=hidden", "http://host/#hidden"] {
        assert!(!error(Some(base)).to_string().contains("hidden"));
    }
}

#[test]
fn a_public_host_without_tls_is_in_clear() {
    let check = |base, expected| {
        let endpoint = Endpoint::new(Provider::Compatible, "m", Some(base), None).unwrap();
        assert_eq!(endpoint.is_in_clear(), expected, "{base}");
    };
    for base in ["http://host.example", "http://8.8.8.8", "http://[2001:db8::1]/v1"] {
        check(base, true);
    }
    for base in [
        "https://host.example",
        "http://127.0.0.1",
        "http://[::1]:8080",
        "http://10.1.2.3",
        "http://gpu-box",
        "http://a.local",
    ] {
        check(base, false);
    }
}
