//! Whose words a call may act on.

use std::collections::{BTreeMap, BTreeSet};

use probity_contract::{
    BoxFuture, Cancel, Digest, FrozenCall, Integrity, Policy, PolicyError, PolicyName, Seat, ToolName,
    ToolSpec, Verdict,
};
use serde_json::Value;

use super::consequence::KnownTools;
use crate::addresses::addresses;

/// Arguments that are named in one reason.
const NAMED_MAX: usize = 3;

/// A policy that keeps untrusted words from deciding what is done: a call that can change something and has an argument which
/// may not be believed far enough is denied. Of any other call it says nothing, so it only narrows what others allow.
///
/// Every argument decides what is done, but those that are named as data: the body of a message, the text of a file. Of data the
/// links, mail addresses and account numbers in it decide, for they say where something goes; each must be believed as far. A call
/// without arguments is as far to be believed as all that the model had read. What an argument may be believed is told by
/// [`FrozenCall::argument_labels`]: a value that stands word for word in the person's message keeps the person's integrity. That a
/// person meant it for this place, nobody knows.
#[derive(Debug, Clone)]
pub struct ArgumentPolicy {
    name: PolicyName,
    tools: KnownTools,
    needs: Integrity,
    asks: bool,
    data: BTreeMap<ToolName, BTreeSet<String>>,
    also: BTreeSet<ToolName>,
    // INVARIANT: the digest of the four above.
    epoch: Digest,
}

impl ArgumentPolicy {
    /// For a task that has these tools: denies where an argument is untrusted.
    #[must_use]
    pub fn new(name: PolicyName, tools: &[ToolSpec]) -> Self {
        let (data, also, epoch) = (BTreeMap::new(), BTreeSet::new(), Digest::of("none", &[]));
        let (tools, needs) = (KnownTools::of(tools), Integrity::ToolTrusted);
        Self { name, tools, needs, asks: false, data, also, epoch }.renewed()
    }

    /// Sets how far each argument that decides must be believed.
    #[must_use]
    pub fn needing(self, needs: Integrity) -> Self {
        Self { needs, ..self }.renewed()
    }

    /// Has a person asked in place of a denial. Who approves the call takes its arguments for good, for this call.
    #[must_use]
    pub fn asking(self) -> Self {
        Self { asks: true, ..self }.renewed()
    }

    /// Names arguments of a tool that are data, as JSON pointers; what stands below them is data, too.
    #[must_use]
    pub fn data<'a>(mut self, tool: ToolName, pointers: impl IntoIterator<Item = &'a str>) -> Self {
        self.data.entry(tool).or_default().extend(pointers.into_iter().map(str::to_owned));
        self.renewed()
    }

    /// Judges calls of this tool as well, though they only read: what stands in an address reaches its host.
    #[must_use]
    pub fn also(mut self, tool: ToolName) -> Self {
        self.also.insert(tool);
        self.renewed()
    }

    /// What is said of a call.
    #[must_use]
    pub fn verdict(&self, call: &FrozenCall) -> Verdict {
        if self.tools.only_reads(call) && !self.also.contains(call.tool()) {
            return Verdict::Abstain;
        }
        let arguments = call.argument_labels();
        let has_none = call.arguments().as_str() == "{}";
        if has_none && call.integrity() >= self.needs {
            return Verdict::Abstain;
        }
        let short = arguments.iter().filter(|argument| argument.label.integrity < self.needs);
        let values = call.arguments().to_value();
        let named: Vec<String> = short
            .filter_map(|argument| {
                let at = &argument.at;
                if has_none || !self.is_data(call.tool(), at) {
                    return Some(format!("`{at}`"));
                }
                let text = values.pointer(at).and_then(Value::as_str).unwrap_or_default();
                self.leads_out(call, at, text).then(|| format!("an address in `{at}`"))
            })
            .collect();
        if named.is_empty() {
            return Verdict::Abstain;
        }
        self.narrowed(&named, has_none)
    }

    fn narrowed(&self, named: &[String], has_none: bool) -> Verdict {
        let what = match has_none {
            true => "the call".to_owned(),
            false => {
                let first: Vec<&str> = named.iter().take(NAMED_MAX).map(String::as_str).collect();
                let more = named.len().saturating_sub(NAMED_MAX);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{}{more}", first.join(", "))
            }
        };
        let needs = self.needs;
        let reason = format!(
            "{what} may come from untrusted content and needs to be `{needs}` at least; use values word for word from the \
             person's message or from a source that is trusted"
        );
        if self.asks { Verdict::Ask { reason } } else { Verdict::Deny { reason } }
    }

    fn is_data(&self, tool: &ToolName, at: &str) -> bool {
        let below = |above: &String| {
            at.strip_prefix(above.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.data.get(tool).is_some_and(|data| data.iter().any(below))
    }

    /// Whether data has an address in it that may not be believed far enough: where a link leads, or whom somebody shall write or
    /// pay to, decides something.
    fn leads_out(&self, call: &FrozenCall, at: &str, text: &str) -> bool {
        let is_short = |address: &&str| call.integrity_of_part(at, address) < self.needs;
        addresses(text).iter().any(is_short)
            || at.split('/').any(|name| !addresses(&unescaped(name)).is_empty())
    }

    fn renewed(self) -> Self {
        let Self { needs, asks, data, also, .. } = &self;
        let needs = needs.to_string();
        let mut parts: Vec<&[u8]> = vec![needs.as_bytes(), if *asks { b"asks" } else { b"denies" }];
        for (tool, pointers) in data {
            // A pointer begins with `/`, a tool's name never does.
            parts.push(tool.as_str().as_bytes());
            parts.extend(pointers.iter().map(|pointer| pointer.as_bytes()));
        }
        parts.push(b"/");
        parts.extend(also.iter().map(|tool| tool.as_str().as_bytes()));
        let epoch = Digest::of("probity.argument-policy-epoch.v1", &parts);
        Self { epoch, ..self }
    }
}

impl Policy for ArgumentPolicy {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn epoch(&self) -> Digest {
        self.epoch
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

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
#[path = "argument_policy_tests.rs"]
mod tests;
