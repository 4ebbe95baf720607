/// What must not compile: a task below another one without its ceiling.
#[test]
fn no_way_around_the_ceiling() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
