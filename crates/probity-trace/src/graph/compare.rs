//! Proposed against executed: the forms that the arguments of a call had, and what differs between them.

use std::collections::{BTreeSet, HashMap};

use probity_contract::{AnswerKind, CallId, Fact, InterceptorName, Kept, PartId, Point, PrincipalId};
use serde::Serialize;
use serde_json::Value;

use super::facts::has_changed;
use crate::record::Record;
use crate::story::call_of;

/// Forms of one call that are told. A run changes the arguments of a call a few times at most.
const FORMS_MAX: usize = 32;

/// Places at which two forms differ that are told.
pub const DIFFERENCES_MAX: usize = 64;

/// Bytes of arguments that are compared for one record. What comes after is said to be too large.
const COMPARED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A call from its proposal to the start of its tool. The texts behind it have passed no exit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCall {
    /// The call.
    pub call: CallId,
    /// The tool as the model named it; `None` where the record does not tell of the proposal.
    pub tool: Option<String>,
    /// The forms that its arguments had, in order.
    pub forms: Vec<Form>,
    /// How many more forms there were.
    pub forms_left_out: u64,
    /// What differs between each form and the one before; one less than there are forms.
    pub changes: Vec<Difference>,
    /// With which form the tool was started last; `None` where it was not.
    pub executed: Option<usize>,
    /// What differs between the proposal and what was executed; `None` where either is not there.
    pub proposed_against_executed: Option<Difference>,
}

/// The arguments of a call as they were at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Form {
    /// Who made them so.
    pub stage: FormStage,
    /// At which entry.
    pub seq: u64,
    /// The arguments.
    pub arguments: PartId,
}

/// Where arguments come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FormStage {
    /// The model proposed them.
    Proposed,
    /// Interceptors have put them in place.
    Intercepted(Vec<InterceptorName>),
    /// They can no longer change.
    Frozen,
    /// They can no longer change, and a person has changed them before.
    Edited(Option<PrincipalId>),
}

/// How two values differ. Numbers are equal where their values are, and members of objects have no order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// They are equal.
    None,
    /// At these places: JSON pointers (RFC 6901), `""` for the whole.
    At {
        /// The first places, in order.
        pointers: Vec<String>,
        /// Whether there are more.
        is_cut: bool,
    },
    /// They differ, and one of them is no JSON.
    NotJson,
    /// Their digests differ, and one of them is not kept as it was.
    NotKept,
    /// They were not compared: there is too much.
    TooLarge,
}

impl Record {
    /// Proposed against executed, of all calls, in the order in which the record names them.
    #[must_use]
    pub fn compared_calls(&self) -> Vec<ComparedCall> {
        self.compare(|_| true)
    }

    /// Proposed against executed, of one call; `None` where the record does not name it.
    #[must_use]
    pub fn compared_call(&self, call: CallId) -> Option<ComparedCall> {
        self.compare(|found| found == call).pop()
    }

    fn compare(&self, is_meant: impl Fn(CallId) -> bool) -> Vec<ComparedCall> {
        let mut calls: Vec<(ComparedCall, Option<Option<PrincipalId>>)> = Vec::new();
        let mut places: HashMap<CallId, usize> = HashMap::new();
        for (line, fact) in self.facts() {
            let Some(call) = call_of(fact).filter(|call| is_meant(*call)) else { continue };
            let place = *places.entry(call).or_insert(calls.len());
            if place == calls.len() {
                calls.push((ComparedCall::of(call), None));
            }
            if let Some((compared, edited)) = calls.get_mut(place) {
                compared.take(line.seq, fact, edited);
            }
        }
        let mut bytes_left = COMPARED_BYTES_MAX;
        let mut differ = |a: PartId, b: PartId| self.difference_to(a, self, b, &mut bytes_left);
        let compared = calls.into_iter().map(|(mut call, _)| {
            let arguments: Vec<PartId> = call.forms.iter().map(|form| form.arguments).collect();
            call.changes =
                arguments.iter().zip(arguments.iter().skip(1)).map(|(a, b)| differ(*a, *b)).collect();
            let first = call.forms.first().filter(|form| form.stage == FormStage::Proposed);
            let executed = call.executed.and_then(|at| arguments.get(at));
            call.proposed_against_executed = first.zip(executed).map(|(a, b)| differ(a.arguments, *b));
            call
        });
        compared.collect()
    }

    /// How two texts of two records differ as JSON.
    pub(super) fn difference_to(
        &self,
        a: PartId,
        record: &Self,
        b: PartId,
        bytes_left: &mut usize,
    ) -> Difference {
        if a == b {
            return Difference::None;
        }
        match (self.part(a), record.part(b)) {
            (Some(Kept::Full(a)), Some(Kept::Full(b))) => difference_of(a, b, bytes_left),
            (_, _) => Difference::NotKept,
        }
    }
}

/// How two texts differ as JSON.
fn difference_of(a: &str, b: &str, bytes_left: &mut usize) -> Difference {
    if a == b {
        return Difference::None;
    }
    let Some(left) = bytes_left.checked_sub(a.len().saturating_add(b.len())) else {
        return Difference::TooLarge;
    };
    *bytes_left = left;
    let (Ok(a), Ok(b)) = (serde_json::from_str::<Value>(a), serde_json::from_str::<Value>(b)) else {
        return Difference::NotJson;
    };
    let mut pointers = Vec::new();
    walk(&a, &b, &mut String::new(), &mut pointers);
    let is_cut = pointers.len() > DIFFERENCES_MAX;
    pointers.truncate(DIFFERENCES_MAX);
    if pointers.is_empty() { Difference::None } else { Difference::At { pointers, is_cut } }
}

/// Collects the places at which two values differ, up to one more than are told.
fn walk(a: &Value, b: &Value, at: &mut String, found: &mut Vec<String>) {
    if found.len() > DIFFERENCES_MAX {
        return;
    }
    let kept = at.len();
    let mut below = |name: &str, a: Option<&Value>, b: Option<&Value>| {
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        match (a, b) {
            (Some(a), Some(b)) => walk(a, b, at, found),
            _ => found.push(at.clone()),
        }
        at.truncate(kept);
    };
    if let (Value::Object(a), Value::Object(b)) = (a, b) {
        let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        names.into_iter().for_each(|name| below(name, a.get(name), b.get(name)));
    } else if let (Value::Array(a), Value::Array(b)) = (a, b) {
        (0..a.len().max(b.len())).for_each(|at| below(&at.to_string(), a.get(at), b.get(at)));
    } else if !is_equal(a, b) {
        found.push(at.clone());
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        // Whole numbers that both fit are told apart to the last digit.
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.as_i64().zip(b.as_i64()).is_none() && a.as_f64() == b.as_f64())
        }
        _ => a == b,
    }
}

impl ComparedCall {
    const fn of(call: CallId) -> Self {
        Self {
            call,
            tool: None,
            forms: Vec::new(),
            forms_left_out: 0,
            changes: Vec::new(),
            executed: None,
            proposed_against_executed: None,
        }
    }

    fn take(&mut self, seq: u64, fact: &Fact, edited: &mut Option<Option<PrincipalId>>) {
        if let Fact::CallProposed { tool, arguments, .. } = fact {
            self.tool = Some(tool.clone());
            self.add(FormStage::Proposed, seq, *arguments);
        } else if let Fact::Intercepted(row) = fact {
            if row.point == Point::PreToolCall && has_changed(row) {
                let changed = row.verdicts.iter().filter(|said| said.decision != "allow");
                let names = changed.map(|said| said.interceptor.clone()).collect();
                self.add(FormStage::Intercepted(names), seq, row.after);
            }
        } else if let Fact::Answered { answer: AnswerKind::Edited, by, .. } = fact {
            *edited = Some(by.clone());
        } else if let Fact::CallFrozen { arguments, .. } = fact {
            let stage = edited.take().map_or(FormStage::Frozen, FormStage::Edited);
            self.add(stage, seq, *arguments);
        } else if let Fact::ToolStarted { .. } = fact {
            self.executed = self.forms.len().checked_sub(1).filter(|_| self.forms_left_out == 0);
        }
    }

    fn add(&mut self, stage: FormStage, seq: u64, arguments: PartId) {
        if self.forms.len() < FORMS_MAX {
            self.forms.push(Form { stage, seq, arguments });
        } else {
            self.forms_left_out += 1;
        }
    }
}
