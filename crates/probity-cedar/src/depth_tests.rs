use super::*;

fn check(text: &str, expected: Result<usize, &str>) {
    assert_eq!(levels(text).map_err(|deep| deep.what), expected.map_err(str::to_owned), "{text}");
}

#[test]
fn brackets_and_operators_are_counted_a_policy() {
    check("", Ok(0));
    check("permit(principal, action, resource);", Ok(1));
    check("permit(p, a, r) when { a.b && !c }; permit(p, a, r) when { [[1]] };", Ok(4));
    check("if a then b else if c then d else e", Ok(2));
    check("ifs gif _if", Ok(0));
}

#[test]
fn strings_and_comments_do_not_count() {
    check(r#"x == "((((((" "#, Ok(0));
    check(r#"x == "\"((((" && y"#, Ok(1));
    check(r#"x == "\\" && ("#, Ok(2));
    check("// (((( && \" \n(", Ok(1));
    check("a / b // ((", Ok(0));
}

#[test]
fn the_bounds_are_told_with_their_place() {
    let nested = |n: usize| "(".repeat(n) + &")".repeat(n);
    check(&nested(POLICY_NESTING_MAX), Ok(POLICY_NESTING_MAX));
    check(&nested(POLICY_NESTING_MAX + 1), Err("more than 32 brackets inside each other"));
    assert_eq!(levels(&nested(POLICY_NESTING_MAX + 1)).unwrap_err().offset, POLICY_NESTING_MAX);
    let chain = |n: usize| "a && ".repeat(n) + "a;";
    check(&chain(POLICY_OPERATORS_MAX), Ok(POLICY_OPERATORS_MAX));
    check(&chain(POLICY_OPERATORS_MAX + 1), Err("more than 256 operators in one policy"));
    check(&chain(POLICY_OPERATORS_MAX).repeat(3), Ok(POLICY_OPERATORS_MAX));
}
