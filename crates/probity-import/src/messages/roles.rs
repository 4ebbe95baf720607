use crate::draft::Role;

/// The role that a word means, in the words of any provider; `None` for a word that is no role.
pub(crate) fn role_of(word: &str) -> Option<Role> {
    let lower = word.to_ascii_lowercase();
    let plain = lower.strip_prefix("role_").or_else(|| lower.strip_prefix("messagerole.")).unwrap_or(&lower);
    let plain = plain.strip_suffix("chunk").unwrap_or(plain);
    let plain = plain.strip_suffix("message").unwrap_or(plain);
    match plain {
        "system" | "developer" => Some(Role::System),
        "user" | "human" => Some(Role::User),
        "assistant" | "ai" | "model" | "bot" | "chatbot" | "agent" | "gpt" | "tool-call" | "tool_call" => {
            Some(Role::Assistant)
        }
        "tool" | "function" | "ipython" | "environment" | "tool_response" | "tool-response" => {
            Some(Role::Tool)
        }
        _ => None,
    }
}
