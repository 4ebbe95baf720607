//! The engine's own sentences to the model. Every foreign word in them has passed the credential pass before any cut.

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{Denial, DenialCode, DenialDetail, Level, LimitKind, Seat, ToolError, ToolErrorClass};
use probity_egress::{Egress, SamePrincipal, Words, bounded_summary, egress_text, one_line_untrusted};

/// Code points of a tool error that the model reads.
const TOOL_ERROR_CHARS_MAX: usize = 2_000;

/// Code points of changed arguments that the model reads before the result.
const EDIT_CHARS_MAX: usize = 2_000;

type Passed = Egress<SamePrincipal>;

/// Foreign words as one bounded line.
pub(crate) fn line(text: &str) -> Passed {
    one_line_untrusted(text, THROWN_LINE_CHARS_MAX)
}

/// A denial of the engine itself.
pub(crate) const fn denial(code: DenialCode, seat: Seat, reason: String) -> Denial {
    Denial { code, seat, by: None, level: Level::OWN, reason }
}

/// What the model reads before the result of a call that a person has changed.
pub(crate) fn edited(arguments: &str) -> Passed {
    let arguments = one_line_untrusted(arguments, EDIT_CHARS_MAX);
    Words::new().text("A person changed the arguments of this call to ").passed(&arguments).text(".").done()
}

/// Why a proposed call was not understood.
pub(crate) fn rejected(why: &str) -> Passed {
    let why = bounded_summary(&egress_text::<SamePrincipal>(why), TOOL_ERROR_CHARS_MAX);
    Words::new().text("the call was not understood and nothing ran: ").passed(&why).done()
}

/// Why a call was denied, in as much detail as the model shall have.
pub(crate) fn denied(denial: &Denial, detail: DenialDetail) -> Passed {
    match detail {
        DenialDetail::Reason => denied_because(denial),
        DenialDetail::Code => {
            let words = Words::new().text("the call was denied and did not run (");
            words.text(denial.code.name()).text(").").done()
        }
    }
}

fn denied_because(denial: &Denial) -> Passed {
    let reason = line(&denial.reason);
    let words = Words::new().text("the call was denied and did not run");
    let words = match &denial.by {
        Some(policy) => {
            let kind = if denial.code == DenialCode::Intercepted { " (interceptor " } else { " (policy " };
            words.text(kind).passed(&line(policy.as_str())).text(")")
        }
        None => words,
    };
    let words = words.text(": ").passed(&reason);
    match denial.code {
        DenialCode::Policy
        | DenialCode::Intercepted
        | DenialCode::PersonRefused
        | DenialCode::NotCovered
        | DenialCode::NoPolicy => words.text(". Do not try the same call again.").done(),
        DenialCode::PolicyFailed
        | DenialCode::TargetsFailed
        | DenialCode::Incomplete
        | DenialCode::NobodyToAsk
        | DenialCode::Expired
        | DenialCode::Redeemed
        | DenialCode::TargetsChanged
        | DenialCode::ToolChanged
        | DenialCode::EditRefused
        | DenialCode::Cancelled
        | DenialCode::Limit => words.text(".").done(),
    }
}

/// What a failed tool says. Of a pure one it is known that nothing changed, however it ended.
pub(crate) fn tool_failed(error: &ToolError, pure: bool) -> Passed {
    let text = egress_text::<SamePrincipal>(&error.message);
    let text = if text.as_str().chars().count() > TOOL_ERROR_CHARS_MAX {
        bounded_summary(&text, TOOL_ERROR_CHARS_MAX)
    } else {
        text
    };
    let start = match error.class {
        ToolErrorClass::InvalidArguments => "the tool refused the arguments: ",
        ToolErrorClass::Refused => "the tool refused the call: ",
        ToolErrorClass::NotFound => "not found: ",
        ToolErrorClass::Failed => "the tool failed: ",
        ToolErrorClass::TimedOut if pure => "the tool took too long and was stopped; it changes nothing: ",
        ToolErrorClass::Cancelled if pure => "the tool was cancelled; it changes nothing: ",
        ToolErrorClass::Panicked if pure => "the tool broke; it changes nothing: ",
        ToolErrorClass::TimedOut => {
            "the tool took too long and was stopped; whether it had an effect is unknown: "
        }
        ToolErrorClass::Cancelled => "the tool was cancelled; whether it had an effect is unknown: ",
        ToolErrorClass::Panicked => "the tool broke; whether it had an effect is unknown: ",
        ToolErrorClass::Unavailable => "the tool could not be started and nothing was done: ",
    };
    Words::new().text(start).passed(&text).done()
}

/// What the model reads in place of a result that an interceptor has withheld.
pub(crate) fn withheld(by: Option<&str>, reason: &str) -> Passed {
    let words = Words::new().text("the tool came back, and its result was withheld");
    let words = match by {
        Some(name) => words.text(" (interceptor ").passed(&line(name)).text(")"),
        None => words,
    };
    words.text(": ").passed(&line(reason)).text(". Do not try the same call again.").done()
}

/// What is told of a result that was still being looked at when the run ended.
pub(crate) fn unseen() -> Passed {
    Egress::fixed("the tool came back; the run has ended before its result could be read")
}

/// Why a call did not run when the run ended first.
pub(crate) fn not_run(cancelled: bool) -> Passed {
    Egress::fixed(if cancelled {
        "the task was cancelled; the call did not run"
    } else {
        "the run has ended; the call did not run"
    })
}

/// What is known of a call that was running when the run ended.
pub(crate) fn cut_off(pure: bool) -> Passed {
    Egress::fixed(if pure {
        "the call was stopped before it came back; it changes nothing"
    } else {
        "the call was stopped before it came back; whether it had an effect is unknown"
    })
}

/// What is known of a call whose tool says that it was not done.
pub(crate) fn not_done() -> Passed {
    Egress::fixed("the tool did not come back; it was asked afterwards and says that the call was not done")
}

/// The sentence with which a run that reached a limit asks for a last answer.
pub(crate) fn wrap_up(limit: LimitKind) -> Passed {
    let start = match limit {
        LimitKind::Turns => "The limit of turns is reached.",
        LimitKind::ToolCalls => "The limit of tool calls is reached.",
        LimitKind::Tokens | LimitKind::Cost | LimitKind::WallTime | LimitKind::CallsPerReply => {
            "A limit of this task is reached."
        }
    };
    Words::new()
        .text(start)
        .text(" No tool can be called any more. Answer now with what is known, and say what is missing.")
        .done()
}

/// The sentence with which an answer that misses the schema is asked for again.
pub(crate) fn output_rejected(problems: &[String]) -> Passed {
    let problems = problems.iter().map(|problem| line(problem));
    let problems = Egress::join(problems, "; ");
    Words::new()
        .text("The answer does not follow the required JSON schema: ")
        .passed(&problems)
        .text(". Answer again with the corrected JSON only.")
        .done()
}
