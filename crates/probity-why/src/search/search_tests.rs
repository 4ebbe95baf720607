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
            lead: -0.1 * f64::from(u32::try_from(number).unwrap_or(u32::MAX)),
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
fn the_culprit_at_the_top_of_the_rank_takes_five_shots_where_its_lead_is_clear_and_seven_where_all_leads_are_alike()
 {
    let findings = search(32, |arm| without(arm, 0));
    assert_eq!(convicted(&findings), [(0, VerdictKind::Necessary)]);
    assert_eq!((findings.shots, findings.ended, findings.sufficient), (7, Ended::Complete, vec![0]));

    let mut clear = suspects(32);
    clear[0].lead = 6.0;
    let world = World { flips: |arm: &Arm| without(arm, 0), noise: 0.0, seed: 1 };
    let findings = search_with(clear, Settings::default(), world);
    assert_eq!(convicted(&findings), [(0, VerdictKind::Necessary)]);
    assert_eq!((findings.shots, findings.sufficient), (5, vec![0]));
}

#[test]
fn what_right_convictions_have_spent_of_the_error_is_there_for_the_next() {
    // Two that are needed: where each conviction kept its share, the second would need more shots than the first.
    let findings = search(32, |arm| without(arm, 3) || without(arm, 9));
    assert_eq!(findings.verdicts.iter().filter(|v| v.kind.is_conviction()).count(), 2);
    assert!(findings.alpha_left > 0.0 && findings.alpha_left <= findings.alpha, "{}", findings.alpha_left);
    let shots = |verdict: &Verdict| verdict.changed.shots();
    assert!(shots(&findings.verdicts[0]).abs_diff(shots(&findings.verdicts[1])) <= 1, "{findings:?}");

    let nothing = search(32, |_| false);
    assert!(nothing.alpha_left > 0.0 && nothing.alpha_left <= nothing.alpha);
}

#[test]
fn the_error_holds_where_right_convictions_come_first() {
    const RUNS: u32 = 300;
    let mut wrong = 0;
    for run in 0..RUNS {
        let world = World {
            flips: |arm: &Arm| without(arm, 0) || without(arm, 2) || without(arm, 5),
            noise: 0.25,
            seed: u64::from(run) << 20,
        };
        let budget = Cost { model_calls: 400, microdollars: u64::MAX };
        let findings = search_with(suspects(24), Settings { budget, ..Settings::default() }, world);
        let is_wrong = |(number, _): &(usize, VerdictKind)| ![0, 2, 5].contains(number);
        wrong += u32::from(convicted(&findings).iter().any(is_wrong));
    }
    assert!(at_most(wrong, RUNS) <= 0.05, "{wrong} of {RUNS}");
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
        assert!(findings.shots <= 28, "{a}, {b}: {} shots", findings.shots);
    }
}

#[test]
fn two_that_each_hold_the_answer_are_redundant() {
    for (a, b) in [(0, 1), (0, 20), (7, 30), (15, 16)] {
        let findings = search(32, |arm| without(arm, a) && without(arm, b));
        let expected = [(a, VerdictKind::RedundantWith(vec![b])), (b, VerdictKind::RedundantWith(vec![a]))];
        assert_eq!(convicted(&findings), expected, "{:?} after {}", findings.ended, findings.shots);
        assert!(findings.shots <= 32, "{a}, {b}: {} shots", findings.shots);
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
}

/// The largest rate that so many cases of so many still allow, at three standard errors.
fn at_most(cases: u32, of: u32) -> f64 {
    let (cases, of) = (f64::from(cases), f64::from(of));
    let share = cases / of;
    share + 3.0 * (share.max(1.0 / of) * (1.0 - share) / of).sqrt()
}

#[test]
fn convictions_of_the_innocent_stay_below_alpha_at_every_noise_that_is_allowed() {
    const RUNS: u32 = 300;
    for noise in [0.0, 0.05, 0.1, 0.2, 0.3] {
        let mut wrong = 0;
        for run in 0..RUNS {
            let world = World { flips: |_: &Arm| false, noise, seed: u64::from(run) << 20 };
            let findings = search_with(suspects(16), Settings::default(), world);
            wrong += u32::from(!convicted(&findings).is_empty());
        }
        assert!(at_most(wrong, RUNS) <= 0.05, "{wrong} of {RUNS} at noise {noise}");
    }
}

#[test]
fn with_nothing_assumed_alpha_holds_at_any_noise() {
    const RUNS: u32 = 300;
    let settings = Settings { noise_max: 1.0, ..Settings::default() };
    for noise in [0.2, 0.4, 0.5, 0.6, 0.8] {
        let mut wrong = 0;
        for run in 0..RUNS {
            let world = World { flips: |_: &Arm| false, noise, seed: u64::from(run) << 20 };
            wrong += u32::from(!convicted(&search_with(suspects(16), settings.clone(), world)).is_empty());
        }
        assert!(at_most(wrong, RUNS) <= 0.05, "{wrong} of {RUNS} at noise {noise}");
    }
}

#[test]
fn culprits_are_found_through_noise_and_innocents_beside_them_are_not_convicted() {
    const RUNS: u32 = 150;
    for (noise, found_min) in [(0.0, 1.0), (0.05, 0.98), (0.1, 0.95), (0.2, 0.7)] {
        for culprit in [0, 2, 13] {
            let (mut found, mut wrong) = (0, 0);
            for run in 0..RUNS {
                let world =
                    World { flips: |arm: &Arm| without(arm, culprit), noise, seed: u64::from(run) << 20 };
                let findings = search_with(suspects(16), Settings::default(), world);
                found += u32::from(convicted(&findings) == [(culprit, VerdictKind::Necessary)]);
                wrong += u32::from(convicted(&findings).iter().any(|(number, _)| *number != culprit));
            }
            assert!(
                f64::from(found) >= found_min * f64::from(RUNS),
                "{found} of {RUNS}: {culprit} at {noise}"
            );
            assert!(at_most(wrong, RUNS) <= 0.05, "{wrong} of {RUNS} at noise {noise}");
        }
    }
}

#[test]
fn three_that_each_hold_the_answer_are_redundant() {
    let findings = search(16, |arm| [1, 6, 11].iter().all(|number| without(arm, *number)));
    let expected = [
        (1, VerdictKind::RedundantWith(vec![6, 11])),
        (6, VerdictKind::RedundantWith(vec![1, 11])),
        (11, VerdictKind::RedundantWith(vec![1, 6])),
    ];
    let mut found = convicted(&findings);
    for (_, kind) in &mut found {
        if let VerdictKind::RedundantWith(others) = kind {
            others.sort_unstable();
        }
    }
    assert_eq!(found, expected, "{:?} after {}", findings.ended, findings.shots);
}

#[test]
fn an_answer_that_comes_out_otherwise_by_itself_is_unsteady() {
    let findings = search(8, |_| true);
    assert_eq!((findings.ended, convicted(&findings)), (Ended::Unsteady, vec![]));
    assert!(findings.verdicts.iter().all(|verdict| verdict.kind == VerdictKind::Inconclusive));
    assert!(findings.shots <= 4);
}

#[test]
fn nothing_runs_beyond_the_budget() {
    for (model_calls, microdollars) in [(0, 100), (5, 100_000), (1000, 45)] {
        let settings = Settings { budget: Cost { model_calls, microdollars }, ..Settings::default() };
        let world = World { flips: |arm: &Arm| without(arm, 20), noise: 0.0, seed: 1 };
        let findings = search_with(suspects(32), settings, world);
        assert_eq!((findings.ended, convicted(&findings)), (Ended::Budget, vec![]));
        assert!(findings.shots <= 5);
    }
}

#[test]
fn shots_without_an_outcome_are_no_evidence_and_the_search_ends() {
    for outcome in [Outcome::Diverged, Outcome::Failed] {
        let Ok(mut search) = Search::new(suspects(8), 0, Settings::default()) else {
            panic!("settings are in range")
        };
        let mut shots = 0;
        let findings = loop {
            match search.step() {
                Next::Run(arm) => {
                    let outcome = if arm.is_baseline() { Outcome::Kept } else { outcome };
                    search.heard(Shot { outcome, cost: Cost { model_calls: 1, microdollars: 0 } });
                    shots += 1;
                }
                Next::Done(findings) => break findings,
            }
        };
        assert_eq!((findings.ended, convicted(&findings)), (Ended::Undecided, vec![]));
        assert!(shots <= 40, "{shots}");
        assert!(findings.verdicts.iter().all(|verdict| verdict.kind == VerdictKind::Inconclusive));
    }
}

#[test]
fn a_culprit_is_found_although_joint_arms_diverge() {
    let Ok(mut search) = Search::new(suspects(8), 0, Settings::default()) else {
        panic!("settings are in range")
    };
    let findings = loop {
        match search.step() {
            Next::Run(arm) => {
                let outcome = match arm.without.as_slice() {
                    [] => Outcome::Kept,
                    [6] => Outcome::Flipped,
                    [_] => Outcome::Kept,
                    _ => Outcome::Diverged,
                };
                search.heard(Shot { outcome, cost: Cost { model_calls: 1, microdollars: 0 } });
            }
            Next::Done(findings) => break findings,
        }
    };
    assert_eq!(convicted(&findings), [(6, VerdictKind::Necessary)]);
}

#[test]
fn a_cause_behind_earlier_replies_is_found_by_forks_at_the_first_call_that_saw_it() {
    let mut all = suspects(16);
    for (suspect, seen) in all.iter_mut().zip(0..) {
        suspect.first_seen = seen % 4;
    }
    let settings =
        Settings { budget: Cost { model_calls: 400, ..Settings::default().budget }, ..Settings::default() };
    let Ok(mut search) = Search::new(all, 5, settings) else { panic!("settings are in range") };
    let findings = loop {
        match search.step() {
            Next::Run(arm) => {
                let is_early = arm.from_call <= 1 && without(&arm, 9);
                let outcome = if is_early { Outcome::Flipped } else { Outcome::Kept };
                search
                    .heard(Shot { outcome, cost: Cost { model_calls: 6 - arm.from_call, microdollars: 0 } });
            }
            Next::Done(findings) => break findings,
        }
    };
    assert_eq!(convicted(&findings), [(9, VerdictKind::Necessary)]);
    let arm = findings.verdicts.first().and_then(|verdict| verdict.arm.clone());
    assert_eq!(arm, Some(Arm { from_call: 1, without: vec![9], with: vec![] }));
    assert!(findings.baselines.iter().any(|(from_call, tally)| *from_call == 1 && tally.kept >= 1));
}

#[test]
fn a_shot_that_nobody_asked_for_is_not_counted_and_asking_twice_gives_the_same() {
    let Ok(mut search) = Search::new(suspects(4), 0, Settings::default()) else {
        panic!("settings are in range")
    };
    let shot = Shot { outcome: Outcome::Flipped, cost: Cost { model_calls: 1, microdollars: 1 } };
    search.heard(shot);
    assert_eq!(search.spent(), Cost::default());
    assert_eq!(search.step(), search.step());
    search.heard(shot);
    search.heard(shot);
    assert_eq!(search.spent().model_calls, 1);
}

#[test]
fn whatever_comes_out_a_search_ends_and_accounts_for_every_suspect() {
    for seed in 0..300 {
        let mut world = World { flips: |_: &Arm| false, noise: 0.0, seed };
        let count = [0, 1, 2, 3, 7, 20][usize::try_from(seed % 6).unwrap_or(0)];
        let mut all = suspects(count);
        for suspect in &mut all {
            suspect.first_seen = if world.draw() < 0.5 { 0 } else { 3 };
            suspect.change = if world.draw() < 0.2 { Change::Restore } else { Change::Neutralise };
            suspect.lead = if world.draw() < 0.2 { f64::NAN } else { world.draw() };
        }
        let Ok(mut search) = Search::new(all, 3, Settings::default()) else {
            panic!("settings are in range")
        };
        let findings = loop {
            match search.step() {
                Next::Run(_) => {
                    let outcome = match world.draw() {
                        draw if draw < 0.45 => Outcome::Kept,
                        draw if draw < 0.8 => Outcome::Flipped,
                        draw if draw < 0.9 => Outcome::Diverged,
                        _ => Outcome::Failed,
                    };
                    search.heard(Shot { outcome, cost: Cost { model_calls: 1, microdollars: 0 } });
                }
                Next::Done(findings) => break findings,
            }
        };
        let mut numbers: Vec<usize> = findings.verdicts.iter().map(|verdict| verdict.suspect).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        assert!(findings.shots <= BUDGET_MODEL_CALLS);
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let with = |alpha, noise_max| Settings { alpha, noise_max, ..Settings::default() };
    for settings in [with(0.0, 0.3), with(1.0, 0.3), with(f64::NAN, 0.3), with(0.05, 0.0), with(0.05, 1.1)] {
        assert!(Search::new(suspects(1), 0, settings).is_err());
    }
    assert!(matches!(
        Search::new(suspects(SUSPECTS_MAX + 1), 0, Settings::default()),
        Err(SearchError::TooManySuspects(_))
    ));
    let late = vec![Suspect { change: Change::Neutralise, first_seen: 4, lead: 0.0 }];
    assert!(matches!(Search::new(late, 3, Settings::default()), Err(SearchError::SeenTooLate(0))));
}

#[test]
fn an_estimate_is_within_the_budget() {
    let settings = Settings::default();
    let near = estimate(&suspects(32), 9, &settings, 1000);
    assert_eq!(near.least, Cost { model_calls: 5, microdollars: 5000 });
    assert!(
        near.least.model_calls < near.likely.model_calls && near.likely.model_calls < near.most.model_calls
    );
    let whole = estimate(&suspects(32), 9, &Settings { reach: Reach::Whole, ..settings }, 1000);
    assert_eq!(whole.least.model_calls, 50);
    assert!(whole.likely.model_calls <= whole.most.model_calls);
}

#[test]
fn a_rank_is_finite_and_puts_what_holds_the_words_first() {
    let plain =
        Features { copied: 0.0, alike: 1.0, distance: 0, kind: SuspectKind::ToolResult, recency: 1.0 };
    let holder =
        Features { copied: 1.0, alike: 0.3, distance: 2, kind: SuspectKind::Instructions, recency: 0.0 };
    assert!(rank(&holder) > rank(&plain));
    assert!(rank(&Features { copied: f64::NAN, alike: f64::INFINITY, ..plain }).is_finite());
}
