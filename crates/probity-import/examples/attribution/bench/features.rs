//! What is known of each turn of a run: where it stands and who speaks, and what is in it.

use std::collections::{HashMap, HashSet};

use probity_trace::{Atom, AtomKind, AtomValue, CopyIndex, CopySource, Unit, atoms_of_text};

use super::cases::{Turn, Turns, Wrote};

/// A computed value that is as likely an accident as this, or less, counts as computed.
const ACCIDENT_MAX: f64 = 0.05;

/// So many atoms of a turn are computed again; more cost time and tell little.
const COMPUTED_MAX: usize = 16;

/// Turns at these places have a word of their own.
const PLACES: usize = 12;

const ERRORS: &[&str] = &[
    "error",
    "traceback",
    "exception",
    "failed",
    "exitcode: 1",
    "not found",
    "unable to",
    "cannot",
    "could not",
];
const GUESSES: &[&str] = &[
    "assume",
    "assuming",
    "assumption",
    "hypothetical",
    "simulate",
    "simulation",
    "example",
    "likely",
    "approximate",
    "placeholder",
    "estimate",
];
const CHECKS: &[&str] =
    &["verify", "verified", "verification", "confirm", "correct", "double-check", "check"];
const ENDS: &[&str] = &["terminate", "final answer", "conclude", "conclusion"];

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Where it stands and who speaks.
    pub(crate) place: Vec<f64>,
    /// What is in it, and where that comes from.
    pub(crate) content: Vec<f64>,
    /// Names that are learned from the runs that are trained on: speakers, roles, places.
    pub(crate) words: Vec<String>,
}

/// The rows of a run, one for each turn.
pub(crate) fn rows(turns: &Turns) -> Vec<Row> {
    let contents = contents(turns);
    let list = &turns.list;
    let mut nth: HashMap<&str, usize> = HashMap::new();
    let mut rows = Vec::with_capacity(list.len());
    for (index, (turn, content)) in list.iter().zip(contents).enumerate() {
        let before = index.checked_sub(1).map(|before| &list[before]);
        let nth = nth.entry(&turn.speaker).or_default();
        *nth += 1;
        let is_last_of = !list[index + 1..].iter().any(|other| other.speaker == turn.speaker);
        let place = vec![
            index as f64 / (list.len().max(2) - 1) as f64,
            log(index),
            log(list.len() - 1 - index),
            flag(*nth == 1),
            log(*nth),
            flag(is_last_of),
            flag(before.is_some_and(|before| before.speaker == turn.speaker)),
            flag(turn.wrote == Wrote::Model),
            flag(turn.wrote == Wrote::Person),
            flag(turn.wrote == Wrote::Tool),
        ];
        let mut words = vec![format!("speaker {}", turn.speaker), format!("role {}", turn.role)];
        if *nth <= 3 {
            words.push(format!("turn {nth} of {}", turn.speaker));
        }
        if index < PLACES {
            words.push(format!("turn {index}"));
        }
        words.push(format!("after {}", before.map_or("nobody", |before| &before.role)));
        words.push(format!("after {}", before.map_or("nothing", |before| &before.speaker)));
        rows.push(Row { place, content, words });
    }
    rows
}

fn contents(turns: &Turns) -> Vec<Vec<f64>> {
    let list = &turns.list;
    let texts = std::iter::once(turns.before.as_str()).chain(list.iter().map(|turn| turn.text.as_str()));
    let index: CopyIndex<'_, usize> =
        CopyIndex::new(texts.enumerate().map(|(key, text)| CopySource { key, text }));
    let atoms: Vec<Vec<Atom>> = list.iter().map(|turn| atoms_of_text(&turn.text)).collect();
    let task = if turns.before.is_empty() { 1 } else { 0 };
    let answer_origins = origins(&index, &atoms, list);
    let errors: Vec<bool> =
        list.iter().map(|turn| turn.is_error || has_any(&turn.text.to_lowercase(), ERRORS)).collect();
    let mut units: HashMap<Unit, HashSet<&AtomValue>> = HashMap::new();
    let mut seen: HashSet<&str> = HashSet::new();
    let (mut had_without, mut errors_before) = (false, 0);
    let mut all = Vec::with_capacity(list.len());
    for (at, (turn, atoms)) in list.iter().zip(&atoms).enumerate() {
        let (mut without, mut computed, mut contradicts, mut of_task, mut numbers) = (0, 0, 0, 0, 0);
        let mut reached: HashSet<usize> = HashSet::new();
        let mut operands = None;
        for atom in atoms {
            let copies = index.find_in_first(atom, at + 1);
            of_task += usize::from(copies.holders.iter().any(|holder| holder.source <= task));
            if !copies.is_empty() {
                continue;
            }
            let counted = matches!(atom.kind, AtomKind::Number | AtomKind::Date | AtomKind::Time);
            numbers += usize::from(counted);
            if counted && numbers <= COMPUTED_MAX {
                let operands = operands.get_or_insert_with(|| index.operands(at + 1));
                if operands.computed(atom).within(ACCIDENT_MAX).is_some() {
                    computed += 1;
                    continue;
                }
            }
            without += 1;
            let others = atom.unit.and_then(|unit| units.get(&unit));
            contradicts += usize::from(others.is_some_and(|others| !others.contains(&atom.value)));
            reached.extend(
                index.find(atom).holders.iter().map(|holder| holder.source).filter(|to| *to > at + 1),
            );
        }
        for atom in atoms {
            if let Some(unit) = atom.unit {
                units.entry(unit).or_default().insert(&atom.value);
            }
        }
        let lower = turn.text.to_lowercase();
        let count = atoms.len().max(1) as f64;
        let next = errors.get(at + 1).copied().unwrap_or(false);
        let previous = at.checked_sub(1).is_some_and(|before| errors[before]);
        let is_again = !turn.text.trim().is_empty() && !seen.insert(turn.text.trim());
        all.push(vec![
            log(turn.text.len()),
            log(atoms.len()),
            log(without),
            without as f64 / count,
            flag(without > 0 && !had_without && turn.wrote == Wrote::Model),
            log(numbers),
            log(computed),
            log(contradicts),
            of_task as f64 / count,
            log(reached.len()),
            log(answer_origins[at]),
            flag(turn.is_in_slice),
            flag(errors[at]),
            flag(previous),
            flag(next),
            flag(errors[at] && errors_before == 0),
            log(errors_before),
            flag(is_again),
            log(turn.calls),
            flag(lower.contains("```")),
            flag(has_any(&lower, GUESSES)),
            flag(has_any(&lower, CHECKS)),
            flag(has_any(&lower, ENDS)),
            flag(lower.contains('?')),
        ]);
        had_without |= without > 0 && turn.wrote == Wrote::Model;
        errors_before += usize::from(errors[at]);
    }
    all
}

/// How many atoms of the last reply that has any first stood in each turn.
fn origins(index: &CopyIndex<'_, usize>, atoms: &[Vec<Atom>], list: &[Turn]) -> Vec<usize> {
    let mut origins = vec![0; list.len()];
    let has = |at: &usize| list[*at].wrote == Wrote::Model && !atoms[*at].is_empty();
    if let Some(answer) = (0..list.len()).rev().find(has) {
        for atom in &atoms[answer] {
            let first =
                index.find_in_first(atom, answer + 1).origin().map_or(answer + 1, |holder| holder.source);
            if let Some(origin) = first.checked_sub(1).and_then(|turn| origins.get_mut(turn)) {
                *origin += 1;
            }
        }
    }
    origins
}

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

fn log(count: usize) -> f64 {
    (count as f64).ln_1p()
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}
