use super::super::checks::{check, stays};

#[test]
fn a_link_in_a_query() {
    let body = "T0FAKE0FAKE/B0FAKE0FAKE/FAKEfake0NOTreal1FAKEfak";
    for sign in ["%2F", "%2f", "%252F"] {
        let link = format!("hooks.slack.com/services/{body}").replace('/', sign);
        check(&format!("/cb?u={link}&x=1"), "/cb?u=[REDACTED:slack-webhook]&x=1");
        let colon = sign.replace("2F", "3A").replace("2f", "3a");
        check(&format!("/cb?u=https{colon}{sign}{sign}{link}&x=1"), "/cb?u=[REDACTED:slack-webhook]&x=1");
    }
    stays("/cb?u=https%3A%2F%2Fhooks.slack.com%2Fhelp&x=1");
}

#[test]
fn a_password_in_an_encoded_url() {
    check(
        "/cb?u=postgres%3A%2F%2Fbob%3Ahunter22%40db%2Fapp&x=a@b",
        "/cb?u=postgres%3A%2F%2Fbob%3A[REDACTED:url-password]%40db%2Fapp&x=a@b",
    );
    stays("/cb?u=https%3A%2F%2Fdb%2Fapp&mail=a@b");
    stays("/cb?u=https%3A%2F%2Fdb%3A80&mail=a%40b");
}
