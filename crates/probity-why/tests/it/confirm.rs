use std::sync::Arc;

use probity_contract::{Cancel, ModelErrorClass, ReplyPart, Stop};
use probity_testkit::{ScriptedModel, Turn};
use probity_trace::{Record, atoms_of_text};
use probity_why::{
    Asked, ChainStep, Confirm, ConfirmChain, ConfirmError, Confirmed, Cost, Ended, ForkChange, Kept,
    KeptError, MODEL_TIMEOUT, Recorded, SENTENCES_MAX, Settings, Target, Unjudged, VerdictKind, candidates,
    candidates_with_replies, candidates_within, text_of,
};

use crate::runs::{paid, payer};

const NOTES: [(&str, &str); 4] = [
    ("vendors", "the vendor is ACME-9"),
    ("chat", "the limit of something else is 900 EUR"),
    ("handbook", "since May limit=1200 EUR"),
    ("weather", "it is 12 degrees"),
];

async fn confirmed(
    record: &Record,
    model: ScriptedModel,
    kept: Kept,
    cancel: Cancel,
) -> Result<Confirmed, ConfirmError> {
    let recorded = Recorded::of(record).unwrap();
    let asked = Asked::Reply(2);
    let candidates = candidates(&recorded, &asked, &atoms_of_text("1200 EUR")).unwrap();
    let confirm = Confirm {
        recorded: &recorded,
        model: Arc::new(model),
        asked,
        kept,
        candidates: &candidates,
        settings: Settings::default(),
        timeout: MODEL_TIMEOUT,
        cancel,
    };
    let mut shots = 0;
    let found = confirm.run(|_arm, _shot| shots += 1).await?;
    assert_eq!(found.findings.shots, shots);
    Ok(found)
}

fn values() -> Kept {
    Kept::Atoms(atoms_of_text("1200 EUR"))
}

fn same_model() -> ScriptedModel {
    ScriptedModel::by(|request| Turn::parts(payer(request), Stop::EndTurn))
}

#[tokio::test]
async fn the_poisoned_note_is_necessary_and_everything_else_is_not() {
    let (record, _) = paid(&NOTES, payer).await;
    let found = confirmed(&record, same_model(), values(), Cancel::new()).await.unwrap();
    let recorded = Recorded::of(&record).unwrap();
    let all = candidates(&recorded, &Asked::Reply(2), &atoms_of_text("1200 EUR")).unwrap();
    assert_eq!(found.findings.ended, Ended::Complete);
    let first = &found.findings.verdicts[0];
    assert_eq!(first.kind, VerdictKind::Necessary);
    let ForkChange::StandIn(Target::Item(item)) = all[first.suspect].change else { panic!("an item") };
    assert!(recorded.item(item).unwrap().flat_text().contains("limit=1200"));
    assert!(found.findings.verdicts[1..].iter().all(|verdict| !verdict.kind.is_conviction()));
    assert!(found.findings.spent.model_calls <= 12, "{:?}", found.findings.spent);
    assert!(found.cost_is_unknown && found.failure.is_none() && !found.is_cancelled);
}

#[tokio::test]
async fn what_cannot_be_compared_is_said_before_anything_is_asked() {
    let (record, _) = paid(&NOTES, payer).await;
    let model = same_model();
    let refused =
        confirmed(&record, model.clone(), Kept::Words("something else".into()), Cancel::new()).await;
    assert!(matches!(refused, Err(ConfirmError::Kept(KeptError::NotSo("words")))));
    assert_eq!(model.asked().len(), 0);
}

#[tokio::test]
async fn a_model_that_fails_breaks_or_is_cancelled_convicts_nobody() {
    let (record, _) = paid(&NOTES, payer).await;
    let breaks: [fn() -> Turn; 3] = [
        || Turn::fails(ModelErrorClass::ServerError, "overloaded"),
        || Turn::panics("it broke"),
        Turn::breaks_off,
    ];
    for turn in breaks {
        let model = ScriptedModel::by(move |_| turn());
        let found = confirmed(&record, model, values(), Cancel::new()).await.unwrap();
        assert!(found.findings.verdicts.iter().all(|verdict| !verdict.kind.is_conviction()));
        assert!(found.failure.is_some() && found.findings.ended != Ended::Complete);
    }
    let cancel = Cancel::new();
    cancel.fire();
    let model = same_model();
    let found = confirmed(&record, model.clone(), values(), cancel).await.unwrap();
    assert!(found.is_cancelled && model.asked().is_empty());
}

#[tokio::test]
async fn a_model_of_chance_convicts_nobody() {
    let (record, _) = paid(&NOTES, payer).await;
    let mut turn = 0_u32;
    let dice = std::sync::Mutex::new(move || {
        turn += 1;
        turn.is_multiple_of(2)
    });
    let model = ScriptedModel::by(move |_| {
        let says = if (dice.lock().unwrap())() { "1200 EUR" } else { "no idea" };
        Turn::parts(vec![ReplyPart::text(says)], Stop::EndTurn)
    });
    let found = confirmed(&record, model, values(), Cancel::new()).await.unwrap();
    assert!(
        found.findings.verdicts.iter().all(|verdict| !verdict.kind.is_conviction()),
        "{:?}",
        found.findings
    );
}

/// The changes that a step convicted.
fn convicted(step: &ChainStep) -> Vec<&ForkChange> {
    let convicted = step.confirmed.findings.verdicts.iter().filter(|verdict| verdict.kind.is_conviction());
    convicted.map(|verdict| &step.candidates[verdict.suspect].change).collect()
}

#[tokio::test]
async fn a_chain_goes_back_through_convicted_replies_and_down_to_the_sentence() {
    let long = "It is the month of May, and everything is as it was, more or less. Since May\nlimit=1200 EUR. Nobody likes it!";
    let notes = [NOTES[0], NOTES[1], ("handbook", long), NOTES[3]];
    let (record, _) = paid(&notes, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let atoms = atoms_of_text("1200 EUR");
    let mut chain =
        ConfirmChain::new(&recorded, Arc::new(same_model()), Asked::Reply(2), values(), atoms.clone());
    chain.sentences = true;
    let mut shots = 0;
    let steps = chain.run(|_arm, _shot| shots += 1).await.unwrap();
    assert_eq!(steps.iter().map(|step| step.confirmed.findings.shots).sum::<u32>(), shots);
    let within: Vec<&ChainStep> = steps.iter().filter(|step| step.within.is_some()).collect();
    assert_eq!(within.len(), 1, "only the handbook has sentences");
    let [ForkChange::StandIn(Target::Passage { item, start, end })] = convicted(within[0])[..] else {
        panic!("{:?}", convicted(within[0]))
    };
    assert_eq!(&text_of(recorded.item(*item).unwrap())[*start..*end], "Since May\nlimit=1200 EUR.");
    // What the searches before have left of the error is what each one has.
    for pair in steps.windows(2) {
        assert_eq!(pair[1].confirmed.findings.alpha, pair[0].confirmed.findings.alpha_left);
    }
    assert!(steps[0].confirmed.findings.alpha <= Settings::default().alpha);

    // One budget for all of them.
    chain.settings.budget = Cost { model_calls: 4, microdollars: u64::MAX };
    let steps = chain.run(|_arm, _shot| {}).await.unwrap();
    assert!(steps.iter().map(|step| step.confirmed.findings.spent.model_calls).sum::<u32>() <= 4);
    chain.cancel.fire();
    let steps = chain.run(|_arm, _shot| {}).await.unwrap();
    assert!(steps[0].confirmed.is_cancelled && steps.iter().all(|step| convicted(step).is_empty()));
}

#[tokio::test]
async fn tools_are_suspects_and_sentences_are_those_of_texts_and_not_of_values() {
    let many = "So it is. ".repeat(SENTENCES_MAX + 40);
    let notes = [
        ("one", "no end to it"),
        ("value", r#"{"a": "First. Second.", "b": [1]}"#),
        ("many", many.as_str()),
        ("odd", "A!! ... \u{200b} B? \u{1f469}\u{200d}\u{1f4bb} C."),
    ];
    let (record, _) = paid(&notes, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let asked = Asked::Reply(2);
    let all = candidates_with_replies(&recorded, &asked, &[]).unwrap();
    let tools = all.iter().filter(|one| matches!(one.change, ForkChange::StandIn(Target::Tool(_)))).count();
    assert_eq!(tools, recorded.tools().len());
    assert!(tools > 0);
    let lowest = all.iter().map(|one| one.suspect.lead).fold(f64::INFINITY, f64::min);
    assert!(all.iter().any(|one| {
        matches!(one.change, ForkChange::StandIn(Target::Tool(_))) && one.suspect.lead <= lowest + 1.0
    }));
    let mut counts = Vec::new();
    for candidate in &all {
        let ForkChange::StandIn(Target::Item(item)) = candidate.change else { continue };
        let text = text_of(recorded.item(item).unwrap());
        let within = candidates_within(&recorded, &asked, &[], item).unwrap();
        let mut at = 0;
        for one in &within {
            let ForkChange::StandIn(Target::Passage { item: of, start, end }) = one.change else { panic!() };
            assert!(of == item && start >= at && end > start, "{start}..{end} after {at}");
            assert!(
                text.get(start..end).is_some_and(|passage| passage.trim() == passage && !passage.is_empty())
            );
            at = end;
        }
        if !within.is_empty() {
            assert_eq!(at, text.trim_end().len(), "the last one ends where the text does");
        }
        counts.extend(notes.iter().find(|note| note.1 == text).map(|note| (note.0, within.len())));
    }
    assert_eq!(counts.iter().find(|one| one.0 == "one"), Some(&("one", 0)));
    assert_eq!(counts.iter().find(|one| one.0 == "value"), Some(&("value", 0)));
    assert_eq!(counts.iter().find(|one| one.0 == "many"), Some(&("many", SENTENCES_MAX + 1)));
    assert!(counts.iter().any(|one| one.0 == "odd" && one.1 >= 2), "{counts:?}");
}

#[tokio::test]
async fn a_judge_that_cannot_tell_ends_the_search_and_convicts_nobody() {
    let (record, _) = paid(&NOTES, payer).await;
    let asked = std::sync::atomic::AtomicU32::new(0);
    let judge = Kept::Judged(Arc::new(move |text: &str| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0..=2 => Ok(text.contains("1200")),
            _ => Err(Unjudged("no more".into())),
        }
    }));
    let ended = confirmed(&record, same_model(), judge, Cancel::new()).await;
    assert!(matches!(ended, Err(ConfirmError::Unjudged(Unjudged(why))) if why == "no more"));
    let at_once = Kept::Judged(Arc::new(|_: &str| Err(Unjudged("never".into()))));
    let ended = confirmed(&record, same_model(), at_once, Cancel::new()).await;
    assert!(matches!(ended, Err(ConfirmError::Kept(KeptError::Unjudged(_)))));
}
