//! Literals of Python that stand in traces where JSON was meant: `{'a': None, 'b': True}`.

use serde_json::{Map, Number, Value};

use crate::limits::JSON_DEPTH_MAX;

/// A list or dictionary of texts, numbers, `None`, `True` and `False`; nothing where the text is anything else.
pub(crate) fn literal(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.skip_blanks();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > JSON_DEPTH_MAX {
            return None;
        }
        self.skip_blanks();
        let mark = self.rest.chars().next()?;
        match mark {
            '{' => self.dictionary(depth),
            '[' => self.list(']', depth),
            '(' => self.list(')', depth),
            '\'' | '"' => self.quoted(mark).map(Value::String),
            _ => self.word(),
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Value> {
        self.eat('{')?;
        let mut object = Map::new();
        loop {
            self.skip_blanks();
            if self.eat('}').is_some() {
                return Some(Value::Object(object));
            }
            let name = match self.value(depth + 1)? {
                Value::String(name) => name,
                other @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_)) => other.to_string(),
            };
            self.skip_blanks();
            self.eat(':')?;
            object.insert(name, self.value(depth + 1)?);
            self.skip_blanks();
            if self.eat(',').is_none() {
                self.eat('}')?;
                return Some(Value::Object(object));
            }
        }
    }

    fn list(&mut self, close: char, depth: usize) -> Option<Value> {
        self.rest = self.rest.get(1..)?;
        let mut list = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat(close).is_some() {
                return Some(Value::Array(list));
            }
            list.push(self.value(depth + 1)?);
            self.skip_blanks();
            if self.eat(',').is_none() {
                self.eat(close)?;
                return Some(Value::Array(list));
            }
        }
    }

    fn quoted(&mut self, mark: char) -> Option<String> {
        self.eat(mark)?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == mark => {
                    self.rest = self.rest.get(at + 1..)?;
                    return Some(text);
                }
                '\\' => {
                    let (_, escaped) = chars.next()?;
                    let digits = match escaped {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    if digits > 0 {
                        let code: String = chars.by_ref().take(digits).map(|(_, digit)| digit).collect();
                        text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                        continue;
                    }
                    match escaped {
                        'n' => text.push('\n'),
                        'r' => text.push('\r'),
                        't' => text.push('\t'),
                        '\n' => {}
                        '\\' | '\'' | '"' => text.push(escaped),
                        _ => text.extend(['\\', escaped]),
                    }
                }
                _ => text.push(c),
            }
        }
        None
    }

    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find([',', '}', ']', ')', ':', ' ', '\n']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        match word {
            "None" | "null" => Some(Value::Null),
            "True" | "true" => Some(Value::Bool(true)),
            "False" | "false" => Some(Value::Bool(false)),
            _ => match word.parse::<i64>() {
                Ok(number) => Some(number.into()),
                Err(_) => Number::from_f64(word.parse().ok()?).map(Value::Number),
            },
        }
    }

    fn eat(&mut self, mark: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(mark)?;
        Some(())
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}
