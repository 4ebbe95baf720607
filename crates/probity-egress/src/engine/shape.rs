/// What a text is made of.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) blanks: usize,
    pub(super) joiners: usize,
    pub(super) signs: usize,
    pub(super) chars: usize,
}

impl Shape {
    pub(super) fn of(text: &str) -> Self {
        let mut shape = Self::default();
        for c in text.chars() {
            shape.chars += 1;
            match c {
                'a'..='z' => shape.lower += 1,
                'A'..='Z' => shape.upper += 1,
                '0'..='9' => shape.digits += 1,
                '_' | '-' | '.' | ':' => shape.joiners += 1,
                c if c.is_whitespace() => shape.blanks += 1,
                _ => shape.signs += 1,
            }
        }
        shape
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// A sentence: words of letters with blanks between.
    pub(super) fn is_prose(&self) -> bool {
        self.blanks >= 2 && self.digits == 0 && self.signs * 8 <= self.chars
    }

    /// Only what tokens are written with.
    pub(super) fn is_token(&self) -> bool {
        self.blanks == 0 && self.signs * 6 <= self.chars
    }

    /// More than letters of one case.
    pub(super) fn mixed(&self) -> bool {
        self.digits > 0 || self.signs > 0 || (self.lower > 1 && self.upper > 2)
    }

    /// A name rather than a value: letters and joiners, shorter than a password phrase usually is.
    pub(super) fn is_code_name(&self, text: &str, max: usize) -> bool {
        self.digits == 0
            && self.signs == 0
            && self.blanks == 0
            && text.len() <= max
            && (self.joiners > 0 || self.upper == 0 || self.lower == 0)
            && text.split(['_', '-', '.', ':']).all(|part| part.len() != 1)
            && self.joiners > 0
    }

    /// Too many signs, of too many sorts, for code.
    pub(super) fn is_symbolic(&self) -> bool {
        self.blanks == 0 && self.signs >= 5 && self.signs * 5 >= self.chars
    }

    /// Code that computes the value.
    pub(super) fn is_code(&self, text: &str) -> bool {
        if is_symbolic(text) {
            return false;
        }
        text.contains(['(', '[']) && self.digits * 5 < self.chars
            || text.starts_with('&')
            || (text.contains('.')
                && self.digits <= 1
                && self.signs == 0
                && text.split('.').all(is_identifier))
            || text.contains("::")
            || text.contains("->")
            || is_macro(text)
    }

    /// Not a word with a number: letters and digits alternate, or there are many of both.
    pub(super) fn is_random(&self, text: &str) -> bool {
        let mut turns = 0;
        let mut last = None;
        for c in text.chars() {
            let class = match c {
                'a'..='z' => 0,
                'A'..='Z' => 1,
                '0'..='9' => 2,
                _ => 3,
            };
            if class != 3 {
                turns += usize::from(last.is_some_and(|last| last != class));
                last = Some(class);
            }
        }
        turns >= 3 || self.digits >= 8 || has_long_run(text)
    }
}

/// Long, and a third of it signs of many sorts, as salts are drawn: no text and no code has so many.
pub(super) fn is_noise(text: &str, shape: &Shape) -> bool {
    let mut signs: Vec<char> = text.chars().filter(|c| !c.is_alphanumeric() && *c != ' ').collect();
    let count = signs.len();
    signs.sort_unstable();
    signs.dedup();
    shape.chars >= 32 && count * 4 >= shape.chars && signs.len() >= 8 && shape.upper > 0 && shape.blanks <= 6
}

/// Whether letters and digits stand together in a run no identifier has, or hexadecimal letters in one of a key's length.
fn has_long_run(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        (run.len() >= 24 && digits >= 2 && digits < run.len()) || is_long_hex(run)
    })
}

/// `vec![…`, `u16!(…`.
fn is_macro(text: &str) -> bool {
    text.split_once('!').is_some_and(|(name, rest)| {
        rest.starts_with(['(', '[', '{'])
            && is_identifier(name)
            && !name.contains(|c: char| c.is_ascii_uppercase())
    })
}

/// As long as a key, and of hexadecimal digits alone: no word is.
pub(super) fn is_long_hex(text: &str) -> bool {
    text.len() >= 30 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a text looks drawn rather than written.
pub(super) fn looks_random(text: &str) -> bool {
    let shape = Shape::of(text);
    shape.digits >= 2 && shape.letters() >= 2 && shape.is_token() && shape.is_random(text)
}

/// Whether a text is made of too many signs, of too many sorts, for code.
pub(super) fn is_symbolic(text: &str) -> bool {
    Shape::of(text).is_symbolic() && !balanced(text)
}

/// Whether every bracket that opens is closed by its like.
fn balanced(text: &str) -> bool {
    let mut open: Vec<char> = Vec::new();
    for c in text.chars() {
        let opening = match c {
            '(' | '[' | '{' => {
                open.push(c);
                continue;
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => continue,
        };
        if open.pop() != Some(opening) {
            return false;
        }
    }
    open.is_empty()
}

pub(super) fn is_identifier(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
