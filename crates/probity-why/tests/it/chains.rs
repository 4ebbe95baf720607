//! Chains of searches: from an answer back through a reply that was convicted.

use std::sync::Arc;

use probity_contract::{Cancel, Content, Emission, Entry, Fact, ItemId, ModelRequest, Part, ReplyPart, Stop};
use probity_testkit::{ScriptedModel, Turn};
use probity_trace::{Noted, Record, atoms_of_text, encode_frame, encode_header};
use probity_why::{
    Asked, ChainStep, ConfirmChain, ConfirmError, Cost, Ended, ForkChange, Kept, KeptError, Recorded, Target,
};

use crate::runs::{limit_in, paid, window_text};

const NOTES: [(&str, &str); 3] = [
    ("vendors", "the vendor is ACME-9"),
    ("handbook", "since May limit=1200 EUR"),
    ("weather", "it is 12 degrees"),
];

/// Notes the limit that stands in its window, and then answers from its own note alone.
pub(crate) fn recaller(request: &ModelRequest) -> Vec<ReplyPart> {
    let replies = request.items.iter().filter(|item| matches!(item.content, Content::Reply(_)));
    let said: Vec<String> = replies.map(|item| item.flat_text()).collect();
    if said.is_empty() {
        let limit = limit_in(&window_text(request)).unwrap_or("unknown").to_owned();
        let look = ReplyPart::call("p1", "look", r#"{"what":"limits"}"#);
        return vec![ReplyPart::text(format!("I note limit={limit} for later.")), look];
    }
    let words = match limit_in(&said.join("\n")) {
        Some(limit) => format!("The limit is {limit} EUR."),
        None => "I know of no limit.".to_owned(),
    };
    vec![ReplyPart::text(words)]
}

fn same_model() -> ScriptedModel {
    ScriptedModel::by(|request| Turn::parts(recaller(request), Stop::EndTurn))
}

fn values() -> Kept {
    Kept::Atoms(atoms_of_text("1200 EUR"))
}

/// The chain from the answer, and the shots that were told.
async fn chain(
    record: &Record,
    model: &ScriptedModel,
    kept: Kept,
    more: impl FnOnce(&mut ConfirmChain<'_>),
) -> Result<(Vec<ChainStep>, u32), ConfirmError> {
    let recorded = Recorded::of(record).unwrap();
    let model = Arc::new(model.clone());
    let mut chain = ConfirmChain::new(&recorded, model, Asked::Reply(1), kept, atoms_of_text("1200 EUR"));
    more(&mut chain);
    let mut shots = 0;
    let steps = chain.run(|_arm, _shot| shots += 1).await?;
    Ok((steps, shots))
}

/// The items that a step convicted.
fn convicted(step: &ChainStep) -> Vec<ItemId> {
    let verdicts = step.confirmed.findings.verdicts.iter().filter(|verdict| verdict.kind.is_conviction());
    let items = verdicts.filter_map(|verdict| match step.candidates[verdict.suspect].change {
        ForkChange::StandIn(Target::Item(item)) => Some(item),
        _ => None,
    });
    items.collect()
}

fn spent(steps: &[ChainStep]) -> u32 {
    steps.iter().map(|step| step.confirmed.findings.spent.model_calls).sum()
}

#[tokio::test]
async fn a_chain_goes_back_through_the_reply_that_was_convicted() {
    let (record, _) = paid(&NOTES, recaller).await;
    let model = same_model();
    let (steps, shots) = chain(&record, &model, values(), |_| ()).await.unwrap();
    let asked: Vec<&Asked> = steps.iter().map(|step| &step.asked).collect();
    assert_eq!(asked, [&Asked::Reply(1), &Asked::Reply(0)]);
    let recorded = Recorded::of(&record).unwrap();
    let [reply] = convicted(&steps[0])[..] else { panic!("only the note to itself: {:?}", steps[0]) };
    assert_eq!(recorded.place_of_reply(reply), Some(0));
    // The note has no value with the unit that was asked about, so the whole reply is compared, calls and all.
    assert_eq!((steps[0].kept.name(), steps[1].kept.name()), ("values", "reply"));
    let Kept::Reply { words, calls } = &steps[1].kept else { panic!("a reply") };
    assert_eq!((words.as_str(), calls.len()), ("I note limit=1200 for later.", 1));
    let [note] = convicted(&steps[1])[..] else { panic!("only the handbook: {:?}", steps[1]) };
    assert!(recorded.item(note).unwrap().flat_text().contains("limit=1200"));
    // One error over all searches: what tries in vain have left of it goes on, and what convicted has spent none. Every shot is
    // one model call that was told.
    let findings: Vec<_> = steps.iter().map(|step| &step.confirmed.findings).collect();
    assert!(findings[0].alpha <= 0.05, "{}", findings[0].alpha);
    assert_eq!(findings[1].alpha, findings[0].alpha_left);
    assert!(findings.iter().all(|one| one.alpha_left <= one.alpha));
    assert_eq!((spent(&steps), model.asked().len()), (shots, shots as usize));
}

#[tokio::test]
async fn the_searches_of_a_chain_share_one_budget() {
    let (record, _) = paid(&NOTES, recaller).await;
    let (steps, all) = chain(&record, &same_model(), values(), |_| ()).await.unwrap();
    let first = steps[0].confirmed.findings.spent.model_calls;
    for calls in 0..all {
        let model = same_model();
        let budget = Cost { model_calls: calls, microdollars: u64::MAX };
        let bounded = chain(&record, &model, values(), |chain| chain.settings.budget = budget).await;
        let (steps, shots) = bounded.unwrap();
        assert!(spent(&steps) <= calls && shots <= calls, "{calls}: {}", spent(&steps));
        assert_eq!(model.asked().len(), shots as usize);
        let last = &steps.last().unwrap().confirmed.findings;
        assert_ne!(last.ended, Ended::Complete, "{calls} of {all}");
        if calls == first {
            assert_eq!((steps.len(), last.shots), (2, 0), "nothing is left for the second search");
        }
    }
}

#[tokio::test]
async fn a_chain_that_is_cancelled_or_cannot_be_compared_asks_nothing() {
    let (record, _) = paid(&NOTES, recaller).await;
    let model = same_model();
    let cancel = Cancel::new();
    cancel.fire();
    let (steps, shots) = chain(&record, &model, values(), |chain| chain.cancel = cancel).await.unwrap();
    assert_eq!((steps.len(), shots), (1, 0));
    assert!(steps[0].confirmed.is_cancelled && convicted(&steps[0]).is_empty());
    let refused = chain(&record, &model, Kept::Words("something else".into()), |_| ()).await;
    assert!(matches!(refused, Err(ConfirmError::Kept(KeptError::NotSo("words")))));
    assert!(model.asked().is_empty());
}

#[tokio::test]
async fn a_chain_that_is_cancelled_on_its_way_begins_no_other_search() {
    let (record, _) = paid(&NOTES, recaller).await;
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let model = ScriptedModel::by(move |request| {
        stop.fire();
        Turn::parts(recaller(request), Stop::EndTurn)
    });
    let (steps, _) = chain(&record, &model, values(), |chain| chain.cancel = cancel).await.unwrap();
    assert_eq!((steps.len(), model.asked().len()), (1, 1));
    assert!(convicted(&steps[0]).is_empty());
}

/// The same record without what the window of its first model call builds on; that of the second stands by itself.
fn without_first_window(record: &Record) -> Record {
    let second = record.windows_all().nth(1).unwrap().1.unwrap();
    let mut bytes = Vec::new();
    encode_header(&mut bytes);
    for (id, kept) in record.parts() {
        encode_frame(&Emission::Part(Part { id, kept: kept.clone() }), &mut bytes).unwrap();
    }
    let mut calls = 0;
    for line in record.lines() {
        let Noted::Known(mut fact) = line.fact.clone() else { panic!("all is known") };
        if let Fact::ModelCalled { window, .. } = &mut fact {
            (window.keep, calls) = (if calls == 0 { 7 } else { 0 }, calls + 1);
            if calls == 2 {
                window.added.clone_from(&second);
            }
        }
        encode_frame(&Emission::Entry(Entry { seq: line.seq, at_ms: line.at_ms, fact }), &mut bytes).unwrap();
    }
    Record::read(&bytes).unwrap().record
}

#[tokio::test]
async fn a_reply_whose_window_is_not_known_is_the_end_of_the_chain() {
    let (record, _) = paid(&NOTES, recaller).await;
    let record = without_first_window(&record);
    let recorded = Recorded::of(&record).unwrap();
    assert!(recorded.window(0).is_err() && recorded.window(1).is_ok());
    let model = same_model();
    let (steps, shots) = chain(&record, &model, values(), |_| ()).await.unwrap();
    assert_eq!((steps.len(), model.asked().len()), (1, shots as usize));
    let [reply] = convicted(&steps[0])[..] else { panic!("the note to itself: {:?}", steps[0]) };
    assert_eq!(recorded.place_of_reply(reply), Some(0));
}
