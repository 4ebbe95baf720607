//! Cedar policies as judges of tool calls.
//!
//! [`CedarPolicy`] is a [`Policy`](probity_contract::Policy): it is loaded for the tools of a task, its policies are
//! validated strictly against a schema made from these tools, and it then judges frozen calls. A `forbid` denies, a
//! `permit` with `@ask("why")` asks a person, a `permit` allows; what cannot be evaluated is an error, which denies.
//!
//! ```
//! use probity_cedar::{CedarPolicy, CedarSource};
//! use probity_contract::{Effect, PolicyName, ToolName, ToolSpec};
//!
//! let pay = ToolSpec {
//!     name: ToolName::new("pay")?,
//!     description: "Pays a vendor.".to_owned(),
//!     input_schema: serde_json::json!({
//!         "type": "object",
//!         "required": ["amount", "to"],
//!         "properties": { "amount": { "type": "integer" }, "to": { "type": "string" } },
//!     }),
//!     effect: Effect::Once,
//!     server: None,
//!     sandbox: None,
//!     endorses: Vec::new(),
//! };
//! let source = |text: &str| CedarSource { name: "payments.cedar".to_owned(), text: text.to_owned() };
//!
//! let text = r#"
//!     permit(principal, action == Probity::Action::"pay", resource)
//!     when { context.arguments.amount < 100 };
//! "#;
//! let policy = CedarPolicy::new(PolicyName::new("payments")?, &[source(text)], &[pay.clone()])?;
//! assert!(policy.schema_text().contains("amount: Long"));
//!
//! // A policy that could not do what it says is not loaded.
//! let misspelled = source(&text.replace("amount", "amuont"));
//! let error = CedarPolicy::new(PolicyName::new("payments")?, &[misspelled], &[pay]).unwrap_err();
//! assert!(error.to_string().contains("payments.cedar:3:12"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each thing that a call touches is a resource and is judged by itself, because Cedar cannot say "every path of the
//! call". The alternative, all targets as a set in the context, lost: nothing but equality can be asked of a set.

mod context;
mod depth;
mod error;
mod hearing;
pub mod limits;
mod policy;
mod resource;
mod rules;
mod said;
mod schema;
mod shape;
mod value;
mod vocabulary;

pub use error::CedarError;
pub use policy::CedarPolicy;
pub use rules::CedarSource;
