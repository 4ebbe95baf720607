//! The tables, and the targets.

use std::collections::BTreeMap;

use super::NOISE_PERCENT;
use super::case::SIZES;
use super::family::Kind;
use super::methods::METHODS;
use super::score::Scored;
use super::texts::to_f64;

/// The error that the search is run with.
const ALPHA: f64 = 0.05;

/// A figure beside what was aimed at.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) measured: String,
    pub(crate) wanted: String,
    pub(crate) is_met: bool,
}

/// Every target of the search.
pub(crate) fn targets(all: &[Scored]) -> Vec<Target> {
    let ours = METHODS[0].name;
    let mut targets = Vec::new();
    for (percent, wanted) in [(0, 0.995), (5, 0.98), (10, 0.95)] {
        let share = share(&pick(all, ours, |s| s.kind == Kind::Single && s.noise_percent == percent), |s| {
            s.is_top_right
        });
        targets.push(at_least(format!("single culprit first, noise {percent} %"), share, wanted));
    }
    for percent in NOISE_PERCENT {
        for (name, kind) in [("joint", Kind::Joint), ("redundant", Kind::Redundant)] {
            let f1 = mean(&pick(all, ours, |s| s.kind == kind && s.noise_percent == percent), |s| s.f1);
            targets.push(Target {
                wanted: ">= 0.95".into(),
                ..at_least(format!("set F1, {name}, noise {percent} %"), f1, 0.95)
            });
        }
    }
    for percent in NOISE_PERCENT {
        let found = share(&pick(all, ours, |s| s.kind == Kind::Absent && s.noise_percent == percent), |s| {
            s.is_absent_found
        });
        targets.push(at_least(format!("absent cause found, noise {percent} %"), found, 0.95));
    }
    let innocent = |s: &Scored| s.has_decoy || s.kind == Kind::None;
    for percent in NOISE_PERCENT {
        let wrong = share(&pick(all, ours, |s| innocent(s) && s.noise_percent == percent), |s| {
            s.named > s.named_right
        });
        targets.push(at_most(
            format!("false conviction, decoy and no culprit, noise {percent} %"),
            wrong,
            0.01,
        ));
    }
    for percent in NOISE_PERCENT {
        let wrong = share(&pick(all, ours, |s| s.noise_percent == percent), |s| s.named > s.named_right);
        targets.push(at_most(format!("any false conviction (alpha), noise {percent} %"), wrong, ALPHA));
    }
    let picked = pick(all, ours, |_| true);
    let (named, right) = picked.iter().fold((0, 0), |(n, r), s| (n + s.named, r + s.named_right));
    targets.push(at_least("convictions that are right".into(), to_f64(right) / to_f64(named.max(1)), 0.99));
    let at_32: Vec<&Scored> = pick(all, ours, |s| s.size == 32);
    for percent in [None, Some(0), Some(5), Some(10), Some(20)] {
        let some: Vec<&Scored> = at_32
            .iter()
            .copied()
            .filter(|s| percent.is_none_or(|percent| s.noise_percent == percent))
            .collect();
        let noise = percent.map_or("all noise".to_owned(), |percent| format!("noise {percent} %"));
        let calls = mean(&some, |s| f64::from(s.calls));
        targets.push(Target {
            name: format!("mean calls at 32, {noise}"),
            measured: format!("{calls:.1}"),
            wanted: "<= 6".into(),
            is_met: calls <= 6.0,
        });
        let high = quantile(&some, 0.95);
        targets.push(Target {
            name: format!("p95 calls at 32, {noise}"),
            measured: high.to_string(),
            wanted: "<= 24".into(),
            is_met: high <= 24,
        });
    }
    targets
}

/// Prints all tables as Markdown.
pub(crate) fn print(all: &[Scored]) {
    println!("## Targets\n\n| figure | measured | target | |\n|---|---|---|---|");
    for target in targets(all) {
        let word = if target.is_met { "PASS" } else { "SHORT" };
        println!("| {} | {} | {} | {word} |", target.name, target.measured, target.wanted);
    }
    println!("\n## Beside the baselines\n");
    println!(
        "A method that only ranks is told how many culprits there are, and named are as many of its first.\n"
    );
    println!(
        "| method | noise % | single first % | F1 joint | F1 redundant | absent % | false conviction % (decoy, none) | any false % | right of named % | calls mean | p95 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for method in METHODS.iter().map(|method| method.name) {
        for percent in NOISE_PERCENT {
            let of = |kind: Kind| pick(all, method, move |s| s.kind == kind && s.noise_percent == percent);
            let some = pick(all, method, |s| s.noise_percent == percent);
            if some.is_empty() {
                continue;
            }
            let guarded =
                pick(all, method, |s| (s.has_decoy || s.kind == Kind::None) && s.noise_percent == percent);
            let is_wrong = |s: &Scored| s.named > s.named_right;
            let (named, right) = some.iter().fold((0, 0), |(n, r), s| (n + s.named, r + s.named_right));
            println!(
                "| {method} | {percent} | {:.1} | {:.3} | {:.3} | {:.1} | {:.2} | {:.2} | {:.1} | {:.1} | {} |",
                100.0 * share(&of(Kind::Single), |s| s.is_top_right),
                mean(&of(Kind::Joint), |s| s.f1),
                mean(&of(Kind::Redundant), |s| s.f1),
                100.0 * share(&of(Kind::Absent), |s| s.is_absent_found),
                100.0 * share(&guarded, is_wrong),
                100.0 * share(&some, is_wrong),
                100.0 * to_f64(right) / to_f64(named.max(1)),
                mean(&some, |s| f64::from(s.calls)),
                quantile(&some, 0.95),
            );
        }
    }
    println!("\n## The search by family (all sizes): right % / calls mean, by noise\n");
    println!("| family | 0 % | 5 % | 10 % | 20 % |\n|---|---|---|---|---|");
    let mut families: BTreeMap<&str, Kind> = BTreeMap::new();
    families.extend(all.iter().map(|s| (s.family.as_str(), s.kind)));
    for family in families.keys() {
        let cells = NOISE_PERCENT.map(|percent| {
            let some = pick(all, METHODS[0].name, |s| s.family == *family && s.noise_percent == percent);
            let right = share(&some, |s| s.f1 >= 1.0 && s.is_absent_found);
            format!("{:.1} / {:.1}", 100.0 * right, mean(&some, |s| f64::from(s.calls)))
        });
        println!("| {family} | {} |", cells.join(" | "));
    }
    println!("\n## The search by size and turns: calls mean / p95 / shots mean / without an end %\n");
    println!("| | 0 % | 5 % | 10 % | 20 % |\n|---|---|---|---|---|");
    let row = |name: String, is_in: &dyn Fn(&Scored) -> bool| {
        let cells = NOISE_PERCENT.map(|percent| {
            let some = pick(all, METHODS[0].name, |s| is_in(s) && s.noise_percent == percent);
            format!(
                "{:.1} / {} / {:.1} / {:.1}",
                mean(&some, |s| f64::from(s.calls)),
                quantile(&some, 0.95),
                mean(&some, |s| f64::from(s.shots)),
                100.0 * share(&some, |s| s.is_cut),
            )
        });
        println!("| {name} | {} |", cells.join(" | "));
    };
    for size in SIZES {
        row(format!("{size} suspects"), &|s| s.size == size);
    }
    for (from, to) in [(1, 1), (2, 4), (5, 9), (10, 20)] {
        row(format!("{from} to {to} turns"), &|s| (from..=to).contains(&s.turns));
    }
}

fn at_least(name: String, share: f64, wanted: f64) -> Target {
    let measured = format!("{share:.4}");
    Target { name, measured, wanted: format!(">= {wanted}"), is_met: share >= wanted }
}

fn at_most(name: String, share: f64, wanted: f64) -> Target {
    let measured = format!("{share:.4}");
    Target { name, measured, wanted: format!("<= {wanted}"), is_met: share <= wanted }
}

fn pick<'a>(all: &'a [Scored], method: &str, is_in: impl Fn(&Scored) -> bool) -> Vec<&'a Scored> {
    all.iter().filter(|scored| scored.method == method && is_in(scored)).collect()
}

fn share(some: &[&Scored], is_so: impl Fn(&Scored) -> bool) -> f64 {
    mean(some, |scored| if is_so(scored) { 1.0 } else { 0.0 })
}

fn mean(some: &[&Scored], value: impl Fn(&Scored) -> f64) -> f64 {
    some.iter().map(|scored| value(scored)).sum::<f64>() / to_f64(some.len().max(1))
}

fn quantile(some: &[&Scored], share: f64) -> u32 {
    let mut calls: Vec<u32> = some.iter().map(|scored| scored.calls).collect();
    calls.sort_unstable();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
    let at = (to_f64(calls.len()) * share).ceil() as usize;
    calls.get(at.saturating_sub(1)).copied().unwrap_or(0)
}
