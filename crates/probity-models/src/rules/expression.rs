//! Sums and comparisons over captured numbers.
//!
//! Plus, minus, times, parentheses, `sum(list)` and `count(list)`; comparisons of two such. Division lost: its results
//! would need rounding, and a share is written as a product (`total * 0.19`).

use std::cmp::Ordering;

use super::number::Number;
use super::parser::Parser;
use super::scope::{NotANumber, Scope};

/// Something that has a number once its names have values.
#[derive(Debug)]
pub(crate) enum Expression {
    Number(Number),
    Name(String),
    Sum(String),
    Count(String),
    Negated(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
}

/// Two numbers and how they must stand to each other.
#[derive(Debug)]
pub(crate) struct Check {
    left: Expression,
    comparison: Comparison,
    right: Expression,
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    AtMost,
    AtLeast,
    Equal,
    Unequal,
    Less,
    Greater,
}

/// The longer signs come first, so that `<=` is not read as `<`.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// How a name stands in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// As one number.
    Number,
    /// As a list, inside `sum` or `count`.
    List,
}

impl Expression {
    /// The number, or which value was in the way.
    pub(crate) fn value(&self, scope: &Scope) -> Result<Number, NotANumber> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Name(name) => scope.number(name),
            Self::Sum(name) => scope.sum(name),
            Self::Count(name) => Ok(scope.count(name)),
            Self::Negated(inner) => inner.value(scope)?.negated().ok_or(NotANumber::TooLarge),
            Self::Binary(left, operator, right) => {
                let (left, right) = (left.value(scope)?, right.value(scope)?);
                let result = match operator {
                    Operator::Plus => left.plus(right),
                    Operator::Minus => left.minus(right),
                    Operator::Times => left.times(right),
                };
                result.ok_or(NotANumber::TooLarge)
            }
        }
    }

    /// Every name in it, in reading order.
    pub(crate) fn names(&self) -> Vec<(&str, Use)> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Name(name) => vec![(name, Use::Number)],
            Self::Sum(name) | Self::Count(name) => vec![(name, Use::List)],
            Self::Negated(inner) => inner.names(),
            Self::Binary(left, _, right) => left.names().into_iter().chain(right.names()).collect(),
        }
    }
}

impl Check {
    /// Reads `total <= limit`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser::new(text);
        let left = parser.sum()?;
        let comparison = COMPARISONS.into_iter().find(|(sign, _)| parser.eat(sign));
        let Some((_, comparison)) = comparison else {
            return Err(format!("`{text}` compares nothing: one of `<=` `>=` `==` `!=` `<` `>` must follow"));
        };
        let right = parser.sum()?;
        parser.end()?;
        Ok(Self { left, comparison, right })
    }

    /// Whether the numbers stand so.
    pub(crate) fn holds(&self, scope: &Scope) -> Result<bool, NotANumber> {
        let (left, right) = (self.left.value(scope)?, self.right.value(scope)?);
        let order = left.compare(right).ok_or(NotANumber::TooLarge)?;
        Ok(match self.comparison {
            Comparison::AtMost => order != Ordering::Greater,
            Comparison::AtLeast => order != Ordering::Less,
            Comparison::Equal => order == Ordering::Equal,
            Comparison::Unequal => order != Ordering::Equal,
            Comparison::Less => order == Ordering::Less,
            Comparison::Greater => order == Ordering::Greater,
        })
    }

    /// Every name in it, in reading order.
    pub(crate) fn names(&self) -> Vec<(&str, Use)> {
        self.left.names().into_iter().chain(self.right.names()).collect()
    }
}

/// Reads `rest = limit - spent`.
pub(crate) fn parse_let(text: &str) -> Result<(String, Expression), String> {
    let mut parser = Parser::new(text);
    let name = parser.word().to_owned();
    if !is_name(&name) || !parser.eat("=") {
        return Err(format!("`{text}` gives no name a value: write `name = expression`"));
    }
    let expression = parser.sum()?;
    parser.end()?;
    Ok((name, expression))
}

/// Whether a text can name a value: ASCII letters, digits and `_`, no digit first.
pub(crate) fn is_name(text: &str) -> bool {
    text.chars().all(is_word) && text.starts_with(|c: char| !c.is_ascii_digit())
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;
