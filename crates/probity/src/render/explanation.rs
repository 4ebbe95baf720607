//! What was said of a call, seat by seat, for a person and for a script.

use probity_contract::{
    ArgumentLabel, CallView, Denial, FrozenCall, Integrity, Opinion, Ruling, Said, Seat, Verdict,
};
use probity_core::{Heard, HeardAt};
use probity_egress::{
    Egress, EgressValue, SamePrincipal, Words, egress_text, egress_value, one_line_untrusted,
};
use serde_json::{Value, json};

/// Code points of one reason.
const REASON_CHARS_MAX: usize = 400;

/// Values of the arguments that have a line of their own.
const ARGUMENTS_MAX: usize = 20;

type Passed = Egress<SamePrincipal>;

/// An inquiry's outcome, ready to be shown.
pub(crate) struct Explanation<'a> {
    judged: Option<(&'a FrozenCall, &'a [HeardAt])>,
    conclusion: Conclusion<'a>,
}

enum Conclusion<'a> {
    /// By the rule that every seat is ruled by.
    Ruled(&'a Ruling),
    /// Before anybody was heard.
    Denied(&'a Denial),
}

impl<'a> Explanation<'a> {
    /// What is shown of it.
    ///
    /// # Errors
    /// The words that a run would answer a call with which was not understood: there is nothing to explain then.
    pub(crate) fn of(heard: &'a Heard) -> Result<Self, &'a Passed> {
        match heard {
            Heard::NotUnderstood(words) => Err(words),
            Heard::NotFrozen(denial) => Ok(Self { judged: None, conclusion: Conclusion::Denied(denial) }),
            Heard::Judged { call, seats, ruling } => {
                Ok(Self { judged: Some((call, seats)), conclusion: Conclusion::Ruled(ruling) })
            }
        }
    }

    /// Why the call does not run, whatever a person says.
    pub(crate) fn denial(&self) -> Option<&'a Denial> {
        match self.conclusion {
            Conclusion::Ruled(Ruling::Deny(denial)) | Conclusion::Denied(denial) => Some(denial),
            Conclusion::Ruled(Ruling::Allow | Ruling::Ask(_)) => None,
        }
    }

    pub(crate) fn lines(&self) -> Vec<Passed> {
        let words = Words::<SamePrincipal>::new;
        let mut lines = Vec::new();
        if let Some((call, seats)) = self.judged {
            lines.extend_from_slice(CallView::of(call, &[]).lines());
            lines.push(Egress::fixed(match call.integrity() {
                Integrity::System | Integrity::Person => "  the model has read nothing that is not trusted",
                Integrity::Endorsed => "  the model has read what is endorsed, and nothing less",
                Integrity::ToolTrusted => "  the model has read what a tool vouches for, and nothing less",
                Integrity::Untrusted => "  the model has read somebody else's words",
            }));
            lines.extend(argument_lines(call));
            lines.push(seat_line(Seat::Targets, "the tool told what the call touches"));
            for HeardAt { seat, opinions } in seats {
                let heard = if opinions.is_empty() { "there is no policy" } else { "every policy was heard" };
                lines.push(seat_line(*seat, heard));
                lines.extend(opinions.iter().map(opinion_line));
            }
        }
        match self.conclusion {
            Conclusion::Ruled(Ruling::Allow) => lines.push(Egress::fixed("allowed")),
            Conclusion::Ruled(Ruling::Ask(askers)) => {
                let askers = askers.iter().map(|asker| line(asker.policy.as_str()));
                let askers = Egress::join(askers, ", ");
                let start = words().text("a person must decide, because of: ").passed(&askers);
                lines.push(start.text("; where nobody can be asked the call is denied").done());
            }
            Conclusion::Ruled(Ruling::Deny(denial)) | Conclusion::Denied(denial) => {
                if self.judged.is_none() {
                    lines.push(seat_line(denial.seat, "the tool did not tell, so no policy was heard"));
                }
                lines.extend(denial_lines(denial));
            }
        }
        lines
    }

    pub(crate) fn json(&self) -> EgressValue<SamePrincipal> {
        let (ruling, askers) = match self.conclusion {
            Conclusion::Ruled(Ruling::Allow) => ("allow", None),
            Conclusion::Ruled(Ruling::Ask(askers)) => ("ask", Some(askers)),
            Conclusion::Ruled(Ruling::Deny(_)) | Conclusion::Denied(_) => ("deny", None),
        };
        let call = self.judged.map(|(call, _)| {
            let facts = call.facts();
            json!({
                "tool": facts.tool,
                "arguments": facts.arguments.to_value(),
                "principal": facts.principal,
                "label": facts.label,
                "argument_labels": argument_values(call),
            })
        });
        let seats = self.judged.map_or_else(Vec::new, |(call, seats)| {
            let targets =
                json!({ "seat": Seat::Targets, "targets": call.targets(), "operands": call.operands() });
            let judged = seats.iter().map(|HeardAt { seat, opinions }| {
                let opinions: Vec<Value> = opinions.iter().map(opinion_value).collect();
                json!({ "seat": seat, "opinions": opinions })
            });
            std::iter::once(targets).chain(judged).collect()
        });
        let denial = self.denial().map(|denial| {
            let Denial { code, seat, by, reason, .. } = denial;
            json!({ "code": code, "seat": seat, "by": by, "reason": reason, "remedy": code.remedy() })
        });
        let value =
            json!({ "call": call, "seats": seats, "ruling": ruling, "askers": askers, "denial": denial });
        egress_value(&value)
    }
}

/// The values of the arguments that are as little to be believed as the call; the others have their lines in its view.
fn argument_lines(call: &FrozenCall) -> Vec<Passed> {
    if call.integrity() >= Integrity::Person {
        return Vec::new();
    }
    let labels = call.argument_labels();
    let plain: Vec<_> = labels.iter().filter(|argument| argument.source.is_none()).collect();
    let mut lines: Vec<Passed> = plain
        .iter()
        .take(ARGUMENTS_MAX)
        .map(|argument| indented(&format!("{} is {}", argument.at, argument.label.integrity)))
        .collect();
    if plain.len() > ARGUMENTS_MAX {
        lines.push(indented(&format!("and so are {} more values", plain.len() - ARGUMENTS_MAX)));
    }
    lines
}

fn indented(words: &str) -> Passed {
    Words::new().text("  ").passed(&line(words)).done()
}

fn argument_values(call: &FrozenCall) -> Vec<Value> {
    let value = |argument: ArgumentLabel| {
        let item = argument.source.and_then(|source| source.item);
        json!({ "at": argument.at, "label": argument.label, "item": item })
    };
    call.argument_labels().into_iter().map(value).collect()
}

fn seat_line(seat: Seat, what: &'static str) -> Passed {
    Words::new().text("at the seat ").passed(&egress_text(&seat.to_string())).text(": ").text(what).done()
}

/// What was said, in one word, and why.
fn said(opinion: &Opinion) -> (&'static str, Option<&str>) {
    match &opinion.said {
        Said::Verdict(Verdict::Allow { reason }) => ("allow", Some(reason)),
        Said::Verdict(Verdict::Ask { reason }) => ("ask", Some(reason)),
        Said::Verdict(Verdict::Deny { reason }) => ("deny", Some(reason)),
        Said::Verdict(Verdict::Abstain) => ("abstain", None),
        Said::Failed(line) => ("failed", Some(line)),
        Said::Cancelled => ("cancelled", None),
    }
}

fn opinion_line(opinion: &Opinion) -> Passed {
    let (word, why) = said(opinion);
    let words = Words::new().text("  ").passed(&line(opinion.policy.as_str())).text(": ").text(word);
    match why {
        Some(why) => words.text(": ").passed(&line(why)).done(),
        None => words.done(),
    }
}

fn opinion_value(opinion: &Opinion) -> Value {
    let (word, why) = said(opinion);
    json!({ "policy": opinion.policy, "epoch": opinion.epoch, "said": word, "why": why })
}

fn denial_lines(denial: &Denial) -> [Passed; 2] {
    let code = serde_json::to_value(denial.code).ok();
    let code = egress_text::<SamePrincipal>(code.as_ref().and_then(Value::as_str).unwrap_or("denied"));
    let words = match &denial.by {
        Some(policy) => Words::new().text("denied by ").passed(&line(policy.as_str())),
        None => Words::new().text("denied"),
    };
    let what = words.text(" (").passed(&code).text("): ").passed(&line(&denial.reason)).done();
    [what, Words::new().text("  what would have to change: ").text(denial.code.remedy()).done()]
}

fn line(text: &str) -> Passed {
    one_line_untrusted(text, REASON_CHARS_MAX)
}
