//! One tool call from its proposal to its result.

use probity_contract::{CallId, PartId};
use probity_egress::{SamePrincipal, egress_text};
use probity_trace::{ComparedCall, Difference, Fidelity, FormStage, NodeId, Record, RunAt};

use super::answer::{Page, Row, TraceAnswer};
use super::texts::told;
use super::told::{INNER_MAX, words};
use super::{Asked, TraceError, known};

/// Characters of arguments.
const ARGUMENTS_CHARS_MAX: usize = 600;

impl Asked<'_> {
    pub(super) fn call(&self, id: &str, page: Page) -> Result<TraceAnswer, TraceError> {
        let (run, call) = self.call_of(id)?;
        let record = self.graph.record(run).ok_or(TraceError::NoSuchId)?;
        let compared = record.compared_call(call).ok_or(TraceError::NoSuchId)?;
        let head = self.call_head(run, record, call, &compared);
        let about = record.lines().iter().filter(|line| line.call() == Some(call));
        let nodes: Vec<NodeId> = about.filter_map(|line| self.graph.entry(run, line.seq)).collect();
        Ok(TraceAnswer::rows(head, &nodes, page, |node| self.tell(*node)))
    }

    fn call_head(&self, run: RunAt, record: &Record, call: CallId, compared: &ComparedCall) -> Row {
        let mut head = Row::new()
            .id("call", &self.call_name(run, call))
            .fixed("known", known(record))
            .flag("executed", compared.executed.is_some());
        if let Some(tool) = &compared.tool {
            head = head.named("tool", tool);
        }
        if let Some(story) = record.call(call) {
            head = head.flag("outcome_in_doubt", story.in_doubt);
            if let Some(proposed) = &story.proposed {
                head = head.id("proposed_by", &self.model_call_name(run, proposed.by));
            }
            if let Some(item) = story.result {
                head = head.id("result", &self.item_name(run, item));
            }
        }
        if let Some(first) = compared.forms.first().filter(|form| form.stage == FormStage::Proposed) {
            head = arguments(head, "untrusted_proposed", record, first.arguments);
        }
        if let Some(form) = compared.executed.and_then(|at| compared.forms.get(at)) {
            head = arguments(head, "untrusted_executed", record, form.arguments);
        }
        if let Some(differs) = &compared.proposed_against_executed {
            head = difference(head, differs);
        }
        let forms = compared.forms.iter();
        let head = head.list(("forms", "forms_left_out"), INNER_MAX, forms, |form| {
            let stage = match &form.stage {
                FormStage::Proposed => "proposed",
                FormStage::Intercepted(_) => "put in place by interceptors",
                FormStage::Frozen => "frozen",
                FormStage::Edited(_) => "frozen after a person's edit",
            };
            let row = Row::new().fixed("stage", stage);
            let at = self.graph.entry(run, form.seq);
            at.map_or(row.clone(), |node| row.id("id", &self.name(node))).value()
        });
        head.fixed("rows_are", "all that the record says of the call, in order")
    }
}

/// Arguments after their pass. Of long ones the beginning: the whole is told by `trace_node` of the entry.
fn arguments(row: Row, name: &'static str, record: &Record, part: PartId) -> Row {
    let text = record.part_text(part);
    if text.fidelity > Fidelity::Redacted {
        return row.fixed(name, "not kept");
    }
    row.passed(name, &told(&text.text, ARGUMENTS_CHARS_MAX))
}

fn difference(row: Row, differs: &Difference) -> Row {
    match differs {
        Difference::None => row.fixed("proposed_against_executed", "equal"),
        Difference::NotJson => row.fixed("proposed_against_executed", "different, and one is no JSON"),
        Difference::NotKept => row.fixed("proposed_against_executed", "different, and one is not kept"),
        Difference::TooLarge => row.fixed("proposed_against_executed", "not compared: there is too much"),
        Difference::At { pointers, is_cut } => row
            .fixed("proposed_against_executed", "different")
            .flag("more_differences", *is_cut)
            .list(("differ_at", "differ_at_left_out"), INNER_MAX, pointers, |pointer| {
                words(egress_text::<SamePrincipal>(pointer).as_str())
            }),
    }
}
