//! How deep the expressions of a source can be, told from its text before anything parses it.
//!
//! Cedar's parser and its validator call themselves once a level, the parser without looking at the stack: some fifty
//! brackets inside each other end the process in a debug build, and a validator that runs out of stack finds no fault. So
//! the levels are bounded first, and the stack that the bound needs is set up (see [`stack_bytes`]).

use crate::limits::{POLICY_NESTING_MAX, POLICY_OPERATORS_MAX};

/// Bytes of stack that one level takes in a debug build, brackets and operators alike: measured at 40 KiB and less.
const STACK_BYTES_PER_LEVEL: usize = 64 * 1024;
/// Bytes of stack beside the levels.
const STACK_BYTES_BASE: usize = 256 * 1024;

/// Something that makes a source too deep, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TooDeep {
    pub(crate) offset: usize,
    pub(crate) what: String,
}

/// The stack that is needed to work on policies of this many levels.
pub(crate) const fn stack_bytes(levels: usize) -> usize {
    STACK_BYTES_BASE + levels * STACK_BYTES_PER_LEVEL
}

/// The levels of the deepest policy at most: its brackets inside each other, and its operators.
pub(crate) fn levels(text: &str) -> Result<usize, TooDeep> {
    let mut deepest = 0;
    let (mut nesting, mut operators) = (0_usize, 0_usize);
    let mut word = String::new();
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((offset, char)) = chars.next() {
        let too_deep = |what: String| Err(TooDeep { offset, what });
        match char {
            '"' => skip_string(&mut chars),
            '/' if chars.peek().is_some_and(|(_, next)| *next == '/') => {
                while chars.next_if(|(_, char)| *char != '\n').is_some() {}
            }
            '(' | '[' | '{' => nesting += 1,
            ')' | ']' | '}' => nesting = nesting.saturating_sub(1),
            ';' => operators = 0,
            '&' | '|' if before == char => operators += 1,
            '.' | '+' | '-' | '*' | '!' => operators += 1,
            _ => {}
        }
        if char.is_alphanumeric() || char == '_' {
            word.push(char);
        } else {
            // A chain of `if` nests without any bracket.
            operators += usize::from(word == "if");
            word.clear();
        }
        if nesting > POLICY_NESTING_MAX {
            return too_deep(format!("more than {POLICY_NESTING_MAX} brackets inside each other"));
        }
        if operators > POLICY_OPERATORS_MAX {
            return too_deep(format!("more than {POLICY_OPERATORS_MAX} operators in one policy"));
        }
        deepest = deepest.max(nesting + operators);
        before = char;
    }
    Ok(deepest)
}

/// Skips to behind the quote that ends a string.
fn skip_string(chars: &mut impl Iterator<Item = (usize, char)>) {
    let mut is_escaped = false;
    for (_, char) in chars {
        match char {
            '"' if !is_escaped => return,
            _ => is_escaped = char == '\\' && !is_escaped,
        }
    }
}

#[cfg(test)]
#[path = "depth_tests.rs"]
mod tests;
