//! What must not compile: the promises of the permit, the frozen call and the exits.

mod interleavings;

/// A permit has one maker and one use, a frozen call does not change, and no exit takes an unchecked text.
#[test]
fn no_way_around_the_gate() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
