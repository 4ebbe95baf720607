//! One task drawn from a family: its texts, pages, rules, and what is true of it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use super::chance::Chance;
use super::family::{Families, Family, FamilyReach, Kind, Place, Role};

/// Suspects of a case, absent ones not counted.
pub(crate) const SIZES: [usize; 3] = [8, 32, 128];
/// Model calls up to the one that is asked about.
const TURNS: [usize; 8] = [1, 2, 3, 4, 6, 9, 14, 20];
/// In how many of 100 cases a filler says the words that are asked about.
const ECHO_PERCENT: u32 = 25;
const TOOL: &str = "read";
const NAMES: [&str; 40] = [
    "Acme", "Borel", "Cumber", "Dorset", "Ember", "Fairway", "Galway", "Harper", "Ingram", "Juniper",
    "Kestrel", "Larkin", "Marlow", "Norwood", "Osprey", "Penrose", "Quillan", "Redfern", "Sutton", "Thorne",
    "Umber", "Vance", "Walcott", "Xavier", "Yarrow", "Zeller", "Alder", "Bramble", "Corwin", "Dunmore",
    "Elgar", "Falkner", "Grantham", "Holloway", "Ives", "Jarvis", "Kendal", "Lomond", "Mercer", "Nairn",
];

/// Where a text of a case stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stands {
    /// In the context, under a name.
    Context(String),
    /// What a tool brought for the page of this number, from 1.
    Page { tool: String, page: usize },
    /// Nowhere: it was never sent. It would be context under this name.
    Absent(String),
}

/// A text that may be to blame.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) stands: Stands,
    pub(crate) text: String,
    pub(crate) role: Role,
}

/// A task with a known cause.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) family: String,
    pub(crate) kind: Kind,
    pub(crate) reach: FamilyReach,
    pub(crate) size: usize,
    /// Model calls up to the one that is asked about, that one included.
    pub(crate) turns: usize,
    pub(crate) person: String,
    pub(crate) ask: String,
    pub(crate) others: Vec<String>,
    pub(crate) rules: String,
    /// Context first, then pages, then what is absent; a suspect's number is its place here.
    pub(crate) pieces: Vec<Piece>,
}

impl Case {
    pub(crate) fn draw(families: &Families, family: &Family, size: usize, seed: u64) -> Result<Self> {
        let mut chance = Chance::new(&[&family.name, &size.to_string()], seed);
        let mut values = Values::default();
        for (name, kind) in &family.values {
            values.name(name, kind, &mut chance)?;
        }
        let results = family.item.iter().filter(|item| item.place == Place::Result).count();
        let others = family.item.iter().filter(|item| item.role != Role::Absent).count() - results;
        let turns_min = family.turns_min.max(results + 1);
        let fits: Vec<usize> =
            TURNS.iter().copied().filter(|turns| *turns >= turns_min && turns - 1 + others <= size).collect();
        if fits.is_empty() {
            bail!("its items do not fit among {size} suspects");
        }
        let turns = *chance.pick(&fits);
        let pages = turns - 1;

        // `any` becomes a page where there is room for one.
        let (mut context, mut paged, mut absent) = (Vec::new(), Vec::new(), Vec::new());
        let mut room = pages - results;
        for item in &family.item {
            let text = values.fill(&item.text, &mut chance)?;
            let name = item.name.clone().unwrap_or_else(|| "note".to_owned());
            let tool = item.tool.clone().unwrap_or_else(|| TOOL.to_owned());
            let is_page = match item.place {
                Place::Context => false,
                Place::Result => true,
                Place::Any => room > 0 && chance.below(2) == 0,
            };
            if item.role == Role::Absent {
                absent.push(Piece { stands: Stands::Absent(name), text, role: item.role });
            } else if is_page {
                room -= usize::from(item.place == Place::Any);
                paged.push(Piece { stands: Stands::Page { tool, page: 0 }, text, role: item.role });
            } else {
                context.push(Piece { stands: Stands::Context(name), text, role: item.role });
            }
        }
        let ask = values.fill(&family.ask, &mut chance)?;
        values.named.insert("ask".to_owned(), ask.clone());
        let filler = |chance: &mut Chance, values: &mut Values, list: &[String]| {
            let template = chance.pick(list).clone();
            values.fill(&template, chance)
        };
        let (to_context, to_pages) = (size - pages - context.len(), pages - paged.len());
        let mut texts = Vec::new();
        for _ in 0..to_context + to_pages {
            texts.push(filler(&mut chance, &mut values, &families.fillers.texts)?);
        }
        if !texts.is_empty() && chance.percent(ECHO_PERCENT) {
            let at = chance.below(texts.len());
            texts[at] = filler(&mut chance, &mut values, &families.fillers.echoes)?;
        }
        for text in texts.drain(..to_context) {
            let at = chance.below(context.len() + 1);
            context
                .insert(at, Piece { stands: Stands::Context("note".to_owned()), text, role: Role::Innocent });
        }
        for text in texts {
            let at = chance.below(paged.len() + 1);
            let stands = Stands::Page { tool: TOOL.to_owned(), page: 0 };
            paged.insert(at, Piece { stands, text, role: Role::Innocent });
        }
        for _ in 0..family.absent_fillers {
            let text = filler(&mut chance, &mut values, &families.fillers.texts)?;
            let stands = Stands::Absent("note".to_owned());
            absent.push(Piece { stands, text, role: Role::Innocent });
        }
        chance.shuffle(&mut absent);
        for (at, piece) in paged.iter_mut().enumerate() {
            if let Stands::Page { page, .. } = &mut piece.stands {
                *page = at + 1;
            }
        }
        let others =
            family.others.iter().map(|other| values.fill(other, &mut chance)).collect::<Result<_>>()?;
        let person = values.fill(&family.person, &mut chance)?;
        let rules = rules(family, &paged);
        let pieces = [context, paged, absent].concat();
        let (kind, reach) = (family.kind, family.reach);
        Ok(Self { family: family.name.clone(), kind, reach, size, turns, person, ask, others, rules, pieces })
    }

    /// The pieces with a role.
    pub(crate) fn with_role(&self, role: Role) -> Vec<usize> {
        (0..self.pieces.len()).filter(|number| self.pieces[*number].role == role).collect()
    }

    /// Whether a piece was never sent.
    pub(crate) fn is_absent(&self, number: usize) -> bool {
        matches!(self.pieces[number].stands, Stands::Absent(_))
    }

    /// The pieces that were sent.
    pub(crate) fn sent(&self) -> impl Iterator<Item = usize> {
        (0..self.pieces.len()).filter(|number| !self.is_absent(*number))
    }

    /// The call that is asked about, from 0.
    pub(crate) fn asked(&self) -> usize {
        self.turns - 1
    }
}

/// The family's rules around those that read one page a turn.
fn rules(family: &Family, pages: &[Piece]) -> String {
    let tool = |piece: &Piece| match &piece.stands {
        Stands::Page { tool, .. } => tool.clone(),
        Stands::Context(_) | Stands::Absent(_) => TOOL.to_owned(),
    };
    let first = pages.first().map_or_else(|| TOOL.to_owned(), tool);
    let mut text = family.rules_first.replace("[tool]", &first);
    for (read, piece) in pages.iter().enumerate() {
        text.push_str(&format!(
            "\n[[rule]]\nname = \"page {0}\"\nwhen = [{{ kind = \"tool_result\", at_most = {read} }}]\n\
             text = \"Page {0}.\"\n[[rule.call]]\ntool = \"{1}\"\narguments = {{ page = {0} }}\n",
            read + 1,
            tool(piece)
        ));
    }
    text.push('\n');
    text.push_str(&family.rules);
    text
}

/// Values of a case; no two of them are alike.
#[derive(Debug, Default)]
struct Values {
    named: BTreeMap<String, String>,
    used: BTreeSet<String>,
}

impl Values {
    fn name(&mut self, name: &str, kind: &str, chance: &mut Chance) -> Result<()> {
        let value = self.fresh(kind, chance)?;
        self.used.insert(value.clone());
        self.named.insert(name.to_owned(), value);
        Ok(())
    }

    /// Fresh values may be alike among themselves, but never like a named one.
    fn fresh(&self, kind: &str, chance: &mut Chance) -> Result<String> {
        for _ in 0..1000 {
            let number = chance.below(9000) + 1000;
            let value = match kind {
                "amount" => format!("{},{:03}.{:02}", number % 9 + 1, number % 1000, chance.below(100)),
                "number" => format!("{}", chance.below(880) + 50),
                "rate" => format!("{}.{:04}", chance.below(3), number),
                "code" => format!("{}{}-{number}", letter(chance), letter(chance)),
                "date" => format!("2026-{:02}-{:02}", chance.below(12) + 1, chance.below(28) + 1),
                "name" => (*chance.pick(&NAMES)).to_owned(),
                other => bail!("`{other}` is no value and no kind of value"),
            };
            if !self.used.contains(&value) {
                return Ok(value);
            }
        }
        bail!("too few values of kind `{kind}`")
    }

    fn fill(&self, template: &str, chance: &mut Chance) -> Result<String> {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('[') {
            filled.push_str(before);
            let Some((name, after)) = after.split_once(']') else {
                bail!("a `[` without `]` in `{template}`")
            };
            match self.named.get(name) {
                Some(value) => filled.push_str(value),
                None => filled.push_str(&self.fresh(name, chance)?),
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

fn letter(chance: &mut Chance) -> char {
    char::from(b'A' + u8::try_from(chance.below(26)).unwrap_or(0))
}
