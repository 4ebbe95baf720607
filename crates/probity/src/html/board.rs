//! The why board: what was asked about, the calls, the sources, who worded them and who let them in, from left to right.

use std::collections::HashMap;

use probity_egress::{Egress, Tier, Words, bounded_summary};

use super::page::Page;
use crate::why::{ShownChain, ShownConfirmed, ShownVerdict, ShownWhy};

/// Chains that are drawn. All stand in the list below the board.
const CHAINS_MAX: usize = 24;

/// Boxes of one column.
const BOXES_MAX: usize = 40;

/// Code points of a label.
const LABEL_CHARS_MAX: usize = 30;

/// Units of the drawing.
const COLUMN_WIDTH: usize = 260;
const BOX_WIDTH: usize = 216;
const ROW_HEIGHT: usize = 44;
const BOX_HEIGHT: usize = 28;
const TOP: usize = 44;

const COLUMNS: [&str; 5] = ["asked about", "calls", "sources", "worded by", "let in by"];

#[derive(Debug)]
struct Board<T: Tier> {
    columns: [Vec<Egress<T>>; 5],
    places: HashMap<(usize, Egress<T>), usize>,
    edges: Vec<(Spot, Spot, &'static str)>,
}

type Spot = (usize, usize);

impl<T: Tier> Board<T> {
    fn of(why: &ShownWhy<T>) -> Self {
        let mut board = Self { columns: Default::default(), places: HashMap::new(), edges: Vec::new() };
        board.spot(0, why.id.clone());
        for chain in why.chains.iter().take(CHAINS_MAX) {
            board.add(chain);
        }
        for test in why.tests() {
            for verdict in test.verdicts.iter().filter(|verdict| verdict.is_conviction) {
                board.add_tested(why, test, verdict);
            }
        }
        board
    }

    fn add(&mut self, chain: &ShownChain<T>) {
        let last = chain.way.len().saturating_sub(1);
        let mut before = None;
        for (at, link) in chain.way.iter().enumerate() {
            let spot = match at {
                0 => self.spot(0, link.id.clone()),
                _ if at == last => self.spot(2, source(chain)),
                _ => self.spot(1, link.id.clone()),
            };
            if let (Some(before), Some(spot)) = (before, spot) {
                self.edge(before, spot, link.edge);
            }
            before = spot.or(before);
        }
        let author = chain.author().cloned().and_then(|by| self.spot(3, by));
        let edge = chain.way.last().map_or("exact", |link| link.edge);
        if let (Some(source), Some(author)) = (before, author) {
            self.edge(source, author, edge);
        }
        for row in chain.origin.iter().flat_map(|step| &step.let_in_by) {
            let spot = self.spot(4, row.clone());
            if let (Some(from), Some(spot)) = (author.or(before), spot) {
                self.edge(from, spot, "let-in");
            }
        }
    }

    /// A conviction: from what was asked about, or from the earlier reply that the test was of.
    fn add_tested(&mut self, why: &ShownWhy<T>, test: &ShownConfirmed<T>, verdict: &ShownVerdict<T>) {
        let from = match &test.about_id {
            Some(reply) if *reply != why.id => self.named(why, reply, None),
            _ => self.spot(0, why.id.clone()),
        };
        if let (Some(from), Some(convicted)) = (from, self.named(why, &verdict.id, Some(&verdict.what))) {
            self.edge(from, convicted, "tested");
        }
    }

    /// The box of a source, which may be drawn already.
    fn named(&mut self, why: &ShownWhy<T>, id: &Egress<T>, what: Option<&Egress<T>>) -> Option<Spot> {
        let drawn = why.chains.iter().take(CHAINS_MAX).find(|chain| chain.id == *id).map(source);
        let convicted = || why.convictions().find(|verdict| verdict.id == *id).map(|verdict| &verdict.what);
        let label = drawn.or_else(|| Some(labelled(id, convicted().or(what)?)));
        self.spot(2, label.unwrap_or_else(|| id.clone()))
    }

    /// The box of this label; `None` where its column is full.
    fn spot(&mut self, column: usize, label: Egress<T>) -> Option<Spot> {
        if let Some(row) = self.places.get(&(column, label.clone())) {
            return Some((column, *row));
        }
        let boxes = self.columns.get_mut(column).filter(|boxes| boxes.len() < BOXES_MAX)?;
        let row = boxes.len();
        boxes.push(label.clone());
        self.places.insert((column, label), row);
        Some((column, row))
    }

    fn edge(&mut self, from: Spot, to: Spot, class: &'static str) {
        if from != to && !self.edges.contains(&(from, to, class)) {
            self.edges.push((from, to, class));
        }
    }
}

fn source<T: Tier>(chain: &ShownChain<T>) -> Egress<T> {
    labelled(&chain.id, &chain.what)
}

fn labelled<T: Tier>(id: &Egress<T>, what: &Egress<T>) -> Egress<T> {
    Words::new().passed(id).text(" ").passed(what).done()
}

const fn middle(row: usize) -> usize {
    TOP + row * ROW_HEIGHT + BOX_HEIGHT / 2
}

pub(super) fn board<T: Tier>(page: &mut Page<T>, why: &ShownWhy<T>) {
    let board = Board::of(why);
    let rows = board.columns.iter().map(Vec::len).max().unwrap_or(1);
    let (width, height) = (COLUMNS.len() * COLUMN_WIDTH, TOP + rows * ROW_HEIGHT);
    page.markup("<figure>\n<div class=\"board\" tabindex=\"0\" role=\"region\" aria-label=\"The board, which scrolls\">\n");
    page.markup("<svg role=\"img\" aria-labelledby=\"board-title\" width=\"")
        .number(width)
        .markup("\" height=\"");
    page.number(height).markup(
        "\"><title id=\"board-title\">From what was asked about to its sources; the list below says the same",
    );
    page.markup("</title>\n");
    for (at, name) in COLUMNS.iter().enumerate() {
        page.markup("<text class=\"column\" x=\"").number(at * COLUMN_WIDTH + 8).markup("\" y=\"24\">");
        page.markup(name).markup("</text>\n");
    }
    for (from, to, class) in &board.edges {
        path(page, *from, *to, class);
    }
    for (column, boxes) in board.columns.iter().enumerate() {
        for (row, label) in boxes.iter().enumerate() {
            let (x, y) = (column * COLUMN_WIDTH + 4, middle(row) - BOX_HEIGHT / 2);
            page.markup("<rect rx=\"4\" x=\"").number(x).markup("\" y=\"").number(y).markup("\" width=\"");
            page.number(BOX_WIDTH).markup("\" height=\"").number(BOX_HEIGHT).markup("\"/><text x=\"");
            page.number(x + 8).markup("\" y=\"").number(y + 19).markup("\">");
            page.text(&bounded_summary(label, LABEL_CHARS_MAX)).markup("<title>").text(label);
            page.markup("</title></text>\n");
        }
    }
    page.markup("</svg>\n</div>\n<figcaption>Lines: whole = exact, the run wrote it down; dashed = inferred from equal content; ");
    page.markup("thick = tested by a counterfactual; dotted = who let it in.");
    if why.chains.len() > CHAINS_MAX {
        page.markup(" Drawn are the first ").number(CHAINS_MAX).markup(" of ").number(why.chains.len());
        page.markup(" sources.");
    }
    page.markup("</figcaption>\n</figure>\n");
}

fn path<T: Tier>(page: &mut Page<T>, from: Spot, to: Spot, class: &'static str) {
    let (x1, y1) = (from.0 * COLUMN_WIDTH + 4 + BOX_WIDTH, middle(from.1));
    let (x2, y2) = if from.0 == to.0 {
        (to.0 * COLUMN_WIDTH + 4 + BOX_WIDTH, middle(to.1))
    } else {
        (to.0 * COLUMN_WIDTH + 4, middle(to.1))
    };
    page.markup("<path class=\"").markup(class).markup("\" d=\"M").number(x1).markup(" ").number(y1);
    page.markup(" C").number(x1 + 30).markup(" ").number(y1).markup(" ");
    page.number(if from.0 == to.0 { x2 + 30 } else { x2.saturating_sub(30) }).markup(" ").number(y2);
    page.markup(" ")
        .number(x2)
        .markup(" ")
        .number(y2)
        .markup("\"><title>")
        .markup(class)
        .markup("</title></path>\n");
}
