use std::ops::Range;

use serde::Serialize;
use serde_json::Value;

use crate::clean::cut;
use crate::egress::Egress;
use crate::json_node::{JSON_DEPTH_MAX, Kind, Node, Places};
use crate::redactor::Redactor;
use crate::report::{Confidence, Finding, Report, Source};
use crate::snapshot_serializer::{Budget, Snapshot};
use crate::snapshot_tree::{Tree, marker};
use crate::tier::Tier;

/// How much of a text is fed at a time: so little that a report takes all the findings that can be in it.
const PIECE_BYTES: usize = 16 * 1024;
/// Code points of a name in a path.
const STEP_CHARS_MAX: usize = 200;

/// A removal within a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonFinding<T: Tier> {
    /// Where the value stands, as a JSON pointer (RFC 6901) of passed names; empty for the whole text. What was removed
    /// from a name has the path of its value.
    pub path: Egress<T>,
    /// What was removed. [`input`](Finding::input) counts in bytes of the JSON text as it was written, escapes and all, and
    /// [`output`](Finding::output) is the whole string that holds the marker.
    pub finding: Finding,
}

/// Takes the snapshot of one JSON text, as a text: [`egress_value`](crate::egress_value), but in the order and the
/// notation of the original.
///
/// What the snapshot leaves as it was is copied as it was written: every digit of a number, every escape, every space.
/// Members that share a name are each passed. `None` where the text is not JSON, holds half of a surrogate pair, or is
/// nested deeper than 127 levels; no other limit applies, since the text is in memory already.
///
/// `found` is called for each removal, in the order of the text; `report` counts them, keeps none, and lends its key.
pub fn egress_json<T: Tier>(
    text: &str,
    report: &mut Report,
    found: &mut dyn FnMut(JsonFinding<T>),
) -> Option<Egress<T>> {
    let node = Node::parse(text)?;
    let mut budget = Budget::of_text(JSON_DEPTH_MAX + 1);
    // Reading from memory does not fail; if it did, nothing would be told.
    let tree = node.serialize(Snapshot::<T>::new(&mut budget));
    let tree = tree.unwrap_or(Tree::Marker("unreadable"));
    let out = String::with_capacity(text.len());
    let mut walk = Walk { text, copied: 0, out, path: String::new(), report, found };
    walk.value(&node, tree);
    walk.out.push_str(text.get(walk.copied..).unwrap_or_default());
    Some(Egress::passed(walk.out))
}

/// Goes through a text and its snapshot side by side.
struct Walk<'a, T: Tier> {
    text: &'a str,
    copied: usize,
    out: String,
    path: String,
    report: &'a mut Report,
    found: &'a mut dyn FnMut(JsonFinding<T>),
}

impl<T: Tier> Walk<'_, T> {
    fn value(&mut self, node: &Node<'_>, snapshot: Tree) {
        match (&node.kind, snapshot) {
            (Kind::Array(items), Tree::Array(passed)) if items.len() == passed.len() => {
                for (index, (item, passed)) in items.iter().zip(passed).enumerate() {
                    self.below(&index.to_string(), |walk| walk.value(item, passed));
                }
            }
            (Kind::Object(members), Tree::Object(passed)) if members.len() == passed.len() => {
                for ((name, value), (passed_name, passed)) in members.iter().zip(passed) {
                    self.below(&passed_name, |walk| {
                        walk.string(name, &passed_name);
                        walk.value(value, passed);
                    });
                }
            }
            (Kind::Text(_) | Kind::Number, Tree::String(passed)) => self.string(node, &passed),
            (Kind::Word, Tree::Null | Tree::Bool(_)) | (Kind::Number, Tree::Number(_)) => {}
            (_, Tree::Marker(kind)) => self.whole(node, kind, &marker(kind)),
            // A snapshot changes the shape of nothing.
            (_, _) => self.whole(node, "unreadable", &marker("unreadable")),
        }
    }

    /// Goes on with a part, of which the report has the path.
    fn below(&mut self, step: &str, walk: impl FnOnce(&mut Self)) {
        let len = self.path.len();
        self.path.push('/');
        self.path.push_str(&cut(step, STEP_CHARS_MAX).replace('~', "~0").replace('/', "~1"));
        walk(self);
        self.path.truncate(len);
    }

    /// A text, a name, or a number that was passed as one.
    fn string(&mut self, node: &Node<'_>, passed: &str) {
        let text = node.text();
        if text == passed {
            return;
        }
        let output = self.replace(node, passed);
        let mut places = node.places();
        let mut pass = Redactor::<T>::with_report(std::mem::take(self.report));
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            let _same = pass.push(piece);
            self.tell(pass.take_findings(), &mut places, &output);
            rest = behind;
        }
        let (_same, report) = pass.finish_reporting();
        *self.report = report;
        let findings = self.report.take_findings();
        self.tell(findings, &mut places, &output);
    }

    fn tell(&mut self, findings: Vec<Finding>, places: &mut Places<'_>, output: &Range<usize>) {
        for finding in findings {
            let (start, end) = (places.of(finding.input.start), places.of(finding.input.end));
            self.found(Finding { input: start..end, output: output.clone(), ..finding });
        }
    }

    /// A value that the structure gave away.
    fn whole(&mut self, node: &Node<'_>, kind: &'static str, passed: &str) {
        let output = self.replace(node, passed);
        let (rule, source, confidence) = match kind {
            "registered" => ("registered", Source::Registered, Confidence::Certain),
            // Spelled by an array of bytes or characters.
            "bytes" | "text" => ("pieces", Source::Decoded, Confidence::High),
            _ => ("name", Source::Name, Confidence::Medium),
        };
        let input = node.start..node.end();
        self.report
            .add(Finding { rule, kind, source, confidence, input, output, fingerprint: None }, node.text());
        self.report.close_last();
        for finding in self.report.take_findings() {
            self.found(finding);
        }
    }

    fn found(&mut self, finding: Finding) {
        (self.found)(JsonFinding { path: Egress::passed(self.path.as_str()), finding });
    }

    /// Where in the output the text stands now.
    fn replace(&mut self, node: &Node<'_>, passed: &str) -> Range<usize> {
        self.out.push_str(self.text.get(self.copied..node.start).unwrap_or_default());
        self.copied = node.end();
        let start = self.out.len();
        self.out.push_str(&Value::from(passed).to_string());
        start..self.out.len()
    }
}
