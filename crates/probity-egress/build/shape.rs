use std::collections::BTreeSet;

/// How far before its anchor a token may begin.
const BEFORE_ANCHOR_MAX: usize = 80;
/// The most texts an anchor stands for.
const ANCHOR_TEXTS_MAX: usize = 64;
/// What `{20,}` in the middle of a shape reads at most.
const PIECE_CHARS_MAX: usize = 600;

/// A set of ASCII characters, one bit each.
pub(crate) type Mask = u128;

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Text(String),
    OneOf(Vec<String>),
    Run {
        class: Mask,
        min: usize,
        max: usize,
    },
    Maybe(Vec<Step>),
    /// What was read so far stays.
    Begin,
    /// What is read from here on stays.
    End,
}

#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) steps: Vec<Step>,
    pub(crate) anchor: Anchor,
}

/// Texts of which one stands in every token, and what stands before it.
#[derive(Debug, Clone)]
pub(crate) struct Anchor {
    pub(crate) texts: BTreeSet<String>,
    pub(crate) before_min: usize,
    pub(crate) before_max: usize,
    pub(crate) before_class: Mask,
    /// How many letters and digits stand behind them, at least.
    pub(crate) after: usize,
}

/// Letters and digits.
pub(crate) const WORD: Mask = {
    let (mut class, mut byte) = (0, 0_u8);
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            class |= 1 << byte;
        }
        byte += 1;
    }
    class
};

/// How many letters and digits a step begins with, at least.
pub(crate) fn word_chars(step: Option<&Step>) -> usize {
    match step {
        Some(Step::Run { class, min, .. }) if class & !WORD == 0 => *min,
        Some(_) | None => 0,
    }
}

impl Shape {
    /// How many characters at the beginning are fixed.
    pub(crate) fn fixed_start(&self) -> usize {
        let mut fixed = 0;
        for step in &self.steps {
            match step {
                Step::Text(text) => fixed += text.len(),
                Step::OneOf(texts) => fixed += texts.iter().map(String::len).min().unwrap_or(0),
                Step::Run { min, max, .. } if max == min && *max <= 2 => {}
                Step::Run { .. } => break,
                Step::Maybe(_) | Step::Begin | Step::End => {}
            }
        }
        fixed
    }

    /// Length of the shortest token.
    pub(crate) fn least(&self) -> usize {
        extent(&self.steps).0
    }

    /// The first two characters of every token of the shape.
    pub(crate) fn beginnings(&self) -> BTreeSet<(u8, u8)> {
        let mut out = BTreeSet::new();
        beginnings(&self.steps, None, &mut out);
        out
    }
}

/// Parses a shape and finds its anchor.
pub(crate) fn parse(text: &str) -> Result<Shape, String> {
    let mut reader = Reader { rest: text.chars().collect(), at: 0 };
    let steps = reader.steps(false)?;
    check_kept(&steps)?;
    check_possessive(&steps)?;
    let anchor = anchor(&steps)?;
    Ok(Shape { steps, anchor })
}

struct Reader {
    rest: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn steps(&mut self, inside: bool) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                ')' if inside => break,
                '[' => {
                    let class = self.class()?;
                    let (min, max) = self.count()?;
                    steps.push(Step::Run { class, min, max });
                }
                '(' => steps.push(self.group()?),
                '<' | '>' if inside => return Err("what stays is not optional".to_owned()),
                // At the beginning `>` ends what stays, at the end `<` begins it.
                '<' => {
                    self.next();
                    if !steps.is_empty() {
                        steps.push(Step::End);
                    }
                }
                '>' => {
                    self.next();
                    if !steps.iter().any(|step| matches!(step, Step::End)) {
                        steps.push(Step::Begin);
                    }
                }
                ']' | '{' | '}' | ')' | '|' | '?' => return Err(format!("`{c}` stands alone")),
                _ => {
                    let c = self.literal()?;
                    match steps.last_mut() {
                        Some(Step::Text(text)) => text.push(c),
                        Some(_) | None => steps.push(Step::Text(c.to_string())),
                    }
                }
            }
        }
        Ok(steps)
    }

    fn literal(&mut self) -> Result<char, String> {
        let c = match self.next() {
            Some('\\') => self.next(),
            c => c,
        };
        c.filter(char::is_ascii).ok_or_else(|| "a literal is ASCII".to_owned())
    }

    /// `(a|b)` or `(…)?`.
    fn group(&mut self) -> Result<Step, String> {
        self.next();
        let start = self.at;
        let mut depth = 1;
        let mut choice = false;
        while depth > 0 {
            match self.next() {
                Some('\\') => drop(self.next()),
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                Some('|') if depth == 1 => choice = true,
                Some('[') => while !matches!(self.next(), Some(']') | None) {},
                Some(_) => {}
                None => return Err("`(` is not closed".to_owned()),
            }
        }
        let optional = self.peek() == Some('?');
        self.at = start;
        let step = if choice { Step::OneOf(self.choices()?) } else { Step::Maybe(self.steps(true)?) };
        self.next();
        match (optional, choice) {
            (true, true) => {
                self.next();
                Ok(Step::Maybe(vec![step]))
            }
            (true, false) => {
                self.next();
                Ok(step)
            }
            (false, true) => Ok(step),
            (false, false) => Err("a group is a choice or optional".to_owned()),
        }
    }

    /// Longest first: a choice is taken and not undone.
    fn choices(&mut self) -> Result<Vec<String>, String> {
        let mut texts = vec![String::new()];
        while self.peek().is_some_and(|c| c != ')') {
            if self.peek() == Some('|') {
                self.next();
                texts.push(String::new());
            } else if matches!(self.peek(), Some('[' | '(' | '{')) {
                return Err("a choice is between literals".to_owned());
            } else {
                let c = self.literal()?;
                if let Some(text) = texts.last_mut() {
                    text.push(c);
                }
            }
        }
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        if texts.iter().any(String::is_empty) { Err("a choice is empty".to_owned()) } else { Ok(texts) }
    }

    fn class(&mut self) -> Result<Mask, String> {
        self.next();
        let mut mask: Mask = 0;
        while self.peek().is_some_and(|c| c != ']') {
            let from = self.literal()?;
            let is_range = self.peek() == Some('-') && self.rest.get(self.at + 1).is_some_and(|c| *c != ']');
            let to = if is_range {
                self.next();
                self.literal()?
            } else {
                from
            };
            if from > to {
                return Err(format!("`{from}-{to}` runs backwards"));
            }
            (from..=to).for_each(|c| mask |= bit(c));
        }
        self.next();
        if mask == 0 { Err("a class is empty".to_owned()) } else { Ok(mask) }
    }

    /// `{36}`, `{20,}`, `{10,14}`; one without it.
    fn count(&mut self) -> Result<(usize, usize), String> {
        if self.peek() != Some('{') {
            return Ok((1, 1));
        }
        self.next();
        let mut text = String::new();
        while let Some(c) = self.next().filter(|c| *c != '}') {
            text.push(c);
        }
        let number = |text: &str| text.parse::<usize>().map_err(|_| format!("`{{{text}}}` is no count"));
        let (min, max) = match text.split_once(',') {
            Some((min, "")) => (number(min)?, PIECE_CHARS_MAX),
            Some((min, max)) => (number(min)?, number(max)?),
            None => (number(&text)?, number(&text)?),
        };
        if min > max || max == 0 { Err(format!("`{{{text}}}` is no count")) } else { Ok((min, max)) }
    }
}

fn bit(c: char) -> Mask {
    1 << u32::from(c).min(127)
}

/// What stays stands at the beginning and at the end, and something goes.
fn check_kept(steps: &[Step]) -> Result<(), String> {
    let at = |wanted: fn(&Step) -> bool| {
        let mut found = steps.iter().enumerate().filter(|(_, step)| wanted(step)).map(|(at, _)| at);
        let first = found.next();
        if found.next().is_some() { Err("text stays at most at each end".to_owned()) } else { Ok(first) }
    };
    let begin = at(|step| matches!(step, Step::Begin))?;
    let end = at(|step| matches!(step, Step::End))?;
    let goes = begin.map_or(0, |begin| begin + 1)..end.unwrap_or(steps.len());
    if goes.is_empty() || begin == Some(0) { Err("nothing goes".to_owned()) } else { Ok(()) }
}

/// Pieces are read as long as they go, so none may eat what must follow it.
fn check_possessive(steps: &[Step]) -> Result<(), String> {
    let pieces: Vec<&Step> = steps.iter().filter(|step| !matches!(step, Step::Begin | Step::End)).collect();
    for pair in pieces.windows(2) {
        let [Step::Run { class, min, max }, next] = pair else { continue };
        let eaten = match next {
            Step::Text(text) => text.chars().next().is_some_and(|c| class & bit(c) != 0),
            Step::OneOf(texts) => {
                texts.iter().any(|text| text.chars().next().is_some_and(|c| class & bit(c) != 0))
            }
            Step::Run { class: next, .. } => class & next != 0,
            Step::Maybe(_) | Step::Begin | Step::End => false,
        };
        if eaten && min != max {
            return Err("a piece of no fixed length may eat the next one".to_owned());
        }
    }
    Ok(())
}

/// The fixed text that is rarest in ordinary text, with all its spellings.
fn anchor(steps: &[Step]) -> Result<Anchor, String> {
    let mut found: Option<(usize, Anchor)> = None;
    let (mut before_min, mut before_max, mut before_class) = (0, 0, 0);
    let mut index = 0;
    while let Some(step) = steps.get(index) {
        let mut texts = BTreeSet::from([String::new()]);
        let mut taken = 0;
        while let Some(spellings) = steps.get(index + taken).and_then(spellings)
            && texts.len() * spellings.len() <= ANCHOR_TEXTS_MAX
        {
            texts = texts
                .iter()
                .flat_map(|start| spellings.iter().map(move |end| format!("{start}{end}")))
                .collect();
            taken += 1;
        }
        let worth = texts.iter().map(|text| rarity(text)).min().unwrap_or(0);
        let is_fixed = texts.iter().all(|text| text.len() >= 2);
        if is_fixed && before_max <= BEFORE_ANCHOR_MAX && found.as_ref().is_none_or(|(best, _)| worth > *best)
        {
            let after = word_chars(steps.get(index + taken));
            found = Some((worth, Anchor { texts, before_min, before_max, before_class, after }));
        }
        for step in steps.get(index..index + taken.max(1)).unwrap_or(std::slice::from_ref(step)) {
            let (min, max, class) = extent(std::slice::from_ref(step));
            before_min += min;
            before_max += max;
            before_class |= class;
        }
        index += taken.max(1);
    }
    let (_, anchor) = found.ok_or_else(|| {
        format!("no fixed text of two characters within {BEFORE_ANCHOR_MAX} of the beginning")
    })?;
    Ok(anchor)
}

/// The texts a step stands for, when they are few.
fn spellings(step: &Step) -> Option<Vec<String>> {
    match step {
        Step::Text(text) => Some(vec![text.clone()]),
        Step::OneOf(texts) => Some(texts.clone()),
        Step::Begin | Step::End => Some(vec![String::new()]),
        Step::Run { class, min: 1, max: 1 } if class.count_ones() <= 8 => {
            Some(members(*class).map(|byte| char::from(byte).to_string()).collect())
        }
        Step::Run { .. } | Step::Maybe(_) => None,
    }
}

pub(crate) fn members(class: Mask) -> impl Iterator<Item = u8> {
    (0..128_u8).filter(move |byte| class >> byte & 1 != 0)
}

/// Signs, capitals and rare letters are worth more than what words are made of.
fn rarity(text: &str) -> usize {
    let worth = |b: u8| match b {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b' ' | b'0' | b'1' => 1,
        b'a'..=b'z' | b'-' | b'.' | b'_' | b'/' | b':' | b'=' => 2,
        b'0'..=b'9' | b'A'..=b'Z' => 3,
        _ => 4,
    };
    text.bytes().map(worth).sum()
}

fn extent(steps: &[Step]) -> (usize, usize, Mask) {
    let (mut all_min, mut all_max, mut all_class) = (0, 0, 0);
    for step in steps {
        let (min, max, class) = match step {
            Step::Text(text) => (text.len(), text.len(), text.chars().map(bit).fold(0, |a, b| a | b)),
            Step::OneOf(texts) => (
                texts.iter().map(String::len).min().unwrap_or(0),
                texts.iter().map(String::len).max().unwrap_or(0),
                texts.iter().flat_map(|text| text.chars()).map(bit).fold(0, |a, b| a | b),
            ),
            Step::Run { class, min, max } => (*min, *max, *class),
            Step::Maybe(steps) => {
                let (_, max, class) = extent(steps);
                (0, max, class)
            }
            Step::Begin | Step::End => (0, 0, 0),
        };
        all_min += min;
        all_max += max;
        all_class |= class;
    }
    (all_min, all_max, all_class)
}

/// Adds the pairs that `steps` can begin with, after `first` when that was read before.
fn beginnings(steps: &[Step], first: Option<u8>, out: &mut BTreeSet<(u8, u8)>) {
    let Some((step, rest)) = steps.split_first() else { return };
    let text = |text: &str, out: &mut BTreeSet<(u8, u8)>| match (first, text.as_bytes()) {
        (Some(first), [second, ..]) => drop(out.insert((first, *second))),
        (None, [first, second, ..]) => drop(out.insert((*first, *second))),
        (None, [only]) => beginnings(rest, Some(*only), out),
        (_, []) => {}
    };
    match step {
        Step::Text(one) => text(one, out),
        Step::OneOf(texts) => texts.iter().for_each(|one| text(one, out)),
        Step::Run { class, min, max } => {
            for byte in members(*class) {
                match first {
                    Some(first) => drop(out.insert((first, byte))),
                    None if *max > 1 => {
                        out.extend(members(*class).map(|second| (byte, second)));
                        if *min <= 1 {
                            beginnings(rest, Some(byte), out);
                        }
                    }
                    None => beginnings(rest, Some(byte), out),
                }
            }
            if *min == 0 {
                beginnings(rest, first, out);
            }
        }
        Step::Maybe(inner) => {
            let joined: Vec<Step> = inner.iter().chain(rest).cloned().collect();
            beginnings(&joined, first, out);
            beginnings(rest, first, out);
        }
        Step::Begin | Step::End => beginnings(rest, first, out),
    }
}
