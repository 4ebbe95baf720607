//! `probity resume`: goes on with a run that pauses or broke off.

use std::io::IsTerminal;
use std::sync::Arc;

use probity_core::resume_task;

use crate::cli::{Cli, ResumeArgs};
use crate::command::run::{Asking, Look, come_to_rest, host, open_store, task, task_file};
use crate::exit::{Code, Fatal};
use crate::keeping::{SealedKeeper, Taken};
use crate::policies::data;
use crate::render::Screen;
use crate::settings;

pub(crate) async fn run(cli: &Cli, args: &ResumeArgs, screen: Arc<Screen>) -> Result<Code, Fatal> {
    let data_dir = settings::data_dir(cli.data_dir.clone())?;
    // The task goes on in the directory where it was started.
    let data_dir = std::path::absolute(&data_dir).map_err(|error| Fatal::of(Code::Setup, &error))?;
    let store = open_store(&data_dir, &screen).await?;
    let taken = Taken::of(&store, &data_dir, &args.run).await?;
    let run_args = taken.started.again(args.task.as_deref())?;
    let file = task_file(&run_args)?;
    data::is_apart(&data_dir, &file.tools)?;
    let (task, principal) = task(file, taken.started.asks)?;
    let person = !args.no_input && !cli.json && std::io::stdin().is_terminal() && screen.is_interactive();
    let asking = Asking::of(person, args.no_input, &screen, principal);
    let look = Look { json: cli.json, quiet: args.quiet, reasoning: args.reasoning };
    let resumption = taken.resumption();
    let Taken { run, reopened, machine, started, generation, ring, checkpoints } = taken;
    let keeper = SealedKeeper::new(checkpoints, ring, generation, &started)?;
    let host = host(&store, Box::new(reopened.journal), Some(keeper), asking, look, &screen)?;
    let stopped = resume_task(task, machine, resumption, host).await;
    screen.idle();
    let stopped = stopped.map_err(|error| {
        let fatal = Fatal::of(Code::Usage, &error);
        match &error {
            probity_core::StartError::Resume(error) => fatal.hint(error.hint()),
            probity_core::StartError::Roster(_)
            | probity_core::StartError::InterceptorTwice(_)
            | probity_core::StartError::NoChildRecords(_)
            | probity_core::StartError::Bench(_)
            | probity_core::StartError::Spec(_) => fatal,
        }
    })?;
    let executed = come_to_rest(&store, run, stopped).await;
    executed.show(look, &screen);
    Ok(executed.code)
}
