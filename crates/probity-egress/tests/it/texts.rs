use probity_egress::{
    Confidence, Egress, Human, Report, SamePrincipal, Source, Words, egress_text, egress_text_reporting,
    register_secret, summarize,
};

use crate::made_up::{github, key_block, token};

fn check(input: &str, expected: &str) {
    assert_eq!(egress_text::<SamePrincipal>(input).as_str(), expected, "for {input:?}");
}

fn check_human(input: &str, expected: &str) {
    assert_eq!(egress_text::<Human>(input).as_str(), expected, "for {input:?}");
}

fn stays(input: &str) {
    check(input, input);
}

#[test]
fn names_decide_in_every_notation() {
    check("DB_PASSWORD=hunter22", "DB_PASSWORD=[REDACTED:password]");
    check("export API_KEY='k3yk3yk3y9'", "export API_KEY='[REDACTED:api-key]'");
    check(
        r#"{"clientSecret": "abc123def456", "user": "bob"}"#,
        r#"{"clientSecret": "[REDACTED:secret]", "user": "bob"}"#,
    );
    check(r#""{\"password\": \"hunter22\"}""#, r#""{\"password\": \"[REDACTED:password]\"}""#);
    check(r#"password = "ab\"c9d" x"#, r#"password = "[REDACTED:password]" x"#);
    check(r#"{\"secret\": \"ab12\\\"cd34\", \"a\": 1}"#, r#"{\"secret\": \"[REDACTED:secret]\", \"a\": 1}"#);
    check(&format!("password=\"{}\\\"tail\" x", "ab1".repeat(300)), "password=\"[REDACTED:password]\" x");
    check("password: hunter22\nuser: bob", "password: [REDACTED:password]\nuser: bob");
    check("db-passwd = \"correct horse battery\"", "db-passwd = \"correct horse battery\"");
    check("db-passwd = \"correct horse 9\"", "db-passwd = \"[REDACTED:password]\"");
    check("login --token x9Kq2LmZ7pR4tV8w --verbose", "login --token [REDACTED:token] --verbose");
    check("/cb?access_token=x9Kq2LmZ7pR4&page=2", "/cb?access_token=[REDACTED:token]&page=2");
    check("#access_token=x9Kq2LmZ7pR4&state=1", "#access_token=[REDACTED:token]&state=1");
    check("Server=db;Password=p4ssw0rd!;Port=1", "Server=db;Password=[REDACTED:password];Port=1");
    check("<password>hunter22</password>", "<password>[REDACTED:password]</password>");
    let token = "FAKEfake0NOTreal1xQzW7FAKEfake0NOTreal1xQzW7";
    check(&format!("<token note=\"x\">\n  {token}\n"), "<token note=\"x\">\n  [REDACTED:token]\n");
    check("+MY_SECRET=abc123def456", "+MY_SECRET=[REDACTED:secret]");
    check("let token: &str = \"x9Kq2LmZ7pR4\";", "let token: &str = \"[REDACTED:token]\";");
    check("curl -u bob:s3cr3t9 x", "curl -u [REDACTED:password] x");
    check("#define API_KEY \"k3yk3yk3y9\"", "#define API_KEY \"[REDACTED:api-key]\"");
}

#[test]
fn a_name_overrides_the_look_of_a_hash() {
    let sha = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
    stays(&format!("commit {sha}"));
    check(&format!("DB_PASSWORD={sha}"), "DB_PASSWORD=[REDACTED:password]");
}

#[test]
fn headers_keep_their_scheme() {
    check("Authorization: Bearer abc123def456", "Authorization: Bearer [REDACTED:authorization]");
    check(
        "proxy-authorization: Basic dXNlcjpwYXNzd29yZA==",
        "proxy-authorization: Basic [REDACTED:authorization]",
    );
    check(
        "-H 'Authorization: token abc123def4567890' x",
        "-H 'Authorization: token [REDACTED:authorization]' x",
    );
    check("Cookie: sid=abc123; theme=dark\nHost: a", "Cookie: [REDACTED:cookie]\nHost: a");
    check("x-api-key: k3yk3yk3y9", "x-api-key: [REDACTED:api-key]");
}

#[test]
fn userinfo_ends_at_the_last_at_of_the_authority() {
    check("postgres://u:p4@ss@db:5432/x", "postgres://u:[REDACTED:url-password]@db:5432/x");
    check("amqp://u:p4/ss@mq/x", "amqp://u:[REDACTED:url-password]@mq/x");
    check("redis://:p4ss@cache", "redis://:[REDACTED:url-password]@cache");
    stays("see https://example.org/a:b and mail bob@example.org");
    stays("https://host:8080/a@b");
    stays("git clone ssh://git@example.org/x");
    stays("postgres://${USER}:${PASSWORD}@db/x");
}

#[test]
fn key_blocks_go_whole_in_every_writing() {
    for line_break in ["\n", "\r\n", "\\n", "\\\\n", "\n+", "\n2026-01-01 12:00:00 "] {
        let block = key_block(3, line_break);
        check(&format!("a {block} b"), "a [REDACTED:private-key] b");
    }
}

#[test]
fn a_key_block_that_was_cut_off_is_redacted_and_nothing_after_it() {
    let block = key_block(3, "\n");
    let cut = &block[..block.len() - 60];
    check(cut, "[REDACTED:private-key]");
    check(&format!("{cut}\nand then: it stopped\n"), "[REDACTED:private-key]\nand then: it stopped\n");
    stays("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----");
}

#[test]
fn terminal_text_hides_nothing() {
    let token = github();
    check(&format!("\u{1b}[31m{token}\u{1b}[0m"), "\u{1b}[31m[REDACTED:github-token]\u{1b}[0m");
    let (left, right) = token.split_at(12);
    check(&format!("{left}\u{200b}{right}!"), "[REDACTED:github-token]!");
    check(&format!("{left}\u{1b}[1m{right}!"), "[REDACTED:github-token]!");
    let link = format!("\u{1b}]8;;ftp://h/{token}\u{7}text\u{1b}]8;;\u{7}");
    check(&link, "\u{1b}]8;;ftp://h/[REDACTED:github-token]\u{7}text\u{1b}]8;;\u{7}");
    check(&format!("xy{token}"), "xy[REDACTED:github-token]");
    check(&format!("pass\u{200b}word={}", "hunter22"), "pass\u{200b}word=[REDACTED:password]");
}

#[test]
fn a_token_that_the_input_cuts_is_redacted() {
    check("see ghp_FAKEfake0NOT", "see [REDACTED:github-token]");
    check("password=\"hunter22", "password=\"[REDACTED:password]");
    stays("the prefix is ghp_");
}

#[test]
fn evidence_and_placeholders_stay() {
    stays("uses: actions/checkout@da39a3ee5e6b4b0d3255bfef95601890afd80709 # v4");
    stays("id 123e4567-e89b-12d3-a456-426614174000");
    stays(
        "\"integrity\": \"sha512-JV/yugV2uzW5iMRSiZAyDtQd+nxtUnjeLt0acNdw98kKLrvuRVyB80tsREOE7yvGVgalhZ6RNXCmEHkUKBKxew==\"",
    );
    stays("src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\"");
    stays("api_key=<your-token> token=${TOKEN} secret: xxxxxxxx password=$PASSWORD");
    stays(
        "max_tokens: 1024, token_count=881234567890, \"public_key\": \"a1b2c3d4e5f6g7h8\", key_id=abc123def456",
    );
    stays("let token = self.next_token(); password = getPassword();");
    stays("\"password\": {\"type\": \"string\"}");
    stays("the password must have 8 characters");
    stays("key takeaways: the token budget is 12");
}

#[test]
fn a_person_sees_no_urls_and_no_paths() {
    check_human("see https://a.example/x?y=1.", "see [REDACTED:url].");
    check_human("(www.example.org)", "([REDACTED:url])");
    check_human("ws://u:p4ss@h/x ftp://h", "[REDACTED:url] [REDACTED:url]");
    check_human("open /etc/passwd:12: denied", "open [REDACTED:path]:12: denied");
    check_human("~/notes.txt and ~bob/x", "[REDACTED:path] and [REDACTED:path]");
    check_human(r"C:\Users\bob\x.txt, D:/data", "[REDACTED:path], [REDACTED:path]");
    check_human(r"\\server\share\x", "[REDACTED:path]");
    check_human("\"C:\\Program Files\\x\" failed", "\"[REDACTED:path]\" failed");
    check_human("file:///etc/hosts", "[REDACTED:url]");
    check_human("and/or 1/2 a/b.rs </div> 5 / 2", "and/or 1/2 a/b.rs </div> 5 / 2");
}

#[test]
fn registered_secrets_are_found_in_their_forms() {
    assert!(!register_secret("short"));
    assert!(register_secret("tr0ub4dor&3 \"quoted\""));
    check("it is tr0ub4dor&3 \"quoted\" now", "it is [REDACTED:registered] now");
    check("tr0ub4dor%263%20%22quoted%22", "[REDACTED:registered]");
    check(r#"{"x":"tr0ub4dor&3 \"quoted\""}"#, r#"{"x":"[REDACTED:registered]"}"#);
    use base64::Engine as _;
    for lead in ["", "a", "ab"] {
        let wrapped =
            base64::engine::general_purpose::STANDARD.encode(format!("{lead}tr0ub4dor&3 \"quoted\" tail"));
        let out = egress_text::<SamePrincipal>(&wrapped);
        assert!(out.as_str().contains("[REDACTED:registered]"), "{lead:?}: {out}");
    }
}

#[test]
fn a_report_says_where_and_why_and_nothing_else() {
    let mut report = Report::new();
    let out =
        egress_text_reporting::<SamePrincipal>(&format!("a {} b password=hunter22", github()), &mut report);
    let spans: Vec<&str> = report.findings().iter().map(|f| &out.as_str()[f.output.clone()]).collect();
    assert_eq!(spans, ["[REDACTED:github-token]", "[REDACTED:password]"]);
    assert_eq!(report.findings()[0].input.len(), github().len());
    assert_eq!(report.findings()[0].source, Source::Format);
    assert_eq!(report.findings()[1].source, Source::Name);
    assert_eq!(report.findings()[1].confidence, Confidence::Medium);
    assert_eq!(summarize(&report).to_string(), "2 redacted: 1 github-token, 1 password");
    assert!(!serde_json::to_string(&report).unwrap().contains("hunter22"));
}

#[test]
fn sentences_are_composed_of_passed_parts() {
    let part = egress_text::<SamePrincipal>(&token("sk-ant-", 40));
    let words =
        Words::<SamePrincipal>::new().text("tool ").passed(&part).text(" took ").number(7).text(" ms").done();
    assert_eq!(words.as_str(), "tool [REDACTED:anthropic-key] took 7 ms");
    let joined = Egress::join([part.clone(), Egress::fixed("x")], ", ");
    assert_eq!(joined.to_string(), "[REDACTED:anthropic-key], x");
    assert_eq!(serde_json::to_string(&joined).unwrap(), "\"[REDACTED:anthropic-key], x\"");
}
