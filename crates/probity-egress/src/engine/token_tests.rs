use super::super::checks;
use crate::{Confidence, Report, SamePrincipal, Source, egress_text_reporting};

fn made_up(count: usize) -> String {
    "FAKEfake0NOTreal1".chars().cycle().take(count).collect()
}

fn base62(mut value: u32) -> String {
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = Vec::new();
    for _ in 0..6 {
        out.push(char::from(digits[(value % 62) as usize]));
        value /= 62;
    }
    out.iter().rev().collect()
}

fn check(text: &str, rule: &str, source: Source, confidence: Confidence) {
    let mut report = Report::new();
    let out = egress_text_reporting::<SamePrincipal>(text, &mut report);
    let [finding] = report.findings() else { panic!("{out}: {report:?}") };
    assert_eq!((finding.rule, finding.source, finding.confidence), (rule, source, confidence), "{text}");
}

#[test]
fn a_checksum_raises_the_confidence_and_its_absence_clears_nothing() {
    let body = made_up(30);
    let sum = base62(crc32fast::hash(body.as_bytes()));
    check(&format!("a ghp_{body}{sum} b"), "github-pat-classic", Source::Checksum, Confidence::Certain);
    check(&format!("a ghp_{body}000000 b"), "github-pat-classic", Source::Format, Confidence::High);
    check(&format!("a npm_{body}{sum} b"), "npm-token", Source::Checksum, Confidence::Certain);
    let body = format!("glsa_{}", made_up(32));
    let sum = crc32fast::hash(body.as_bytes());
    check(&format!("a {body}_{sum:08x} b"), "grafana-service-account", Source::Checksum, Confidence::Certain);
    let body = format!("ATATT3{}", made_up(180));
    let sum = crc32fast::hash(body.as_bytes());
    check(&format!("a {body}={sum:08X} b"), "atlassian-api-token", Source::Checksum, Confidence::Certain);
}

#[test]
fn a_jwt_with_a_header_is_certain() {
    let header = "eyJhbGciOiJIUzI1NiJ9";
    check(
        &format!("a {header}.eyJ{}.{} b", made_up(40), made_up(43)),
        "jwt-named-header",
        Source::Format,
        Confidence::Certain,
    );
    check(
        &format!("a eyJ{}.eyJ{}.{} b", made_up(30), made_up(40), made_up(43)),
        "jwt",
        Source::Format,
        Confidence::High,
    );
}

#[test]
fn letters_before_a_marker_were_judged_with_what_it_stands_for() {
    checks::stays("dvc_mobile_aaaaHaaaLaNOabaaeaahajaBCDamara[REDACTED:registered]");
    checks::check(
        "dvc_mobile_qXkWvTzRbLnMjHgFdSpQcYx[REDACTED:token] dvc_mobile_qXkWvTzRbLnMjHgFdSpQcYx",
        "dvc_mobile_qXkWvTzRbLnMjHgFdSpQcYx[REDACTED:token] [REDACTED:devcycle-key]",
    );
}
