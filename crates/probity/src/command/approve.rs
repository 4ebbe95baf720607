//! `probity approve`: answers what a run at rest asks, without going on with it.

use std::io::IsTerminal;
use std::sync::Arc;

use probity_contract::{
    Answer, AnswerKind, Approver as _, Durability, Emission, Fact, Journal as _, PendingCall,
};
use probity_core::Keeper as _;
use probity_egress::{Egress, SamePrincipal, Words, egress_text};

use crate::cli::{ApproveArgs, Cli};
use crate::command::run::open_store;
use crate::exit::{Code, Fatal};
use crate::keeping::{SealedKeeper, Taken};
use crate::render::{Questions, Screen, TerminalApprover, name_of};
use crate::settings;

/// Digits of a binding below which it names nothing: an answer must be meant.
const NAME_CHARS_MIN: usize = 8;

pub(crate) async fn run(cli: &Cli, args: &ApproveArgs, screen: Arc<Screen>) -> Result<Code, Fatal> {
    let data_dir = settings::data_dir(cli.data_dir.clone())?;
    let store = open_store(&data_dir, &screen).await?;
    let mut taken = Taken::of(&store, &data_dir, &args.run).await?;
    if taken.reopened.record.lines().len() as u64 > taken.machine.entries() {
        let words = format!("answer for run `{}`: it broke off after its last checkpoint", taken.run);
        return Err(Fatal::new(Code::Usage, &words)
            .hint("go on with it first, with `probity resume`; it pauses again at its questions"));
    }
    let person = !cli.json && !args.list && std::io::stdin().is_terminal() && screen.is_interactive();
    match answer(args)? {
        Some((name, answer)) => {
            let question = find(&taken, &name)?;
            if matches!(answer, Answer::Approve { .. }) && question.view().hides_credential() {
                return Err(Fatal::new(Code::Usage, "approve the call: not all of it can be shown")
                    .hint("refuse it, or give it other arguments"));
            }
            give(&mut taken, &question, answer)?;
        }
        None if person => ask(&mut taken, &screen).await?,
        None => {}
    }
    let open = taken.machine.questions().count();
    Questions::of(&taken.machine).show(cli.json, &screen);
    Ok(if open == 0 { Code::Ok } else { Code::Paused })
}

/// The answer of the command line, where there is one.
fn answer(args: &ApproveArgs) -> Result<Option<(String, Answer)>, Fatal> {
    let Some(name) = &args.question else { return Ok(None) };
    let by = settings::principal()?;
    let answer = if let Some(reason) = &args.no {
        if reason.trim().is_empty() {
            return Err(Fatal::new(Code::Usage, "refuse the call: the model must be told why")
                .hint("write --no REASON"));
        }
        Answer::Refuse { by, reason: reason.clone(), for_good: args.for_good }
    } else if let Some(arguments) = &args.edit {
        Answer::Edit { by, arguments: arguments.clone() }
    } else {
        Answer::Approve { by, more: args.times.saturating_sub(1) }
    };
    Ok(Some((name.clone(), answer)))
}

fn find(taken: &Taken, name: &str) -> Result<PendingCall, Fatal> {
    let name = name.to_ascii_lowercase();
    let hint = "`probity approve RUN --list` shows the open questions";
    if name.len() < NAME_CHARS_MIN {
        let words = format!("find the question `{name}`: it needs at least {NAME_CHARS_MIN} characters");
        return Err(Fatal::new(Code::Usage, &words).hint(hint));
    }
    let mut meant =
        taken.machine.questions().filter(|question| question.binding().to_string().starts_with(&name));
    match (meant.next(), meant.next()) {
        (Some(question), None) => Ok(question.clone()),
        (None, _) => {
            let words = format!("find the question `{name}`: it is not, or not any more, asked");
            Err(Fatal::new(Code::NotFound, &words).hint(hint))
        }
        (Some(_), Some(_)) => {
            let words = format!("find the question `{name}`: several begin like that");
            Err(Fatal::new(Code::NotFound, &words).hint("give more characters"))
        }
    }
}

/// Asks the person at the terminal about one question after the other.
async fn ask(taken: &mut Taken, screen: &Arc<Screen>) -> Result<(), Fatal> {
    let approver = TerminalApprover::new(Arc::clone(screen), settings::principal()?);
    for question in taken.machine.questions().cloned().collect::<Vec<_>>() {
        match approver.ask(&question).await {
            // The end of input is no answer.
            Answer::Nobody | Answer::Later => {}
            answer @ (Answer::Approve { .. } | Answer::Refuse { .. } | Answer::Edit { .. }) => {
                give(taken, &question, answer)?;
                let name = egress_text::<SamePrincipal>(&name_of(&question));
                screen.tell(&Words::new().text("  noted for question ").passed(&name).done());
            }
        }
    }
    Ok(())
}

/// Puts the answer into the record and into a checkpoint that takes the place of the last. In this order: an answer that is
/// told of and not kept is asked for again. One that came too late is kept as such, and said to be.
fn give(taken: &mut Taken, question: &PendingCall, answer: Answer) -> Result<(), Fatal> {
    let now_ms = taken.now_ms();
    let lines = taken
        .machine
        .answer_at_rest(now_ms, question.binding(), answer)
        .map_err(|_| Fatal::new(Code::NotFound, "answer the question: it is not asked any more"))?;
    let failed = |words: Egress<SamePrincipal>| Fatal { code: Code::Store, words, hint: None };
    let appended = taken.reopened.journal.append(&lines, Durability::Durable);
    appended.map_err(|error| failed(probity_egress::egress_error(&error)))?;
    let (checkpoints, ring) = (taken.checkpoints.clone(), taken.ring.clone());
    let mut keeper = SealedKeeper::new(checkpoints, ring, taken.generation, &taken.started)?;
    let state = taken.machine.snapshot().map_err(|error| failed(probity_egress::egress_error(&error)))?;
    let kept = keeper.keep(&state, Durability::Durable);
    kept.map_err(|error| failed(probity_egress::egress_error(&error)))?;
    taken.generation += 1;
    if lines.iter().any(is_void) {
        return Err(Fatal::new(
            Code::NotFound,
            "answer the question: its time is over, so the call is denied",
        )
        .hint("go on with `probity resume`; the model may propose the call again"));
    }
    Ok(())
}

const fn is_void(line: &Emission) -> bool {
    match line {
        Emission::Entry(entry) => matches!(entry.fact, Fact::Answered { answer: AnswerKind::Void, .. }),
        Emission::Part(_) => false,
    }
}
