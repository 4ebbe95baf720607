//! The gate at the sink: the contract's own types, nothing of them rebuilt.

use std::sync::Arc;

use probity_contract::{
    Arguments, ArgumentsError, Bench, CallFacts, CallId, Digest, FreezeError, FrozenCall, Grant, Judgement,
    Label, Level, NameError, Opinion, PendingCall, PolicyName, PrincipalId, QuestionFacts, RedeemError,
    Redeemer, Redemption, Roster, RosterError, RunId, Said, Seat, Target, ToolName, Verdict,
};
use serde_json::json;

use crate::action::{Action, Field};

/// The action has a form that the contract does not know.
#[derive(Debug, thiserror::Error)]
#[error("put the action before the gate")]
pub enum GateError {
    /// A name.
    Name(#[from] NameError),
    /// The arguments.
    Arguments(#[from] ArgumentsError),
    /// The whole call.
    Freeze(#[from] FreezeError),
    /// Those who judge.
    Roster(#[from] RosterError),
    /// The use of the approval.
    Redeem(#[from] RedeemError),
    /// The stored approval.
    Stored(#[from] serde_json::Error),
}

/// A person's approval of one action, as it lies in a store.
#[derive(Debug)]
pub struct Approval {
    grant: String,
}

/// Milliseconds of the run's clock at which everything happens.
const NOW_MS: u64 = 5;

impl Approval {
    /// Freezes the action, has the policy ask and the person approve.
    ///
    /// # Errors
    /// When the action has no form that the contract knows.
    pub fn of(action: &Action) -> Result<Self, GateError> {
        let mut hearing = Judgement::open(frozen(action)?, bench()?);
        hearing.hear(Seat::Adjudicate, &opinions(action)?);
        let question = PendingCall::put(QuestionFacts {
            call: Arc::clone(hearing.call()),
            seat: Seat::Adjudicate,
            askers: hearing.askers(),
            epochs: hearing.epochs().to_vec(),
            principals: vec![PrincipalId::new(action.get(Field::Caller))?],
            number: 1,
            not_before_ms: 0,
            expires_at_ms: 10,
        });
        let grant = question.approve(PrincipalId::new("eve")?);
        Ok(Self { grant: serde_json::to_string(&grant)? })
    }

    /// Puts another or the same action before the gate under this approval, and gives what a tool with the permit would do.
    ///
    /// # Errors
    /// When the action has no form that the contract knows.
    pub fn executes(&self, action: &Action) -> Result<Option<Action>, GateError> {
        let grant: Grant = serde_json::from_str(&self.grant)?;
        let mut hearing = Judgement::open(frozen(action)?, bench()?);
        hearing.hear(Seat::Adjudicate, &opinions(action)?);
        hearing.hear(Seat::ExecuteRecheck, &opinions(action)?);
        // Each use is the first here: whether an approval is used twice is another question than for what.
        hearing.redeem(Redemption::claim(&Forgetful, &hearing.call().facts().run, grant.binding())?);
        hearing.grant(grant);
        let Ok(permit) = hearing.permit(NOW_MS) else { return Ok(None) };
        // What runs is what stands in the permit. Rules and definition are bound by their digests, so a permit is for those
        // that this action has.
        let facts = permit.call().facts();
        let arguments = facts.arguments.to_value();
        let argument = |name: &str| arguments.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        let executed = Action::write(argument("path"), argument("content"))
            .with(Field::Operation, facts.tool.as_str())
            .with(Field::Caller, facts.principal.as_str())
            .with(Field::Session, facts.run.as_str())
            .with(Field::Policy, action.get(Field::Policy))
            .with(Field::Workflow, action.get(Field::Workflow));
        Ok(Some(executed))
    }
}

/// Says of every use that it is the first.
struct Forgetful;

impl Redeemer for Forgetful {
    fn redeem(&self, _run: &RunId, _binding: Digest) -> Result<(), RedeemError> {
        Ok(())
    }
}

fn policy() -> Result<PolicyName, NameError> {
    PolicyName::new("careful")
}

fn bench() -> Result<Bench, GateError> {
    Ok(Bench::of(Roster::new(vec![policy()?])?))
}

fn opinions(action: &Action) -> Result<Vec<Opinion>, GateError> {
    let epoch = Some(Digest::of("test.rules", &[action.get(Field::Policy).as_bytes()]));
    let said = Said::Verdict(Verdict::Ask { reason: "it writes".to_owned() });
    Ok(vec![Opinion { level: Level::OWN, policy: policy()?, epoch, said }])
}

fn definition(action: &Action) -> Digest {
    Digest::of("test.definition", &[action.get(Field::Workflow).as_bytes()])
}

fn frozen(action: &Action) -> Result<Arc<FrozenCall>, GateError> {
    let arguments = json!({ "path": action.get(Field::Target), "content": action.get(Field::Content) });
    let target = Target::Other { what: "file".to_owned(), value: action.get(Field::Target).to_owned() };
    let facts = CallFacts {
        run: RunId::new(action.get(Field::Session))?,
        call: CallId(1),
        principal: PrincipalId::new(action.get(Field::Caller))?,
        tool: ToolName::new(action.get(Field::Operation))?,
        tool_digest: definition(action),
        arguments: Arguments::parse(&arguments.to_string())?,
        targets: vec![target],
        operands: Vec::new(),
        arguments_from: Vec::new(),
        label: Label::system(),
    };
    Ok(Arc::new(FrozenCall::freeze(facts)?))
}
