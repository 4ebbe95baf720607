//! The terminal: the one place that writes to standard output and standard error.
//!
//! It takes only checked text, and makes control sequences in it inert: whatever a model or a tool wrote cannot move
//! the cursor, change a title or hide a line.

#![expect(clippy::disallowed_methods, reason = "this is the one place that writes to the standard streams")]

use std::cell::Cell;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use probity_egress::{Egress, EgressValue, SamePrincipal, is_hard_to_see};

/// Standard output for results, standard error for everything else.
pub(crate) struct Screen {
    state: Mutex<State>,
    keyboard: tokio::sync::Mutex<()>,
    interactive: bool,
}

#[derive(Default)]
struct State {
    spinner: Option<ProgressBar>,
    bar: Option<ProgressBar>,
    // What stands unfinished on the current line of either stream.
    out_open: bool,
    err_open: bool,
    // The question that waits for the keyboard; it is put again behind whatever is told meanwhile.
    question: Option<String>,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let interactive = io::stderr().is_terminal();
        Self { state: Mutex::default(), keyboard: tokio::sync::Mutex::default(), interactive }
    }

    /// The keyboard, for one question with all that is typed for it. Held over the whole question on purpose: two at once
    /// would share it.
    pub(crate) async fn keyboard(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.keyboard.lock().await
    }

    /// Whether a person may sit before standard error.
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Streams text of an answer to standard output.
    pub(crate) fn stream(&self, text: &Egress<SamePrincipal>) {
        self.with(|state| {
            state.break_err();
            let text = inert(text.as_str());
            state.out_open = !text.ends_with('\n');
            write_out(&text);
        });
    }

    /// Streams a model's reasoning to standard error.
    pub(crate) fn think(&self, text: &Egress<SamePrincipal>) {
        self.with(|state| {
            state.break_out();
            let text = inert(text.as_str());
            state.err_open = !text.ends_with('\n');
            write_err(&text);
        });
    }

    /// Writes a whole line of a result to standard output.
    pub(crate) fn out(&self, text: &Egress<SamePrincipal>) {
        self.with(|state| {
            state.break_out();
            write_out(&format!("{}\n", inert(text.as_str())));
        });
    }

    /// Writes a value to standard output as JSON.
    pub(crate) fn json(&self, value: &EgressValue<SamePrincipal>) {
        self.with(|state| {
            state.break_out();
            // By name, whatever order the build's JSON library keeps.
            let mut value = value.as_value().clone();
            value.sort_all_objects();
            // JSON escapes every control character by itself.
            let text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| "null".to_owned());
            write_out(&format!("{text}\n"));
        });
    }

    /// Writes a value to standard output as one line of JSON, which holds every character of it, those that are hard to see
    /// by their numbers.
    pub(crate) fn json_line(&self, value: &EgressValue<SamePrincipal>) {
        self.with(|state| {
            state.break_out();
            let mut value = value.as_value().clone();
            value.sort_all_objects();
            let text = serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned());
            write_out(&format!("{}\n", in_numbers(&text)));
        });
    }

    /// Tells something beside the result, on standard error.
    pub(crate) fn tell(&self, text: &Egress<SamePrincipal>) {
        self.with(|state| {
            state.break_out();
            state.break_err();
            let again = state.question.as_deref().unwrap_or_default();
            state.err_open = !again.is_empty();
            write_err(&format!("{}\n{again}", inert(text.as_str())));
        });
    }

    /// Puts a question on standard error; the answer is typed behind it. It stays open until [`Screen::answered`].
    pub(crate) fn ask(&self, text: &Egress<SamePrincipal>) {
        self.with(|state| {
            state.break_out();
            state.break_err();
            let text = inert(text.as_str());
            write_err(&text);
            state.err_open = true;
            state.question = Some(text);
        });
    }

    /// Closes the open question; the person's own line break ended its line.
    pub(crate) fn answered(&self) {
        self.with(|state| {
            state.question = None;
            state.err_open = false;
        });
    }

    /// Shows that something is going on, on a terminal only and not over a question.
    pub(crate) fn busy(&self, words: &'static str) {
        if !self.interactive {
            return;
        }
        self.with(|state| {
            if state.question.is_some() {
                return;
            }
            state.break_out();
            state.break_err();
            let spinner = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                spinner.set_style(style);
            }
            spinner.set_message(words);
            spinner.enable_steady_tick(Duration::from_millis(120));
            state.spinner = Some(spinner);
        });
    }

    /// Shows how much of `total` bytes is done, or of as many as come; on a terminal only. Until [`Screen::idle`] it stays
    /// below whatever is told.
    pub(crate) fn progress(&self, total: Option<u64>) -> Option<ProgressBar> {
        if !self.interactive {
            return None;
        }
        let (bar, template) = match total {
            Some(total) => {
                (ProgressBar::new(total), "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
            }
            None => (ProgressBar::new_spinner(), "{spinner} {bytes}, {bytes_per_sec}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        self.with(|state| state.bar = Some(bar.clone()));
        Some(bar)
    }

    /// Ends what [`Screen::busy`] or [`Screen::progress`] shows.
    pub(crate) fn idle(&self) {
        let bar = self.state.lock().unwrap_or_else(PoisonError::into_inner).bar.take();
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        self.with(|_| ());
    }

    /// Does something while the screen is held, as its own work does.
    #[cfg(test)]
    pub(crate) fn at_work(&self, act: impl FnOnce()) {
        self.with(|_| act());
    }

    fn with(&self, act: impl FnOnce(&mut State)) {
        let Some(_turn) = Turn::take() else {
            // A panic or a log record out of our own work below: the lock is this thread's and would be waited for for
            // ever. Where the lines stand is not known here, so a new one is begun.
            act(&mut State { err_open: true, ..State::default() });
            return;
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spinner) = state.spinner.take() {
            spinner.finish_and_clear();
        }
        match state.bar.clone() {
            Some(bar) => bar.suspend(|| act(&mut state)),
            None => act(&mut state),
        }
    }
}

thread_local! {
    static AT_THE_SCREEN: Cell<bool> = const { Cell::new(false) };
}

/// This thread's time at the screen, which it has once at a time.
struct Turn;

impl Turn {
    fn take() -> Option<Self> {
        // A thread that has torn down its values is not at the screen, and tells its last panic.
        let there = AT_THE_SCREEN.try_with(|there| there.replace(true)).unwrap_or(false);
        (!there).then_some(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _torn_down = AT_THE_SCREEN.try_with(|there| there.set(false));
    }
}

impl State {
    fn break_out(&mut self) {
        if std::mem::take(&mut self.out_open) {
            write_out("\n");
        }
    }

    fn break_err(&mut self) {
        if std::mem::take(&mut self.err_open) {
            write_err("\n");
        }
    }
}

/// Whether standard output is a terminal.
pub(crate) fn is_out_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Standard output for a filter, whose text must come out byte for byte, whatever it holds. Not `Stdout`, which keeps the
/// end of a line back. What is written to it must have been passed; it is not made inert.
pub(crate) fn raw_out() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// Standard error, as [`raw_out`].
pub(crate) fn raw_err() -> io::Result<File> {
    io::stderr().as_fd().try_clone_to_owned().map(File::from)
}

// A closed pipe is no reason to end a run that may have effects; the record tells what happened.
fn write_out(text: &str) {
    let mut out = io::stdout().lock();
    let _closed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn write_err(text: &str) {
    let mut err = io::stderr().lock();
    let _closed = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// The text without anything that a terminal would act on or a reader could not see, save line feed, tab, and the joiners
/// that scripts and emoji need.
fn inert(text: &str) -> String {
    let kept = |c: &char| matches!(c, '\n' | '\t' | '\u{200c}' | '\u{200d}') || !is_hard_to_see(*c);
    text.chars().filter(kept).collect()
}

/// JSON in which what is hard to see stands as `\u` and its number. Outside of strings JSON has nothing of the kind.
fn in_numbers(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hard_to_see(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
