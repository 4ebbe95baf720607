//! A small WhyBench: few seeds, and what must be so in every case.

use std::path::Path;

use crate::bench::{self, Draw, METHODS, Scored};

fn small() -> Vec<Scored> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("whybench/families");
    bench::run(&folder, Draw { seeds: 3, first_seed: 1, threads: 2 }, &METHODS[..1]).unwrap()
}

#[test]
fn whybench_small() {
    let all = small();
    bench::print(&all);
    assert!(all.iter().map(|s| s.family.as_str()).collect::<std::collections::BTreeSet<_>>().len() >= 14);
    for scored in all.iter().filter(|scored| scored.noise_percent == 0) {
        assert!(!scored.is_cut, "{scored:?}");
        assert_eq!(
            (scored.named_right, scored.f1, scored.is_absent_found),
            (scored.named, 1.0, true),
            "{scored:?}"
        );
    }
    let wrong = all.iter().filter(|scored| scored.named > scored.named_right).count();
    assert!(wrong * 100 <= all.len(), "{wrong} of {} convict an innocent", all.len());
}
