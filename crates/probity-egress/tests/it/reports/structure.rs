//! The place in a structure gave the secret away, and was not read.

use probity_egress::{SamePrincipal, egress_value};
use serde_json::json;

use super::{ALNUM, BASE64, Draw, becomes, gone, stays};

/// gitleaks/gitleaks#1387: name and value as two members of one object.
#[test]
fn report_29_a_name_member_and_a_value_member() {
    let mut draw = Draw::seeded(29);
    for (name, value) in [("key", "value"), ("name", "value"), ("Name", "Value"), ("Key", "Value")] {
        let secret = draw.word(16);
        gone(&format!(r#"{{"{name}":"password","{value}":"{secret}"}}"#), &secret);
        gone(&format!(r#"[{{ "{name}": "DB_PASSWORD", "{value}": "{secret}" }}]"#), &secret);
        stays(&format!(r#"{{"{name}":"color","{value}":"{secret}"}}"#));
    }
}

/// gitleaks/gitleaks#1319: the connection strings and keys of an `appsettings.json`.
#[test]
fn report_29_settings_of_an_application() {
    let mut draw = Draw::seeded(291);
    let secret = draw.word(18);
    gone(
        &format!(
            r#"{{"ConnectionStrings": {{"Default": "Server=db;User Id=sa;Password={secret};Encrypt=true"}}}}"#
        ),
        &secret,
    );
    gone(&format!(r#""Jwt": {{ "SecretKey": "{secret}", "Issuer": "me" }}"#), &secret);
    gone(&format!(r#""AzureAd": {{ "ClientSecret": "{secret}" }}"#), &secret);
}

/// gitleaks/gitleaks#854: RSA key blocks were no longer found after a release.
#[test]
fn report_29_key_blocks_of_every_label() {
    let mut draw = Draw::seeded(292);
    for label in [
        "RSA PRIVATE KEY",
        "DSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let lines = draw.key_lines(3);
        let block = super::key_block(label, &lines, "\n");
        becomes(&format!("a\n{block}\nb"), "a\n[REDACTED:private-key]\nb");
    }
}

/// use-agent-os/agent-os#496: with a diff's sign before it a name did not start a word.
#[test]
fn report_30_lines_of_a_diff() {
    let mut draw = Draw::seeded(30);
    for sign in ["+", "-", " ", "+ ", "-  ", "++", "> ", "< "] {
        let value = draw.word(24);
        gone(&format!("@@ -1,2 +1,3 @@\n{sign}MY_SECRET={value}\n+EXTRA=1\n"), &value);
        gone(&format!("{sign}  \"apiKey\": \"{value}\","), &value);
    }
}

/// ai-memory-mcp#3667: passwords in a query were left; a search for userinfo that crosses blanks invents them.
#[test]
fn report_31_passwords_in_a_query_and_no_userinfo_across_blanks() {
    let mut draw = Draw::seeded(31);
    for name in ["password", "pwd", "passwd", "access_token", "api_key", "client_secret", "sig"] {
        for (before, after) in
            [("?", ""), ("?a=1&", "&b=2"), ("?a=1&amp;", "&amp;b=2"), ("?", "#top"), ("?", " next")]
        {
            let value = draw.word(24);
            gone(&format!("postgres://db/x{before}{name}={value}{after}"), &value);
        }
    }
    stays("see http://host:80 and mail bob@host or https://a.example/x: then @alice");
    stays("at http://host: see you @ noon");
}

/// OxiCloud#734, BossConsole#640, #909, apache/maka#4597, numbat#3: a password with an `@`, and
/// `curl -u`.
#[test]
fn report_32_userinfo_ends_at_the_last_at() {
    let mut draw = Draw::seeded(32);
    for sign in ["@", ":", "@@", "!", "$", "#", "%40", "@a."] {
        let value = format!("{}{sign}{}", draw.word(9), draw.word(9));
        gone(&format!("postgres://user:{value}@db.example:5432/x"), &value);
        gone(&format!("mongodb+srv://user:{value}@a.example/?w=1"), &value);
    }
    for flag in ["-u ", "--user ", "--user=", "-u '", "-u \""] {
        let value = draw.word(14);
        gone(&format!("curl {flag}bob:{value} https://a.example"), &value);
    }
}

/// permitio/opal#921: the fragment of a callback was not searched.
#[test]
fn report_33_tokens_in_a_fragment() {
    let mut draw = Draw::seeded(33);
    for (before, after) in [
        ("#", ""),
        ("#state=1&", ""),
        ("#", "&token_type=bearer&expires_in=1"),
        ("/#/cb?", "&x=1"),
        ("#!/", ""),
    ] {
        let value = draw.word(40);
        gone(&format!("https://a.example/cb{before}access_token={value}{after}"), &value);
        gone(&format!("https://a.example/cb{before}id_token={}{after}", draw.jwt()), "eyJhbGciOi");
    }
}

/// trufflesecurity/trufflehog#4732, #5043, sirwart/ripsecrets#76: a signature in a signed URL was found in one order of the
/// parameters, and not percent-encoded.
#[test]
fn report_34_signed_urls_in_any_order() {
    let mut draw = Draw::seeded(34);
    for _ in 0..6 {
        let value = format!("{}%2B{}%3D", draw.of(ALNUM, 20), draw.of(ALNUM, 22));
        let mut parts = [
            "sv=2024-01-01".to_owned(),
            "sp=r".to_owned(),
            "se=2027-01-01T00%3A00%3A00Z".to_owned(),
            "sr=b".to_owned(),
            format!("sig={value}"),
        ];
        let by = draw.below(5);
        parts.rotate_left(by);
        gone(&format!("https://acc.blob.core.windows.net/c/b?{}", parts.join("&")), &value);
        gone(&format!("https://acc.blob.core.windows.net/c/b?{}", parts.join("&amp;")), &value);
        gone(&format!("\"SharedAccessSignature={}\"", parts.join("&")), &value);
    }
}

/// trufflesecurity/trufflehog#4955: an identifier with `-` and `:` kept the connection string from being found. #3576: SQL
/// Server.
#[test]
fn report_34_connection_strings_with_odd_identifiers() {
    let mut draw = Draw::seeded(342);
    for id in ["abcd", "a1-l9-s0:AbCd+/12", "x:y-z"] {
        let value = format!("{}=", draw.of(BASE64, 43));
        gone(&format!("Endpoint=https://a.azconfig.io;Id={id};Secret={value}"), &value);
        gone(&format!("\"Endpoint=https://a.azconfig.io;Id={id};Secret={value};\""), &value);
    }
    let value = draw.word(14);
    gone(
        &format!("Server=tcp:a.example,1433;Initial Catalog=d;User ID=sa;Password={value};Encrypt=True"),
        &value,
    );
    gone(&format!("sqlserver://a.example:1433;databaseName=d;user=sa;password={value};"), &value);
    gone(&format!("sqlserver://sa:{value}@a.example:1433?database=d"), &value);
}

/// mongodb/kingfisher#558: connection strings were lost when the rules were moved.
#[test]
fn report_35_connection_strings_of_every_scheme() {
    let mut draw = Draw::seeded(35);
    for scheme in [
        "postgres",
        "postgresql+asyncpg",
        "mysql",
        "mongodb",
        "mongodb+srv",
        "redis",
        "rediss",
        "amqp",
        "amqps",
        "ftp",
        "smtp",
        "ldap",
        "jdbc:postgresql",
        "clickhouse",
        "snowflake",
        "x-own",
    ] {
        let value = draw.word(16);
        gone(&format!("DATABASE_URL={scheme}://user:{value}@host:1234/db"), &value);
    }
    let value = draw.word(16);
    gone(&format!("jdbc:mysql://h/db?user=u&password={value}"), &value);
    gone(&format!("host=h port=5432 user=u password={value} dbname=d"), &value);
    gone(
        &format!(
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}==;EndpointSuffix=core.windows.net",
            value.repeat(5)
        ),
        &value,
    );
}

/// agentic-hil#317: names were looked at and values were not.
#[test]
fn report_36_secrets_live_in_values_too() {
    let mut draw = Draw::seeded(36);
    let token = draw.github();
    let value = json!({"args": ["--header", format!("Authorization: Bearer {token}")], "note": {"text": token, "n": 1}});
    let out = egress_value::<SamePrincipal>(&value);
    assert!(!out.to_string().contains(&token[4..12]), "{out}");
    assert_eq!(out.as_value()["note"]["n"], 1);
}

/// pinojs/pino#1708, davidmarkclements/fast-redact#57, #62, #71, deep-redact#27: a path with a wildcard, or another case,
/// was passed by.
#[test]
fn report_37_names_at_any_depth_in_any_case() {
    for name in [
        "password",
        "Password",
        "PASSWORD",
        "passWord",
        "db_password",
        "dbPassword",
        "DB-PASSWORD",
        "x-api-key",
        "X-Api-Key",
        "Authorization",
        "clientSecret",
    ] {
        let value = json!({"a": [{"b": {name: "plain words"}}, [{name: {"deep": ["x", 1]}}]], "c": 1});
        let out = egress_value::<SamePrincipal>(&value).to_string();
        assert!(!out.contains("plain") && !out.contains("deep") && out.contains(name), "{out}");
        assert!(out.ends_with("\"c\":1}"), "{out}");
    }
}
