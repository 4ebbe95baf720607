use super::*;

#[test]
fn names_are_checked_in_the_constructor_and_on_the_wire() {
    for bad in ["", "a b", "../x", "é", "a\n", &"x".repeat(65)] {
        assert!(RunId::new(bad).is_err(), "{bad:?}");
        assert!(ToolName::new(bad).is_err(), "{bad:?}");
        let wire = serde_json::to_string(bad).unwrap();
        assert!(serde_json::from_str::<RunId>(&wire).is_err(), "{bad:?}");
    }
    assert_eq!(ToolName::new("fs_read").unwrap().as_str(), "fs_read");
    assert!(PolicyName::new(" \t ").is_err());
    assert!(PrincipalId::new("ada@example.org").is_ok());
}

#[test]
fn a_refused_name_is_quoted_without_control_characters() {
    let error = RunId::new("a\u{1b}[31m").unwrap_err().to_string();
    assert_eq!(error, "use `a[31m` as a run id: 1 to 64 ASCII letters, digits, `_` or `-`");
}

/// A quote that is cut may hold the beginning of a credential, which no pass finds.
#[test]
fn a_refused_name_is_quoted_whole_or_not_at_all() {
    let long = format!("{} {}", "x".repeat(50), "y".repeat(50));
    for error in [RunId::new(&long).unwrap_err(), long.parse::<CallId>().unwrap_err()] {
        assert!(error.to_string().contains(&format!("`{long}`")), "{error}");
    }
    for error in
        [RunId::new("x".repeat(5_000)).unwrap_err(), "x".repeat(5_000).parse::<CallId>().unwrap_err()]
    {
        assert!(error.to_string().contains("`[a text of 5000 bytes]`"), "{error}");
    }
}

#[test]
fn counted_ids_read_back_as_they_are_shown() {
    assert_eq!(ItemId(7).to_string(), "i7");
    assert_eq!("c3".parse::<CallId>().unwrap(), CallId(3));
    assert!("3".parse::<CallId>().is_err());
    assert!("m-1".parse::<ModelCallId>().is_err());
}
