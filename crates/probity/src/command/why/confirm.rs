//! `probity why --confirm`: tests the leads by forks of the run.

use probity_trace::Graph;
use probity_why::Why;

use crate::cli::{Budget, WhyArgs};
use crate::exit::{Code, Fatal};

/// Tests the leads of a report.
///
/// # Errors
/// Says what is missing for it.
pub(crate) fn confirm(graph: &Graph<'_>, why: &Why, args: &WhyArgs) -> Result<Code, Fatal> {
    let budget = match args.budget {
        Some(Budget::Calls(calls)) => format!("{calls} model calls"),
        Some(Budget::Dollars(dollars)) => format!("${dollars}"),
        None => "no budget".to_owned(),
    };
    let model = args.model.as_deref().unwrap_or("the model of the run");
    let words = format!(
        "test {} leads over {} entries with {model} at alpha {} and {budget}: this build has no forks",
        why.leads.len(),
        graph.len(),
        args.alpha
    );
    Err(Fatal::new(Code::Setup, &words).hint("without --confirm the same leads are shown, untested"))
}
