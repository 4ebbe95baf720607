//! A task put together in Rust: a function as a tool, a policy of one's own, a record in memory.
//!
//! Run it with `cargo run -p probity --example library`. The model is a rule file, so it needs no key and no network.

use std::sync::{Arc, Mutex, PoisonError};

use probity_contract::{
    BoxFuture, Cancel, Durability, Effect, Emission, FrozenCall, Journal, JournalError, Policy, PolicyError,
    PolicyName, PrincipalId, RunId, Seat, ToolError, ToolOutput, Verdict,
};
use probity_core::{Host, Task, run_task};
use probity_models::RulesModel;
use probity_tools::FnTool;
use schemars::JsonSchema;
use serde::Deserialize;

const RULES: &str = r#"
[[rule]]
name = "answer from the invoices"
when = [{ kind = "tool_result", tool = "invoices", is_error = false, match = '(?<number>INV-\d+): (?<amount>[\d.]+) EUR' }]
text = "Invoice {number} over {amount} EUR is overdue."

[[rule]]
name = "look them up"
when = [{ kind = "person", match = 'overdue' }]
unless = [{ kind = "tool_result" }]
[[rule.call]]
tool = "invoices"
arguments = { days_overdue_min = 30 }
"#;

/// The arguments of the tool; the schema that the model reads is made from this type.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InvoicesArguments {
    /// Days that an invoice is overdue at least.
    days_overdue_min: u32,
}

async fn list_invoices(arguments: InvoicesArguments) -> Result<ToolOutput, ToolError> {
    let days = arguments.days_overdue_min;
    Ok(ToolOutput::text(format!("overdue for {days} days or more: INV-7: 120.50 EUR")))
}

/// Lets invoices be looked up, and nothing else.
struct ReadOnly {
    name: PolicyName,
}

impl Policy for ReadOnly {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        let verdict = if call.tool().as_str() == "invoices" {
            Verdict::Allow { reason: "looking invoices up changes nothing".to_owned() }
        } else {
            Verdict::Deny { reason: "only invoices may be looked up".to_owned() }
        };
        Box::pin(std::future::ready(Ok(verdict)))
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

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Arc::new(RulesModel::from_toml("rules/invoices", RULES)?);
    let invoices = FnTool::new(
        "invoices",
        "Lists open invoices.",
        Effect::Pure,
        |arguments: InvoicesArguments, _cx| list_invoices(arguments),
    )?;
    let task = Task::new(model, PrincipalId::new("ada@example.org")?, "Which invoices are overdue?")
        .tool(Arc::new(invoices))
        .policy(Arc::new(ReadOnly { name: PolicyName::new("read-only")? }));
    let record = Memory::default();
    let host = Host::new(Box::new(record.clone()));
    let finished = run_task(task, RunId::new("example")?, host).await?;
    let answer = finished.answer.ok_or("there is no answer")?;
    assert_eq!(answer.as_str(), "Invoice INV-7 over 120.50 EUR is overdue.");
    let lines = record.0.lock().unwrap_or_else(PoisonError::into_inner).len();
    #[expect(clippy::print_stdout, reason = "an example shows its result")]
    {
        println!("{answer} ({lines} lines of record)");
    }
    Ok(())
}
