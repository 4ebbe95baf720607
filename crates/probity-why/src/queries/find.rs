//! Lines of items in which something stands.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::answer::{Page, Row, TraceAnswer};
use super::texts::{Shown, excerpt};
use super::{Asked, TraceError};

/// Bytes that a compiled expression may take.
const REGEX_BYTES_MAX: usize = 256 * 1024;

/// Characters of an expression, or of words.
const REGEX_CHARS_MAX: usize = 1024;

/// Lines that are found. Whoever finds more is told to look for something narrower.
const FOUND_MAX: usize = 10_000;

pub(super) fn regex(text: Option<&str>, regex: Option<&str>, ignore_case: bool) -> Result<Regex, TraceError> {
    let pattern = match (text, regex) {
        (Some(text), None) if !text.is_empty() => regex::escape(text),
        (None, Some(regex)) if !regex.is_empty() => regex.to_owned(),
        _ => return Err(TraceError::NothingToFind),
    };
    if pattern.chars().count() > 2 * REGEX_CHARS_MAX {
        return Err(TraceError::Regex);
    }
    let mut builder = RegexBuilder::new(&pattern);
    let built =
        builder.case_insensitive(ignore_case).size_limit(REGEX_BYTES_MAX).dfa_size_limit(4 * REGEX_BYTES_MAX);
    built.build().map_err(|_| TraceError::Regex)
}

impl Asked<'_> {
    pub(super) fn find(&self, regex: &Regex, page: Page) -> TraceAnswer {
        let texts = self.texts();
        let mut found: Vec<(&Shown, Range<usize>)> = Vec::new();
        let mut is_cut = false;
        'all: for shown in &texts.items {
            let mut start = 0;
            // The first in each line: all of a line would take time with its square.
            for line in shown.as_str().split_inclusive('\n') {
                let words = line.strip_suffix('\n').unwrap_or(line);
                if let Some(hit) = regex.find(words) {
                    if found.len() == FOUND_MAX {
                        is_cut = true;
                        break 'all;
                    }
                    found.push((shown, start + hit.start()..start + hit.end()));
                }
                start += line.len();
            }
        }
        let mut head = Row::new().fixed(
            "rows_are",
            "lines of items, the first match in each; bytes count in the text as trace_node shows it",
        );
        head = head.count("items_searched", texts.items.len() - texts.left_out);
        head = head
            .count("items_not_searched", texts.left_out)
            .count("items_redacted_or_not_kept", texts.not_whole);
        if is_cut {
            head = head.fixed("note", "there are more matches than are counted: look for something narrower");
        }
        TraceAnswer::rows(head, &found, page, |(shown, range)| {
            let run = self.graph.runs().nth(shown.run);
            let node = run.and_then(|run| self.graph.item(run, shown.item));
            let row = Row::new();
            let row = node.map_or(row.clone(), |node| row.id("id", &self.name(node)));
            let body = run.and_then(|run| self.graph.record(run)?.item(shown.item));
            let row = body.map_or(row.clone(), |item| {
                row.fixed("role", super::told::role(item.body)).word("origin", &item.origin)
            });
            row.range(range).passed("untrusted", &excerpt(shown.as_str(), range))
        })
    }
}
