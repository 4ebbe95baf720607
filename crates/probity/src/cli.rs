//! The command line.

mod evidence;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use probity_contract::ContentSetting;

use crate::exit::CODES_HELP;
pub(crate) use evidence::{
    AskArgs, Budget, DiffArgs, ExportArgs, ExportFormat, ImportArgs, PageArgs, ReplayArgs, WhyArgs,
};

/// Runs agent tasks in which every action is judged before it runs, every word is checked before it leaves, and every
/// answer can be traced back to the context that caused it.
#[derive(Debug, Parser)]
#[command(name = "probity", version, after_help = CODES_HELP, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Directory of the records [default: $PROBITY_DATA_DIR, $XDG_DATA_HOME/probity or ~/.local/share/probity]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print one JSON document on standard output instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a task from a file, or a prompt
    Run(Box<RunArgs>),
    /// Go on with a run that waits for a person, or that broke off
    Resume(ResumeArgs),
    /// Answer what a run asks: see its questions, approve, refuse, or change the arguments
    Approve(ApproveArgs),
    /// The keys that seal the checkpoints of runs
    #[command(subcommand)]
    Key(KeyCommand),
    /// Run a worked example that needs no key and no network
    Demo,
    /// Look at the records of runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Say where an answer, or the arguments of a call, came from
    Why(WhyArgs),
    /// Have a model look into the record of a run and answer a question
    Ask(AskArgs),
    /// Play a run again from its record, or fork it with other context
    Replay(ReplayArgs),
    /// Say where two runs first differ, and what differs then
    Diff(DiffArgs),
    /// Write a run out for other programs
    Export(ExportArgs),
    /// Read traces of other frameworks into the store, as runs
    Import(ImportArgs),
    /// Check a task's policies, and ask them about a call
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Say what is configured, and what can be reached
    Doctor(DoctorArgs),
    /// Strip credentials from a stream or from files
    Redact(RedactArgs),
}

/// Bytes that are not UTF-8 go through as they are. A credential leaves as `[REDACTED:kind]`.
#[derive(Debug, Args)]
#[command(after_help = REDACT_HELP)]
pub(crate) struct RedactArgs {
    /// The files; - is standard input [default: standard input]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Who will read it: human also removes every URL and every absolute path
    #[arg(long, value_enum, value_name = "TIER", default_value_t = TierName::SamePrincipal)]
    pub(crate) tier: TierName,
    /// What the input is
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Tell each removal as a line of JSON, never the text; - is standard error, or standard output where no text goes there
    #[arg(long, value_name = "FILE|-")]
    pub(crate) report: Option<PathBuf>,
    /// A file of secrets to remove wherever they stand: one a line, or NAME=VALUE
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,
    /// Write no text; exit with 1 when something would be redacted
    #[arg(long, conflicts_with = "in_place")]
    pub(crate) check: bool,
    /// Replace each file in which something is found; the others stay untouched
    #[arg(long, requires = "files")]
    pub(crate) in_place: bool,
    /// Files at once [default: as many as there are processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Do not tell counts, lines that are not JSON, or progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const REDACT_HELP: &str = "\
Exit codes of this command:
    0  done; with --check: nothing would be redacted. Also where the reader of the output is gone
    1  with --check: something would be redacted
    2  the command line, or a file it names, is wrong
    9  an input could not be read, or an output not written

Examples:
  kubectl logs pod | probity redact | less
  probity redact --check $(git diff --cached --name-only --diff-filter=d)
  probity redact --format jsonl --check traces/*.jsonl
  probity redact --in-place --report found.jsonl logs/*.log";

/// A tier by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TierName {
    /// Credentials
    SamePrincipal,
    /// Credentials, every URL and every absolute path
    Human,
}

/// What an input of `redact` is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// Text of any kind
    Text,
    /// A JSON value a line: members with a credential's name are removed whole; lines that are not JSON pass as text
    Jsonl,
}

/// Where no rule covers a call, a person is asked on a terminal; without a terminal the call is denied. Where a rule asks and
/// there is no terminal, the run pauses until somebody answers with `probity approve`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// A task file that ends in .toml, or the prompt itself
    #[arg(value_name = "TASK.toml|PROMPT")]
    pub(crate) task: String,
    /// The model: openai/NAME, anthropic/NAME, gemini/NAME, ollama/NAME, compatible/NAME or rules/FILE
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// The endpoint, for any server that speaks the provider's protocol
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// A file with the provider's key [default: the provider's environment variable]
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// How the model shall behave
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
    /// Give the model a file to read; NAME is how it is called. It counts as somebody else's words
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) context: Vec<String>,
    /// A directory that the file tools and the shell may read; rules call it NAME, or `work`, `work2` …
    #[arg(long, value_name = "[NAME=]DIR")]
    pub(crate) root: Vec<String>,
    /// A directory that they may also write
    #[arg(long, value_name = "[NAME=]DIR")]
    pub(crate) write_root: Vec<String>,
    /// The tools, separated by commas [default with a root: fs_list,fs_read,fs_search]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// A host that http_get may ask
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<String>,
    /// The first model call must call a tool
    #[arg(long)]
    pub(crate) require_tool: bool,
    /// Allow calls that match the rule
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Ask about calls that match the rule
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// Deny calls that match the rule; denying beats asking beats allowing
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Model calls at most
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// What the record keeps
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) content: Option<Content>,
    /// Never ask a person: a call that needs one is denied
    #[arg(long)]
    pub(crate) no_input: bool,
    /// Keep nothing to go on from: a question that nobody answers now is denied, and a run that breaks off is lost
    #[arg(long)]
    pub(crate) no_checkpoints: bool,
    /// Show the model's reasoning where the provider sends it
    #[arg(long)]
    pub(crate) reasoning: bool,
    /// Show the answer only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The task file, and every file it names, are read as they are now: the rules of now judge every call again.
#[derive(Debug, Args)]
#[command(after_help = RESUME_HELP)]
pub(crate) struct ResumeArgs {
    /// The run's id, or its first characters
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The task file, where it does not lie where the run was started with it
    #[arg(long, value_name = "TASK.toml")]
    pub(crate) task: Option<PathBuf>,
    /// Never ask a person: a call that needs one is denied
    #[arg(long)]
    pub(crate) no_input: bool,
    /// Show the model's reasoning where the provider sends it
    #[arg(long)]
    pub(crate) reasoning: bool,
    /// Show the answer only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const RESUME_HELP: &str = "\
A call that was running when the run broke off is settled by the effect that its tool declares:
what only reads, or may be repeated, runs again; a tool that can be asked is asked; of anything
else the model is told that the outcome is unknown, and nothing is repeated.

Example:
  probity resume 01h455";

/// Without an answer the open questions are shown; on a terminal they are asked one by one.
#[derive(Debug, Args)]
#[command(after_help = APPROVE_HELP)]
pub(crate) struct ApproveArgs {
    /// The run's id, or its first characters
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The question, by the first characters of its binding, as it was shown
    #[arg(value_name = "QUESTION", requires = "answer")]
    pub(crate) question: Option<String>,
    /// The call may run as shown
    #[arg(long, group = "answer", requires = "question")]
    pub(crate) yes: bool,
    /// With --yes: how often the very same call may run in this run
    #[arg(long, value_name = "N", requires = "yes", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) times: u32,
    /// The call must not run; the model reads why
    #[arg(long, value_name = "REASON", group = "answer", requires = "question")]
    pub(crate) no: Option<String>,
    /// With --no: nor the same call again in this run
    #[arg(long, requires = "no")]
    pub(crate) for_good: bool,
    /// The call shall run with these arguments, a JSON object; they are judged like the model's, and may be asked about again
    #[arg(long, value_name = "JSON", group = "answer", requires = "question")]
    pub(crate) edit: Option<String>,
    /// Show the questions, and ask none on a terminal
    #[arg(long)]
    pub(crate) list: bool,
}

const APPROVE_HELP: &str = "\
An answer is for one question exactly as it was shown. It counts until the question expires, for
one start, and under the rules by which it was asked; `probity resume` asks all policies again.

Examples:
  probity approve 01h455
  probity approve 01h455 3fa91c04 --yes
  probity approve 01h455 3fa91c04 --no \"not before Monday\"
  probity approve 01h455 3fa91c04 --edit '{\"to\": \"ACME\", \"amount\": 100}'";

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Show the ids of the keys, the current one first
    List,
    /// Put a new key before the others; those before still open what they have sealed
    Rotate,
}

const RUN_HELP: &str = "\
Rules are `tool` or `tool(pattern)`:
  fs_read(work/docs/**)     paths, written root/path; * stays within a directory
  shell(git log *)          a program and its arguments; a last * stands for any more
  http_get(*.example.org)   hosts, or whole URLs
  pay(to=ACME-*)            a named argument

Examples:
  probity run task.toml
  probity run \"What is in here?\" --model openai/gpt-4.1-mini --root . --allow fs_list --allow \"fs_read(work/**)\"

A task file can name interceptors: programs or servers that see each message and may stop it.
They stand in docs/interceptors.md";

/// How much content a record keeps.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Content {
    /// Every text as it was
    Full,
    /// Every text after the credential pass
    Redacted,
    /// Digests and lengths only
    Digests,
}

impl From<Content> for ContentSetting {
    fn from(content: Content) -> Self {
        match content {
            Content::Full => Self::Full,
            Content::Redacted => Self::Redacted,
            Content::Digests => Self::Digests,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, the newest first
    List(ListArgs),
    /// Show one run: what was read, called, judged and answered
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Runs at most
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: u32,
    /// Only runs before this one
    #[arg(long, value_name = "RUN")]
    pub(crate) before: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run's id, or its first characters; `last` is the newest
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Load a task's policies against its tools, or a file of rules by itself, and run nothing
    Check(PolicyCheckArgs),
    /// Say what the policies of a task would say of one call, and run nothing
    Explain(PolicyExplainArgs),
    /// Compare what policies say of written-down calls with what is expected, and run nothing
    Test(PolicyTestArgs),
    /// Let the rules of a folder allow calls, as they are now
    Trust(PolicyTrustArgs),
}

/// What lies at the organisation, the user and the folder of a task is loaded with it; a file of rules is loaded alone.
#[derive(Debug, Args)]
pub(crate) struct PolicyCheckArgs {
    /// The task file, or a file of rules
    #[arg(value_name = "FILE.toml")]
    pub(crate) task: PathBuf,
    /// Print the Cedar schema of the task's tools instead: all that a Cedar policy can read
    #[arg(long)]
    pub(crate) schema: bool,
}

/// The calls are judged as they are written; no tool is asked what they would touch.
#[derive(Debug, Args)]
#[command(after_help = TEST_HELP)]
pub(crate) struct PolicyTestArgs {
    /// The task file, or a file of rules
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: PathBuf,
    /// The cases: a .toml file, or lines of JSON
    #[arg(value_name = "CASES")]
    pub(crate) cases: PathBuf,
    /// As on a terminal, where a person is asked about calls that no rule covers
    #[arg(long)]
    pub(crate) on_terminal: bool,
}

const TEST_HELP: &str = "\
A case has `call`, `expect` (allow, ask, deny, or none where nobody has anything to say, which a run denies), and a
`name` if it helps:

  [[case]]
  call = \"fs_read(work/docs/a.md)\"
  expect = \"allow\"

  [[case]]
  name = \"a link out of docs\"
  call = { tool = \"fs_read\", path = \"work/docs/link\", resolved = \"work/private/key\" }
  expect = \"deny\"

As a line of JSON: {\"call\": \"shell(git log | head)\", \"expect\": \"allow\"}

Exit codes of this command:
    0  every case is as expected
    1  one is not
    2  the command line, a file, a policy or a case is wrong
    3  something that the task needs is missing

Example:
  probity policy test .probity/rules.toml cases.toml";

/// Trust is given to rules as they are, by a person.
#[derive(Debug, Args)]
#[command(after_help = TRUST_HELP)]
pub(crate) struct PolicyTrustArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Take trust from it instead
    #[arg(long)]
    pub(crate) remove: bool,
}

const TRUST_HELP: &str = "\
The rules are DIR/.probity/rules.toml. What they ask and deny counts without trust.
When they change, what they allow does not count until somebody has looked again.";

/// The call is checked, told to its tool and frozen as in a run; then every policy of the task is heard.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct PolicyExplainArgs {
    /// The task file
    #[arg(value_name = "TASK.toml")]
    pub(crate) task: PathBuf,
    /// The call: {"tool": NAME, "arguments": {…}}, a file with it, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub(crate) call: String,
    /// As if the model had read only what the task vouches for; without it, somebody else's words, too
    #[arg(long)]
    pub(crate) trusted: bool,
    /// As on a terminal, where a person is asked about calls that no rule covers
    #[arg(long)]
    pub(crate) on_terminal: bool,
}

const EXPLAIN_HELP: &str = "\
Exit codes of this command:
    0  the call would be allowed, or a person asked
    1  the call would be denied
    2  the command line, the task file, a policy or the call is wrong
    3  something that the task needs is missing

Example:
  probity policy explain task.toml --call '{\"tool\": \"fs_read\", \"arguments\": {\"path\": \"plan.md\"}}'";

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Try no connection
    #[arg(long)]
    pub(crate) offline: bool,
}
