//! The command line of Probity.

mod cli;
mod command;
mod exit;
mod html;
mod interceptors;
mod interrupt;
mod keeping;
mod keys;
mod logging;
mod panics;
mod policies;
mod render;
mod settings;
mod task_file;
mod why;
mod wire;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;
use probity_egress::{Egress, EgressValue, SamePrincipal, Words, egress_text, egress_value};

use cli::{Cli, Command, KeyCommand, PolicyCommand, RunsCommand};
use exit::{Code, Fatal};
use render::Screen;

fn main() -> ExitCode {
    // The shell tool starts this program again to build the sandbox from within; that must come before anything else.
    probity_tools::maybe_run_sandbox_helper();
    let screen = Arc::new(Screen::new());
    panics::tell(&screen);
    settings::know_keys();
    logging::start(&screen);
    let code = match parse(&screen) {
        Ok(cli) => run(&cli, &screen),
        Err(code) => code,
    };
    ExitCode::from(code as u8)
}

/// Reads the command line. Help and version go to standard output, a usage error to standard error.
fn parse(screen: &Screen) -> Result<Cli, Code> {
    Cli::try_parse().map_err(|error| {
        let text = error.render().to_string();
        let text = egress_text::<SamePrincipal>(text.trim_end());
        if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
            screen.out(&text);
            Code::Ok
        } else {
            // Nothing was parsed, so the flag is looked for by hand: whoever asks for JSON gets JSON.
            if std::env::args_os().any(|argument| argument == "--json") {
                screen.json(&error_document(Code::Usage, &text, None));
            }
            screen.tell(&text);
            Code::Usage
        }
    })
}

fn run(cli: &Cli, screen: &Arc<Screen>) -> Code {
    // A filter waits for nothing but its input; it needs no runtime.
    if let Command::Redact(args) = &cli.command {
        return command::redact::run(cli, args, screen)
            .unwrap_or_else(|fatal| fail(&fatal, cli.json, screen));
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&Fatal::of(Code::Failed, &error), cli.json, screen),
    };
    let result = runtime.block_on(dispatch(cli, screen));
    // A thread that still waits for the keyboard must not keep the program alive.
    runtime.shutdown_background();
    screen.idle();
    match result {
        Ok(code) => code,
        Err(fatal) => fail(&fatal, cli.json, screen),
    }
}

async fn dispatch(cli: &Cli, screen: &Arc<Screen>) -> Result<Code, Fatal> {
    match &cli.command {
        Command::Run(args) => command::run::run(cli, args, Arc::clone(screen)).await,
        Command::Resume(args) => command::resume::run(cli, args, Arc::clone(screen)).await,
        Command::Approve(args) => command::approve::run(cli, args, Arc::clone(screen)).await,
        Command::Key(KeyCommand::List) => command::key::list(cli, screen),
        Command::Key(KeyCommand::Rotate) => command::key::rotate(cli, screen),
        Command::Demo => command::demo::run(cli, Arc::clone(screen)).await,
        Command::Runs(RunsCommand::List(args)) => command::runs::list(cli, args, screen).await,
        Command::Runs(RunsCommand::Show(args)) => command::runs::show(cli, args, screen).await,
        Command::Why(args) => command::why::run(cli, args, screen).await,
        Command::Ask(args) => command::ask::run(cli, args, Arc::clone(screen)).await,
        Command::Replay(args) => command::replay::run(cli, args, screen).await,
        Command::Diff(args) => command::diff::run(cli, args, screen).await,
        Command::Export(args) => command::export::run(cli, args, screen).await,
        Command::Import(args) => command::import::run(cli, args, screen).await,
        Command::Policy(PolicyCommand::Check(args)) => command::policy::check(cli, args, screen),
        Command::Policy(PolicyCommand::Test(args)) => command::policy::test(cli, args, screen),
        Command::Policy(PolicyCommand::Trust(args)) => command::policy::trust(cli, args, screen),
        Command::Policy(PolicyCommand::Explain(args)) => command::policy::explain(cli, args, screen).await,
        Command::Doctor(args) => command::doctor::run(cli, args, screen).await,
        Command::Redact(args) => command::redact::run(cli, args, screen),
    }
}

fn fail(fatal: &Fatal, json: bool, screen: &Screen) -> Code {
    if json {
        screen.json(&error_document(fatal.code, &fatal.words, fatal.hint.as_ref()));
    }
    screen.tell(&Words::new().text("error: failed to ").passed(&fatal.words).done());
    if let Some(hint) = &fatal.hint {
        screen.tell(&Words::new().text(" hint: ").passed(hint).done());
    }
    fatal.code
}

type Passed = Egress<SamePrincipal>;

/// An error for a script.
fn error_document(code: Code, message: &Passed, hint: Option<&Passed>) -> EgressValue<SamePrincipal> {
    let error = serde_json::json!({ "exit_code": code as u8, "message": message, "hint": hint });
    egress_value(&serde_json::json!({ "error": error }))
}
