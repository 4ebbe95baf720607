//! What a run that pauses wants to know, for a person and for a script.

use probity_contract::PendingCall;
use probity_core::Run;
use probity_egress::{Egress, SamePrincipal, Words, egress_text, egress_value};
use serde_json::{Value, json};

use super::screen::Screen;

/// Digits of a binding that are shown, and enough to name it.
const BINDING_CHARS: usize = 16;

/// The open questions of one run.
pub(crate) struct Questions {
    run: String,
    asked: Vec<PendingCall>,
    started_at_unix_ms: u64,
}

impl Questions {
    pub(crate) fn of(machine: &Run) -> Self {
        Self {
            run: machine.id().as_str().to_owned(),
            asked: machine.questions().cloned().collect(),
            started_at_unix_ms: machine.started_at_unix_ms(),
        }
    }

    pub(crate) fn show(&self, json: bool, screen: &Screen) {
        if json {
            let asked: Vec<Value> = self.asked.iter().map(|question| self.value(question)).collect();
            let paused = json!({ "run": self.run, "ending": "paused", "questions": asked });
            return screen.json(&egress_value(&paused));
        }
        for question in &self.asked {
            question.view().lines().iter().for_each(|line| screen.tell(line));
            question.view().cut_arguments().iter().for_each(|line| screen.tell(line));
            let name = egress_text::<SamePrincipal>(&name_of(question));
            screen.tell(&Words::new().text("  question ").passed(&name).done());
        }
        let run = egress_text::<SamePrincipal>(&self.run);
        screen.tell(&match self.asked.as_slice() {
            [] => Words::new().text("nothing is asked · go on with: probity resume ").passed(&run).done(),
            [question] => Words::new()
                .text("waits for a person · answer with: probity approve ")
                .passed(&run)
                .text(" ")
                .passed(&egress_text(&name_of(question)))
                .text(" --yes, or --no REASON; then: probity resume ")
                .passed(&run)
                .done(),
            _ => Words::new()
                .text("waits for a person · answer with: probity approve ")
                .passed(&run)
                .text(" QUESTION --yes, or --no REASON; then: probity resume ")
                .passed(&run)
                .done(),
        });
    }

    fn value(&self, question: &PendingCall) -> Value {
        let view = question.view();
        let lines = |lines: &[Egress<SamePrincipal>]| -> Vec<String> {
            lines.iter().map(|line| line.as_str().to_owned()).collect()
        };
        json!({
            "question": question.binding(),
            "call": question.call().id(),
            "tool": question.call().tool(),
            "seat": question.facts().seat,
            "askers": question.facts().askers,
            "shown": lines(view.lines()),
            "shown_rest": lines(view.cut_arguments()),
            "can_be_approved": !view.hides_credential(),
            "expires_at_unix_ms": self.started_at_unix_ms.saturating_add(question.facts().expires_at_ms),
        })
    }
}

/// What a question is called.
pub(crate) fn name_of(question: &PendingCall) -> String {
    question.binding().to_string().chars().take(BINDING_CHARS).collect()
}
