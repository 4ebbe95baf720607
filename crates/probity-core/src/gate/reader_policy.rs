//! Who may receive what was read.

use std::collections::BTreeSet;

use probity_contract::{
    Access, BoxFuture, Cancel, FrozenCall, Policy, PolicyError, PolicyName, Readers, Seat, Target, ToolSpec,
    Verdict,
};

use super::consequence::KnownTools;

/// What tools call a target that receives what they send: `Target::Other { what: "recipient", … }`.
const RECIPIENT: &str = "recipient";

/// A policy that keeps what only some may read from everybody else: it denies a call whose recipients are not all among the
/// readers of what the model had read before. Of any other call it says nothing, so it only narrows what others allow.
///
/// Recipients are the hosts of addresses and the targets that a tool calls `recipient`; they are compared with the readers as
/// they are. Where it is not told who receives something, the call is denied: a program, a file that is written, a tool that may
/// change something and names nobody. A tool that declares to read only, and tells no address and no recipient, sends nothing;
/// whether that is so is its author's word.
#[derive(Debug, Clone)]
pub struct ReaderPolicy {
    name: PolicyName,
    tools: KnownTools,
}

/// Who receives what a call sends.
enum Recipients<'a> {
    These(BTreeSet<&'a str>),
    /// Something that it touches may pass it on to anybody.
    NotTold,
}

impl ReaderPolicy {
    /// For a task that has these tools.
    #[must_use]
    pub fn new(name: PolicyName, tools: &[ToolSpec]) -> Self {
        Self { name, tools: KnownTools::of(tools) }
    }

    /// What is said of a call.
    #[must_use]
    pub fn verdict(&self, call: &FrozenCall) -> Verdict {
        let readers = &call.facts().label.readers;
        if *readers == Readers::Everyone {
            return Verdict::Abstain;
        }
        match self.recipients(call) {
            Recipients::These(names) => match names.iter().find(|name| !readers.include(name)) {
                None => Verdict::Abstain,
                Some(name) => denied(&format!("`{name}` may not read what was read before")),
            },
            Recipients::NotTold => {
                denied("only some may read what was read before, and who would receive it is not told")
            }
        }
    }

    fn recipients<'a>(&self, call: &'a FrozenCall) -> Recipients<'a> {
        let is_pure = self.tools.is_pure(call);
        let mut names = BTreeSet::new();
        for target in call.targets() {
            match target {
                Target::Url { host, .. } => _ = names.insert(host.as_str()),
                Target::Other { what, value } if what == RECIPIENT => _ = names.insert(value.as_str()),
                Target::Path { access: Access::Read, .. } => {}
                // Something in a store of its own that a tool only reads.
                Target::Other { .. } if is_pure && !super::shell::is_unaccounted(target) => {}
                Target::Path { .. } | Target::Command { .. } | Target::Other { .. } => {
                    return Recipients::NotTold;
                }
            }
        }
        if names.is_empty() && !is_pure { Recipients::NotTold } else { Recipients::These(names) }
    }
}

fn denied(reason: &str) -> Verdict {
    Verdict::Deny { reason: reason.to_owned() }
}

impl Policy for ReaderPolicy {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(std::future::ready(Ok(self.verdict(call))))
    }
}
