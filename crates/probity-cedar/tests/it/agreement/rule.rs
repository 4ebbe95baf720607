//! Policies: drawn, printed as Cedar, and interpreted.

use std::fmt;

use super::Says;
use super::call::{Scene, Seen};
use super::dice::Dice;
use super::expr::{Expr, Overflow};

/// One policy.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) says: Says,
    /// Whether it speaks of `pay` alone.
    is_pay: bool,
    who: Option<&'static str>,
    kind: Option<&'static str>,
    when: Expr,
    unless: Option<Expr>,
}

const KINDS: [&str; 6] = ["Path", "Tree", "Url", "Command", "Other", "Tool"];

impl Rule {
    pub(super) fn draw(dice: &mut Dice) -> Self {
        let is_pay = !dice.once_in(3);
        let (depth, depth_unless) = (dice.within(0, 4), dice.within(0, 2));
        Self {
            says: dice.one_of(&[Says::Permit, Says::Permit, Says::Permit, Says::Forbid, Says::Ask]),
            is_pay,
            who: dice.once_in(6).then(|| dice.one_of(&super::call::NAMES)),
            kind: dice.once_in(4).then(|| dice.one_of(&KINDS)),
            when: Expr::draw(dice, depth, is_pay),
            unless: dice.once_in(4).then(|| Expr::draw(dice, depth_unless, is_pay)),
        }
    }

    pub(super) fn holds(&self, scene: &Scene, seen: &Seen) -> Result<bool, Overflow> {
        let kind = match seen {
            Seen::Path { .. } => "Path",
            Seen::Tree { .. } => "Tree",
            Seen::Url { .. } => "Url",
            Seen::Command { .. } => "Command",
            Seen::Other { .. } => "Other",
            Seen::Tool => "Tool",
        };
        let in_scope = (scene.is_pay || !self.is_pay)
            && self.who.is_none_or(|who| who == scene.who)
            && self.kind.is_none_or(|wanted| wanted == kind);
        if !in_scope {
            return Ok(false);
        }
        // The second half keeps a condition that cannot hold from being refused as one that can never apply.
        if !(self.when.holds(scene, seen)? || scene.who == "nobody") {
            return Ok(false);
        }
        match &self.unless {
            Some(unless) => Ok(!(unless.holds(scene, seen)? && scene.who != "nobody")),
            None => Ok(true),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { says, is_pay, who, kind, when, unless } = self;
        f.write_str(match says {
            Says::Permit => "permit(",
            Says::Ask => "@ask(\"look at it\") permit(",
            Says::Forbid => "forbid(",
        })?;
        match who {
            Some(who) => write!(f, "principal == Probity::Principal::{who:?}, ")?,
            None => f.write_str("principal, ")?,
        }
        f.write_str(if *is_pay { "action == Probity::Action::\"pay\", " } else { "action, " })?;
        match kind {
            Some(kind) => write!(f, "resource is Probity::{kind})")?,
            None => f.write_str("resource)")?,
        }
        write!(f, " when {{ {when} || principal.id == \"nobody\" }}")?;
        if let Some(unless) = unless {
            write!(f, " unless {{ {unless} && principal.id != \"nobody\" }}")?;
        }
        f.write_str(";")
    }
}
