//! Reads expressions by recursive descent.

use super::expression::{Expression, Operator, is_word};
use super::number::Number;

/// Parentheses and signs that may stand in each other.
const DEPTH_MAX: u32 = 32;

/// An expression and what of it is still to be read.
pub(crate) struct Parser<'a> {
    whole: &'a str,
    rest: &'a str,
    depth: u32,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(whole: &'a str) -> Self {
        Self { whole, rest: whole, depth: 0 }
    }

    /// Reads a sign if it comes next.
    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take(&mut self, belongs: fn(char) -> bool) -> &'a str {
        let start = self.rest.trim_start();
        self.rest = start.trim_start_matches(belongs);
        start.strip_suffix(self.rest).unwrap_or_default()
    }

    /// Reads letters, digits and `_`, perhaps none.
    pub(crate) fn word(&mut self) -> &'a str {
        self.take(is_word)
    }

    /// Nothing must be left.
    pub(crate) fn end(&self) -> Result<(), String> {
        if self.rest.trim().is_empty() { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> String {
        match self.rest.trim() {
            "" => format!("`{}` ends too early", self.whole),
            rest => format!("`{rest}` in `{}` cannot be read here", self.whole),
        }
    }

    /// Reads an expression.
    pub(crate) fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        loop {
            let operator = if self.eat("+") {
                Operator::Plus
            } else if self.eat("-") {
                Operator::Minus
            } else {
                return Ok(left);
            };
            left = Expression::Binary(Box::new(left), operator, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.factor()?;
        while self.eat("*") {
            left = Expression::Binary(Box::new(left), Operator::Times, Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("`{}` is nested deeper than {DEPTH_MAX}", self.whole));
        }
        let factor = if self.eat("-") {
            Expression::Negated(Box::new(self.factor()?))
        } else if self.eat("(") {
            let inner = self.sum()?;
            self.close()?;
            inner
        } else if self.rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            let digits = self.take(|c| c.is_ascii_digit() || c == '.');
            Number::read(digits).map(Expression::Number).ok_or_else(|| format!("`{digits}` is no number"))?
        } else {
            self.name()?
        };
        self.depth -= 1;
        Ok(factor)
    }

    fn name(&mut self) -> Result<Expression, String> {
        let name = self.word();
        if name.is_empty() {
            return Err(self.unexpected());
        }
        if !self.eat("(") {
            return Ok(Expression::Name(name.to_owned()));
        }
        let list = self.word().to_owned();
        self.close()?;
        match name {
            "sum" => Ok(Expression::Sum(list)),
            "count" => Ok(Expression::Count(list)),
            other => Err(format!("`{other}(…)` is not known; there are `sum(…)` and `count(…)`")),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if self.eat(")") { Ok(()) } else { Err(self.unexpected()) }
    }
}
