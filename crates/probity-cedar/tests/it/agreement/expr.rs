//! Conditions: drawn, printed as Cedar, and interpreted.

use std::fmt;

use probity_contract::Seat;

use super::call::{FEES, HOSTS, NAMES, PATHS, ROOTS, Scene, Seen, TAGS, WORDS};
use super::dice::Dice;

/// An integer has left 64 bits.
#[derive(Debug)]
pub(super) struct Overflow;

/// A condition. What stands under `Pay` needs that tool's arguments.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Not(Box<Self>),
    If(Box<Self>, Box<Self>, Box<Self>),
    Pay(Pay),
    Any(Any),
}

/// Conditions on the arguments of `pay`.
#[derive(Debug, Clone)]
pub(super) enum Pay {
    Compare(Whole, &'static str, Whole),
    ToIs(&'static str),
    ToLike(&'static str),
    ToAmong(Vec<&'static str>),
    FeeBelow(i64),
    FeeIs(i64),
    HasMemo,
    MemoIs(&'static str),
    TagsHave(&'static str),
    TagsHaveAll(Vec<&'static str>),
    TagsHaveAny(Vec<&'static str>),
    Flag,
}

/// Conditions on what every call has.
#[derive(Debug, Clone)]
pub(super) enum Any {
    WhoIs(&'static str),
    WhoLike(&'static str),
    Untrusted,
    ReadersHave(&'static str),
    AtRecheck,
    IsPure,
    ToolLike(&'static str),
    HostsWithin(Vec<&'static str>),
    PathLike(&'static str),
    PathIn(&'static str),
    Writes,
    TreeIs(&'static str),
    HostLike(&'static str),
    PortIs(u16),
    WordsHave(&'static str),
    ProgramIs(&'static str),
    ValueIs(&'static str),
    NothingTouched,
}

/// Integers.
#[derive(Debug, Clone)]
pub(super) enum Whole {
    Literal(i64),
    Amount,
    Level,
    Plus(Box<Self>, Box<Self>),
    Minus(Box<Self>, Box<Self>),
    Times(Box<Self>, Box<Self>),
    Negative(Box<Self>),
}

const LITERALS: [i64; 7] = [0, 1, 7, 100, -3, i64::MAX, i64::MIN];
const NAME_PATTERNS: [&str; 5] = ["a*", "*b*", "*", "ac?e", "A*e"];
const PATH_PATTERNS: [&str; 4] = ["docs/*", "*.md", "*/a.*", "."];

impl Whole {
    fn draw(dice: &mut Dice, depth: usize) -> Self {
        let inner = |dice: &mut Dice| Box::new(Self::draw(dice, depth - 1));
        match if depth == 0 { dice.within(0, 4) } else { dice.within(0, 9) } {
            0 | 1 => Self::Amount,
            2 => Self::Level,
            3 => Self::Literal(dice.one_of(&LITERALS)),
            4 | 5 => Self::Plus(inner(dice), inner(dice)),
            6 => Self::Minus(inner(dice), inner(dice)),
            7 => Self::Times(inner(dice), inner(dice)),
            _ => Self::Negative(inner(dice)),
        }
    }

    fn value(&self, scene: &Scene) -> Result<i64, Overflow> {
        let both = |a: &Self, b: &Self| Ok::<_, Overflow>((a.value(scene)?, b.value(scene)?));
        let value = match self {
            Self::Literal(value) => Some(*value),
            Self::Amount => Some(scene.amount),
            Self::Level => Some(scene.level),
            Self::Plus(a, b) => both(a, b).map(|(a, b)| a.checked_add(b))?,
            Self::Minus(a, b) => both(a, b).map(|(a, b)| a.checked_sub(b))?,
            Self::Times(a, b) => both(a, b).map(|(a, b)| a.checked_mul(b))?,
            Self::Negative(a) => a.value(scene)?.checked_neg(),
        };
        value.ok_or(Overflow)
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(f, "({value})"),
            Self::Amount => write!(f, "context.arguments.amount"),
            Self::Level => write!(f, "context.arguments.nested.level"),
            Self::Plus(a, b) => write!(f, "({a} + {b})"),
            Self::Minus(a, b) => write!(f, "({a} - {b})"),
            Self::Times(a, b) => write!(f, "({a} * {b})"),
            Self::Negative(a) => write!(f, "-({a})"),
        }
    }
}

impl Expr {
    pub(super) fn draw(dice: &mut Dice, depth: usize, is_pay: bool) -> Self {
        let inner = |dice: &mut Dice| Box::new(Self::draw(dice, depth - 1, is_pay));
        match if depth == 0 { 9 } else { dice.within(0, 10) } {
            0 | 1 => Self::And(inner(dice), inner(dice)),
            2 | 3 => Self::Or(inner(dice), inner(dice)),
            4 => Self::Not(inner(dice)),
            5 => Self::If(inner(dice), inner(dice), inner(dice)),
            _ if is_pay && !dice.once_in(3) => Self::Pay(Pay::draw(dice)),
            _ => Self::Any(Any::draw(dice)),
        }
    }

    pub(super) fn holds(&self, scene: &Scene, seen: &Seen) -> Result<bool, Overflow> {
        Ok(match self {
            Self::And(a, b) => a.holds(scene, seen)? && b.holds(scene, seen)?,
            Self::Or(a, b) => a.holds(scene, seen)? || b.holds(scene, seen)?,
            Self::Not(a) => !a.holds(scene, seen)?,
            Self::If(a, b, c) => match a.holds(scene, seen)? {
                true => b.holds(scene, seen)?,
                false => c.holds(scene, seen)?,
            },
            Self::Pay(pay) => pay.holds(scene)?,
            Self::Any(any) => any.holds(scene, seen),
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::And(a, b) => write!(f, "({a} && {b})"),
            Self::Or(a, b) => write!(f, "({a} || {b})"),
            Self::Not(a) => write!(f, "!({a})"),
            Self::If(a, b, c) => write!(f, "(if {a} then {b} else {c})"),
            Self::Pay(pay) => write!(f, "{pay}"),
            Self::Any(any) => write!(f, "{any}"),
        }
    }
}

impl Pay {
    fn draw(dice: &mut Dice) -> Self {
        match dice.within(0, 16) {
            0..=4 => {
                let (depth, other) = (dice.within(0, 3), dice.within(0, 2));
                let operator = dice.one_of(&["<", "<=", ">", ">=", "==", "!="]);
                Self::Compare(Whole::draw(dice, depth), operator, Whole::draw(dice, other))
            }
            5 => Self::ToIs(dice.one_of(&NAMES)),
            6 => Self::ToLike(dice.one_of(&NAME_PATTERNS)),
            7 => Self::ToAmong(vec![dice.one_of(&NAMES), dice.one_of(&NAMES)]),
            8 => Self::FeeBelow(dice.one_of(&FEES)),
            9 => Self::FeeIs(dice.one_of(&FEES)),
            10 => Self::HasMemo,
            11 => Self::MemoIs(dice.one_of(&NAMES)),
            12 => Self::TagsHave(dice.one_of(&TAGS)),
            13 => Self::TagsHaveAll(vec![dice.one_of(&TAGS), dice.one_of(&TAGS)]),
            14 => Self::TagsHaveAny(vec![dice.one_of(&TAGS), dice.one_of(&TAGS)]),
            _ => Self::Flag,
        }
    }

    fn holds(&self, scene: &Scene) -> Result<bool, Overflow> {
        let tagged = |tag: &&str| scene.tags.as_ref().unwrap().contains(tag);
        Ok(match self {
            Self::Compare(a, operator, b) => {
                let (a, b) = (a.value(scene)?, b.value(scene)?);
                match *operator {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    "==" => a == b,
                    _ => a != b,
                }
            }
            Self::ToIs(name) => scene.to == *name,
            Self::ToLike(pattern) => is_like(scene.to, pattern),
            Self::ToAmong(names) => names.contains(&scene.to),
            Self::FeeBelow(fee) => scene.fee.is_some_and(|value| value < *fee),
            Self::FeeIs(fee) => scene.fee == Some(*fee),
            Self::HasMemo => scene.memo.is_some(),
            Self::MemoIs(memo) => scene.memo == Some(*memo),
            Self::TagsHave(tag) => scene.tags.is_some() && tagged(tag),
            Self::TagsHaveAll(tags) => scene.tags.is_some() && tags.iter().all(tagged),
            Self::TagsHaveAny(tags) => scene.tags.is_some() && tags.iter().any(tagged),
            Self::Flag => scene.flag == Some(true),
        })
    }
}

impl fmt::Display for Pay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = "context.arguments";
        let guarded = |f: &mut fmt::Formatter<'_>, name: &str, rest: String| {
            write!(f, "({arguments} has {name} && {arguments}.{name}{rest})")
        };
        match self {
            Self::Compare(a, operator, b) => write!(f, "({a} {operator} {b})"),
            Self::ToIs(name) => write!(f, "{arguments}.to == {name:?}"),
            Self::ToLike(pattern) => write!(f, "{arguments}.to like {pattern:?}"),
            Self::ToAmong(names) => write!(f, "{names:?}.contains({arguments}.to)"),
            Self::FeeBelow(fee) => guarded(f, "fee", format!(".lessThan({})", decimal(*fee))),
            Self::FeeIs(fee) => guarded(f, "fee", format!(" == {}", decimal(*fee))),
            Self::HasMemo => write!(f, "{arguments} has memo"),
            Self::MemoIs(memo) => guarded(f, "memo", format!(" == {memo:?}")),
            Self::TagsHave(tag) => guarded(f, "tags", format!(".contains({tag:?})")),
            Self::TagsHaveAll(tags) => guarded(f, "tags", format!(".containsAll({tags:?})")),
            Self::TagsHaveAny(tags) => guarded(f, "tags", format!(".containsAny({tags:?})")),
            Self::Flag => guarded(f, "flag", String::new()),
        }
    }
}

/// Ten-thousandths in Cedar's notation.
fn decimal(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let digits = value.unsigned_abs();
    format!("decimal(\"{sign}{}.{:04}\")", digits / 10_000, digits % 10_000)
}

impl Any {
    fn draw(dice: &mut Dice) -> Self {
        match dice.within(0, 18) {
            0 => Self::WhoIs(dice.one_of(&NAMES)),
            1 => Self::WhoLike(dice.one_of(&NAME_PATTERNS)),
            2 => Self::Untrusted,
            3 => Self::ReadersHave(dice.one_of(&NAMES)),
            4 => Self::AtRecheck,
            5 => Self::IsPure,
            6 => Self::ToolLike(dice.one_of(&["p*", "*o*", "note"])),
            7 => Self::HostsWithin(vec![dice.one_of(&HOSTS), dice.one_of(&HOSTS)]),
            8 => Self::PathLike(dice.one_of(&PATH_PATTERNS)),
            9 => Self::PathIn(dice.one_of(&ROOTS)),
            10 => Self::Writes,
            11 => Self::TreeIs(dice.one_of(&PATHS)),
            12 => Self::HostLike(dice.one_of(&["*example.org", "*.example.org", "evil*"])),
            13 => Self::PortIs(dice.one_of(&[80, 443])),
            14 => Self::WordsHave(dice.one_of(&WORDS)),
            15 => Self::ProgramIs(dice.one_of(&["git", "log", ""])),
            16 => Self::ValueIs(dice.one_of(&NAMES)),
            _ => Self::NothingTouched,
        }
    }

    fn holds(&self, scene: &Scene, seen: &Seen) -> bool {
        let place = match seen {
            Seen::Path { root, path, write } | Seen::Tree { root, path, write } => {
                Some((*root, *path, *write))
            }
            Seen::Url { .. } | Seen::Command { .. } | Seen::Other { .. } | Seen::Tool => None,
        };
        let argv: Option<&[&str]> = if let Seen::Command { argv } = seen { Some(argv) } else { None };
        match self {
            Self::WhoIs(name) => scene.who == *name,
            Self::WhoLike(pattern) => is_like(scene.who, pattern),
            Self::Untrusted => scene.untrusted,
            Self::ReadersHave(name) => scene.readers.as_ref().is_some_and(|readers| readers.contains(name)),
            Self::AtRecheck => scene.seat == Seat::ExecuteRecheck,
            Self::IsPure => !scene.is_pay,
            Self::ToolLike(pattern) => is_like(if scene.is_pay { "pay" } else { "note" }, pattern),
            Self::HostsWithin(hosts) => scene.hosts().iter().all(|host| hosts.contains(host)),
            Self::PathLike(pattern) => place.is_some_and(|(_, path, _)| is_like(path, pattern)),
            Self::PathIn(name) => place.is_some_and(|(root, _, _)| root == *name),
            Self::Writes => matches!(seen, Seen::Path { write: true, .. }),
            Self::TreeIs(name) => matches!(seen, Seen::Tree { path, .. } if path == name),
            Self::HostLike(pattern) => matches!(seen, Seen::Url { host, .. } if is_like(host, pattern)),
            Self::PortIs(number) => matches!(seen, Seen::Url { port, .. } if port == number),
            Self::WordsHave(word) => argv.is_some_and(|argv| argv.iter().skip(1).any(|other| other == word)),
            Self::ProgramIs(name) => argv.is_some_and(|argv| argv.first().copied().unwrap_or("") == *name),
            Self::ValueIs(name) => matches!(seen, Seen::Other { value } if value == name),
            Self::NothingTouched => *seen == Seen::Tool,
        }
    }
}

impl fmt::Display for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WhoIs(name) => write!(f, "principal == Probity::Principal::{name:?}"),
            Self::WhoLike(pattern) => write!(f, "principal.id like {pattern:?}"),
            Self::Untrusted => write!(f, "context.labels.integrity == Probity::Integrity::\"untrusted\""),
            Self::ReadersHave(name) => {
                write!(f, "(context.labels has readers && context.labels.readers.contains({name:?}))")
            }
            Self::AtRecheck => write!(f, "context.seat == Probity::Seat::\"execute-recheck\""),
            Self::IsPure => write!(f, "context.tool.effect == Probity::Effect::\"pure\""),
            Self::ToolLike(pattern) => write!(f, "context.tool.name like {pattern:?}"),
            Self::HostsWithin(hosts) => write!(f, "{hosts:?}.containsAll(context.targets.hosts)"),
            Self::PathLike(pattern) => write!(f, "(resource has path && resource.path like {pattern:?})"),
            Self::PathIn(root) => write!(f, "(resource has root && resource.root == {root:?})"),
            Self::Writes => {
                write!(f, "(resource is Probity::Path && resource.access == Probity::Access::\"write\")")
            }
            Self::TreeIs(path) => write!(f, "(resource is Probity::Tree && resource.path == {path:?})"),
            Self::HostLike(pattern) => {
                write!(f, "(resource is Probity::Url && resource.host like {pattern:?})")
            }
            Self::PortIs(port) => write!(f, "(resource is Probity::Url && resource.port == {port})"),
            Self::WordsHave(word) => {
                write!(f, "(resource is Probity::Command && resource.words.contains({word:?}))")
            }
            Self::ProgramIs(name) => {
                write!(f, "(resource is Probity::Command && resource.program == {name:?})")
            }
            Self::ValueIs(name) => write!(f, "(resource is Probity::Other && resource.value == {name:?})"),
            Self::NothingTouched => write!(f, "resource is Probity::Tool"),
        }
    }
}

/// `*` stands for any characters, everything else for itself.
fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.chars().next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = pattern.strip_prefix('*').unwrap();
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .any(|at| is_like(text.get(at..).unwrap(), rest))
        }
        Some(first) => {
            text.strip_prefix(first).is_some_and(|text| is_like(text, pattern.strip_prefix(first).unwrap()))
        }
    }
}
