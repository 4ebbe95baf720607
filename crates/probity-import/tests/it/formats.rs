//! One conversation in every format comes out as the same messages in the same windows.

use probity_import::{ChatMessage, ChatRole, ImportedRun, exchanges, messages};

use crate::samples;
use crate::support::imported;

/// Messages as lines that a person can read.
fn told(messages: &[ChatMessage]) -> Vec<String> {
    let words = messages.iter().map(|message| {
        let role = match message.role {
            ChatRole::System => "system",
            ChatRole::User => "user",
            ChatRole::Assistant => "assistant",
            ChatRole::Tool => "tool",
        };
        let calls =
            message.tool_calls.iter().map(|call| format!(" {}#{}{}", call.name, call.id, call.arguments));
        let answers = message.tool_call_id.as_ref().map(|id| format!("#{id}")).unwrap_or_default();
        format!("{role}{answers}: {}{}", message.content, calls.collect::<String>())
    });
    words.collect()
}

/// The windows of all calls, as the numbers of their items, and the item that came back.
fn windows(run: &ImportedRun) -> Vec<(Vec<u32>, Vec<u32>)> {
    let items = |messages: &[ChatMessage]| messages.iter().map(|message| message.item.unwrap().0).collect();
    let calls = exchanges(run).into_iter().filter(|exchange| exchange.call.is_some());
    calls.map(|exchange| (items(&exchange.input), items(&exchange.output))).collect()
}

#[test]
fn every_format_tells_the_same_conversation() {
    let whole = [
        "system: Be brief.",
        "user: How high is the limit?",
        "assistant:  look_up#call_1{\"key\":\"limit\"}",
        "tool#call_1: limit: 400 EUR",
        "assistant: The limit is 400 EUR.",
    ];
    for sample in samples::all() {
        let (format, runs) = imported(&sample.bytes);
        assert_eq!(format.name(), sample.format, "{}", sample.name);
        for run in &runs {
            let found = told(&messages(run));
            // Sessions of this one do not tell their instructions; logs of agents have no calls.
            let (expected, called): (Vec<&str>, _) = match sample.name {
                "claude code" => (whole[1..].to_vec(), vec![(vec![1], vec![2]), (vec![1, 2, 3], vec![4])]),
                "who and when" => (
                    vec![whole[1], "assistant: Look it up.", whole[4]],
                    vec![(vec![1], vec![2]), (vec![1, 2], vec![3])],
                ),
                _ => (whole.to_vec(), vec![(vec![1, 2], vec![3]), (vec![1, 2, 3, 4], vec![5])]),
            };
            assert_eq!(found, expected, "{}", sample.name);
            assert_eq!(windows(run), called, "{}", sample.name);
        }
    }
}
