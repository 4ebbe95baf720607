//! Arguments of the commands that look into what was recorded: why, ask, replay, diff, export, import.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use probity_contract::{CallId, ItemId};
use regex::Regex;

use super::TierName;
use crate::command::why::pattern;

/// From the record alone, without a model: each number, date, name or id of the answer with its source, how that source reached
/// the answer, who let it in, what to look at first, and what is not known.
#[derive(Debug, Args)]
#[command(after_help = WHY_HELP)]
pub(crate) struct WhyArgs {
    /// The run's id, or its first characters; `last` is the newest
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Ask about these words of the answer, or of the last reply that says them
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["call", "pointer"])]
    pub(crate) text: Option<String>,
    /// Ask about the arguments of a call: c1, c2 …
    #[arg(long, value_name = "CALL")]
    pub(crate) call: Option<CallId>,
    /// Ask about one value, by a JSON pointer: of the answer, or of the arguments with --call
    #[arg(long, value_name = "POINTER")]
    pub(crate) pointer: Option<String>,
    /// Test the leads: fork the run without each suspect and see whether the answer changes
    #[arg(long)]
    pub(crate) confirm: bool,
    /// With --confirm: how likely any suspect that makes no difference may be called necessary at most
    #[arg(long, value_name = "A", requires = "confirm", default_value_t = 0.05, value_parser = probability)]
    pub(crate) alpha: f64,
    /// With --confirm: model calls at most, or US dollars with a $ before them
    #[arg(long, value_name = "N|$N", requires = "confirm")]
    pub(crate) budget: Option<Budget>,
    /// With --confirm: the model that answers in forks [default: that of the run]
    #[arg(long, value_name = "PROVIDER/NAME", requires = "confirm")]
    pub(crate) model: Option<String>,
    /// With --confirm: also test the sentences of each item that is confirmed
    #[arg(long, requires = "confirm")]
    pub(crate) sentences: bool,
    /// With --confirm: a reply counts as the recorded one where this pattern matches its text
    #[arg(long, value_name = "REGEX", requires = "confirm", conflicts_with_all = ["kept_if_command", "pointer"], value_parser = pattern)]
    pub(crate) kept_if: Option<Regex>,
    /// With --confirm: ask this program; it reads the reply and exits with 0 (the same) or 1 (another)
    #[arg(long, value_name = "PROGRAM", requires = "confirm", conflicts_with = "pointer")]
    pub(crate) kept_if_command: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

const WHY_HELP: &str = "\
How things are known is said everywhere:
  exact     the run wrote it down, or the very bytes are there
  inferred  it was rebuilt from equal content, as in every imported trace
  tested    a counterfactual held; only --confirm says this
  lead      a rank, and no verdict

Examples:
  probity why last
  probity why 01h455 --text \"5,000.00 EUR\"
  probity why 01h455 --call c3 --pointer /amount
  probity why last --html why.html";

/// The model gets questions about the record of the run and of the tasks it started as its only tools. They read these records
/// and nothing else, tell little at a time, and only after the credential pass. What the model asks and answers is a run of its
/// own, with a record: `probity why last` tells where the answer came from.
#[derive(Debug, Args)]
#[command(after_help = ASK_HELP)]
pub(crate) struct AskArgs {
    /// The run's id, or its first characters; `last` is the newest
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// What you want to know
    #[arg(value_name = "QUESTION")]
    pub(crate) question: String,
    /// The model: openai/NAME, anthropic/NAME, gemini/NAME, ollama/NAME, compatible/NAME or rules/FILE
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: String,
    /// The endpoint, for any server that speaks the provider's protocol
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// A file with the provider's key [default: the provider's environment variable]
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Model calls at most
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_turns: u32,
    /// US dollars at most [default: 1 where the prices of the model are known; tokens are bounded in any case]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Show the model's reasoning where the provider sends it
    #[arg(long)]
    pub(crate) reasoning: bool,
    /// Show the answer only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn dollars(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or("a number of US dollars above 0")
}

const ASK_HELP: &str = "\
The tools: trace_overview, trace_find, trace_node, trace_slice, trace_value, trace_call,
trace_window, trace_who_wrote, trace_errors. Texts of the record are sent to the model that you
name. An answer is a model's word; what `probity why` says of the run is not.

Examples:
  probity ask last \"Why was the payment denied?\" --model openai/gpt-4.1-mini
  probity ask 01h455 \"Where does 5,000.00 EUR come from?\" --model ollama/llama3.2 --json
  probity why last";

/// Without changes nothing is asked: the run is played again from its record alone, and must write the same record. With
/// changes the run is forked at the first model call that saw one of them, and a model answers. No tool runs: calls are
/// served from the record, and a call that was never made ends the fork. With --live-reads, calls that only read are made where they
/// were never made before; nothing that has an effect ever is.
#[derive(Debug, Args)]
#[command(after_help = REPLAY_HELP)]
pub(crate) struct ReplayArgs {
    /// The run's id, or its first characters; `last` is the newest
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Put a neutral stand-in in place of an item: i1, i2 … (`probity runs show RUN` lists them)
    #[arg(long, value_name = "ITEM")]
    pub(crate) without: Vec<ItemId>,
    /// Put the text of a file in place of an item
    #[arg(long, value_name = "ITEM=FILE", value_parser = item_and_file)]
    pub(crate) with: Vec<(ItemId, PathBuf)>,
    /// The model that answers [default: that of the run]
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// Let the fork make reads that the run never made, by the tools of this task file and as its policies allow
    #[arg(long, value_name = "TASK.toml")]
    pub(crate) live_reads: Option<PathBuf>,
}

fn item_and_file(text: &str) -> Result<(ItemId, PathBuf), &'static str> {
    let error = "an item and a file, such as i3=note.txt";
    let (item, file) = text.split_once('=').ok_or(error)?;
    Ok((item.parse().map_err(|_| error)?, PathBuf::from(file)))
}

const REPLAY_HELP: &str = "\
Exit codes of this command:
    0  the record is what the machine makes of what came; or the answer of the fork is the recorded one
    1  it is not, or it cannot be played; or the answer is another one, or the fork ended without one
    6  a record could not be read

Examples:
  probity replay last
  probity replay last --without i3
  probity replay 01h455 --with i3=note.txt --model openai/gpt-4.1-mini";

/// Runs are laid side by side by what happened, not by when or under which id.
#[derive(Debug, Args)]
#[command(after_help = DIFF_HELP)]
pub(crate) struct DiffArgs {
    /// The one run: its id, its first characters, or `last`
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The other
    #[arg(value_name = "B")]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

const DIFF_HELP: &str = "\
Exit codes of this command:
    0  the runs do not differ
    1  they do
    6  a record could not be read
    7  no such run

Example:
  probity diff 01h455 last";

/// Every text passes the credential pass on its way out, whatever the form.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub(crate) struct ExportArgs {
    /// The run's id, or its first characters; `last` is the newest
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// In which form
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ExportFormat::Record)]
    pub(crate) format: ExportFormat,
    /// Who will read it: human also removes every URL and every absolute path
    #[arg(long, value_enum, value_name = "TIER", default_value_t = TierName::SamePrincipal)]
    pub(crate) tier: TierName,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The record: each text and each fact as a line of JSON, in order. Texts keep the digests of what was recorded
    Record,
    /// The conversation as one JSON list of chat messages with roles, tool_calls and tool_call_id
    Messages,
}

const EXPORT_HELP: &str = "\
An export leaves out what its form has no place for: messages tell nothing of policies, labels and
windows. With --json, messages stand under a member of this name, and lines under `lines`.

Examples:
  probity export last > run.jsonl
  probity export last --format messages --tier human";

/// A trace becomes a run like any other: `runs show`, `why` and `diff` work on it. What hangs on what is inferred from equal
/// content, and every view says so. An id is made from the file, so the same file is imported once.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub(crate) struct ImportArgs {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// What they are; auto looks at their content
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) format: String,
}

const IMPORT_HELP: &str = "\
Formats: spans (OpenTelemetry GenAI, OpenInference, Vercel AI SDK), langfuse, claude-code, codex,
messages, swe-agent, openhands, inspect, atif, who-and-when, vcr, tau-bench

A file that is cut off or wrong is refused with the line or place; nothing of it is imported.

Examples:
  probity import trace.json
  probity import --format claude-code session.jsonl";

/// A page in one file, beside what is printed.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Write it as one HTML file, too: no script, nothing is loaded from elsewhere
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Who will read the file: human removes every URL and every absolute path, too
    #[arg(long, value_enum, value_name = "TIER", default_value_t = TierName::Human, requires = "html")]
    pub(crate) tier: TierName,
    /// Replace the file where there is one
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
}

/// What a search may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// So many model calls.
    Calls(u32),
    /// So many US dollars.
    Dollars(f64),
}

impl std::str::FromStr for Budget {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = "a number of model calls, or dollars such as $0.50";
        match text.strip_prefix('$') {
            Some(dollars) => {
                let dollars =
                    dollars.parse().ok().filter(|dollars: &f64| dollars.is_finite() && *dollars > 0.0);
                dollars.map(Self::Dollars).ok_or(error)
            }
            None => text.parse().map(Self::Calls).map_err(|_| error),
        }
    }
}

fn probability(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1.0);
    number.ok_or("a number between 0 and 1")
}
