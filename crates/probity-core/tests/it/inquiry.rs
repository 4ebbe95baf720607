//! What would be said of a call, without a run.

use std::sync::Arc;

use probity_contract::{
    Cancel, DenialCode, Effect, Integrity, Label, Policy, PrincipalId, Ruling, RunId, Said, Seat, Tool,
};
use probity_core::{Heard, HeardAt, Inquiry};
use probity_testkit::{Acts, Judges, ScriptedPolicy, ScriptedTool};

fn inquiry(tool: &ScriptedTool, policies: &[ScriptedPolicy]) -> Inquiry {
    Inquiry {
        run: RunId::new("inquiry").unwrap(),
        principal: PrincipalId::new("ada").unwrap(),
        label: Label::untrusted(),
        items: Vec::new(),
        tools: vec![Arc::new(tool.clone()) as Arc<dyn Tool>],
        policies: policies.iter().map(|policy| Arc::new(policy.clone()) as Arc<dyn Policy>).collect(),
        judge_timeout_ms: 50,
        cancel: Cancel::new(),
    }
}

fn act() -> ScriptedTool {
    ScriptedTool::new("act", Effect::Once, Acts::Echoes)
}

/// Hears about a call of `act`, which must not start.
async fn hear(tool: &ScriptedTool, policies: &[ScriptedPolicy]) -> Heard {
    let heard = inquiry(tool, policies).hear("act", r#"{"text":"x"}"#).await.unwrap();
    assert_eq!(tool.start_count(), 0, "nothing runs");
    heard
}

fn code(heard: &Heard) -> DenialCode {
    match heard {
        Heard::NotFrozen(denial) | Heard::Judged { ruling: Ruling::Deny(denial), .. } => denial.code,
        other => panic!("not denied: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_policy_is_heard_once_a_seat_and_nothing_runs() {
    let (tool, asks) = (act(), ScriptedPolicy::new("asks", Judges::asks("why not")));
    let allows = ScriptedPolicy::allowing();
    let heard = hear(&tool, &[allows.clone(), asks.clone()]).await;
    let Heard::Judged { call, seats, ruling } = heard else { panic!("{heard:?}") };
    assert!(matches!(ruling, Ruling::Ask(askers) if askers.len() == 1));
    let heard_at: Vec<Seat> = seats.iter().map(|heard| heard.seat).collect();
    assert_eq!(heard_at, [Seat::Adjudicate, Seat::ExecuteRecheck]);
    for HeardAt { opinions, .. } in &seats {
        assert_eq!(opinions.len(), 2);
        assert!(opinions.iter().all(|opinion| opinion.epoch.is_some()), "{opinions:?}");
    }
    assert_eq!(call.facts().label.integrity, Integrity::Untrusted);
    assert_eq!(call.facts().tool_digest, tool.spec().digest());
    for policy in [allows, asks] {
        let id = call.id();
        assert_eq!(policy.heard(), [(id, Seat::Adjudicate), (id, Seat::ExecuteRecheck)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_fails_in_any_way_has_denied() {
    let broken = [Judges::Fails("x".to_owned()), Judges::Panics("x".to_owned()), Judges::Hangs];
    for judges in broken {
        let policies = [ScriptedPolicy::allowing(), ScriptedPolicy::new("broken", judges)];
        let heard = hear(&act(), &policies).await;
        assert_eq!(code(&heard), DenialCode::PolicyFailed);
        let Heard::Judged { seats, .. } = heard else { panic!("{heard:?}") };
        assert_eq!(seats.len(), 1, "a run would not come to the next seat");
        assert!(matches!(seats[0].opinions[1].said, Said::Failed(_)), "{seats:?}");
    }
    assert_eq!(code(&hear(&act(), &[]).await), DenialCode::NoPolicy);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_policy_hears_of_a_call_that_is_not_frozen() {
    let policy = ScriptedPolicy::allowing();
    for resolves in [Acts::Panics("x".to_owned()), Acts::Hangs] {
        let heard = hear(&act().resolving(resolves), std::slice::from_ref(&policy)).await;
        assert_eq!(code(&heard), DenialCode::TargetsFailed);
    }
    let schema = serde_json::json!({ "type": "object", "required": ["text"] });
    for (name, arguments) in [("other", "{}"), ("act", "{}"), ("act", r#"{"text":1,"text":2}"#), ("act", "")]
    {
        let tool = act().schema(schema.clone());
        let heard = inquiry(&tool, std::slice::from_ref(&policy)).hear(name, arguments).await.unwrap();
        assert!(matches!(heard, Heard::NotUnderstood(_)), "{heard:?}");
    }
    assert_eq!(policy.heard(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_task_could_start_with_is_an_error() {
    let policy = ScriptedPolicy::allowing();
    assert!(inquiry(&act(), &[policy.clone(), policy]).hear("act", "{}").await.is_err());
    let twice = Inquiry { tools: vec![Arc::new(act()), Arc::new(act())], ..inquiry(&act(), &[]) };
    assert!(twice.hear("act", "{}").await.is_err());
}
