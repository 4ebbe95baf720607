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
    check("acme PRIVATE KEY uhfakenotfhureplbpno", "acme PRIVATE KEY [REDACTED:api-key]");
    stays("the color qxfakwznvbtrjdplmhcg");
    stays("the token getaccesstokenforcurrentuser");
    stays("the key comacmecloudplatformdatabase");
    stays("private key abcdefghijklmnopqrstuvwxyz");
    stays("access token counterrevolutionaries");
    stays("the key Donaudampfschifffahrtsgesellschaft");
    stays("the key donaudampfschifffahrtsgesellschaft");
}

#[test]
fn a_line_below_a_comment() {
    let drawn = "FA3KfaK0nO7rEa1xFA3KfaK0nO7rEa1xFA3KfaK0";
    check(
        &format!("# the token we deploy with\n{drawn}\n"),
        "# the token we deploy with\n[REDACTED:api-key]\n",
    );
    check(&format!("// File of a secret\r\n{drawn}"), "// File of a secret\r\n[REDACTED:api-key]");
    stays(&format!("# the color we deploy with\n{drawn}\n"));
    stays(&format!("# digest of the token\n{drawn}\n"));
    stays("# the token we deploy with\nf0a1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f0a1d2e3\n");
    stays(&format!("the token we deploy with\n{drawn}\n"));
}
