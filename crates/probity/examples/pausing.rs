//! A run that waits for a person: it pauses, lies sealed somewhere, is answered, and goes on in what could be another process.
//!
//! Run it with `cargo run -p probity --example pausing`. The model is a rule file, so it needs no key and no network.

use std::sync::{Arc, Mutex, PoisonError};

use probity_contract::{
    Answer, Approver, BoxFuture, Clock, Durability, Effect, Emission, Journal, JournalError, PendingCall,
    PolicyName, PrincipalId, RunId, Tool, ToolError, ToolOutput,
};
use probity_core::{
    Checkpoint, Host, KeyRing, Making, NONCE_BYTES, Otherwise, Resumption, RuleLists, RulePolicy, Stopped,
    SystemClock, Task, resume_task, start_task,
};
use probity_models::RulesModel;
use probity_tools::FnTool;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

const RULES: &str = r#"
[[rule]]
name = "tell"
when = [{ kind = "tool_result", tool = "pay", is_error = false, match = '(?<receipt>P-\d+)' }]
text = "Paid, receipt {receipt}."

[[rule]]
name = "pay"
unless = [{ kind = "tool_result" }]
[[rule.call]]
tool = "pay"
arguments = { to = "ACME", amount = 120 }
"#;

/// The arguments of the tool.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PayArguments {
    /// Who is paid.
    to: String,
    /// Euros.
    amount: u32,
}

async fn pay(arguments: PayArguments) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(format!("P-1: {} EUR to {}", arguments.amount, arguments.to)))
}

/// Leaves every question open: nobody is there now.
struct NobodyIsThere;

impl Approver for NobodyIsThere {
    fn ask<'a>(&'a self, _question: &'a PendingCall) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Later))
    }
}

/// A record that is kept in memory; `probity-store` has one that is kept in files.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<Emission>>>);

impl Journal for Memory {
    fn append(&mut self, lines: &[Emission], _durability: Durability) -> Result<(), JournalError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(lines);
        Ok(())
    }
}

/// The same task each time: a run is taken up by its own task, as that is then.
fn task() -> Result<Task, Box<dyn std::error::Error>> {
    let model = Arc::new(RulesModel::from_toml("rules/desk", RULES)?);
    let pay = FnTool::new("pay", "Pays.", Effect::Once, |arguments: PayArguments, _cx| pay(arguments))?;
    let rules = RuleLists { ask: vec!["pay".to_owned()], ..RuleLists::default() };
    let tools = [pay.spec().clone()];
    let rules = RulePolicy::new(PolicyName::new("rules")?, &rules, &tools, Otherwise::Abstain)?;
    let task = Task::new(model, PrincipalId::new("ada@example.org")?, "Pay ACME what we owe.");
    Ok(task.tool(Arc::new(pay)).policy(Arc::new(rules)))
}

fn host(record: &Memory) -> Host {
    Host { approver: Some(Arc::new(NobodyIsThere)), ..Host::new(Box::new(record.clone())) }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (clock, record) = (SystemClock::new(), Memory::default());
    // A real key comes from 32 random bytes and is kept where only its owner can read it.
    let ring = KeyRing::parse(KeyRing::written(&[1; 32]).as_str())?;

    // Monday: the run comes to the payment, and pauses.
    let stopped = start_task(task()?, RunId::new("example")?, host(&record)).await?;
    let Stopped::Paused(paused) = stopped else { return Err("it did not pause".into()) };
    let nothing = json!(null);
    let making = Making {
        generation: 1,
        made_at_unix_ms: clock.unix_ms(),
        ttl_s: 7 * 86_400,
        host: &nothing,
        // No two seals of one key may share this; draw it by chance.
        nonce: [1; NONCE_BYTES],
    };
    let sealed = Checkpoint::seal(&ring, &paused.machine().snapshot()?, &making)?;

    // Tuesday, in another process: somebody looks at the question and approves.
    let mut run = Checkpoint::open(&ring, &sealed, clock.unix_ms(), 1)?.run;
    let question = run.questions().next().ok_or("nothing is asked")?;
    let (binding, shown) = (question.binding(), question.view());
    let approve = Answer::Approve { by: PrincipalId::new("eve@example.org")?, more: 0 };
    let now_ms = clock.unix_ms().saturating_sub(run.started_at_unix_ms());
    let lines = run.answer_at_rest(now_ms, binding, approve)?;
    record.clone().append(&lines, Durability::Durable)?;

    // And the run goes on: all policies are asked again, and the tool runs once.
    let resumption = Resumption { checkpoint: 1, now_ms, ..Resumption::default() };
    let stopped = resume_task(task()?, run, resumption, host(&record)).await?;
    let Stopped::Finished(finished) = stopped else { return Err("it did not end".into()) };
    let answer = finished.answer.ok_or("there is no answer")?;
    assert_eq!(answer.as_str(), "Paid, receipt P-1.");
    #[expect(clippy::print_stdout, reason = "an example shows its result")]
    {
        shown.lines().iter().for_each(|line| println!("{line}"));
        println!("{answer}");
    }
    Ok(())
}
