use std::sync::Arc;

use probity_contract::{Cancel, ModelErrorClass, ReplyPart, Stop};
use probity_testkit::{ScriptedModel, Turn};
use probity_trace::{Record, atoms_of_text};
use probity_why::{
    Asked, Confirm, ConfirmError, Confirmed, Ended, ForkChange, Kept, KeptError, MODEL_TIMEOUT, Recorded,
    Settings, Target, VerdictKind, candidates,
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
