//! What the tests of this folder share.

use probity_contract::{
    Composition, Consultation, HookReasons, HookVerdict, InterceptorName, Occasion, Points, Resolution,
    Resolve,
};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::context::{Envelope, Scene, Staged};
use super::fold::{Consulted, Fold, FoldStep, Heard, RowHeard};
use super::settings::{BoundarySettings, Seated};
use super::upshot::Upshot;

/// Any JSON of a small depth, with odd names and numbers.
pub(super) fn json(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(depth, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c]|.{0,12}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Settings with this many interceptors at every point.
pub(super) fn settings(composition: Composition, interceptors: usize) -> BoundarySettings {
    let seat = |number| Seated {
        name: InterceptorName::new(format!("hook-{number}")).unwrap(),
        points: Points::ALL,
        window: None,
    };
    BoundarySettings {
        composition,
        reasons: HookReasons::Optional,
        seats: (0..interceptors).map(seat).collect(),
        ..BoundarySettings::default()
    }
}

pub(super) fn envelope() -> Envelope<'static> {
    Envelope { agent: "somebody", session: "run-1", at_unix_ms: 1_700_000_000_123, sequence: 7 }
}

/// A call with these arguments that is about to be made.
pub(super) fn call(arguments: Value) -> Staged {
    Scene::PreToolCall { id: "tc-1", name: "send", arguments }.stage(envelope())
}

pub(super) fn verdict(value: Value) -> HookVerdict {
    HookVerdict::from_value(&value, HookReasons::Optional).unwrap()
}

/// Drives a fold to its end. Of several interceptors that are asked at once the last answers first.
///
/// It is stored and read back before every step.
pub(super) fn drive(
    settings: &BoundarySettings,
    staged: Staged,
    mut hear: impl FnMut(u32, &Occasion) -> Heard,
    mut consult: impl FnMut(&Consultation) -> Consulted,
) -> Upshot {
    let mut fold = Fold::begin(settings, staged);
    let mut asked = Vec::new();
    let rounds_max = 4 * settings.seats.len() + 8;
    for _ in 0..rounds_max {
        let stored = serde_json::to_string(&fold).unwrap();
        fold = serde_json::from_str(&stored).unwrap();
        match fold.next(settings) {
            Some(FoldStep::Hear { seats, occasion }) => asked.push((seats, occasion)),
            Some(FoldStep::Consult(consultation)) => {
                let consulted = consult(&consultation);
                fold.consulted(settings, consulted.clone()).unwrap();
                fold.consulted(settings, consulted).unwrap_err();
            }
            Some(FoldStep::Identify { provider, occasion }) => {
                let name = format!("{provider}:{}", occasion.target());
                fold.identified(settings, Some(name.clone()).filter(|_| provider != "broken")).unwrap();
            }
            Some(FoldStep::Done) => return fold.finish(settings).unwrap(),
            None => {
                let (seats, occasion) = asked.pop().expect("a fold that waits has asked somebody");
                let mut row = RowHeard { passed: Vec::new(), last: None };
                for seat in seats {
                    let heard = hear(seat, &occasion);
                    if !heard.is_plain_allow() {
                        row.last = Some((seat, heard));
                        break;
                    }
                    row.passed.push(seat);
                }
                fold.heard(settings, row.clone()).unwrap();
                // Nobody is heard twice.
                fold.heard(settings, row).unwrap_err();
            }
        }
    }
    panic!("a fold takes no more than {rounds_max} steps");
}

pub(super) fn nobody(_: &Consultation) -> Consulted {
    Consulted::Nobody
}

/// Approves with this verdict.
pub(super) fn approve(consultation: &Consultation, with: Value) -> Consulted {
    let identity = consultation.identity.clone();
    Consulted::Resolved(Box::new(Resolution { identity, decision: Resolve::Approve(verdict(with)) }))
}
