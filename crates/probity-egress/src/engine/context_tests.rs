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

#[test]
fn a_service_may_be_named_behind_a_value() {
    check("FAKE0not1REAL2fake3NOT # sendgrid key", "[REDACTED:api-key] # sendgrid key");
    check("['FAKE0not1REAL2fake3NOT', // for sendgrid\n", "['[REDACTED:api-key]', // for sendgrid\n");
    stays("f0a1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f0a1d2e3 add a sendgrid key");
    stays("FAKE0not1REAL2fake3NOT # of no service");
}

#[test]
fn groups_of_other_lengths_than_of_a_uuid_are_values() {
    check("everhour=f0a1-1234-123456-abcdef-12345678", "everhour=[REDACTED:api-key]");
    check("zenrowsSECRETS FAK30NOT-R3AL0FAK3", "zenrowsSECRETS [REDACTED:api-key]");
    stays("everhour=2024-01-02-03-04-05-06-07-08-09");
}

#[test]
fn letters_alone() {
    check("acme ACCESS TOKEN QXFAKWZNVBTRJDPLMHCG", "acme ACCESS TOKEN [REDACTED:api-key]");
    check("the private key qxfakwznvbtrjdplmhcg.", "the private key [REDACTED:api-key].");
    stays("the color qxfakwznvbtrjdplmhcg");
    stays("private key abcdefghijklmnopqrstuvwxyz");
    stays("access token counterrevolutionaries");
    stays("the key Donaudampfschifffahrtsgesellschaft");
    stays("the key donaudampfschifffahrtsgesellschaft");
}
