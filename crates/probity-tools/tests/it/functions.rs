//! Async functions as tools.

use probity_contract::{Effect, Target, Tool as _, ToolErrorClass, ToolOutput};
use probity_tools::FnTool;
use serde_json::json;

use crate::support::{arguments, call, class};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Mail {
    /// Who gets it.
    to: String,
    #[serde(default)]
    copies: Option<u32>,
}

fn mail() -> FnTool<Mail> {
    FnTool::new("mail", "Sends mail.", Effect::Once, |mail: Mail, cx| async move {
        Ok(ToolOutput::text(format!("{} × {:?} under {}", mail.to, mail.copies, cx.idempotency_key)))
    })
    .unwrap()
    .with_targets(|mail| vec![Target::Other { what: "recipient".to_owned(), value: mail.to.clone() }])
}

#[tokio::test]
async fn a_function_runs_with_its_arguments_and_tells_its_targets() {
    let tool = mail();
    assert_eq!(
        tool.spec().input_schema,
        json!({
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "Who gets it."},
                "copies": {"type": ["integer", "null"], "format": "uint32", "minimum": 0, "default": null},
            },
            "required": ["to"],
            "additionalProperties": false,
        })
    );
    let targets = tool.targets(&arguments(&json!({"to": "a@example.org"}))).await.unwrap();
    assert_eq!(targets, [Target::Other { what: "recipient".to_owned(), value: "a@example.org".to_owned() }]);
    assert_eq!(call(&tool, json!({"to": "b", "copies": 2})).await.unwrap(), "b × Some(2) under key");
    assert_eq!(class(&call(&tool, json!({"copies": 2})).await), ToolErrorClass::InvalidArguments);
}

#[test]
fn what_cannot_be_a_tool_is_refused_at_set_up() {
    let run = |_: Mail, _| async { Ok(ToolOutput::default()) };
    assert!(FnTool::new("no spaces", "", Effect::Pure, run).is_err());
    let run = |_: Vec<String>, _| async { Ok(ToolOutput::default()) };
    assert!(FnTool::new("list", "", Effect::Pure, run).is_err());
}
