//! Where atoms stand, and what they were computed from.

use probity_trace::{
    Atom, CopyIndex, CopySource, Operation, Sameness, VERBATIM_BYTES_MIN, VerbatimIndex, atoms_of_text,
};

fn index<'t>(texts: &[&'t str]) -> CopyIndex<'t, usize> {
    CopyIndex::new(texts.iter().enumerate().map(|(key, text)| CopySource { key, text }))
}

fn only_atom(text: &str) -> Atom {
    let atoms = atoms_of_text(text);
    assert_eq!(atoms.len(), 1, "one atom in {text:?}: {atoms:?}");
    atoms.into_iter().next().unwrap()
}

/// The holders of the one atom of `asked`: the source, what stands there, and what is the same.
#[track_caller]
fn check(asked: &str, sources: &[&str], expected: &[(usize, &str, Sameness)]) {
    let copies = index(sources).find(&only_atom(asked));
    let found: Vec<_> = copies
        .holders
        .iter()
        .map(|holder| (holder.source, &sources[holder.source][holder.range.clone()], holder.sameness))
        .collect();
    assert_eq!(found, expected, "{asked:?} in {sources:?}");
    assert!(copies.left_out == 0);
}

#[test]
fn equal_values_are_told_apart_from_equal_bytes() {
    check(
        "pay 1.234,50 EUR",
        &["is 1234.50", "is 1.234,50"],
        &[(0, "1234.50", Sameness::Value), (1, "1.234,50", Sameness::Bytes)],
    );
    check(
        "on May 20",
        &[r#"{"date": "2024-05-20"}"#, "May 21, 2024-06-20"],
        &[(0, "2024-05-20", Sameness::Value)],
    );
    check("on 2024-05-20", &["on May 20th", "May 20, 2023"], &[(0, "May 20th", Sameness::Value)]);
    check("has 20 bags", &["twenty, not twenty-five"], &[(0, "twenty", Sameness::Value)]);
    check("at 7:00 PM", &["19:00:00 or 7:00"], &[(0, "19:00:00", Sameness::Value)]);
    check("the 1,234 of", &["1.234"], &[(0, "1.234", Sameness::Value)]);
    check("in New York", &["new_york", "New England, York"], &[(0, "new_york", Sameness::Value)]);
    check("is 7504069 there", &[r#""certificate_7504069""#], &[(0, "7504069", Sameness::Bytes)]);
    check("by HAT136", &["hat136, HAT1367"], &[(0, "hat136", Sameness::Value)]);
}

#[test]
fn what_differs_is_no_copy() {
    check("pay $250", &["250 EUR", "250%"], &[]);
    check("on 2024-05-20", &["May 2024", "2024-05-21"], &[]);
    check("the 1234 of", &["12345, 234, 1234567"], &[]);
    check("in New York", &["York, new"], &[]);
    check("by HAT136", &["HAT 136"], &[]);
}

#[test]
fn names_in_two_members_are_parts() {
    let source = r#"{"first_name": "Mia", "last_name": "Li"}"#;
    check("with Mia Li here", &[source], &[(0, r#"Mia", "last_name": "Li"#, Sameness::Parts)]);
}

#[test]
fn ranges_are_of_the_original_where_json_has_escapes() {
    let source = r#"{"note": "line\nHAT136 \u00e9 HAT136"}"#;
    check("by HAT136", &[source], &[(0, "HAT136", Sameness::Bytes), (0, "HAT136", Sameness::Bytes)]);
    check("in Zürich", &[r#"{"a":"\n Z\u00fcrich"}"#], &[(0, r"Z\u00fcrich", Sameness::Bytes)]);
}

#[test]
fn only_the_first_sources_count_where_asked() {
    let index = index(&["nothing", "is 255", "is 255 too"]);
    let atom = only_atom("costs 255");
    let holders = |first| {
        index.find_in_first(&atom, first).holders.iter().map(|holder| holder.source).collect::<Vec<_>>()
    };
    assert_eq!((holders(1), holders(2), holders(9)), (vec![], vec![1], vec![1, 2]));
}

#[test]
fn chance_grows_with_the_text_and_falls_with_the_value() {
    let short = index(&["1 2 3 4 5 6 7 8 9"]);
    let long_text = "5 6 7 8 ".repeat(100);
    let long = index(&[&long_text]);
    let chance = |index: &CopyIndex<'_, usize>, text| index.find(&only_atom(text)).chance.probability;
    assert!(chance(&short, "is 7") < chance(&long, "is 7"));
    assert!(chance(&long, "is 7504069") < 0.001 && chance(&long, "is 7") > 0.9);
}

#[track_caller]
fn check_computed(asked: &str, sources: &[&str], operation: Operation, operands: &[&str]) {
    let computed = index(sources).operands(sources.len()).computed(&only_atom(asked));
    let best =
        computed.computations.first().unwrap_or_else(|| panic!("nothing computes {asked:?}: {computed:?}"));
    let found: Vec<&str> =
        best.operands.iter().map(|operand| &sources[operand.source][operand.range.clone()]).collect();
    assert_eq!((best.operation, found.as_slice()), (operation, operands), "{asked:?}: {computed:?}");
    assert!(best.chance <= 1.0 && computed.hits >= 1 && computed.tried >= computed.hits);
}

#[test]
fn values_computed_from_others() {
    check_computed("is $255", &[r#"{"price": 152}, {"price": 103}"#], Operation::Sum, &["152", "103"]);
    check_computed("is 55", &["of 305, paid 250"], Operation::Difference, &["305", "250"]);
    check_computed("is $150", &["$50 for each of 3 people"], Operation::Product, &["50", "3"]);
    check_computed("is 33.3% of", &["1 of 3, 50 and 150"], Operation::Percentage, &["50", "150"]);
    check_computed("is 41.85 in all", &["15% of 279"], Operation::PercentOf, &["15", "279"]);
    check_computed("about 3.14", &["is 3.14159"], Operation::Rounded, &["3.14159"]);
    check_computed(
        "is 317",
        &[r#"[{"p": 100}, {"p": 105}, {"p": 112}]"#],
        Operation::Sum,
        &["100", "105", "112"],
    );
    check_computed(
        "there are 3",
        &[r#"[{"p": 100}, {"p": 105}, {"p": 112}]"#],
        Operation::Count,
        &["100", "105", "112"],
    );
    check_computed(
        "13 days",
        &["2024-05-02 and 2024-05-15"],
        Operation::DaysBetween,
        &["2024-05-02", "2024-05-15"],
    );
    check_computed("on 2024-05-22", &["7 days after 2024-05-15"], Operation::DaysAfter, &["2024-05-15", "7"]);
    check_computed(
        "is 2.5 hours",
        &["07:00:00 to 09:30:00"],
        Operation::TimeBetween,
        &["07:00:00", "09:30:00"],
    );
}

#[test]
fn an_accident_is_said_to_be_likely() {
    let many: String = (10..90).map(|number| format!("{number} ")).collect();
    let chance = |asked, text: &str| {
        let computed = index(&[text]).operands(1).computed(&only_atom(asked));
        computed.computations.first().map(|best| best.chance)
    };
    assert!(chance("is 97", &many).unwrap() > 0.99);
    assert!(chance("is 1402.37", "1000.25 and 402.12").unwrap() < 0.001);
    assert_eq!(chance("is 987654", &many), None);
}

#[test]
fn long_passages_word_for_word() {
    let policy = "Basic economy flights cannot be modified under any circumstances.";
    let sources = [CopySource { key: "old", text: policy }, CopySource { key: "new", text: policy }];
    let asked = "Sorry: economy flights cannot be modified under the rules of ours";
    let spans = VerbatimIndex::new(sources).spans(asked, VERBATIM_BYTES_MIN);
    let [span] = spans.as_slice() else { panic!("one passage: {spans:?}") };
    assert_eq!(&asked[span.range.clone()], " economy flights cannot be modified under ");
    assert_eq!((&policy[span.source_range.clone()], span.source), (&asked[span.range.clone()], "old"));
}
