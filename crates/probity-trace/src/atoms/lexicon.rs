//! The words that mean something to the scanner: numbers, months, units, and the commonest words of English.

use std::sync::LazyLock;

use super::chars::hashed_word_end;

/// What a word means to the scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// 1 to 12.
    Month(u8),
    /// 0 to 19.
    Small(u8),
    /// 20 to 90.
    Tens(u8),
    Hundred,
    /// The power of ten: 3 for thousand.
    Scale(u8),
    /// An entry of the units' table.
    Unit(&'static str),
    /// A word that says nothing of its own.
    Common,
}

const SLOTS: usize = 2048;

type Slot = Option<(u64, &'static str, Meaning)>;

static LEXICON: LazyLock<Vec<Slot>> = LazyLock::new(|| {
    let mut slots = vec![None; SLOTS];
    for (words, meaning) in entries() {
        for word in words.split(' ') {
            put(&mut slots, word, meaning);
        }
    }
    slots
});

fn put(slots: &mut [Slot], word: &'static str, meaning: Meaning) {
    let (_, hash, _) = hashed_word_end(word, 0);
    for step in 0..SLOTS {
        if let Some(slot @ None) = slots.get_mut(place(hash, step)) {
            *slot = Some((hash, word, meaning));
            return;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
fn place(hash: u64, step: usize) -> usize {
    (hash as usize).wrapping_add(step) % SLOTS
}

/// What a word means, by the hash of its lower case.
pub(crate) fn meaning(word: &str, hash: u64) -> Option<Meaning> {
    for step in 0..SLOTS {
        let (known, name, meaning) = LEXICON.get(place(hash, step)).copied().flatten()?;
        // Months and the like of other languages are compared by their hash alone where capitals are not ASCII.
        if known == hash && (name.eq_ignore_ascii_case(word) || !word.is_ascii()) {
            return Some(meaning);
        }
    }
    None
}

/// Whether a word says nothing of its own.
pub(crate) fn is_common(word: &str) -> bool {
    let (_, hash, _) = hashed_word_end(word, 0);
    matches!(meaning(word, hash), Some(Meaning::Common))
}

fn entries() -> Vec<(&'static str, Meaning)> {
    let mut entries: Vec<(&'static str, Meaning)> = Vec::new();
    entries.extend(MONTHS.iter().zip(1..).map(|(words, month)| (*words, Meaning::Month(month))));
    entries.extend(SMALL.iter().zip(0..).map(|(word, number)| (*word, Meaning::Small(number))));
    entries.extend(TENS.iter().zip(2..).map(|(word, tens)| (*word, Meaning::Tens(tens * 10))));
    entries.push(("hundred", Meaning::Hundred));
    entries.extend([
        ("thousand", Meaning::Scale(3)),
        ("million", Meaning::Scale(6)),
        ("billion bn", Meaning::Scale(9)),
        ("trillion", Meaning::Scale(12)),
    ]);
    entries.extend(UNITS.iter().map(|(words, unit)| (*words, Meaning::Unit(unit))));
    entries.push((COMMON, Meaning::Common));
    entries
}

/// English, German, French and Spanish; with their usual short forms. `may` is a month only with a day or a year.
const MONTHS: [&str; 12] = [
    "january jan januar janvier enero",
    "february feb februar février febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août agosto",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre diciembre",
];

/// What stands behind the digits of an ordinal number.
pub(super) const ORDINAL_ENDINGS: [&str; 4] = ["st", "nd", "rd", "th"];

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Words and codes by the unit they stand for. `m`, `h` and the like only count directly behind a number.
pub(crate) const UNITS: [(&str, &str); 34] = [
    ("percent pct", "%"),
    ("usd dollar dollars bucks", "USD"),
    ("eur euro euros", "EUR"),
    ("gbp pound pounds sterling", "GBP"),
    ("jpy yen", "JPY"),
    ("inr rupee rupees", "INR"),
    ("chf franken", "CHF"),
    ("cny yuan renminbi", "CNY"),
    ("cad", "CAD"),
    ("aud", "AUD"),
    ("cent cents", "cent"),
    ("kg kilogram kilograms kilo kilos", "kg"),
    ("g gram grams", "g"),
    ("lb lbs", "lb"),
    ("t tonne tonnes tons", "t"),
    ("km kilometer kilometers kilometre kilometres", "km"),
    ("mi mile miles", "mi"),
    ("m meter meters metre metres", "m"),
    ("cm centimeters", "cm"),
    ("mm", "mm"),
    ("ft feet foot", "ft"),
    ("l liter liters litre litres", "l"),
    ("ms millisecond milliseconds", "ms"),
    ("s sec secs second seconds", "s"),
    ("min mins minute minutes", "min"),
    ("h hr hrs hour hours", "h"),
    ("d day days", "d"),
    ("week weeks", "week"),
    ("month months", "month"),
    ("year years yr yrs", "year"),
    ("kb", "kB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("tb", "TB"),
];

const COMMON: &str = "a an the this that these those i you he she it we they me him her us them my your his its our their mine \
yours who whom whose which what when where why how and or but nor so yet if then else because since while although though unless \
until whether as at by for from in into of off on onto out over to up with without within about after before between during \
through under above below against per via be am is are was were been being do does did done doing have has had having will would \
shall should can could might must not no yes ok okay please thank thanks hello hi dear sorry great sure certainly absolutely \
unfortunately however therefore thus also here there now today tomorrow yesterday soon still just only very more most less least \
much many few some any all both each every other another such same own than too again once first last next new current currently \
additionally alternatively finally otherwise meanwhile instead based given note let see feel welcome would like need want \
i'm i'll don't can't it's that's ll ve re don didn doesn isn aren wasn weren couldn wouldn shouldn one none nothing something \
anything everything someone anyone everyone true false null n/a id ids am pm est edt cst cdt pst pdt mst mdt utc gmt cet cest \
monday tuesday wednesday thursday friday saturday sunday mr mrs ms dr etc eg ie vs re faq";
