//! What the credential pass finds in the redaction corpus. `cargo xtask redaction-report` runs this.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool reports by printing")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use probity_egress::SamePrincipal;
use probity_testkit::{
    RedactionFigure, RedactionLabel, RedactionOutcome, RedactionRow, RedactionScore, RedactionTarget, Share,
    redaction_figures, redaction_rows, removed_by_pass,
};
use serde_json::{Map, Value, json};

const HELP: &str = "\
What the credential pass finds in the redaction corpus

Usage: cargo xtask redaction-report [--json] [--transforms] [--misses KIND]

Options:
  --json         Print one JSON object
  --transforms   Only the variants: the same secrets wrapped, encoded or cut
  --misses KIND  List what was not wholly covered of a kind, a variant or a strength (`jwt`, `05-ansi-around`,
                 `realistic`, `all`), or what was touched of a class (`hard`, `placeholder`, `format`)
";

#[derive(Default)]
struct Options {
    json: bool,
    transforms: bool,
    misses: Option<String>,
}

fn main() -> ExitCode {
    let Some(options) = parse(std::env::args().skip(1)) else {
        eprint!("{HELP}");
        return ExitCode::from(2);
    };
    let files = (redaction_rows("dev.jsonl.gz"), redaction_rows("transforms.jsonl.gz"));
    let (Some(dev), Some(variants)) = files else {
        eprintln!("error: the corpus is missing; set PROBITY_CORPORA to the folder of the corpora");
        return ExitCode::FAILURE;
    };
    let dev = RedactionScore::of(&dev, removed_by_pass::<SamePrincipal>);
    let variants = RedactionScore::of(&variants, removed_by_pass::<SamePrincipal>);
    match &options.misses {
        Some(kind) if options.transforms => list_misses(&variants, kind),
        Some(kind) => list_misses(&dev, kind),
        None => print(&report(&dev, &variants, options.transforms), options.json),
    }
    ExitCode::SUCCESS
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--transforms" => options.transforms = true,
            "--misses" => options.misses = Some(arguments.next()?),
            _ => return None,
        }
    }
    Some(options)
}

/// Tables by title; each is a list of rows by name.
type Tables = Vec<(&'static str, Vec<Line>)>;

struct Line {
    name: String,
    counts: Vec<(&'static str, usize)>,
    share: Share,
    figure: Option<RedactionFigure>,
}

fn report(dev: &RedactionScore<'_>, variants: &RedactionScore<'_>, only_variants: bool) -> Tables {
    let secret = |row: &RedactionRow| row.label.is_secret();
    let realistic = |row: &RedactionRow| row.label == RedactionLabel::Realistic;
    let benign = |row: &RedactionRow| !row.label.is_secret();
    let mut tables = Tables::new();
    if !only_variants {
        tables.push(("secrets by strength", lines(dev, secret, |row| row.label.name().to_owned())));
        tables.push(("realistic secrets by kind", lines(dev, realistic, |row| row.kind.clone())));
        tables.push(("realistic secrets by source", lines(dev, realistic, |row| row.source.clone())));
        tables.push(("all secrets by kind", lines(dev, secret, |row| row.kind.clone())));
        tables.push(("no secrets, by class", lines(dev, benign, |row| row.label.name().to_owned())));
        tables.push((
            "hard negatives as found in public repositories",
            lines(dev, |row| row.natural().is_some(), |row| row.natural().unwrap_or_default().to_owned()),
        ));
    }
    tables.push(("variants", lines(variants, secret, |row| row.variant.clone())));
    let is_variant = |figure: &RedactionFigure| figure.id.starts_with(|first: char| first.is_ascii_digit());
    let figures = redaction_figures(dev, variants).into_iter();
    let figures = figures.filter(|figure| !only_variants || is_variant(figure)).map(|figure| Line {
        name: figure.name.clone(),
        counts: vec![],
        share: figure.share,
        figure: Some(figure),
    });
    tables.push(("against the targets", figures.collect()));
    tables
}

fn lines(
    score: &RedactionScore<'_>,
    asked: impl Fn(&RedactionRow) -> bool,
    group: impl Fn(&RedactionRow) -> String,
) -> Vec<Line> {
    let mut groups: BTreeMap<String, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for (row, outcome) in score.rows.iter().filter(|(row, _)| asked(row)) {
        let words = if row.label.is_secret() { &SECRET[..] } else { &BENIGN[..] };
        let counts =
            groups.entry(group(row)).or_insert_with(|| words.iter().map(|word| (*word, 0)).collect());
        *counts.entry(word(*outcome)).or_default() += 1;
    }
    let line = |(name, counts): (String, BTreeMap<&'static str, usize>)| {
        let good = counts.get(SECRET[0]).or(counts.get(BENIGN[0])).copied().unwrap_or_default();
        let share = Share { part: good, of: counts.values().sum() };
        Line { name, counts: counts.into_iter().collect(), share, figure: None }
    };
    groups.into_iter().map(line).collect()
}

/// Words for what a pass did, the one that is wanted first.
const SECRET: [&str; 3] = ["covered", "cut", "missed"];
const BENIGN: [&str; 2] = ["unchanged", "touched"];

fn word(outcome: RedactionOutcome) -> &'static str {
    match outcome {
        RedactionOutcome::Covered => "covered",
        RedactionOutcome::Cut => "cut",
        RedactionOutcome::Missed => "missed",
        RedactionOutcome::Touched => "touched",
        RedactionOutcome::Unchanged => "unchanged",
    }
}

fn print(tables: &Tables, json: bool) {
    if json {
        let table = |lines: &Vec<Line>| lines.iter().map(to_json).collect::<Vec<Value>>();
        let tables = tables.iter().map(|(title, lines)| ((*title).to_owned(), Value::from(table(lines))));
        println!("{}", Value::Object(tables.collect()));
        return;
    }
    for (title, lines) in tables {
        println!("{title}");
        for line in lines {
            println!("  {}", to_text(line));
        }
        println!();
    }
}

fn to_json(line: &Line) -> Value {
    let mut value = Map::new();
    let mut put = |name: &str, part: Value| drop(value.insert(name.to_owned(), part));
    put("name", json!(line.name));
    put("part", json!(line.share.part));
    put("of", json!(line.share.of));
    put("share", json!(line.share.ratio()));
    for (word, count) in &line.counts {
        put(word, json!(count));
    }
    if let Some(figure) = &line.figure {
        let (bound, target) = match figure.target {
            RedactionTarget::AtLeast(least) => ("least", least),
            RedactionTarget::AtMost(most) => ("most", most),
        };
        put(bound, json!(target));
        put("met", json!(figure.is_met()));
    }
    Value::Object(value)
}

fn to_text(line: &Line) -> String {
    let Share { part, of } = line.share;
    let mut text = format!("{:<52} {part:>5} of {of:>5}  {:.4}", line.name, line.share.ratio());
    for (word, count) in line.counts.iter().filter(|(word, _)| *word != SECRET[0] && *word != BENIGN[0]) {
        text.push_str(&format!("  {count:>4} {word}"));
    }
    if let Some(figure) = &line.figure {
        let target = match figure.target {
            RedactionTarget::AtLeast(least) => format!("at least {least:.3}"),
            RedactionTarget::AtMost(most) => format!("at most {most:.3}"),
        };
        text.push_str(&format!("  {target}{}", if figure.is_met() { "" } else { "  NOT MET" }));
    }
    text
}

/// Each row that went wrong: what it is, and its text with the secrets between `«` and `»`.
fn list_misses(score: &RedactionScore<'_>, kind: &str) {
    let is_wrong = |outcome| !matches!(outcome, RedactionOutcome::Covered | RedactionOutcome::Unchanged);
    let is_asked = |row: &RedactionRow| {
        (kind == "all" && row.label.is_secret())
            || [&row.kind, &row.variant, &row.source].iter().any(|name| *name == kind)
            || row.label.name() == kind
            || row.natural() == Some(kind)
    };
    for (row, outcome) in score.rows.iter().filter(|(row, outcome)| is_wrong(*outcome) && is_asked(row)) {
        println!("{} {} {} {} {}", word(*outcome), row.label.name(), row.id, row.kind, row.rule);
        println!("  text    {}", marked(row).escape_debug());
        let passed = probity_egress::egress_text::<SamePrincipal>(&row.text);
        println!("  passed  {}", passed.as_str().escape_debug());
    }
}

fn marked(row: &RedactionRow) -> String {
    let mut marked = row.text.clone();
    for secret in row.secrets.iter().rev() {
        marked.insert(secret.end, '»');
        marked.insert(secret.start, '«');
    }
    marked
}
