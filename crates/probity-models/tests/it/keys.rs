//! Keys from the environment. A test cannot change its own environment safely, so each case is a child of its own.

use std::process::Command;

use probity_models::{ApiKey, Provider};

/// Tells the child which provider's key it shall read.
const CHILD: &str = "PROBITY_TEST_KEY_OF";

/// What a child says about a key in these variables: that there is one, that there is none, or the error.
fn said(provider: Provider, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "keys::child", "--nocapture", "--ignored"]).env(CHILD, provider.name());
    for name in Provider::NAMES.iter().flat_map(|name| name.parse::<Provider>().unwrap().key_variables()) {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.split_once("said: "));
    line.unwrap_or_else(|| panic!("{text}")).1.to_owned()
}

#[test]
#[ignore = "runs only as a child of the other test"]
fn child() {
    let Ok(provider) = std::env::var(CHILD) else { return };
    let provider = provider.parse().unwrap();
    match ApiKey::read_environment(provider) {
        Ok(Some(key)) => println!("said: {key}"),
        Ok(None) => println!("said: none"),
        Err(error) => println!("said: {error}"),
    }
}

#[test]
fn a_key_is_read_from_its_own_providers_variable() {
    let check = |provider, variables: &[(&str, &str)], expected: &str| {
        assert_eq!(said(provider, variables), expected, "{provider} {variables:?}");
    };
    check(Provider::OpenAi, &[("OPENAI_API_KEY", "not-a-real-key")], "[key]");
    check(Provider::OpenAi, &[], "none");
    check(Provider::OpenAi, &[("OPENAI_API_KEY", "")], "none");
    check(Provider::Anthropic, &[("OPENAI_API_KEY", "not-a-real-key")], "none");
    check(Provider::Compatible, &[("OPENAI_API_KEY", "not-a-real-key")], "none");
    check(Provider::Gemini, &[("GOOGLE_API_KEY", "not-a-real-key")], "[key]");
    let unfit = "use the key from `GEMINI_API_KEY`: a key is one line of visible ASCII characters";
    check(Provider::Gemini, &[("GEMINI_API_KEY", "two words"), ("GOOGLE_API_KEY", "not-a-real-key")], unfit);
}
