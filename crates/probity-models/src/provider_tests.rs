use super::*;

#[test]
fn names_are_read_as_they_are_written() {
    for name in Provider::NAMES {
        assert_eq!(name.parse::<Provider>().unwrap().to_string(), name);
    }
}

#[test]
fn a_model_is_named_by_provider_and_name() {
    let check = |text: &str, provider, model: &str| {
        let expected = ModelRef::Http { provider, model: model.to_owned() };
        assert_eq!(text.parse::<ModelRef>().unwrap(), expected);
        assert_eq!(expected.to_string(), text);
    };
    check("openai/gpt-5", Provider::OpenAi, "gpt-5");
    check("compatible/meta-llama/Llama-3.1-8B", Provider::Compatible, "meta-llama/Llama-3.1-8B");
    check("ollama/qwen3:8b", Provider::Ollama, "qwen3:8b");
    let rules = ModelRef::Rules(PathBuf::from("/a/b.toml"));
    assert_eq!("rules//a/b.toml".parse::<ModelRef>().unwrap(), rules);
    assert_eq!(rules.to_string(), "rules//a/b.toml");
}

#[test]
fn what_names_no_model_is_refused_with_the_choices() {
    for text in ["", "gpt-5", "openai/", "/gpt-5", "rules/", "openai/ "] {
        assert_eq!(text.parse::<ModelRef>(), Err(ModelRefError::NotAPair(text.to_owned())));
    }
    let words = "opnai/gpt-5".parse::<ModelRef>().unwrap_err().to_string();
    assert_eq!(
        words,
        "find the provider `opnai`: the providers are openai, openai-chat, anthropic, gemini, ollama, compatible"
    );
}
