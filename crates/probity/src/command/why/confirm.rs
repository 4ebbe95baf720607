//! `probity why --confirm`: tests suspects by forks of the run.

use std::path::Path;
use std::sync::Arc;

use probity_contract::{Cancel, Fact, Model};
use probity_egress::{SamePrincipal, egress_text};
use probity_models::RulesModel;
use probity_trace::{Atom, Record};
use probity_why::{
    Asked, AskedPart, Candidate, ChainStep, ConfirmChain, ConfirmError, Cost, ForkError, Kept, KeptError,
    Reach, Recorded, Settings, Unjudged, Why, candidates_with_replies, estimate,
};
use serde_json::Value;

use super::judge::KeptIf;
use crate::cli::{Budget, WhyArgs};
use crate::command::demo;
use crate::exit::{Code, Fatal};
use crate::render::Screen;
use crate::wire;

/// A test that was made, with all that is needed to tell of it.
pub(crate) struct Tested {
    /// The first is about what was asked, the others about what it convicted.
    pub(crate) steps: Vec<ChainStep>,
    pub(crate) model: String,
    pub(crate) alpha: f64,
}

/// What to test, and against whom.
pub(crate) struct Plan {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) alpha: f64,
    pub(crate) budget: Option<Budget>,
    pub(crate) pointer: Option<String>,
    pub(crate) kept_if: Option<KeptIf>,
    pub(crate) sentences: bool,
}

impl Plan {
    /// Everything as it is unless told otherwise.
    pub(crate) fn with(model: Arc<dyn Model>) -> Self {
        let alpha = Settings::default().alpha;
        Self { model, alpha, budget: None, pointer: None, kept_if: None, sentences: false }
    }

    /// # Errors
    /// When the model cannot be set up.
    pub(crate) fn of(record: &Record, args: &WhyArgs) -> Result<Self, Fatal> {
        let program = args.kept_if_command.clone().map(KeptIf::Program);
        Ok(Self {
            alpha: args.alpha,
            budget: args.budget,
            pointer: args.pointer.clone(),
            kept_if: args.kept_if.clone().map(KeptIf::Matches).or(program),
            sentences: args.sentences,
            ..Self::with(model_of(record, args.model.as_deref())?)
        })
    }
}

/// The model that is named, or that of the run.
///
/// # Errors
/// When there is none, or it cannot be set up.
pub(crate) fn model_of(record: &Record, named: Option<&str>) -> Result<Arc<dyn Model>, Fatal> {
    let own = record.start().map(|start| start.model.as_str());
    let name = named.or(own).unwrap_or_default();
    // The demo's rules are within the program.
    let is_demo = name == demo::MODEL && !Path::new(demo::MODEL_FILE).exists();
    if named.is_none() && is_demo {
        return demo::model().map(|model: Arc<RulesModel>| model as Arc<dyn Model>);
    }
    let hint = "name the model that shall answer in forks with --model provider/name or rules/FILE";
    wire::model(name, None, None).map_err(|error| match named {
        Some(_) => error,
        None => error.hint(hint),
    })
}

/// Tests what may have made the part that a report is about what it is. Tells what it will cost before anything is asked.
///
/// # Errors
/// When the run cannot be forked, or the part compared.
pub(crate) async fn confirm(
    record: &Record,
    why: &Why,
    plan: &Plan,
    cancel: Cancel,
    screen: &Screen,
) -> Result<Tested, Fatal> {
    let recorded = Recorded::of(record).map_err(|error| fork_failed(&error))?;
    let asked = asked(&recorded, why)?;
    let kept = match &plan.kept_if {
        Some(kept_if) => kept_if.kept(&cancel),
        None => kept(&recorded, why, plan.pointer.as_deref())?,
    };
    let atoms: Vec<Atom> = why.atoms.iter().map(|asked| asked.atom.clone()).collect();
    let candidates =
        candidates_with_replies(&recorded, &asked, &atoms).map_err(|error| fork_failed(&error))?;
    let settings = settings(plan);
    tell_estimate(record, &asked, &candidates, (plan, &settings), screen);
    let mut chain = ConfirmChain::new(&recorded, Arc::clone(&plan.model), asked, kept, atoms);
    (chain.settings, chain.cancel, chain.sentences) = (settings, cancel, plan.sentences);
    screen.busy("testing suspects");
    let steps = chain.run(|_arm, _shot| {}).await;
    screen.idle();
    let steps = steps.map_err(|error| confirm_failed(&error))?;
    Ok(Tested { steps, model: plan.model.name().as_str().to_owned(), alpha: plan.alpha })
}

fn asked(recorded: &Recorded<'_>, why: &Why) -> Result<Asked, Fatal> {
    let found = match why.asked {
        AskedPart::Answer(item) | AskedPart::Reply(item) => recorded.place_of_reply(item).map(Asked::Reply),
        AskedPart::Call(call) => recorded.place_of_proposal(call).map(Asked::Proposal),
    };
    found.ok_or_else(|| kept_failed(&KeptError::NoReply))
}

/// When the part counts as the same: its values, or its words where it has none; a whole call, or the value at a pointer.
fn kept(recorded: &Recorded<'_>, why: &Why, pointer: Option<&str>) -> Result<Kept, Fatal> {
    let text = why.text.text.as_str();
    let value_at = |pointer: &str| serde_json::from_str::<Value>(text.trim()).ok()?.pointer(pointer).cloned();
    match (why.asked, pointer) {
        (AskedPart::Call(call), Some(pointer)) => {
            let tool = recorded.tool_of(call).map(str::to_owned);
            match (value_at(pointer), tool) {
                (Some(value), tool @ Some(_)) => {
                    Ok(Kept::Pointer { tool, pointer: pointer.to_owned(), value })
                }
                _ => Err(kept_failed(&KeptError::NoCall)),
            }
        }
        (AskedPart::Call(call), None) => Kept::call(recorded, call).map_err(|error| kept_failed(&error)),
        (AskedPart::Answer(_) | AskedPart::Reply(_), Some(pointer)) => match value_at(pointer) {
            Some(value) => Ok(Kept::Pointer { tool: None, pointer: pointer.to_owned(), value }),
            None => Err(kept_failed(&KeptError::NoReply)),
        },
        (AskedPart::Answer(_) | AskedPart::Reply(_), None) if why.atoms.is_empty() => {
            Ok(Kept::Words(text.to_owned()))
        }
        (AskedPart::Answer(_) | AskedPart::Reply(_), None) => {
            Ok(Kept::Atoms(why.atoms.iter().map(|asked| asked.atom.clone()).collect()))
        }
    }
}

fn settings(plan: &Plan) -> Settings {
    let mut settings = Settings { alpha: plan.alpha, reach: Reach::Near, ..Settings::default() };
    match plan.budget {
        Some(Budget::Calls(calls)) => {
            settings.budget = Cost { model_calls: calls, microdollars: u64::MAX };
        }
        Some(Budget::Dollars(dollars)) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast to an integer saturates, and the option takes no negative number"
            )]
            let microdollars = (dollars * 1e6) as u64;
            settings.budget = Cost { model_calls: u32::MAX, microdollars };
        }
        None => {}
    }
    settings
}

/// What the test may cost, by what the call in question did.
fn tell_estimate(
    record: &Record,
    asked: &Asked,
    candidates: &[Candidate],
    (plan, settings): (&Plan, &Settings),
    screen: &Screen,
) {
    let suspects: Vec<_> = candidates.iter().map(|candidate| candidate.suspect.clone()).collect();
    let call = call_usd(record, asked.place());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast to an integer saturates, and costs are not negative"
    )]
    let microdollars = call.map_or(0, |usd| (usd.max(0.0) * 1e6) as u64);
    let place = u32::try_from(asked.place()).unwrap_or(u32::MAX);
    let cost = estimate(&suspects, place, settings, microdollars);
    let dollars = match call {
        Some(_) => format!(", about ${:.4}", cost.likely.microdollars as f64 / 1e6),
        None => String::new(),
    };
    let most = match plan.budget {
        Some(Budget::Dollars(dollars)) => format!("${dollars:.2}"),
        Some(Budget::Calls(_)) | None => settings.budget.model_calls.to_string(),
    };
    // More causes, the replies before and sentences take more than one cause does; the budget bounds them all.
    let words = format!(
        "testing {} suspects: {} model calls at least, up to {}{dollars} for one cause, {most} at most; nothing is run but the model",
        candidates.len(),
        cost.least.model_calls,
        cost.likely.model_calls
    );
    screen.tell(&egress_text::<SamePrincipal>(&words));
}

/// What the recorded call cost.
fn call_usd(record: &Record, place: usize) -> Option<f64> {
    let Fact::RunStarted(started) = record.facts().next()?.1 else { return None };
    let prices = started.prices?;
    let call = record.model_calls().nth(place)?;
    let usage = record.facts().find_map(|(_, fact)| {
        let Fact::ModelReplied { call: own, usage, .. } = fact else { return None };
        (*own == call).then_some(*usage)
    })?;
    prices.cost_usd(&usage)
}

fn confirm_failed(error: &ConfirmError) -> Fatal {
    if let ConfirmError::Fork(error) = error {
        return fork_failed(error);
    }
    if let ConfirmError::Kept(error) = error {
        return kept_failed(error);
    }
    if let ConfirmError::Unjudged(error) = error {
        return unjudged(error);
    }
    Fatal::of(Code::Failed, error)
}

pub(crate) fn fork_failed(error: &ForkError) -> Fatal {
    Fatal::of(Code::Failed, error).hint("`probity why` without --confirm tells what the record says of it")
}

fn unjudged(error: &Unjudged) -> Fatal {
    Fatal::of(Code::Failed, error)
        .hint("it reads the reply from its standard input and exits with 0 (the same) or 1 (another)")
}

fn kept_failed(error: &KeptError) -> Fatal {
    if let KeptError::Unjudged(error) = error {
        return unjudged(error);
    }
    if matches!(error, KeptError::NotSo("pattern" | "judge")) {
        return Fatal::of(Code::Usage, error).hint("what --kept-if asks must hold of the recorded reply");
    }
    Fatal::of(Code::Usage, error)
        .hint("ask about something that the model said itself, such as --text or --call")
}

/// Nothing to say but that it is over.
pub(crate) fn code(tested: &Tested) -> Code {
    if tested.steps.iter().any(|step| step.confirmed.is_cancelled) { Code::Cancelled } else { Code::Ok }
}
