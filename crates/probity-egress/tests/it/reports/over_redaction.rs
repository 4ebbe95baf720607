//! What is no secret was taken away.

use super::{ALNUM, BASE64, Draw, HEX, stays};

/// griffinwork40/agent-afk#549, rjmurillo/ai-agents#2353: commits were masked, and with them the evidence.
#[test]
fn report_42_commits_stay() {
    let mut draw = Draw::seeded(42);
    for _ in 0..20 {
        let (sha, short) = (draw.of(HEX, 40), draw.of(HEX, 9));
        stays(&format!("commit {sha}\nMerge: {short} {short}\n"));
        stays(&format!("uses: actions/checkout@{sha} # v4"));
        stays(&format!("{sha} refs/heads/main"));
        stays(&format!("git log {short}..{sha}"));
        stays(&format!("\"commit\": \"{sha}\", \"sha\": \"{sha}\", \"head_sha\": \"{sha}\""));
        stays(&format!("https://github.com/o/r/commit/{sha}"));
        stays(&format!("index {}..{} 100644", &sha[..7], &sha[9..16]));
    }
}

/// IBM/detect-secrets#146, Yelp/detect-secrets#693, #250, #266: integrity of lock files, and identifiers.
#[test]
fn report_43_integrity_and_identifiers_stay() {
    let mut draw = Draw::seeded(43);
    for _ in 0..20 {
        let (long, short) = (draw.of(BASE64, 86), draw.of(BASE64, 43));
        stays(&format!("      \"integrity\": \"sha512-{long}==\","));
        stays(&format!("  integrity sha512-{long}=="));
        stays(&format!("golang.org/x/y v0.1.0 h1:{short}="));
        stays(&format!("checksum = \"{}\"", draw.of(HEX, 64)));
        stays(&format!("    --hash=sha256:{}", draw.of(HEX, 64)));
        stays(&format!("FROM alpine@sha256:{}", draw.of(HEX, 64)));
        let id = draw.of(HEX, 32);
        stays(&format!("id: {}-{}-4{}-a{}-{}", &id[..8], &id[8..12], &id[12..15], &id[15..18], &id[18..30]));
    }
}

/// gitleaks/gitleaks#1775: revisions in build recipes. #1578, #877, #850, #1111: prose, public keys, names and versions.
#[test]
fn report_44_recipes_prose_and_names_stay() {
    let mut draw = Draw::seeded(44);
    let sha = draw.of(HEX, 40);
    stays(&format!("SRCREV = \"{sha}\"\nSRCREV_machine ?= \"{sha}\"\n"));
    stays(&format!("LIC_FILES_CHKSUM = \"file://COPYING;md5={}\"", draw.of(HEX, 32)));
    stays("a username/password combination. Then the next sentence follows.");
    stays("the access key rotation policy, the secret santa, and a token of thanks");
    stays("\"client_id\": \"my-client\", \"key_word\": \"monkey\", \"api_version\": \"2024-01-01-preview\"");
    stays("secret_name: my-app-credentials\nsecretKeyRef:\n  name: app-secrets\n  key: db-password\n");
    stays(&format!("public_key = \"{}\"", draw.of(BASE64, 44)));
    stays("keyboard = \"qwerty-2024\"; monkey: 12345678; rapid=true");
    stays("let token = parser.next_token()?; let key = map.keys().next();");
}

/// mongodb/kingfisher#246: identifiers in a document's metadata were reported as keys of the vendor named beside them.
#[test]
fn report_45_identifiers_of_documents_stay() {
    let mut draw = Draw::seeded(45);
    let id = draw.of("0123456789ABCDEF", 32);
    stays(&format!("/Info 7 0 R\n/ID [<{id}> <{id}>]\n"));
    stays(&format!("<xmpMM:DocumentID>uuid:{id}</xmpMM:DocumentID> Adobe XMP"));
    stays(&format!("xmpMM:InstanceID=\"xmp.iid:{id}\" photoshop:ColorMode=\"3\""));
}

/// squirrelscan/squirrelscan#357: at 776 sites every finding of the highest rank was false: a tail of an interaction's
/// identifier, a piece of a file's name.
#[test]
fn report_46_pieces_of_longer_names_stay() {
    let mut draw = Draw::seeded(46);
    for _ in 0..10 {
        let id = draw.of(HEX, 32);
        stays(&format!(
            "data-w-id=\"a{}:{}-{}-{}-{}-{}\"",
            draw.of("0123456789", 12),
            &id[..8],
            &id[8..12],
            &id[12..16],
            &id[16..20],
            &id[20..32]
        ));
    }
    stays("src=\"/img/Hand_Care_DryCrackedSkinReliefHydratingBalm_ATF_Desktop.jpg\"");
    stays("class=\"task-notification risk-level disk-usage-percentage-indicator-2\"");
}

/// BerriAI/litellm#39879: a tag of the conversation was masked. data-privacy-stack/presidio#1498, #951,
/// Samsung/CredSweeper#195: words and constants.
#[test]
fn report_46_tags_words_and_constants_stay() {
    let mut draw = Draw::seeded(462);
    stays("<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>");
    stays("region = ASIAANDPACIFICREGION");
    stays("ASIAPACIFICANDOCEANIA and AKIARACCOONSAREREALLY");
    stays("Call me at noon, ISBN 978-3-16-148410-0, build 20240131235959, order 4111-2222");
    stays(&format!("trace_id={} span_id={}", draw.of(HEX, 32), draw.of(HEX, 16)));
    stays(&format!("ETag: \"{}\"\nX-Request-Id: {}", draw.of(HEX, 32), draw.of(ALNUM, 24)));
}
