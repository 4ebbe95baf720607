//! The command line of Probity.

mod cli;
mod command;
mod exit;
mod interrupt;
mod render;
mod settings;
mod task_file;
mod wire;

use std::panic;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;
use probity_egress::{Egress, SamePrincipal, Words, egress_text};

use cli::{Cli, Command, RunsCommand};
use exit::{Code, Fatal};
use render::Screen;

fn main() -> ExitCode {
    // The shell tool starts this program again to build the sandbox from within; that must come before anything else.
    probity_tools::maybe_run_sandbox_helper();
    let screen = Arc::new(Screen::new());
    tell_panics(&screen);
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
            screen.tell(&text);
            Code::Usage
        }
    })
}

fn run(cli: &Cli, screen: &Arc<Screen>) -> Code {
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
        Command::Demo => command::demo::run(cli, Arc::clone(screen)).await,
        Command::Runs(RunsCommand::List(args)) => command::runs::list(cli, args, screen).await,
        Command::Runs(RunsCommand::Show(args)) => command::runs::show(cli, args, screen).await,
        Command::Doctor(args) => command::doctor::run(cli, args, screen).await,
    }
}

fn fail(fatal: &Fatal, json: bool, screen: &Screen) -> Code {
    if json {
        let value = serde_json::json!({
            "error": { "exit_code": fatal.code as u8, "message": &fatal.words, "hint": &fatal.hint }
        });
        screen.json(&probity_egress::egress_value(&value));
    }
    screen.tell(&Words::new().text("error: failed to ").passed(&fatal.words).done());
    if let Some(hint) = &fatal.hint {
        screen.tell(&Words::new().text(" hint: ").passed(hint).done());
    }
    fatal.code
}

/// A panic is an exit, too: its text passes like any other.
fn tell_panics(screen: &Arc<Screen>) {
    let screen = Arc::clone(screen);
    panic::set_hook(Box::new(move |info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        let words = info.payload_as_str().unwrap_or("a panic with a non-text payload");
        let line: Egress<SamePrincipal> = egress_text(&format!("internal error at {at}: {words}"));
        screen.tell(&line);
    }));
}
