//! What had been redacted was redacted again.

use probity_egress::{Human, SamePrincipal, bounded_summary, egress_text, one_line_untrusted};

use super::{Draw, becomes, stays};

/// bastani/atomic#2825: a second pass made two markers of one. gitleaks/gitleaks#1188: a marker was a finding.
#[test]
fn report_50_a_marker_is_never_found() {
    let mut draw = Draw::seeded(50);
    for text in [
        format!("Authorization: Bearer {}", draw.word(30)),
        format!("password={} {}", draw.word(12), draw.github()),
        format!("https://u:{}@h/p?token={}", draw.word(12), draw.word(20)),
        format!("Cookie: a={}; b={}", draw.word(20), draw.word(20)),
    ] {
        let once = egress_text::<SamePrincipal>(&text);
        becomes(once.as_str(), once.as_str());
        let human = egress_text::<Human>(once.as_str());
        assert_eq!(egress_text::<Human>(human.as_str()), human);
        assert!(!human.as_str().contains("[REDACTED:[") && !human.as_str().contains("]["), "{human}");
        assert_eq!(one_line_untrusted::<Human>(human.as_str(), 500), human);
        assert_eq!(bounded_summary(&human, 500), human);
    }
    stays("password=[REDACTED:password][REDACTED:token]");
    stays("api_key: REDACTED, token: <redacted>, secret: ***");
}
