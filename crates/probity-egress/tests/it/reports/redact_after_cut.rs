//! The text was cut before it was searched.

use probity_egress::{
    SamePrincipal, bounded_summary, egress_text, extension_words, fenced_for_human, one_line_untrusted,
};

use super::{Draw, gone};

/// Cuts a text with the secret at each place by every bounded door, and looks for pieces of the secret.
fn cut_everywhere(secret: &str, before: &str, after: &str) {
    for lead in 0..70 {
        let text = format!("{}{before}{secret}{after}", "a ".repeat(lead));
        let max = 100;
        let doors = [
            bounded_summary(&egress_text::<SamePrincipal>(&text), max),
            one_line_untrusted::<SamePrincipal>(&text, max),
            extension_words::<SamePrincipal>(&text, max),
            fenced_for_human::<SamePrincipal>("label", &text, max),
            fenced_for_human::<SamePrincipal>(&text, "text", max),
        ];
        for out in doors {
            let chars: Vec<char> = secret.chars().collect();
            for piece in chars.windows(6) {
                let piece: String = piece.iter().collect();
                assert!(!out.as_str().contains(&piece), "`{piece}` of the secret is left in {out:?}");
            }
            let open = out.as_str().rfind("[RED").map_or("]", |at| &out.as_str()[at..]);
            assert!(open.contains(']'), "half a marker in {out:?}");
        }
    }
}

/// wienerdog-ai/wienerdog#303: the field's limit was applied first, and half a labelled token did not match.
#[test]
fn report_08_a_labelled_token_at_the_limit() {
    let mut draw = Draw::seeded(8);
    cut_everywhere(&draw.word(40), "api_key=", " and more");
    cut_everywhere(&draw.github(), "", " and more");
}

/// The converse of the same report: looking at the whole, filler after a token must not make it look less random.
#[test]
fn report_08_filler_beside_a_token_dilutes_nothing() {
    let mut draw = Draw::seeded(88);
    for filler in [".".repeat(1_968), "F".repeat(2_000), " a".repeat(900)] {
        let value = draw.word(32);
        gone(&format!("{filler} password={value} {filler}"), &value);
        gone(&format!("{filler} api_key: \"{value}\" {filler}"), &value);
    }
}

/// kirodotdev/KiroCrew#5582, #5599: five places sliced first; a cloud key id across the slice stayed.
#[test]
fn report_09_a_key_id_across_the_limit() {
    let mut draw = Draw::seeded(9);
    let id = format!("{}{}", "AKIA", draw.of(super::UPPER, 16));
    cut_everywhere(&id, "command=deploy ", " --now");
    cut_everywhere(&id, "aws_access_key_id = ", "\n");
}

/// damianvtran/local-operator#599, #1254: 20 of 40 characters of a secret key, 404 of 808 of a JWT, 63 of 64 of a value
/// were left at the cut.
#[test]
fn report_10_no_prefix_of_a_long_secret_at_the_cut() {
    let mut draw = Draw::seeded(10);
    cut_everywhere(&draw.word(40), "aws_secret_access_key=", "\n");
    cut_everywhere(&draw.jwt(), "token ", " end");
    cut_everywhere(&draw.of(super::HEX, 64), "SECRET_KEY=", "\n");
}

/// constructorfabric/studio#229: the value known from the environment was searched after the cut, so its remnant stayed.
#[test]
fn report_11_a_registered_value_at_the_cut() {
    let mut draw = Draw::seeded(11);
    let value = format!("{}-{}", draw.word(20), draw.word(20));
    assert!(probity_egress::register_secret(&value));
    cut_everywhere(&value, "stderr: could not log in as ", " today");
}

/// multica#8184: a bounded preview was made of raw text.
#[test]
fn report_12_a_preview_of_a_value() {
    let mut draw = Draw::seeded(12);
    cut_everywhere(&draw.anthropic(), "{\"text\":\"", "\"}");
    cut_everywhere(&draw.word(30), "{\"password\":\"", "\"}");
}

/// tldw_chatbook#1924: redacting first took 16 to 21 ms for a line of 100 KB, which is why the cut came first.
#[test]
fn report_13_redacting_a_long_line_first_is_cheap() {
    let mut draw = Draw::seeded(13);
    let secret = draw.github();
    let line = format!("{} {secret} {}", "lorem ipsum ".repeat(4_500), "dolor-sit=amet ".repeat(4_500));
    let begun = std::time::Instant::now();
    let out = bounded_summary(&egress_text::<SamePrincipal>(&line), 200);
    // Unoptimised, on a busy machine; what backtracks takes minutes.
    assert!(begun.elapsed().as_secs() < 10);
    assert!(!out.as_str().contains(&secret[..8]));
}

/// ohdearquant/khive#1044: a random segment among short ones lowered the average of the whole word, and stayed.
#[test]
fn report_14_a_random_segment_counts_by_itself() {
    let mut draw = Draw::seeded(14);
    for (before, after) in
        [("vault/", "/rotate.md"), ("a/b/c/d/", "/e/f.rs"), ("aaaaaaaaaaaa.", ".aaaaaaaaaaaa")]
    {
        let value = draw.word(40);
        gone(&format!("api_key={before}{value}{after} x"), &value);
        let token = draw.github();
        gone(&format!("open {before}{token}{after}"), &token);
    }
}
