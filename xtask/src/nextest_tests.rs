use super::*;

fn check(line: &str, expected: Option<[u64; 3]>) {
    let expected = expected.map(|[passed, failed, skipped]| Counts { passed, failed, skipped });
    assert_eq!(parse_summary(line), expected, "{line}");
}

#[test]
fn summaries_of_every_kind_are_read() {
    check("     Summary [   0.005s] 1 test run: 1 passed, 0 skipped", Some([1, 0, 0]));
    check(
        "     Summary [   2.1s] 7 tests run: 5 passed (1 slow, 2 leaky), 1 failed, 1 timed out, 3 skipped",
        Some([5, 2, 3]),
    );
    check("     Summary [   2.1s] 2/9 tests run: 1 passed, 1 exec failed, 0 skipped", Some([1, 1, 0]));
    check(
        "\x1b[32;1m     Summary\x1b[0m [   0.1s] \x1b[1m4\x1b[0m tests run: \x1b[1m4\x1b[0m \x1b[32;1mpassed\x1b[0m, \x1b[1m2\x1b[0m \x1b[33;1mskipped\x1b[0m",
        Some([4, 0, 2]),
    );
}

#[test]
fn other_lines_are_not_summaries() {
    check("", None);
    check("        PASS [   0.004s] xtask prints::Summary_run: 1 passed", None);
    check("     Summary [   0.005s] no tests run", None);
    check("     Summary [   0.005s] 1 test run: many passed", None);
}

#[test]
fn the_closing_line_is_plain() {
    assert_eq!(Counts { passed: 12, failed: 3, skipped: 1 }.to_string(), "12 passed, 3 failed, 1 skipped");
}
