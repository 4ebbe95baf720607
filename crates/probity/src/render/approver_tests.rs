use super::*;

fn yes(more: u32) -> Option<Typed> {
    Some(Typed::Yes { more })
}

fn no(reason: &str, for_good: bool) -> Option<Typed> {
    Some(Typed::No { reason: reason.to_owned(), for_good })
}

#[test]
fn what_is_typed_means_one_thing_or_nothing() {
    let check = |typed: &str, expected: Option<Typed>| assert_eq!(Typed::read(typed), expected, "{typed:?}");
    check("y\n", yes(0));
    check(" yes ", yes(0));
    check("yes, 3 times", yes(2));
    check("yes,1", yes(0));
    check("yes, 100 times", yes(99));
    check("n", no("the person said no", false));
    check("no, it is Friday", no("it is Friday", false));
    check("never", no("the person said never", true));
    check("never, that host", no("that host", true));
    check("e", Some(Typed::Edit));
    check("show", Some(Typed::Show));
    for nothing in [
        "",
        "Y",
        "yes.",
        "yes, 0 times",
        "yes, 101",
        "yes, -1",
        "yes, all",
        "yess",
        "ok",
        "nope",
        "sure, why not",
    ] {
        check(nothing, None);
    }
}
