//! Which labels calls and their results get.

use probity_contract::{ArgumentSource, Arguments, Integrity, Label, ToolName};

use super::call::{Call, Settled};
use super::told::{self, Told};
use super::{Run, RunState, provenance};

impl Run {
    /// The label of a call that is frozen now, and what of its arguments may be believed further.
    pub(super) fn call_labels(&self, tool: &ToolName, arguments: &Arguments) -> (Label, Vec<ArgumentSource>) {
        let label = self.state.label.clone();
        let spec = self.state.spec.tool(tool.as_str());
        let sources = spec.map(|spec| {
            provenance::sources(&self.state.window, &self.state.told, label.integrity, spec, arguments)
        });
        (label, sources.unwrap_or_default())
    }

    /// The label of what the model will read of a call: as far as the tool vouches for it, and for nobody who may not read what
    /// the call was made from. An untrusted argument does not make a source untrusted that nobody outside can write.
    pub(super) fn result_label(&self, call: &Call, settled: &Settled) -> Label {
        let vouched = if settled.trusted { Integrity::ToolTrusted } else { Integrity::Untrusted };
        // The text tells what the person made of the arguments, and so it tells arguments.
        let told =
            call.frozen.as_ref().filter(|_| call.edits > 0).map_or(vouched, |frozen| frozen.integrity());
        let readers = call.brought_for.join(&self.state.label.readers);
        let label = Label { integrity: vouched.min(told), readers };
        // What tasks brought that the call has started is no better than what they had read.
        call.heard_from.as_ref().map_or_else(|| label.clone(), |heard| label.join(heard))
    }

    /// The label of what only the engine says of a call.
    pub(super) fn engine_result_label(&self) -> Label {
        // It may quote what the model said.
        Label { integrity: Integrity::Untrusted, readers: self.state.label.readers.clone() }
    }
}

/// What is known of single values of a call's result.
pub(super) fn told_of(call: &Call, settled: &Settled) -> Told {
    // The result of an edited call is believed no further than the call, and so are its values.
    let Some(frozen) = call.frozen.as_deref().filter(|_| call.edits == 0) else { return Told::default() };
    // Nor may a value be believed further than what tasks have read that the call has started.
    let vouched = if call.heard_from.is_none() { call.vouched.clone() } else { Vec::new() };
    let echoed = if settled.trusted { told::echoed(&settled.text, frozen) } else { Vec::new() };
    Told { vouched, echoed }
}

/// The label of all items together. That of a run that was stored when there were two levels may stand higher than what it read.
pub(super) fn as_held(state: &RunState) -> Label {
    let labels = state.window.iter().map(|item| provenance::held(item));
    labels.fold(state.label.clone(), |all, label| all.join(&label))
}
