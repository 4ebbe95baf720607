use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use probity_egress::{Egress, Tier, egress_error, egress_value, one_line_untrusted};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};

/// Code points of one line of a log; what is longer is cut, after the pass.
pub const LOG_LINE_CHARS_MAX: usize = 8 * 1024;

/// The fields of an event or a span, each passed under its name.
#[derive(Debug)]
pub(super) struct Fields<T: Tier> {
    pub(super) message: String,
    /// What a record of the `log` crate says its target is.
    pub(super) log_target: Option<String>,
    pairs: Vec<(String, String)>,
    tier: PhantomData<T>,
}

impl<T: Tier> Default for Fields<T> {
    fn default() -> Self {
        Self { message: String::new(), log_target: None, pairs: Vec::new(), tier: PhantomData }
    }
}

impl<T: Tier> Fields<T> {
    fn put(&mut self, field: &Field, value: Value) {
        let text = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match field.name() {
            "message" => self.message = text(),
            "log.target" => self.log_target = Some(text()),
            "log.module_path" | "log.file" | "log.line" => {}
            name => {
                let passed = passed_field::<T>(name, value);
                self.pairs.retain(|(other, _)| other != name);
                self.pairs.push((name.to_owned(), passed));
            }
        }
    }

    pub(super) fn pairs(&self) -> String {
        let pairs = self.pairs.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        pairs.collect::<Vec<_>>().join(" ")
    }
}

/// A value as the snapshot of a member with this name has it, or with the last part of this name: `http.authorization`.
fn passed_field<T: Tier>(name: &str, value: Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut value = value;
    for name in [name, name.rsplit('.').next().unwrap_or(name)] {
        let member = Map::from_iter([(name.to_owned(), value)]);
        let passed = egress_value::<T>(&member);
        value = passed
            .as_value()
            .as_object()
            .and_then(|members| members.values().next())
            .cloned()
            .unwrap_or_default();
    }
    text(&value)
}

fn quoted(value: &str) -> String {
    let plain = !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '='));
    if plain { value.to_owned() } else { Value::from(value).to_string() }
}

/// One line of all that a record says, passed once more as a whole: a name may stand in one part and its value in another.
pub(super) fn line<T: Tier>(parts: &[&str]) -> Egress<T> {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    one_line_untrusted(&parts.join(" "), LOG_LINE_CHARS_MAX)
}

impl<T: Tier> Visit for Fields<T> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field, egress_error::<T>(value).as_str().into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }
}
