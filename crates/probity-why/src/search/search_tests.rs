#![expect(clippy::panic, reason = "tests")]

use super::*;

/// A world in which the answer stays unless `flips` says otherwise, and comes out otherwise by chance at a rate of `noise`.
struct World<F: Fn(&Arm) -> bool> {
    flips: F,
    noise: f64,
    seed: u64,
}

impl<F: Fn(&Arm) -> bool> World<F> {
    fn shot(&mut self, arm: &Arm) -> Shot {
        let is_odd = self.draw() < self.noise;
        let outcome = if (self.flips)(arm) != is_odd { Outcome::Flipped } else { Outcome::Kept };
        Shot { outcome, cost: Cost { model_calls: 1, microdollars: 10 } }
    }

    /// SplitMix64, as a share of 1.
    fn draw(&mut self) -> f64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let share = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        share
    }
}

fn suspects(count: usize) -> Vec<Suspect> {
    (0..count)
        .map(|number| Suspect {
            change: Change::Neutralise,
            first_seen: 0,
            lead: -f64::from(u32::try_from(number).unwrap_or(u32::MAX)),
        })
        .collect()
}

fn search_with<F: Fn(&Arm) -> bool>(
    suspects: Vec<Suspect>,
    settings: Settings,
    mut world: World<F>,
) -> Findings {
    let Ok(mut search) = Search::new(suspects, 0, settings) else { panic!("settings are in range") };
    loop {
        match search.step() {
            Next::Run(arm) => search.heard(world.shot(&arm)),
            Next::Done(findings) => return findings,
        }
    }
}

fn search(count: usize, flips: impl Fn(&Arm) -> bool) -> Findings {
    search_with(suspects(count), Settings::default(), World { flips, noise: 0.0, seed: 1 })
}

fn convicted(findings: &Findings) -> Vec<(usize, VerdictKind)> {
    let of = |verdict: &Verdict| (verdict.suspect, verdict.kind.clone());
    let mut all: Vec<_> = findings.verdicts.iter().filter(|v| v.kind.is_conviction()).map(of).collect();
    all.sort_by_key(|(number, _)| *number);
    all
}

fn without(arm: &Arm, number: usize) -> bool {
    arm.without.contains(&number)
}

#[test]
fn the_culprit_at_the_top_of_the_rank_takes_six_shots() {
    let findings = search(32, |arm| without(arm, 0));
    assert_eq!(convicted(&findings), [(0, VerdictKind::Necessary)]);
    assert_eq!((findings.shots, findings.ended, findings.sufficient), (6, Ended::Complete, vec![0]));
}

#[test]
fn a_culprit_anywhere_is_found() {
    for culprit in 0..128 {
        let findings = search(128, |arm| without(arm, culprit));
        assert_eq!(convicted(&findings), [(culprit, VerdictKind::Necessary)]);
        assert!(findings.shots <= 24, "{culprit}: {} shots", findings.shots);
        assert!(findings.verdicts.iter().skip(1).all(|verdict| verdict.kind == VerdictKind::Rejected));
    }
}

#[test]
fn where_nothing_is_needed_nobody_is_convicted() {
    let findings = search(32, |_| false);
    assert_eq!(convicted(&findings), []);
    assert!(findings.none_needed);
    assert!(findings.shots <= 7, "{}", findings.shots);
}

#[test]
fn two_that_only_together_hold_the_answer_are_joint() {
    for (a, b) in [(0, 1), (0, 20), (7, 30), (15, 16)] {
        let findings = search(32, |arm| without(arm, a) || without(arm, b));
        let expected = [(a, VerdictKind::JointWith(vec![b])), (b, VerdictKind::JointWith(vec![a]))];
        assert_eq!(convicted(&findings), expected);
        assert_eq!(findings.sufficient.len(), 2);
    }
}

#[test]
fn two_that_each_hold_the_answer_are_redundant() {
    for (a, b) in [(0, 1), (0, 20), (7, 30), (15, 16)] {
        let findings = search(32, |arm| without(arm, a) && without(arm, b));
        let expected = [(a, VerdictKind::RedundantWith(vec![b])), (b, VerdictKind::RedundantWith(vec![a]))];
        assert_eq!(convicted(&findings), expected, "{findings:#?}");
        println!("{} shots", findings.shots);
    }
}

#[test]
fn an_absent_item_that_changes_the_answer_is_found() {
    let mut all = suspects(40);
    for suspect in all.iter_mut().skip(32) {
        suspect.change = Change::Restore;
    }
    let world = World { flips: |arm: &Arm| arm.with.contains(&37) || without(arm, 3), noise: 0.0, seed: 1 };
    let findings = search_with(all, Settings::default(), world);
    assert_eq!(convicted(&findings), [(3, VerdictKind::Necessary), (37, VerdictKind::Absent(vec![]))]);
    println!("{} shots", findings.shots);
}

#[test]
fn convictions_of_the_innocent_stay_below_alpha_at_every_noise() {
    const RUNS: u32 = 4000;
    for noise in [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6] {
        let (mut wrong, mut shots) = (0, 0);
        for run in 0..RUNS {
            let world = World { flips: |_: &Arm| false, noise, seed: u64::from(run) << 20 };
            let findings = search_with(suspects(32), Settings::default(), world);
            wrong += u32::from(!convicted(&findings).is_empty());
            shots += findings.shots;
        }
        println!(
            "noise {noise}: {:.4} convicted, {:.1} shots",
            f64::from(wrong) / f64::from(RUNS),
            f64::from(shots) / f64::from(RUNS)
        );
    }
}

#[test]
fn culprits_are_found_through_noise() {
    const RUNS: u32 = 1000;
    for noise in [0.0, 0.05, 0.1, 0.2] {
        for culprit in [0, 1, 2, 10, 31] {
            let (mut right, mut first, mut wrong, mut shots) = (0, 0, 0, 0);
            for run in 0..RUNS {
                let world =
                    World { flips: |arm: &Arm| without(arm, culprit), noise, seed: u64::from(run) << 20 };
                let findings = search_with(suspects(32), Settings::default(), world);
                let is_right = convicted(&findings) == [(culprit, VerdictKind::Necessary)];
                right += u32::from(is_right);
                first += u32::from(findings.verdicts[0].suspect == culprit);
                wrong += u32::from(convicted(&findings).iter().any(|(number, _)| *number != culprit));
                shots += findings.shots;
            }
            let share = |count: u32| f64::from(count) / f64::from(RUNS);
            println!(
                "noise {noise} rank {culprit}: right {:.3} first {:.3} wrong {:.3} shots {:.1}",
                share(right),
                share(first),
                share(wrong),
                share(shots)
            );
        }
    }
}
