//! A shell's command line, taken apart where no byte of it is in doubt.
//!
//! Rules are about programs and their arguments, so a tool that takes a command as one string has to tell them apart. This
//! reader understands little on purpose: words that stand for themselves, quotes without expansion, and what joins commands.
//! Whatever else a shell would act on makes the line unaccounted for as a whole. Reading more of the language lost: each
//! construct is a new place where the reader and the shell may differ, and one difference is a way around the rules.

use std::iter::Peekable;
use std::str::CharIndices;

use probity_contract::Target;

/// Bytes of a command line that is taken apart.
pub const SHELL_BYTES_MAX: usize = 64 * 1024;
/// Commands in one line that is taken apart.
pub const SHELL_COMMANDS_MAX: usize = 1024;
/// What a target is called that holds a command line which could not be accounted for: no allow rule matches a call that
/// touches it, and ask and deny rules are looked for anywhere in it.
pub const UNACCOUNTED_COMMAND: &str = "unaccounted_command";

/// Characters that stand for themselves outside of quotes, beside letters and digits.
const PLAIN: &str = "_-./,:+@%=";

/// Names that a shell does not look up as programs: words of its grammar, and commands of its own that change how it reads or
/// finds what follows, end it early, or evaluate their arguments.
const SHELLS_OWN: &str = "\
    ! . [ [[ ]] alias autoload bind break builtin case command compgen complete compopt continue \
    coproc declare do done elif else emulate enable end esac eval exec exit export fc fi float for \
    foreach function getopts hash history if in integer let local logout mapfile nocorrect noglob \
    printf read readarray readonly repeat return select set setopt shift shopt source suspend test \
    then time trap typeset unalias unset unsetopt until wait while zmodload { }";

/// Why a command line cannot be accounted for. It fits after "failed to".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("account for the command at byte {at}: {why}")]
pub struct Unaccounted {
    at: usize,
    why: &'static str,
}

/// The programs and arguments of every command in a line, in order, as `sh -c` (POSIX) and `bash -c` would start them.
///
/// All of them are there, whatever joins them: some will not run, because what stands before them fails or succeeds. It does
/// not know of functions and aliases that the shell was started with, nor where the shell finds a program.
///
/// # Errors
/// When the line has anything whose meaning is not beyond doubt (`$`, a backtick, a pattern, `~`, braces, a redirection, an
/// assignment, a group, a comment, `!`, a word of the shell's own, a control character, anything beyond ASCII outside of
/// quotes), or is longer than a limit.
pub fn read_commands(text: &str) -> Result<Vec<Vec<String>>, Unaccounted> {
    if text.len() > SHELL_BYTES_MAX {
        return Err(Unaccounted { at: SHELL_BYTES_MAX, why: "it is too long" });
    }
    let mut reader = Reader::new(text);
    while let Some((at, c)) = reader.chars.next() {
        reader.take(at, c)?;
    }
    reader.finish(text.len())
}

/// What a call touches that has a shell run this line: each of its commands, or the line as [`UNACCOUNTED_COMMAND`].
///
/// For tools whose argument is a command string. Other things that the call touches are added by the tool.
#[must_use]
pub fn command_targets(text: &str) -> Vec<Target> {
    match read_commands(text) {
        Ok(commands) => commands.into_iter().map(|argv| Target::Command { argv }).collect(),
        Err(_) => vec![Target::Other { what: UNACCOUNTED_COMMAND.to_owned(), value: text.to_owned() }],
    }
}

/// Whether the target is a command line that could not be accounted for.
pub(super) fn is_unaccounted(target: &Target) -> bool {
    matches!(target, Target::Other { what, .. } if what == UNACCOUNTED_COMMAND)
}

struct Reader<'a> {
    /// The characters that are left, each with its place.
    chars: Peekable<CharIndices<'a>>,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The last thing was `&&`, `||` or `|`, so a command must follow.
    must_go_on: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let chars = text.char_indices().peekable();
        Self { chars, commands: Vec::new(), words: Vec::new(), word: None, must_go_on: false }
    }

    fn take(&mut self, at: usize, c: char) -> Result<(), Unaccounted> {
        match c {
            ' ' | '\t' => self.end_word(at),
            '\n' | ';' | '&' | '|' => self.join(at, c),
            '\'' => self.single_quoted(at),
            '"' => self.double_quoted(at),
            '\\' => match self.chars.next() {
                Some((_, escaped @ ' '..='~')) => self.push(escaped),
                Some(_) | None => doubt(at, "nothing that can be seen follows the backslash"),
            },
            // A shell with other habits would look up what follows.
            '=' if self.word.is_none() => doubt(at, "a word begins with `=`"),
            c if c.is_ascii_alphanumeric() || PLAIN.contains(c) => self.push(c),
            _ => doubt(at, why(c)),
        }
    }

    fn push(&mut self, c: char) -> Result<(), Unaccounted> {
        self.word.get_or_insert_default().push(c);
        Ok(())
    }

    fn single_quoted(&mut self, start: usize) -> Result<(), Unaccounted> {
        self.word.get_or_insert_default();
        while let Some((at, c)) = self.chars.next() {
            match c {
                '\'' => return Ok(()),
                c => self.push_quoted(at, c)?,
            }
        }
        doubt(start, "the quote is not closed")
    }

    fn double_quoted(&mut self, start: usize) -> Result<(), Unaccounted> {
        self.word.get_or_insert_default();
        while let Some((at, c)) = self.chars.next() {
            match (c, self.chars.peek()) {
                ('"', _) => return Ok(()),
                ('$' | '`' | '!', _) => return doubt(at, why(c)),
                ('\\', Some((_, '\n'))) => return doubt(at, "a line goes on in the next"),
                ('\\', Some(&(_, escaped @ ('$' | '`' | '"' | '\\')))) => {
                    self.chars.next();
                    self.push(escaped)?;
                }
                (c, _) => self.push_quoted(at, c)?,
            }
        }
        doubt(start, "the quote is not closed")
    }

    fn push_quoted(&mut self, at: usize, c: char) -> Result<(), Unaccounted> {
        let is_plain_blank = matches!(c, ' ' | '\t' | '\n');
        if !is_plain_blank && (c.is_control() || c.is_whitespace()) {
            return doubt(at, why(c));
        }
        self.push(c)
    }

    fn end_word(&mut self, at: usize) -> Result<(), Unaccounted> {
        let Some(word) = self.word.take() else { return Ok(()) };
        if self.words.is_empty() {
            is_program(&word).or_else(|why| doubt(at.saturating_sub(1), why))?;
        }
        self.words.push(word);
        Ok(())
    }

    /// Ends a command at what joins it with the next.
    fn join(&mut self, at: usize, c: char) -> Result<(), Unaccounted> {
        self.end_word(at)?;
        if self.words.is_empty() {
            // Only a line's end may stand where a command could.
            return if c == '\n' { Ok(()) } else { doubt(at, "a command is missing before it") };
        }
        let is_doubled = matches!(c, '&' | '|') && self.chars.next_if(|(_, next)| *next == c).is_some();
        self.must_go_on = c == '|' || is_doubled;
        self.end_command(at)
    }

    fn end_command(&mut self, at: usize) -> Result<(), Unaccounted> {
        self.commands.push(std::mem::take(&mut self.words));
        if self.commands.len() > SHELL_COMMANDS_MAX {
            return doubt(at, "it has too many commands");
        }
        Ok(())
    }

    fn finish(mut self, end: usize) -> Result<Vec<Vec<String>>, Unaccounted> {
        self.end_word(end)?;
        if !self.words.is_empty() {
            self.end_command(end)?;
        } else if self.must_go_on || self.commands.is_empty() {
            return doubt(end, "a command is missing at the end");
        }
        Ok(self.commands)
    }
}

/// Whether a shell would look for a program of this name.
fn is_program(word: &str) -> Result<(), &'static str> {
    match word {
        "" => Err("the program has no name"),
        _ if word.contains('=') => Err("it may be an assignment"),
        _ if word.starts_with('%') => Err("it may name a job"),
        _ if SHELLS_OWN.split(' ').any(|own| own == word) => Err("the shell itself would act on it"),
        _ => Ok(()),
    }
}

/// Why this character stands for something else than itself.
const fn why(c: char) -> &'static str {
    match c {
        '$' => "a `$` may stand for anything",
        '`' => "a backtick runs a command",
        '*' | '?' | '[' | ']' | '^' => "a pattern stands for names of files",
        '~' => "a `~` stands for a home",
        '{' | '}' => "braces stand for several words",
        '<' | '>' => "files or devices are redirected",
        '(' | ')' => "commands are grouped",
        '#' => "a comment may begin",
        '!' => "a `!` negates or stands for an earlier command",
        _ => "a character that shells may read differently",
    }
}

fn doubt<T>(at: usize, why: &'static str) -> Result<T, Unaccounted> {
    Err(Unaccounted { at, why })
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
