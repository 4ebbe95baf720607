use proptest::prelude::*;

use super::*;

fn line(id: u64, verdict: &str) -> String {
    format!("{{\"id\":{id},\"verdict\":{verdict}}}\n")
}

const ALLOW: &str = r#"{"decision":"allow"}"#;

#[test]
fn a_question_has_one_answer_and_an_answer_one_question() {
    let mut talk = Talk::default();
    let mut told = talk.ask(7).unwrap();
    talk.hear([line(7, ALLOW).as_bytes()].into_iter()).unwrap();
    assert!(told.try_recv().unwrap().unwrap().permits());
    let again = talk.hear([line(7, ALLOW).as_bytes()].into_iter());
    assert_eq!(again, Err(NotAVerdict::of_shape("an answer to a question that was not open")));
}

#[test]
fn nothing_of_what_came_at_once_counts_where_one_line_is_wrong() {
    for wrong in [line(7, ALLOW), line(9, ALLOW), "\n".to_owned(), "words\n".to_owned(), "[1]\n".to_owned()] {
        let mut talk = Talk::default();
        let mut told = talk.ask(7).unwrap();
        let lines = [line(7, ALLOW), wrong];
        let shape = talk.hear(lines.iter().map(String::as_bytes)).unwrap_err();
        assert!(told.try_recv().is_err(), "{lines:?}");
        talk.end(&Fault::NotAVerdict(shape));
        assert!(matches!(told.try_recv().unwrap(), Err(Fault::NotAVerdict(_))), "{lines:?}");
    }
}

#[test]
fn a_verdict_that_is_none_is_the_fault_of_its_own_question_alone() {
    let mut talk = Talk::default();
    let (mut first, mut second) = (talk.ask(1).unwrap(), talk.ask(2).unwrap());
    let lines = [line(1, r#"{"decision":"alow"}"#), line(2, ALLOW)];
    talk.hear(lines.iter().map(String::as_bytes)).unwrap();
    assert!(matches!(first.try_recv().unwrap(), Err(Fault::NotAVerdict(_))));
    assert!(second.try_recv().unwrap().unwrap().permits());
}

#[test]
fn an_abandoned_question_may_still_be_answered_and_too_many_of_them_are_a_stuck_child() {
    let mut talk = Talk::default();
    let ids: Vec<u64> = (1..=9).collect();
    let _told: Vec<_> = ids.iter().map(|id| talk.ask(*id).unwrap()).collect();
    ids.iter().for_each(|id| talk.abandon(*id));
    assert!(!talk.is_usable());
    talk.hear([line(3, ALLOW).as_bytes()].into_iter()).unwrap();
    assert!(talk.is_usable());
}

#[test]
fn questions_at_once_are_bounded() {
    let mut talk = Talk::default();
    let _told: Vec<_> = (0..64).map(|id| talk.ask(id).unwrap()).collect();
    talk.ask(64).unwrap_err();
}

proptest! {
    /// Whoever is told something is told what was said under its own id, in whatever order and groups the answers come.
    #[test]
    fn answers_find_their_questions(order in Just((0..12_u64).collect::<Vec<_>>()).prop_shuffle(), at_once in 1..5_usize) {
        let mut talk = Talk::default();
        let mut told: Vec<_> = (0..12).map(|id| talk.ask(id).unwrap()).collect();
        for ids in order.chunks(at_once) {
            let lines: Vec<String> =
                ids.iter().map(|id| line(*id, &format!(r#"{{"decision":"deny","reason":"r{id}"}}"#))).collect();
            talk.hear(lines.iter().map(String::as_bytes)).unwrap();
        }
        for (id, told) in told.iter_mut().enumerate() {
            let (verdict, expected) = (told.try_recv().unwrap().unwrap(), format!("r{id}"));
            prop_assert_eq!(verdict.reason(), Some(expected.as_str()));
        }
    }

    /// Whatever a line is, it is read without a panic, and it is no verdict unless it names a question.
    #[test]
    fn any_line_is_an_answer_or_told_by_its_shape(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut talk = Talk::default();
        prop_assert!(talk.hear([bytes.as_slice()].into_iter()).is_err());
    }
}
