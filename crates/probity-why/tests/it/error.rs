//! The error of all searches of a chain together, against models of chance. Chance is drawn from seeds: the same each time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use probity_contract::{ModelRequest, ReplyPart, Stop};
use probity_testkit::{ScriptedModel, Turn};
use probity_trace::{Record, atoms_of_text};
use probity_why::{Asked, ChainStep, ConfirmChain, ForkChange, Kept, Recorded, Settings, Target, text_of};

use crate::chains::recaller;
use crate::runs::{paid, payer};

/// Chains of each kind.
const RUNS: u32 = 300;

/// What makes the answer stands in one sentence of the handbook; all else makes no difference.
const NOTES: [(&str, &str); 3] = [
    ("vendors", "the vendor is ACME-9"),
    ("handbook", "It is a mild month of May. Since then limit=1200 EUR holds. Nobody likes it."),
    ("weather", "it is 12 degrees"),
];

/// What stands in every text that makes the answer.
const CAUSE: &str = "limit=1200";

type Answer = fn(&ModelRequest) -> Vec<ReplyPart>;

/// How a model answers, which of its calls is asked about, and what is to blame for the answer.
#[derive(Clone, Copy)]
struct World {
    answer: Answer,
    place: usize,
    cause: Option<&'static str>,
}

/// SplitMix64, as a share of 1.
fn draw(state: &AtomicU64) -> f64 {
    let step = 0x9E37_79B9_7F4A_7C15_u64;
    let mut z = state.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    let share = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
    share
}

/// Answers so, and at a rate of `noise` otherwise, whatever its window holds.
fn unsteady(answer: Answer, noise: f64, seed: u64) -> ScriptedModel {
    let state = AtomicU64::new(seed);
    ScriptedModel::by(move |request| {
        let parts = match draw(&state) < noise {
            true => vec![ReplyPart::text("I have no idea.")],
            false => answer(request),
        };
        Turn::parts(parts, Stop::EndTurn)
    })
}

/// An answer that hangs on nothing.
fn certain(_: &ModelRequest) -> Vec<ReplyPart> {
    vec![ReplyPart::text("The limit is 1200 EUR.")]
}

/// What a change takes away.
fn taken(recorded: &Recorded<'_>, change: &ForkChange) -> String {
    match change {
        ForkChange::StandIn(Target::Item(item)) => text_of(recorded.item(*item).unwrap()),
        ForkChange::StandIn(Target::Passage { item, start, end }) => {
            text_of(recorded.item(*item).unwrap())[*start..*end].to_owned()
        }
        _ => String::new(),
    }
}

/// In how many chains somebody was convicted, and in how many somebody who makes no difference was.
async fn chains(record: &Record, asked: World, noise: f64, alpha: f64) -> (u32, u32) {
    let World { answer, place, cause } = asked;
    let recorded = Recorded::of(record).unwrap();
    let (mut any, mut wrong) = (0, 0);
    for run in 0..RUNS {
        let model = Arc::new(unsteady(answer, noise, u64::from(run) << 20));
        let atoms = atoms_of_text("1200 EUR");
        let kept = Kept::Atoms(atoms.clone());
        let mut chain = ConfirmChain::new(&recorded, model, Asked::Reply(place), kept, atoms);
        chain.sentences = true;
        chain.settings = Settings { alpha, ..chain.settings };
        let steps: Vec<ChainStep> = chain.run(|_arm, _shot| {}).await.unwrap();
        let convicted: Vec<String> = steps
            .iter()
            .flat_map(|step| {
                let verdicts = step.confirmed.findings.verdicts.iter();
                let convicted = verdicts.filter(|verdict| verdict.kind.is_conviction());
                convicted.map(|verdict| taken(&recorded, &step.candidates[verdict.suspect].change))
            })
            .collect();
        any += u32::from(!convicted.is_empty());
        wrong += u32::from(!convicted.iter().all(|text| cause.is_some_and(|cause| text.contains(cause))));
    }
    (any, wrong)
}

fn within(alpha: f64, wrong: u32) -> bool {
    f64::from(wrong) <= alpha * f64::from(RUNS)
}

#[tokio::test]
async fn a_chain_convicts_nobody_of_what_is_chance_more_often_than_it_says() {
    let alpha = Settings::default().alpha;
    let (record, _) = paid(&NOTES, payer).await;
    let nobody = World { answer: certain, place: 2, cause: None };
    for noise in [0.1, 0.2, 0.3] {
        let (_, wrong) = chains(&record, nobody, noise, alpha).await;
        assert!(within(alpha, wrong), "{wrong} of {RUNS} at noise {noise}");
    }
    // The same models, judged by less: this test would see it.
    let (_, wrong) = chains(&record, nobody, 0.3, 0.9).await;
    assert!(!within(alpha, wrong), "{wrong} of {RUNS} with no care at all");
}

#[tokio::test]
async fn nobody_is_convicted_beside_a_cause_on_the_way_back_or_down_to_its_sentence() {
    let alpha = Settings::default().alpha;
    for (answer, place) in [(payer as Answer, 2), (recaller as Answer, 1)] {
        let (record, _) = paid(&NOTES, answer).await;
        let world = World { answer, place, cause: Some(CAUSE) };
        for noise in [0.05, 0.2] {
            let (any, wrong) = chains(&record, world, noise, alpha).await;
            assert!(within(alpha, wrong), "{wrong} of {RUNS} of call {place} at noise {noise}");
            assert!(
                any >= RUNS / 2,
                "the cause was found in {any} of {RUNS} of call {place} at noise {noise}"
            );
        }
    }
}
