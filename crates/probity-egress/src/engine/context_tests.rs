use super::super::checks::{check, stays};

#[test]
fn words_tied_to_a_value_go_with_it() {
    check("cloudplanPRIVATE-FAKE0not1REAL2fake3", "[REDACTED:api-key]");
    check("id urlscan-secret-key-f4k3n0tr34l5f4k3n0tr end", "id [REDACTED:api-key] end");
    check("scrapingant12TOKEN.f4k3n0tr34l5f4k3n0tr", "[REDACTED:api-key]");
    // A word behind the credential's makes no difference to whose it is.
    check("fileioSecretTest-FAKE0not1REAL2fake3", "[REDACTED:api-key]");
}

#[test]
fn paths_and_constants_are_no_values() {
    stays("https://github.com/openai/openai-cookbook/blob/66b988407d8d13cad5060a881dc8c892141f2d5c/a.md");
    stays("openai-cookbook/blob/66b988407d8d13cad5060a881dc8c892141f2d5c/examples/a.md");
    stays("STRIPE_TOKEN_TYPE_V2_MODE1_FORM0");
}

#[test]
fn a_number_is_long_before_it_is_a_secret() {
    check("versioneye key 4071529366180427539110864275310986427531", "versioneye key [REDACTED:api-key]");
    stays("versioneye: 40715293661804275");
}
