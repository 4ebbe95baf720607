/// What must not compile: `Egress` is minted by a pass of its tier, and by nothing else.
#[test]
fn no_other_door() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
