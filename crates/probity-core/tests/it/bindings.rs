//! What was approved is what runs, on every way on which a run can be taken apart and put together again.
//!
//! The ways and the fields are those of `probity-bindings`; here they lead through the machine itself, stored and read back.
//! The attacker can write wherever an edge reads, the whole stored run included, but not the person's answer.

use std::sync::Arc;

use probity_bindings::{Action, Field, TOPOLOGIES, Topology};
use probity_contract::{
    Answer, DenialCode, Digest, Effect, Fact, FrozenCall, Level, ModelCallId, Opinion, PendingCall,
    ReplyPart, Said, Seat, Target, ToolSpec, Verdict,
};
use probity_core::{Run, Unexpected};
use probity_testkit::{policy_name, principal, run_id};
use serde_json::{Value, json};

use crate::desk::{Desk, Owed, answered, approve, finished, judged, not_known, replied, spec, told, tool};

/// What the attacker does with the other action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attack {
    /// Nothing: the control. The run is stored and read back all the same.
    None,
    /// Changes the text of the stored run, in all places or in one.
    Text,
    /// Puts a whole run that asks about the other action in the place of the stored one.
    Run,
    /// Puts the other call in the place of the approved one, after the answer.
    Call,
    /// Changes what the window tells of the model's proposal.
    Window,
    /// Has the model propose the other action under the id of the approved one.
    Again,
    /// Changes what surrounds the run between the answer and the effect: rules, and what the tool tells of its targets.
    Around,
}

const ATTACKS: [Attack; 6] =
    [Attack::Text, Attack::Run, Attack::Call, Attack::Window, Attack::Again, Attack::Around];

fn definition(name: &str, action: &Action) -> ToolSpec {
    ToolSpec {
        description: format!("Works as {} says.", action.get(Field::Workflow)),
        ..tool(name, Effect::Once)
    }
}

fn rules(action: &Action) -> Digest {
    Digest::of("test.rules", &[action.get(Field::Policy).as_bytes()])
}

fn proposal(action: &Action) -> ReplyPart {
    let arguments = json!({"path": action.get(Field::Target), "content": action.get(Field::Content)});
    ReplyPart::call("p1", action.get(Field::Operation), arguments.to_string())
}

fn targets(path: &str) -> Vec<Target> {
    vec![Target::Other { what: "file".to_owned(), value: path.to_owned() }]
}

fn path(arguments: &Value) -> String {
    arguments["path"].as_str().unwrap().to_owned()
}

fn asks(action: &Action) -> Vec<Opinion> {
    let said = Said::Verdict(Verdict::Ask { reason: "it writes".to_owned() });
    vec![Opinion { level: Level::OWN, policy: policy_name("careful"), epoch: Some(rules(action)), said }]
}

/// A run that has come to its question about `action`.
fn asking(action: &Action) -> (Desk, PendingCall) {
    let names = ["write", "not-write"];
    let mut spec = spec(names.iter().map(|name| definition(name, action)).collect());
    spec.run = run_id(action.get(Field::Session));
    spec.principal = principal(action.get(Field::Caller));
    let mut desk = Desk::new(Run::new(spec).unwrap());
    desk.feed(replied(ModelCallId(1), vec![proposal(action)])).unwrap();
    while desk.question().is_none() {
        pay(&mut desk, action, None);
    }
    let question = desk.question().unwrap();
    (desk, question)
}

/// Does what is owed first, as the world is with `action`'s rules. A person approves nothing that they were not asked about
/// at first; `other` is what the model goes on to propose.
fn pay(desk: &mut Desk, action: &Action, other: Option<&Action>) {
    let owed = desk.open[0].clone();
    let fed = match owed {
        Owed::Model(call) => {
            let again = other.filter(|_| call == ModelCallId(2)).map(proposal);
            desk.feed(replied(call, vec![again.unwrap_or_else(|| ReplyPart::text("done"))]))
        }
        Owed::Targets(call, arguments) => {
            let path = path(&arguments.to_value());
            desk.feed(told(call, targets(&path)))
        }
        Owed::Opinions(call, seat) => desk.feed(judged(&call, seat, asks(action))),
        Owed::Answer(question) => desk.feed(answered(&question, Answer::Nobody)),
        Owed::Reconcile(call) => desk.feed(not_known(call)),
        Owed::Tool(call) => desk.feed(finished(call.id(), "written")),
    };
    fed.unwrap();
}

/// What a tool does that is started with this permit, in a run with these tools and rules.
fn meaning(call: &FrozenCall, run: &Run, in_force: &Action) -> Action {
    let facts = call.facts();
    let arguments = facts.arguments.to_value();
    let state = serde_json::to_value(run).unwrap();
    let tools: Vec<ToolSpec> = serde_json::from_value(state["spec"]["tools"].clone()).unwrap();
    let tool = tools.iter().find(|tool| tool.name == facts.tool).unwrap();
    let workflow = tool.description.strip_prefix("Works as ").and_then(|rest| rest.strip_suffix(" says."));
    Action::write(&path(&arguments), arguments["content"].as_str().unwrap())
        .with(Field::Operation, facts.tool.as_str())
        .with(Field::Caller, facts.principal.as_str())
        .with(Field::Session, facts.run.as_str())
        .with(Field::Policy, in_force.get(Field::Policy))
        .with(Field::Workflow, workflow.unwrap())
}

/// How a field's value stands in a stored run.
fn written(field: Field, action: &Action) -> String {
    match field {
        Field::Policy => rules(action).to_string(),
        Field::Workflow => format!("Works as {} says.", action.get(Field::Workflow)),
        _ => action.get(field).to_owned(),
    }
}

/// The stored run with another text in the places that `picks` chooses, counted from 0.
fn altered(stored: &str, from: &str, to: &str, picks: impl Fn(usize) -> bool) -> String {
    let pieces: Vec<&str> = stored.split(from).collect();
    let mut text = pieces[0].to_owned();
    for (at, piece) in pieces[1..].iter().enumerate() {
        text.push_str(if picks(at) { to } else { from });
        text.push_str(piece);
    }
    text
}

/// The stored runs that an attacker makes of this one.
fn replaced(attack: Attack, stored: &str, action: &Action, other: &Action, field: Field) -> Vec<String> {
    let (from, to) = (written(field, action), written(field, other));
    match attack {
        Attack::None | Attack::Again | Attack::Around => vec![stored.to_owned()],
        Attack::Text => {
            let places = stored.matches(&from).count();
            let mut all = vec![altered(stored, &from, &to, |_| true)];
            all.extend((0..places).map(|place| altered(stored, &from, &to, |at| at == place)));
            all
        }
        Attack::Run => vec![asking(other).0.stored()],
        Attack::Call => {
            let mut state: Value = serde_json::from_str(stored).unwrap();
            let foreign: Value = serde_json::from_str(&asking(other).0.stored()).unwrap();
            state["calls"]["1"]["frozen"] = foreign["calls"]["1"]["frozen"].clone();
            vec![state.to_string()]
        }
        Attack::Window => {
            let mut state: Value = serde_json::from_str(stored).unwrap();
            let window = altered(&state["window"].to_string(), &from, &to, |_| true);
            state["window"] = serde_json::from_str(&window).unwrap();
            vec![state.to_string()]
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    tries: usize,
    refused: usize,
    ran_as_approved: usize,
}

/// Has `action` approved, replaces `field` with `attack`, and lets the run go on to its end. Nothing but `action` may run.
fn check(action: &Action, field: Field, attack: Attack, seen: &mut Seen) {
    let other = action.clone().with(field, &format!("not-{}", action.get(field)));
    let (before, question) = asking(action);
    let answers_first = matches!(attack, Attack::Call | Attack::Around | Attack::Again | Attack::None);
    let mut desk = before.taken_up(&before.stored()).unwrap();
    if answers_first {
        desk.feed(answered(&question, approve())).unwrap();
    }
    for stored in replaced(attack, &desk.stored(), action, &other, field) {
        seen.tries += 1;
        let Ok(mut desk) = desk.taken_up(&stored) else {
            seen.refused += 1;
            continue;
        };
        if !answers_first {
            // Void where the run asks about something else now.
            let fed: Result<(), Unexpected> = desk.feed(answered(&question, approve()));
            if fed.is_err() {
                desk.feed(answered(&question, approve())).unwrap_err();
            }
        }
        let in_force = if attack == Attack::Around { &other } else { action };
        let proposes = (attack == Attack::Again).then_some(&other);
        while desk.ending.is_none() {
            match desk.open.first() {
                // What was approved is about to run; what it touches is not any more what it was.
                Some(Owed::Targets(call, ..)) if attack == Attack::Around && field == Field::Target => {
                    let call = *call;
                    desk.feed(told(call, targets(other.get(Field::Target)))).unwrap();
                }
                _ => pay(&mut desk, in_force, proposes),
            }
        }
        let ran: Vec<Action> =
            desk.started.iter().map(|call: &Arc<FrozenCall>| meaning(call, &desk.run, in_force)).collect();
        assert!(ran.iter().all(|ran| ran == action), "{attack:?} of {field:?}: {ran:?}");
        assert!(ran.len() <= 1, "{attack:?} of {field:?}: one approval, {} starts", ran.len());
        seen.ran_as_approved += ran.len();
    }
}

#[test]
fn i19_nothing_but_what_was_approved_runs_through_the_machine() {
    let action = Action::write("a.txt", "hello");
    let mut fields = std::collections::BTreeSet::new();
    let mut pairs = 0;
    for topology in TOPOLOGIES.map(Topology::known) {
        for (_, field) in topology.replaceable() {
            fields.insert(field);
            pairs += 1;
        }
    }
    assert_eq!((pairs, fields.len()), (20, Field::ALL.len()), "every edge reads only what is tried below");
    let mut seen = Seen::default();
    for field in fields {
        for attack in ATTACKS {
            check(&action, field, attack, &mut seen);
        }
    }
    // An attacker who was never stopped, or never got through to the machine, would show nothing.
    assert!(seen.tries > 60 && seen.refused > 20 && seen.ran_as_approved > 5, "{seen:?}");
}

#[test]
fn i19_what_was_approved_runs_after_it_was_stored_in_whatever_order_its_members_stand() {
    let mut seen = Seen::default();
    check(&Action::write("a.txt", "hello"), Field::Target, Attack::None, &mut seen);
    assert_eq!(seen, Seen { tries: 1, refused: 0, ran_as_approved: 1 });

    // The same meaning in another order of members is the same call.
    let frozen = |arguments: &str| {
        let mut desk = Desk::new(Run::new(spec(vec![tool("write", Effect::Once)])).unwrap());
        let part = ReplyPart::call("p1", "write", arguments);
        desk.feed(replied(ModelCallId(1), vec![part])).unwrap();
        pay(&mut desk, &Action::write("a.txt", "hello"), None);
        let Owed::Opinions(call, _) = &desk.open[0] else { panic!("{:?}", desk.open) };
        call.digest()
    };
    let (one, other) =
        (frozen(r#"{"path":"a.txt","content":"hello"}"#), frozen(r#"{ "content":"hello","path":"a.txt" }"#));
    assert_eq!(one, other);
}

/// An approval is for one task and for whom it acts: in another task, or for somebody else, it is none, however it is brought
/// there.
#[test]
fn i35_an_approval_is_not_carried_over_to_another_task_or_principal() {
    let action = Action::write("a.txt", "hello");
    let others = [(Field::Session, "run-2"), (Field::Caller, "bob")];
    let others = others.map(|(field, value)| action.clone().with(field, value));
    let both = others[0].clone().with(Field::Caller, "bob");
    for other in others.iter().chain([&both]) {
        let (mut theirs, question) = asking(&action);
        let (mut desk, own) = asking(other);
        assert_ne!(question.binding(), own.binding());
        // The answer itself.
        desk.feed(answered(&question, approve())).unwrap_err();
        // The grant that lies in the other run, put into this one's state.
        theirs.feed(answered(&question, approve())).unwrap();
        let given: Value = serde_json::from_str(&theirs.stored()).unwrap();
        let grant = given["calls"]["1"]["grant"].clone();
        assert!(grant.is_object(), "there is a grant to be stolen");
        let mut state: Value = serde_json::from_str(&desk.stored()).unwrap();
        state["calls"]["1"]["grant"] = grant;
        state["calls"]["1"]["stage"] = given["calls"]["1"]["stage"].clone();
        state["calls"]["1"]["sent"] = json!(false);
        let mut desk = desk.taken_up(&state.to_string()).unwrap();
        while desk.ending.is_none() {
            pay(&mut desk, other, None);
        }
        assert!(desk.started.is_empty(), "{:?}", desk.started);
    }
}

/// A stored run in which a tool was redefined: its open call was judged for another tool, and is denied.
#[test]
fn i22_a_call_of_a_stored_run_whose_tool_was_redefined_is_denied() {
    let action = Action::write("a.txt", "hello");
    let (mut desk, question) = asking(&action);
    desk.feed(answered(&question, approve())).unwrap();
    let (from, to) = (written(Field::Workflow, &action), "Does something else.");
    let mut desk = desk.taken_up(&desk.stored().replace(&from, to)).unwrap();
    while desk.ending.is_none() {
        pay(&mut desk, &action, None);
    }
    assert!(desk.started.is_empty());
    let denied = crate::record_check::entries(&desk.lines).into_iter().find_map(|entry| match entry.fact {
        Fact::Denied { denial, .. } => Some((denial.code, denial.seat)),
        _ => None,
    });
    assert_eq!(denied, Some((DenialCode::ToolChanged, Seat::Targets)));
}
