use std::collections::BTreeMap;

use probity_contract::{Composition, HookReasons};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::context::Scene;
use super::super::testing::{approve, call, drive, envelope, nobody, settings, verdict};
use super::super::upshot::Upshot;
use super::*;

fn arguments() -> Value {
    json!({"url": "https://evil.example/0123456789", "n": 1})
}

/// What each interceptor says, in the order of registration.
fn said(
    settings: &BoundarySettings,
    answers: &[Heard],
    consult: impl FnMut(&Consultation) -> Consulted,
) -> Upshot {
    drive(settings, call(arguments()), |seat, _| answers[seat as usize].clone(), consult)
}

fn says(value: Value) -> Heard {
    Heard::Verdict(verdict(value))
}

fn deny(reason: &str) -> Heard {
    says(json!({"decision": "deny", "reason": reason}))
}

fn ask(reason: &str) -> Heard {
    says(json!({"decision": "deny", "reason": reason, "approval": {}}))
}

fn put(path: &str, value: Value) -> Heard {
    says(json!({"decision": "transform", "reason": "r", "transform": {"path": path, "value": value}}))
}

fn allow() -> Heard {
    says(json!({"decision": "allow"}))
}

fn with(profile: Profile, interceptors: usize) -> BoundarySettings {
    settings(Composition::of(profile), interceptors)
}

const PROFILES: [Profile; 4] = [Profile::FirstDeny, Profile::RunAll, Profile::Strictest, Profile::Unanimous];

#[test]
fn whoever_fails_has_denied_and_is_named() {
    for profile in PROFILES {
        for (heard, reason) in [
            (Heard::Malformed, "host_error:verdict_invalid"),
            (Heard::Failed, "host_error:interceptor_failed"),
            (Heard::TimedOut, "host_error:interceptor_timeout"),
            (Heard::Verdict(HookVerdict::host_error(HostError::NoInterceptor)), "host_error:verdict_invalid"),
        ] {
            let upshot = said(&with(profile, 3), &[allow(), heard, allow()], nobody);
            assert!(!upshot.proceeds, "{profile:?}");
            assert_eq!(upshot.row.verdicts[1].reason.as_deref(), Some(reason), "{profile:?}");
            if profile == Profile::Unanimous {
                assert_eq!(upshot.verdict.reason(), Some("host_error:composition_disagreement"));
            } else {
                assert_eq!(
                    (upshot.row.decided_by, upshot.verdict.reason()),
                    (Some(1), Some(reason)),
                    "{profile:?}"
                );
                assert_eq!(upshot.interceptor.unwrap().as_str(), "hook-1");
            }
        }
    }
}

#[test]
fn a_deny_without_a_reason_is_malformed_where_reasons_are_needed() {
    let strict = BoundarySettings { reasons: HookReasons::Required, ..with(Profile::FirstDeny, 1) };
    let upshot = said(&strict, &[says(json!({"decision": "deny"}))], nobody);
    assert_eq!(upshot.verdict.reason(), Some("host_error:verdict_invalid"));
}

#[test]
fn nobody_to_hear_denies_and_evaluating_only_lets_pass() {
    let empty =
        BoundarySettings { empty_point: probity_contract::EmptyPoint::Denies, ..with(Profile::FirstDeny, 0) };
    let upshot = said(&empty, &[], nobody);
    assert_eq!((upshot.proceeds, upshot.verdict.reason()), (false, Some("host_error:no_interceptor")));
    assert!(upshot.row.input_identity.is_some());
    let trial = BoundarySettings { mode: Enforcement::EvaluateOnly, ..empty };
    let upshot = said(&trial, &[], nobody);
    assert_eq!((upshot.proceeds, upshot.verdict.reason()), (true, Some("host_error:no_interceptor")));
}

#[test]
fn evaluating_only_changes_nothing_and_asks_nobody() {
    for profile in PROFILES {
        let trial = BoundarySettings { mode: Enforcement::EvaluateOnly, ..with(profile, 2) };
        let answers = [put("$target.url", json!("safe")), ask("r")];
        let upshot = said(&trial, &answers, |_| panic!("nobody is asked"));
        assert!(upshot.proceeds && !upshot.is_changed && !upshot.verdict.permits(), "{profile:?}");
        assert_eq!(*upshot.target(), arguments());
        assert_eq!(upshot.row.input_identity, upshot.row.enforced_identity);
        let invalid = said(&trial, &[put("$target.not.there", json!(1)), allow()], nobody);
        assert!(invalid.proceeds && !invalid.verdict.permits(), "{profile:?}");
    }
}

#[test]
fn each_sees_what_the_ones_before_have_changed_and_in_parallel_nobody_does() {
    for profile in PROFILES {
        let mut seen = BTreeMap::new();
        let upshot = drive(
            &with(profile, 2),
            call(arguments()),
            |seat, occasion| {
                seen.insert(seat, occasion.target()["url"].clone());
                if seat == 0 { put("$target.url", json!("safe")) } else { allow() }
            },
            nobody,
        );
        let second = if profile.is_sequential() { json!("safe") } else { arguments()["url"].clone() };
        assert_eq!((&seen[&0], &seen[&1]), (&arguments()["url"], &second), "{profile:?}");
        assert_eq!(upshot.proceeds, profile != Profile::Unanimous);
        if upshot.proceeds {
            assert_eq!(*upshot.target(), json!({"url": "safe", "n": 1}));
            assert_ne!(upshot.row.input_identity, upshot.row.enforced_identity);
            assert_ne!(upshot.row.before, upshot.row.after);
        }
    }
}

#[test]
fn the_way_back_from_a_tool_is_heard_the_other_way_round() {
    let back = Scene::PostToolCall {
        id: "tc",
        name: "send",
        arguments: arguments(),
        result: "words",
        is_error: false,
    };
    let mut order = Vec::new();
    let upshot = drive(
        &with(Profile::RunAll, 3),
        back.stage(envelope()),
        |seat, _| {
            order.push(seat);
            if seat == 0 { deny("first as registered, last as heard") } else { allow() }
        },
        nobody,
    );
    assert_eq!(order, [2, 1, 0]);
    let rows: Vec<_> = upshot.row.verdicts.iter().map(|row| (row.index, row.interceptor.as_str())).collect();
    assert_eq!(rows, [(2, "hook-2"), (1, "hook-1"), (0, "hook-0")]);
    assert_eq!(upshot.row.decided_by, Some(0));
}

#[test]
fn a_lifted_deny_stops_or_resumes() {
    let answers = [ask("a"), put("$target.url", json!("resumed")), deny("last")];
    let lifted = |on_approval| {
        let composition = Composition { on_approval, ..Composition::default() };
        said(&settings(composition, 3), &answers, |consultation| {
            assert_eq!(consultation.identity.as_deref().map(|name| name.starts_with("sha256:")), Some(true));
            approve(consultation, json!({"decision": "allow"}))
        })
    };
    let stopped = lifted(OnApproval::Stop);
    assert!(stopped.proceeds && !stopped.is_changed);
    assert_eq!((stopped.row.truncated, stopped.row.decided_by), (Some(true), Some(0)));
    let resumed = lifted(OnApproval::Resume);
    assert_eq!((resumed.proceeds, resumed.verdict.reason()), (false, Some("last")));
    assert_eq!((resumed.row.truncated, resumed.row.decided_by), (Some(false), Some(2)));
    assert_eq!(resumed.row.resolved_by, Some(Resolved::Approval));
}

#[test]
fn an_answer_that_does_not_fit_denies() {
    type Spoil = fn(&Consultation) -> Consulted;
    let answers: [(Spoil, &str); 8] = [
        (|_| Consulted::Failed, "host_error:approval_resolver_failed"),
        (|_| Consulted::Malformed, "host_error:verdict_invalid"),
        (|c| approve(c, json!({"decision": "deny", "reason": "no"})), "host_error:verdict_invalid"),
        (
            |c| {
                let decision = Resolve::Reject(HookVerdict::allow());
                Consulted::Resolved(Box::new(Resolution { identity: c.identity.clone(), decision }))
            },
            "host_error:verdict_invalid",
        ),
        (
            |c| {
                let decision = Resolve::Unresolved;
                Consulted::Resolved(Box::new(Resolution { identity: c.identity.clone(), decision }))
            },
            "host_error:approval_unresolved",
        ),
        (
            |_| {
                let decision = Resolve::Approve(HookVerdict::allow());
                Consulted::Resolved(Box::new(Resolution { identity: None, decision }))
            },
            "host_error:approval_identity_mismatch",
        ),
        (
            |c| {
                approve(
                    c,
                    json!({"decision": "transform", "transform": {"path": "$target.none", "value": 1}}),
                )
            },
            "host_error:transform_invalid",
        ),
        (|_| Consulted::Nobody, "asked for"),
    ];
    for profile in [Profile::FirstDeny, Profile::RunAll, Profile::Strictest] {
        for (answer, reason) in answers {
            let upshot = said(&with(profile, 1), &[ask("asked for")], answer);
            assert_eq!((upshot.proceeds, upshot.verdict.reason()), (false, Some(reason)), "{profile:?}");
        }
    }
}

#[test]
fn approvers_do_not_see_what_is_redacted_for_them_and_nobody_is_asked_at_the_end() {
    let redacting =
        BoundarySettings { redact_for_approval: vec!["$target.url".into()], ..with(Profile::FirstDeny, 1) };
    let upshot = said(&redacting, &[ask("r")], |consultation| {
        assert!(!consultation.occasion.context().to_string().contains("evil"));
        let shown = identity::jcs_sha256(Point::PreToolCall, consultation.occasion.context()).unwrap();
        assert_eq!(consultation.identity.as_ref(), Some(&shown));
        approve(consultation, json!({"decision": "allow"}))
    });
    assert!(upshot.proceeds);
    assert_eq!(*upshot.target(), arguments());
    let end = Scene::AgentShutdown { reason: "completed" }.stage(envelope());
    let upshot = drive(&redacting, end, |_, _| ask("r"), |_| panic!("nobody is asked"));
    assert!(upshot.verdict.is_approvable() && upshot.row.resolved_by.is_none());
}

#[test]
fn a_function_of_the_deployment_names_contexts_and_one_that_fails_stops_everything() {
    let named = |name: &str| BoundarySettings {
        identity: IdentityProvider::Named(name.to_owned()),
        ..with(Profile::FirstDeny, 2)
    };
    let answers = [ask("r"), allow()];
    let upshot = said(&named("mine"), &answers, |consultation| {
        assert_eq!(consultation.identity, Some(format!("mine:{}", arguments())));
        approve(
            consultation,
            json!({"decision": "transform", "transform": {"path": "$target.n", "value": 2}}),
        )
    });
    assert!(upshot.proceeds);
    assert_eq!(upshot.row.input_identity, Some(format!("mine:{}", arguments())));
    assert_eq!(upshot.row.enforced_identity, Some(format!("mine:{}", upshot.target())));
    let upshot = drive(&named("broken"), call(arguments()), |_, _| panic!("nobody is heard"), nobody);
    assert_eq!((upshot.proceeds, upshot.verdict.reason()), (false, Some("host_error:context_invalid")));
}

#[test]
fn what_is_put_in_place_must_have_a_name() {
    for profile in [Profile::FirstDeny, Profile::RunAll, Profile::Strictest] {
        let upshot = said(&with(profile, 1), &[put("$target.n", json!(9_007_199_254_740_992_u64))], nobody);
        assert_eq!((upshot.proceeds, upshot.verdict.reason()), (false, Some("host_error:context_invalid")));
        assert_eq!((upshot.row.decided_by, &upshot.row.enforced_identity), (None, &None));
        assert!(upshot.row.input_identity.is_some());
    }
}

#[test]
fn i14_no_row_repeats_what_was_refused_or_replaced() {
    let quotes = json!({
        "decision": "deny",
        "reason": "saw https://evil.example/0123456789",
        "message": "evil.example is not good",
        "warnings": [{"reason": "0123456789", "message": "evil.example"}],
        "evidence": {"artefact": "evil.example", "verification_pointers": {"evil.example": "https://evil.example"}},
        "result_labels": ["evil.example"],
    });
    for profile in PROFILES {
        for answer in [quotes.clone(), {
            let mut transform = quotes.clone();
            transform["decision"] = json!("transform");
            transform["transform"] = json!({"path": "$target.url", "value": "https://safe"});
            transform["result_labels"] = json!([]);
            transform
        }] {
            let upshot = said(&with(profile, 2), &[says(answer), allow()], nobody);
            let row = serde_json::to_string(&upshot.row).unwrap();
            assert!(!row.contains("evil.exa") && !row.contains("01234567"), "{profile:?} {row}");
            assert!(!upshot.proceeds || upshot.is_changed);
            let said = format!(
                "{:?}{:?}",
                upshot.verdict.message(),
                upshot.verdict.warnings().iter().map(|w| &w.message).collect::<Vec<_>>()
            );
            assert!(!said.contains("evil.exa"), "{said}");
        }
    }
}

#[test]
fn the_engines_words_are_never_withheld() {
    let quoting = call(json!({"text": "host_error:interceptor_failed"}));
    let upshot = drive(&with(Profile::FirstDeny, 1), quoting, |_, _| Heard::Failed, nobody);
    assert_eq!(upshot.verdict.reason(), Some("host_error:interceptor_failed"));
}

fn any_answer() -> impl Strategy<Value = Heard> {
    let words = || prop_oneof![Just(Value::Null), Just(json!("r")), Just(json!("evil.example/0123"))];
    let extras = (
        words(),
        prop_oneof![Just(json!([])), Just(json!([{"reason": "w"}]))],
        prop_oneof![Just(json!([])), Just(json!(["l"]))],
    );
    let decision = prop_oneof![
        3 => Just(json!({"decision": "allow"})),
        1 => Just(json!({"decision": "deny"})),
        2 => Just(json!({"decision": "deny", "approval": {}})),
        2 => (prop_oneof![Just("$target.url"), Just("$target.n"), Just("$target.none"), Just("$else"), Just("$policy_target.url")], 0..3_i32)
            .prop_map(|(path, value)| json!({"decision": "transform", "transform": {"path": path, "value": value}})),
    ];
    let verdict = (decision, extras).prop_map(|(mut decision, (reason, warnings, labels))| {
        decision["reason"] = reason;
        decision["warnings"] = warnings;
        decision["result_labels"] = labels;
        says(decision)
    });
    prop_oneof![9 => verdict, 1 => Just(Heard::Malformed), 1 => Just(Heard::Failed), 1 => Just(Heard::TimedOut)]
}

fn any_composition() -> impl Strategy<Value = Composition> {
    let knob = || prop_oneof![Just(Knob::Deny), Just(Knob::Approval)];
    let profile = prop::sample::select(PROFILES.to_vec());
    let on_approval = prop_oneof![Just(OnApproval::Stop), Just(OnApproval::Resume)];
    (profile, on_approval, knob(), knob()).prop_map(
        |(profile, on_approval, on_disagreement, on_transform_conflict)| Composition {
            profile,
            on_approval,
            on_disagreement,
            on_transform_conflict,
        },
    )
}

fn is_plain_deny(heard: &Heard) -> bool {
    match heard {
        Heard::Verdict(verdict) => !verdict.permits() && !verdict.is_approvable(),
        Heard::Malformed | Heard::Failed | Heard::TimedOut => true,
    }
}

proptest! {
    /// Where a person may overrule a disagreement the deployment has said so; nowhere else is a heard deny overruled.
    #[test]
    fn a_plain_deny_that_was_heard_is_never_lost(
        composition in any_composition(),
        answers in prop::collection::vec(any_answer(), 1..6),
    ) {
        let upshot = said(&settings(composition, answers.len()), &answers, |c| approve(c, json!({"decision": "allow"})));
        let heard = upshot.row.verdicts.len();
        let denied = answers.iter().take(heard).any(is_plain_deny);
        let may_overrule = composition.profile == Profile::Unanimous && composition.on_disagreement == Knob::Approval;
        prop_assert!(!denied || may_overrule || !upshot.proceeds);
        // All are heard, but where a sequential profile stops.
        if heard < answers.len() {
            prop_assert!(composition.profile.is_sequential());
            prop_assert_eq!(upshot.row.truncated, Some(true));
        }
        prop_assert_eq!(upshot.row.registered as usize, answers.len());
    }

    /// Without a person's word, nothing passes that anybody who was heard has denied.
    #[test]
    fn nobody_to_ask_means_that_every_deny_stands(
        composition in any_composition(),
        answers in prop::collection::vec(any_answer(), 1..6),
    ) {
        let upshot = said(&settings(composition, answers.len()), &answers, nobody);
        let denies = upshot.row.verdicts.iter().any(|row| row.decision == "deny");
        prop_assert!(!denies || !upshot.proceeds);
        prop_assert_eq!(upshot.row.resolved_by, None);
    }

    #[test]
    fn i03_interceptors_that_only_allow_may_stand_in_any_order(
        composition in any_composition(),
        answers in prop::collection::vec(any_answer(), 1..4),
        allows in 0_usize..3,
        at in 0_usize..4,
    ) {
        let mut more = answers.clone();
        let at = at.min(answers.len());
        more.splice(at..at, std::iter::repeat_n(allow(), allows));
        let approving = |c: &Consultation| approve(c, json!({"decision": "allow"}));
        let fewer = said(&settings(composition, answers.len()), &answers, approving);
        let more = said(&settings(composition, more.len()), &more, approving);
        prop_assert_eq!(fewer.proceeds, more.proceeds);
        prop_assert_eq!(fewer.target(), more.target());
        prop_assert_eq!(fewer.verdict.reason(), more.verdict.reason());
    }
}
