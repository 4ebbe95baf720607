//! Megabytes a second of the pass on one thread, output written, beside what bounds it: a copy, a `memchr` scan and an
//! `aho-corasick` scan of the same text in the same run.
//!
//! `PROBITY_BENCH_MB` sets the size of a text (64 by default).
#![allow(missing_docs, reason = "a bench has no public items")]
#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::expect_used,
    reason = "the texts are made here of word lists in ASCII; a bench that breaks says so"
)]
#![expect(clippy::disallowed_methods, reason = "the size of a text is a setting of the bench")]

mod texts;

use std::hint::black_box;
use std::time::Duration;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use probity_egress::{Human, SamePrincipal, egress_text};

/// Beginnings of tokens, for the scan that many tools begin with.
const LITERALS: [&str; 32] = [
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "sk_live_",
    "rk_live_",
    "sk-ant-",
    "sk-proj-",
    "npm_",
    "pypi-",
    "dop_v1_",
    "hvs.",
    "eyJ",
    "-----BEGIN",
    "SG.",
    "shpat_",
    "lin_api_",
    "ATATT3",
    "glsa_",
    "dckr_pat_",
    "hf_",
    "r8_",
    "sqp_",
    "figd_",
];

fn throughput(criterion: &mut Criterion) {
    let mb = std::env::var("PROBITY_BENCH_MB").ok().and_then(|mb| mb.parse().ok()).unwrap_or(64);
    let scan = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(LITERALS).expect("few literals");
    for (name, text) in texts::all(mb * 1_000_000) {
        let mut group = criterion.benchmark_group(name);
        group
            .throughput(Throughput::Bytes(text.len() as u64))
            .sampling_mode(SamplingMode::Flat)
            .sample_size(10)
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_secs(2));
        let id = |what| BenchmarkId::new(what, mb);
        group.bench_function(id("same-principal"), |b| {
            b.iter(|| black_box(egress_text::<SamePrincipal>(&text)))
        });
        if matches!(name, "prose" | "mix") {
            group.bench_function(id("human"), |b| b.iter(|| black_box(egress_text::<Human>(&text))));
            group.bench_function(id("copy"), |b| b.iter(|| black_box(text.clone())));
            group.bench_function(id("memchr"), |b| {
                b.iter(|| black_box(memchr::memchr_iter(b'=', text.as_bytes()).count()));
            });
            group.bench_function(id("aho-corasick"), |b| b.iter(|| black_box(scan.find_iter(&text).count())));
        }
        group.finish();
    }
}

criterion_group!(benches, throughput);
criterion_main!(benches);
