use super::*;

fn kept_rate(kept: u32, flipped: u32) -> Interval {
    Tally { kept, flipped, ..Tally::default() }.kept_rate(0.05)
}

#[test]
fn an_interval_holds_its_rate_and_narrows() {
    assert_eq!(kept_rate(0, 0), Interval { low: 0.0, high: 1.0 });
    let mut before = 1.0;
    for shots in [2, 10, 100, 1000] {
        let Interval { low, high } = kept_rate(shots, shots);
        assert!(low < 0.5 && 0.5 < high && high - low < before, "{shots}: {low} to {high}");
        before = high - low;
    }
}

#[test]
fn what_never_flipped_may_always_be_kept() {
    let Interval { low, high } = kept_rate(5, 0);
    assert!(high == 1.0 && low > 0.3 && low < 0.6, "{low} to {high}");
    let Interval { low, high } = kept_rate(0, 5);
    assert!(low == 0.0 && high > 0.4 && high < 0.7, "{low} to {high}");
}

#[test]
fn the_largest_counts_are_no_trouble() {
    let Interval { low, high } = kept_rate(200_000, 100_000);
    assert!(low > 0.66 && high < 0.675, "{low} to {high}");
}
