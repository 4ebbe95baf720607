//! What a record that keeps no full content keeps of the words that stand in its facts.

use probity_contract::{
    Body, ContentSetting, Ending, Fact, HostError, Intercepted, Opinion, PartId, Said, Stop, Target,
    ToolName, Verdict,
};
use probity_egress::{SamePrincipal, egress_text, egress_value};
use serde_json::Value;

/// Hexadecimal digits of a digest that stands in place of words.
const DIGEST_CHARS: usize = 12;

/// How words are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// After the credential pass.
    Redacted,
    /// As digest and length.
    Digests,
}

impl Keeps {
    /// How facts are kept under a content setting; `None` where they stay as they are.
    pub(super) const fn of(content: ContentSetting) -> Option<Self> {
        match content {
            ContentSetting::Full => None,
            ContentSetting::Redacted => Some(Self::Redacted),
            ContentSetting::Digests => Some(Self::Digests),
        }
    }

    /// Treats every word of a fact that did not come from the engine itself.
    ///
    /// Texts are not concerned; a fact only refers to them. Names that the deployment gave (of policies, principals,
    /// models, roots) and the definitions of tools and schemas are not content: they are kept, the latter passed.
    pub(super) fn treat(self, fact: &mut Fact) {
        match fact {
            Fact::RunStarted(started) => {
                self.words(&mut started.title);
                // Nothing is imported here; should a record of one ever pass, its words are foreign ones.
                if let Some(imported) = &mut started.imported {
                    self.words(&mut imported.place);
                }
                for tool in &mut started.tools {
                    pass_text(&mut tool.description);
                    pass_value(&mut tool.input_schema);
                }
                started.output_schema.iter_mut().for_each(pass_value);
                started.params.output_schema.iter_mut().for_each(pass_value);
            }
            Fact::Resumed { tools, .. } => {
                for tool in tools {
                    pass_text(&mut tool.description);
                    pass_value(&mut tool.input_schema);
                }
            }
            Fact::ItemAdded { body, .. } => match body {
                Body::Context { name, .. } => self.words(name),
                Body::ToolResult { provider_id, tool, .. } => {
                    self.id(provider_id);
                    self.id(tool);
                }
                Body::Instructions { .. }
                | Body::Person { .. }
                | Body::Reply { .. }
                | Body::Notice { .. } => {}
            },
            Fact::ModelReplied { model, response_id, stop, .. } => {
                model.iter_mut().chain(response_id).for_each(pass_text);
                if let Stop::Other(word) = stop {
                    self.id(word);
                }
            }
            // An interceptor's reason is its own word; what it refuses is referred to.
            Fact::Intercepted(row) => self.row(row),
            Fact::Ended { ending: Ending::MessageDenied(denied), .. } => self.reason(&mut denied.reason),
            Fact::CallProposed { provider_id, tool, .. } => {
                self.id(provider_id);
                self.id(tool);
            }
            Fact::CallFrozen { targets, operands, arguments_from, .. } => {
                // Names of members may be the model's.
                for source in arguments_from {
                    self.words(&mut source.at);
                    source.part.iter_mut().for_each(|part| self.words(part));
                }
                targets.iter_mut().for_each(|target| self.target(target));
                for operand in operands {
                    pass_text(&mut operand.root);
                    self.words(&mut operand.path);
                }
            }
            Fact::Judged { opinions, .. } => opinions.iter_mut().for_each(|opinion| self.opinion(opinion)),
            Fact::Shadowed { said, .. } => self.said(said),
            Fact::Denied { denial, .. } => self.words(&mut denial.reason),
            Fact::CallRejected { reason: words, .. }
            | Fact::ModelFailed { error: words, .. }
            | Fact::FailureReported { error: words, .. }
            | Fact::Ended { ending: Ending::ModelFailed { error: words, .. }, .. }
            | Fact::ChildEnded { ending: Some(Ending::ModelFailed { error: words, .. }), .. } => {
                self.words(words)
            }
            Fact::ToolFinished { vouched, .. } => vouched.iter_mut().for_each(|value| self.words(value)),
            Fact::Foreign { at, .. } => self.words(at),
            Fact::OutputRejected { errors, .. } => errors.iter_mut().for_each(|error| self.words(error)),
            // Numbers, digests, the engine's own words, and names that the deployment gave.
            Fact::ModelCalled { .. }
            | Fact::Asked { .. }
            | Fact::Answered { .. }
            | Fact::ToolStarted { .. }
            | Fact::Reconciled { .. }
            | Fact::ChildEnded { .. }
            | Fact::ItemReplaced { .. }
            | Fact::ReplyRefused { .. }
            | Fact::LimitHit { .. }
            | Fact::Ended { .. } => {}
        }
    }

    fn words(self, text: &mut String) {
        match self {
            Self::Redacted => pass_text(text),
            Self::Digests => {
                let id = PartId::of(text).to_string();
                let digest: String = id.chars().take(DIGEST_CHARS).collect();
                *text = format!("[digest {digest} {} bytes]", text.len());
            }
        }
    }

    /// A model or a provider made these up. Such as look like an id and hold no credential are kept, for they tell which
    /// call is which.
    fn id(self, text: &mut String) {
        pass_text(text);
        if ToolName::new(text.as_str()).is_err() {
            self.words(text);
        }
    }

    fn opinion(self, opinion: &mut Opinion) {
        self.said(&mut opinion.said);
    }

    fn said(self, said: &mut Said) {
        match said {
            Said::Verdict(Verdict::Allow { reason } | Verdict::Ask { reason } | Verdict::Deny { reason })
            | Said::Failed(reason) => self.words(reason),
            Said::Verdict(Verdict::Abstain) | Said::Cancelled => {}
        }
    }

    fn row(self, row: &mut Intercepted) {
        for said in &mut row.verdicts {
            said.reason.iter_mut().for_each(|reason| self.reason(reason));
        }
        row.verdict = row.verdict.map_reasons(|reason| self.reason(reason));
    }

    /// The engine's own reasons say nothing of what they are about.
    fn reason(self, reason: &mut String) {
        if !HostError::is_said_by(reason) {
            self.words(reason);
        }
    }

    fn target(self, target: &mut Target) {
        match target {
            Target::Path { root, path, resolved, .. } => {
                pass_text(root);
                self.words(path);
                self.words(resolved);
            }
            Target::Url { url, host, port: _, method } => {
                self.words(url);
                self.words(host);
                pass_text(method);
            }
            Target::Command { argv } => argv.iter_mut().for_each(|word| self.words(word)),
            Target::Other { what, value } => {
                pass_text(what);
                self.words(value);
            }
        }
    }
}

fn pass_text(text: &mut String) {
    let passed = egress_text::<SamePrincipal>(text);
    if passed.as_str() != text {
        *text = passed.as_str().to_owned();
    }
}

fn pass_value(value: &mut Value) {
    let passed = egress_value::<SamePrincipal>(value);
    // A snapshot is plain JSON; should it ever not be, nothing is the safe thing to keep.
    *value = serde_json::to_value(&passed).unwrap_or(Value::Null);
}
