//! The names that a rule gives, and where each may be used.

use std::collections::BTreeMap;

use super::expression::Use;
use super::rule::Problem;
use super::template::Form;

/// The names that a rule may use, each with its sort.
#[derive(Debug, Default)]
pub(crate) struct Names {
    sorts: BTreeMap<String, Sort>,
}

impl Names {
    /// Gives a name a sort; a name is given once.
    pub(crate) fn add(&mut self, name: &str, sort: Sort, at: usize) -> Result<(), Problem> {
        match self.sorts.insert(name.to_owned(), sort) {
            None => Ok(()),
            Some(_) => Err(Problem::new(at, format!("the name `{name}` is given twice"))),
        }
    }

    /// Gives several names their sorts.
    pub(crate) fn add_all(&mut self, names: BTreeMap<String, Sort>, at: usize) -> Result<(), Problem> {
        names.into_iter().try_for_each(|(name, sort)| self.add(&name, sort, at))
    }

    fn sort(&self, name: &str, at: usize) -> Result<Sort, Problem> {
        self.sorts.get(name).copied().ok_or_else(|| {
            let known: Vec<_> = self.sorts.keys().map(|name| format!("`{name}`")).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            Problem::new(at, format!("unknown name `{name}`; this rule captures {known}"))
        })
    }

    /// Refuses names that are unknown or of another sort than their place in an answer takes.
    pub(crate) fn allow_in_answer(&self, used: &[(&str, Form)], at: usize) -> Result<(), Problem> {
        used.iter().try_for_each(|(name, form)| match (self.sort(name, at)?, form) {
            (Sort::List, Form::Number | Form::Grouped) => Err(is_a_list(name, at)),
            (Sort::One | Sort::Number, _) | (Sort::List, Form::AsCaptured) => Ok(()),
        })
    }

    /// The same for expressions.
    pub(crate) fn allow_in_expression(&self, used: &[(&str, Use)], at: usize) -> Result<(), Problem> {
        used.iter().try_for_each(|(name, used)| match (self.sort(name, at)?, used) {
            (Sort::List, Use::Number) => Err(is_a_list(name, at)),
            (Sort::One | Sort::Number, Use::List) => {
                let words =
                    format!("`{name}` is no list; `sum` and `count` take what `take = \"all\"` captures");
                Err(Problem::new(at, words))
            }
            (Sort::One | Sort::Number, Use::Number) | (Sort::List, Use::List) => Ok(()),
        })
    }
}

/// What sort of value a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// One captured text.
    One,
    /// Every captured text.
    List,
    /// What an expression comes to.
    Number,
}

fn is_a_list(name: &str, at: usize) -> Problem {
    Problem::new(
        at,
        format!("`{name}` is a list, not a number; use `sum({name})` or `count({name})` in `let`"),
    )
}
