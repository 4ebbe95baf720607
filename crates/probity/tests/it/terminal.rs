//! A person at a real terminal is asked, and what is typed decides.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use probity_contract::Ending;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::cli::{Cli, Done, Running};

/// How long typed words may stay without an effect before they are typed again: what is typed before the question has
/// been read is thrown away on purpose.
const RETYPE: Duration = Duration::from_millis(400);

/// The binary with a terminal of its own, as its session's leader.
struct Terminal {
    running: Running,
    keyboard: File,
}

impl Terminal {
    fn start(cli: &Cli, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let side = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        let all: Vec<&str> = ["--ctty", env!("CARGO_BIN_EXE_probity")].iter().chain(args).copied().collect();
        let mut command = cli.command_of("setsid", &all);
        command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().unwrap();
        let keyboard = File::from(master);
        Self { running: Running::on(child, keyboard.try_clone().unwrap()), keyboard }
    }

    /// Waits until so many questions are on the screen.
    fn asked(&mut self, times: usize) {
        self.running.until("the question", |screen, _| screen.matches("run it?").count() >= times);
    }

    /// Types until the screen shows what comes of it.
    fn answer(&mut self, keys: &str, shows: &str) {
        for _ in 0..50 {
            self.keyboard.write_all(keys.as_bytes()).unwrap();
            if self.running.until_within(RETYPE, |screen, _| screen.contains(shows))
                || self.running.said_all()
            {
                return;
            }
        }
        panic!("`{keys}` has no effect");
    }

    fn finish(self) -> Done {
        self.running.finish()
    }
}

/// A model that writes a file, and then repeats what it was told.
fn writer(cli: &Cli, arguments: &str) {
    let rules = "[[rule]]\nname = 'write'\nunless = [{ kind = 'tool_result' }]\n\
        call = [{ tool = 'fs_write', arguments = ARGUMENTS }]\n\
        [[rule]]\nname = 'say'\nwhen = [{ kind = 'tool_result', match = '(?s)(?<words>.+)' }]\ntext = 'I was told: {words}'\n";
    cli.file("m.toml", rules.replace("ARGUMENTS", arguments));
    cli.file("room/there.txt", "there\n");
}

const PLAIN: &str = "{ path = 'new.txt', content = 'words' }";
const WRITE: [&str; 8] =
    ["run", "x", "--model", "rules/m.toml", "--write-root", "room", "--tools", "fs_write"];

/// Asks about a call and types the answer: the tool runs or not, and the model is told these words.
fn check(keys: &str, told: &str, runs: bool) {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    assert!(!cli.work().join("room/new.txt").exists(), "nothing runs before the answer");
    terminal.answer(keys, "I was told: ");
    let done = terminal.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in
        ["The model wants to run fs_write with", "content = \"words\"", "it touches write work/new.txt", told]
    {
        assert!(done.out.contains(part), "`{part}` is missing: {done:?}");
    }
    assert_eq!(cli.work().join("room/new.txt").exists(), runs, "{done:?}");
    let calls = cli.record().calls();
    let [call] = calls.as_slice() else { panic!("one call: {calls:?}") };
    assert_eq!(call.asked.len(), 1);
    assert_eq!(!call.attempts.is_empty(), runs, "{call:?}");
}

#[test]
fn a_yes_runs_the_call() {
    check("y\n", "I was told: created `new.txt`", true);
    check("yes\n", "I was told: created `new.txt`", true);
}

#[test]
fn a_no_denies_the_call_and_the_model_reads_the_reason() {
    check("n\n", "the person said no", false);
    check("no, because it is Friday\n", "because it is Friday", false);
}

#[test]
fn the_end_of_input_denies_the_call() {
    check("\u{4}", "I was told: the call was denied and did not run", false);
}

#[test]
fn what_is_neither_yes_nor_no_is_asked_again() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    terminal.answer("sure, why not\n", "no, because …`");
    terminal.asked(2);
    terminal.answer("n\n", "I was told: ");
    assert_eq!(terminal.finish().code, Some(0));
    assert!(!cli.work().join("room/new.txt").exists());
}

#[test]
fn edited_arguments_are_shown_before_they_are_approved_and_the_model_is_told() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    terminal.answer("e\n", "as one line of JSON");
    terminal.answer("{\"path\":\"other.txt\",\"content\":\"words\"}\n", "it touches write work/other.txt");
    terminal.asked(2);
    assert!(!cli.work().join("room/other.txt").exists(), "an edit is no approval");
    terminal.answer("y\n", "I was told: A person changed the arguments of this call");
    assert_eq!(terminal.finish().code, Some(0));
    assert!(cli.work().join("room/other.txt").exists() && !cli.work().join("room/new.txt").exists());
}

#[test]
fn edited_arguments_that_the_tool_does_not_take_run_nothing() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    terminal.answer("e\n", "as one line of JSON");
    terminal.answer("{\"path\":7}\n", "I was told: ");
    let done = terminal.finish();
    assert!(done.out.contains("do not fit the tool's schema"), "{done:?}");
    assert!(!cli.work().join("room/new.txt").exists());
}

#[test]
fn a_terminal_that_hangs_up_runs_nothing() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    let Terminal { running, keyboard } = terminal;
    drop(keyboard);
    // The reader of the screen holds the other half; the signal is what the kernel sends when both are gone.
    running.signal(rustix::process::Signal::HUP);
    running.finish();
    assert!(!cli.work().join("room/new.txt").exists());
    let record = cli.record();
    assert!(record.calls().iter().all(|call| call.attempts.is_empty() && call.result.is_some()));
    let ending = record.summary().unwrap().ending;
    // The end of input and the signal come at once: either is enough.
    assert!(matches!(ending, Some(Ending::Cancelled | Ending::Answered)), "{ending:?}");
}

#[test]
fn an_interrupt_while_a_person_is_asked_cancels_the_run() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    terminal.answer("\u{3}", "cancelled · ");
    let done = terminal.finish();
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(!cli.work().join("room/new.txt").exists());
    let record = cli.record();
    assert_eq!(record.summary().unwrap().ending, Some(Ending::Cancelled));
    assert!(record.calls().iter().all(|call| call.attempts.is_empty() && call.result.is_some()));
}

#[test]
fn what_cannot_be_seen_is_written_out() {
    let cli = Cli::new();
    writer(&cli, r#"{ path = 'new.txt', content = "pay\u202Eevil\u200B \u001B]0;gotcha\u0007" }"#);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    terminal.answer("n\n", "I was told: ");
    let done = terminal.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains(r"pay\u{202e}evil\u{200b} \u001b]0;gotcha\u0007"), "{done:?}");
    for hidden in ["\u{202e}", "\u{200b}", "\u{1b}]0;", "\u{7}"] {
        assert!(!done.out.contains(hidden), "{hidden:?} reached the terminal: {done:?}");
    }
}

#[test]
fn parallel_calls_are_asked_about_one_by_one() {
    let cli = Cli::new();
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'write'\nunless = [{ kind = 'tool_result' }]\ncall = [\n\
        { tool = 'fs_write', arguments = { path = 'a.txt', content = 'a' } },\n\
        { tool = 'fs_write', arguments = { path = 'b.txt', content = 'b' } },\n]\n\
        [[rule]]\nname = 'say'\ntext = 'I am done.'\n",
    );
    cli.file("room/there.txt", "there\n");
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    terminal.answer("n\n", "the person said no");
    terminal.asked(2);
    terminal.answer("y\n", "I am done.");
    let done = terminal.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let written = ["a.txt", "b.txt"].map(|name| cli.work().join("room").join(name).exists());
    assert_eq!(
        written.iter().filter(|exists| **exists).count(),
        1,
        "one was allowed and one was not: {done:?}"
    );
}

#[test]
fn without_a_person_a_call_without_a_rule_is_denied() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let told = "the call was denied and did not run: no policy is set";
    let done = cli.run(&WRITE);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains(told), "the model reads why: {done:?}");
    // A terminal alone is no person, where nobody shall be asked.
    for flag in ["--no-input", "--json"] {
        let args: Vec<&str> = WRITE.iter().copied().chain([flag]).collect();
        let done = Terminal::start(&cli, &args).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.out.contains(told) && !done.out.contains("run it?"), "{done:?}");
    }
    assert!(!cli.work().join("room/new.txt").exists());
}

#[test]
fn a_large_redaction_shows_how_far_it_is_and_clears_it() {
    let cli = Cli::new();
    cli.file("large", b"words and words\n".repeat(17 * 64 * 1024));
    cli.file("small", "words\n");
    let screen = |args: &[&str]| {
        let done = Terminal::start(&cli, &[&["redact", "--check"], args].concat()).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        done.out
    };
    let shown = screen(&["large", "small"]);
    assert!(shown.contains("of 17.00 MiB") && shown.contains("/s"), "{shown:?}");
    for quiet in [["small"].as_slice(), &["--quiet", "large"]] {
        assert_eq!(screen(quiet), "");
    }
    assert_eq!(cli.run(&["redact", "--check", "large"]).all().trim(), "", "no terminal, no progress");
}

/// A question that is left open pauses the run, and is asked again when a person takes it up at a terminal; where nothing is
/// kept to go on from, it is one that nobody answers.
#[test]
fn a_question_that_is_left_open_pauses_the_run() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let mut terminal = Terminal::start(&cli, &WRITE);
    terminal.asked(1);
    terminal.answer("later\n", "waits for a person");
    assert_eq!(terminal.finish().code, Some(10));
    let run = cli.record().start().unwrap().run.as_str().to_owned();
    let mut terminal = Terminal::start(&cli, &["resume", &run]);
    terminal.asked(1);
    terminal.answer("y\n", "I was told: ");
    assert_eq!(terminal.finish().code, Some(0));
    assert!(cli.work().join("room/new.txt").exists());

    let cli = Cli::new();
    writer(&cli, PLAIN);
    let all: Vec<&str> = WRITE.iter().copied().chain(["--no-checkpoints"]).collect();
    let mut terminal = Terminal::start(&cli, &all);
    terminal.asked(1);
    terminal.answer("later\n", "there is nobody to ask");
    assert_eq!(terminal.finish().code, Some(0));
    assert!(!cli.work().join("room/new.txt").exists());
}

/// The person at a terminal answers the questions of a run at rest.
#[test]
fn a_run_at_rest_is_answered_at_a_terminal() {
    let cli = Cli::new();
    writer(&cli, PLAIN);
    let all: Vec<&str> = WRITE.iter().copied().chain(["--ask", "fs_write"]).collect();
    assert_eq!(cli.run(&all).code, Some(10));
    let run = cli.record().start().unwrap().run.as_str().to_owned();
    let mut terminal = Terminal::start(&cli, &["approve", &run]);
    terminal.asked(1);
    terminal.answer("y\n", "noted for question");
    assert_eq!(terminal.finish().code, Some(0));
    assert_eq!(cli.run(&["resume", &run]).code, Some(0));
    assert!(cli.work().join("room/new.txt").exists());
}

/// Asks about an answer that an interceptor has refused and types: it comes out or not.
fn check_lifted(keys: &str, shows: &str, code: i32) {
    let cli = Cli::new();
    cli.file("m.toml", "[[rule]]\nname = 'x'\ntext = 'the answer-words'\n");
    let guard = r#"while IFS= read -r line; do
        id=${line#'{"id":'}; id=${id%%,*}
        printf '{"id":%s,"verdict":{"decision":"deny","reason":"somebody must look","approval":{}}}\n' "$id"
    done"#;
    cli.file("guard.sh", guard);
    let task = "model = 'rules/m.toml'\nprompt = 'x'\n[limits]\njudge_timeout_ms = 30000\n\
        [[interceptors]]\nname = 'guard'\npoints = ['output']\ncommand = ['sh', 'guard.sh']\n";
    cli.file("task.toml", task);
    let mut terminal = Terminal::start(&cli, &["run", "task.toml"]);
    terminal.running.until("the question", |screen, _| screen.contains("let it through?"));
    terminal.answer(keys, shows);
    let done = terminal.finish();
    assert_eq!(done.code, Some(code), "{done:?}");
    assert!(done.out.contains("An interceptor stops this output: somebody must look"), "{done:?}");
    assert!(done.out.contains("│ the answer-words"), "{done:?}");
}

#[test]
fn a_person_lets_through_what_an_interceptor_has_refused() {
    check_lifted("y\n", "answered · ", 0);
}

#[test]
fn a_person_leaves_what_an_interceptor_has_refused() {
    check_lifted("no, it is too early\n", "refused this output: it is too early", 11);
    check_lifted("\u{4}", "refused this output: host_error:approval_unresolved", 11);
}
